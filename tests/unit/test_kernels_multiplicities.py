"""Equal rows that stand in one place with their number: the same sums, the same search, the same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.bnb import pricing_beside, workspace
from streed.exact import Array
from streed.kernels.counting import multiplicities
from streed.kernels.counting.groups import group_rows
from streed.kernels.counting.multiplicities import merge_counted
from streed.tasks import Accuracy, BalancedAccuracy, CostSensitive, Gini, SparseAccuracy

pytestmark = pytest.mark.compiles

N = 2**14 + 77


def drawn(rows: int, columns: int, kinds: int, seed: int) -> tuple[Array, Array]:
    """Rows of few kinds, some of them much more frequent than others, and noisy labels."""
    rng = np.random.default_rng(seed)
    base = (rng.random((kinds, columns)) < rng.random(columns)).astype(np.uint8)
    planted = (base[:, 0] & base[:, 1]) | (base[:, 2] ^ base[:, 3])
    share = rng.random(kinds) ** 3
    pick = rng.choice(kinds, rows, p=share / share.sum())
    return base[pick], np.where(rng.random(rows) < 0.15, rng.integers(0, 2, rows), planted[pick])


X, Y = drawn(N, 15, 300, 0)
THREE = np.where(np.random.default_rng(1).random(N) < 0.2, 2, Y)
COPIES = np.random.default_rng(2).integers(0, 3, N)
COLOURS = np.column_stack([X[:, 4:], X[:, 0] + 2 * X[:, 1]])


@pytest.mark.parametrize("count_rows", [False, True])
def test_merged_groups_have_the_sums_of_the_rows(count_rows: bool) -> None:
    costs = np.stack([Y * 3, (1 - Y) * 2, np.full(N, 4)], axis=1)
    plain = group_rows(costs, 1, count_rows, X)
    merged = merge_counted(plain, X)
    assert len(merged.places) * 4 <= len(plain.places)
    assert (plain.base, plain.worst) == (merged.base, merged.worst)
    sums = []
    for each in (plain, merged):
        places = each.places.reshape(-1, 2)
        group = np.searchsorted(each.words, places[:, 1] // 64, side="right") - 1
        sums.append((X[places[:, 0]].T.astype(np.int64) * X[places[:, 0], 3]) @ each.profits[group])
    assert (sums[0] == sums[1]).all()
    assert merged.times is not None
    once = dict(zip(merged.places[::2].tolist(), merged.times.tolist(), strict=True))
    assert sum(once.values()) == N
    assert merged.flips is not None
    assert (merged.flips.astype(bool) == (2 * X.astype(np.int64).sum(axis=0) > N)).all()


CASES: dict[str, tuple[streed.Task, Any, dict[str, Any]]] = {
    "deep": (Accuracy(), Y, {"max_depth": 4}),
    "three classes": (Accuracy(), THREE, {"max_depth": 4}),
    "support": (Accuracy(), Y, {"max_depth": 3, "min_leaf": 500}),
    "few nodes": (Accuracy(), Y, {"max_depth": 4, "max_nodes": 6}),
    "sparse": (SparseAccuracy(0.002), Y, {}),
    "best first": (SparseAccuracy(0.002), Y, {"search": "branches"}),
    "weighed classes": (BalancedAccuracy(), Y, {"max_depth": 3}),
    "costs": (CostSensitive([[0, 1], [5, 0]]), Y, {"max_depth": 4}),
    "generated": (Gini(), Y, {"max_depth": 3}),
    "frequencies": (Accuracy(), Y, {"max_depth": 3, "frequency": COPIES, "min_leaf": 300}),
    "threads": (Accuracy(), Y, {"max_depth": 4, "threads": 2}),
    "categories": (Accuracy(), Y, {"max_depth": 3, "categorical": [11]}),
}


@pytest.mark.parametrize("name", CASES)
def test_trees_and_nodes_are_those_of_the_raw_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, y, asked = CASES[name]
    table = COLOURS if "categorical" in asked else X
    monkeypatch.setattr(pricing_beside, "PATIENCE", np.inf)  # prices come by the clock
    monkeypatch.setattr(workspace, "SIMILAR_FROM", 2**40)  # similar nodes are found by samples of the rows
    merged = streed.solve(task, table, y, **asked)
    monkeypatch.setattr(multiplicities, "MANY_ROWS", 2**60)
    plain = streed.solve(task, table, y, **asked)
    assert (merged.value, merged.status) == (plain.value, plain.status)
    assert merged.tree == plain.tree
    assert merged.tree is not None
    assert merged.tree.root.rows == (COPIES.sum() if "frequency" in asked else N)
    if name != "threads":
        assert merged.stats["nodes"] == plain.stats["nodes"]
