"""Trees within intervals of sums, met and grown in few native calls: those that are put together one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.enumerate.packed_rows import PackedRowSets
from streed.tasks import Accuracy, DemographicParity, SparseAccuracy


def draw(seed: int, rows: int, columns: int) -> tuple[Any, Any, Any]:
    """X, y and groups."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (rows, columns)).astype(np.uint8)
    X[:, -1] = 1 - X[:, 0] if seed % 3 == 0 else X[:, -1]
    y = (X[:, 0] & X[:, 1]) ^ (random.random(rows) < 0.25)
    groups = (random.random(rows) < 0.5).astype(int)
    y[:2], groups[:2] = (0, 1), (0, 1)
    return X, y.astype(int), groups


@pytest.mark.parametrize("price", [0, 0.01])
@pytest.mark.parametrize(("min_leaf", "max_nodes"), [(1, None), (5, None), (1, 4)])
@pytest.mark.parametrize(
    ("seed", "columns", "depth"), [(0, 2, 3), (1, 6, 2), (2, 12, 3), (3, 9, 3), (4, 20, 3), (5, 5, 4)]
)
def test_few_calls_give_the_trees_of_many(
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    columns: int,
    depth: int,
    min_leaf: int,
    max_nodes: int | None,
    price: float,
) -> None:
    X, y, groups = draw(seed, 60 + 11 * seed, columns)
    task = (SparseAccuracy(price) if price else Accuracy()).subject_to(DemographicParity() <= 0.02)
    limits = {"max_depth": depth, "min_leaf": min_leaf, "max_nodes": max_nodes, "sensitive_features": groups}
    met = streed.solve(task, X, y, **limits)
    monkeypatch.setattr(PackedRowSets, "met", lambda *_: (False, None))
    monkeypatch.setattr(PackedRowSets, "shallow_tree", lambda *_: None)
    each = streed.solve(task, X, y, **limits)
    assert (met.value, met.status, met.tree) == (each.value, "optimal", each.tree)
    assert met.stats["enumerations"] == each.stats["enumerations"]


def test_ctrl_c_while_splits_are_met_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, groups = draw(2, 80, 20)
    task = Accuracy().subject_to(DemographicParity() <= 0.02)

    def met(self: PackedRowSets, *arguments: Any) -> Any:
        raise KeyboardInterrupt

    assert streed.solve(task, X, y, max_depth=3, sensitive_features=groups).stats["enumerations"] > 0
    monkeypatch.setattr(PackedRowSets, "met", met)
    result = streed.solve(task, X, y, max_depth=3, sensitive_features=groups)
    assert result.status in ("feasible", "unknown")
    assert result.stats["stopped"] == "interrupt"
