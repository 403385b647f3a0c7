"""Trees that rise with chosen columns, against all trees; and why costs alone cannot tell monotone ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streed
from streed.estimators import OptimalTreeClassifier
from streed.reference import Evaluation, every_tree
from streed.tasks import Misclassifications, MonotoneErrors
from streed.tree import Leaf, Node
from streed.tree.evaluation import check as checks_of
from tests.unit.refusal import refused

pytestmark = pytest.mark.compiles


def labels_of(node: Node) -> list[int]:
    return [node.label] if isinstance(node, Leaf) else [k for child in node.children for k in labels_of(child)]


def in_order(node: Node, signs: dict[int, int]) -> bool:
    """The definition; `signs`: 1 of the columns that leaves rise with, -1 of those that they fall with."""
    if isinstance(node, Leaf):
        return True
    sign = signs.get(node.column, 0)
    low, high = node.children[:: sign or 1][:2]
    rises = sign == 0 or max(labels_of(low)) <= min(labels_of(high))
    return rises and all(in_order(child, signs) for child in node.children)


@pytest.mark.parametrize("seed", range(40))
def test_native_code_finds_what_the_plain_recursion_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    columns: dict[str, Any] = {
        "x": rng.integers(0, 6, n).astype(float),
        "z": rng.normal(size=n).round(1),
        "b": rng.integers(0, 2, n),
        "gap": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
        "city": rng.choice(["r", "s", "t"], n),
    }
    chosen = rng.permutation(["x", "z", "b"])
    split = int(rng.integers(0, 4))
    task = MonotoneErrors(
        chosen[:split].tolist(),
        chosen[split : split + 1].tolist(),
        cost_complexity=Fraction(int(rng.integers(0, 3)), 2),
    )
    given: dict[str, Any] = {"min_leaf": int(rng.integers(1, 4)), "max_cuts": 4, "max_depth": int(rng.integers(0, 3))}
    if seed % 3 == 0:
        given["frequency"] = rng.integers(0, 3, n) + 1
    elif seed % 3 == 1:
        given["sample_weight"] = rng.integers(1, 5, n) / 4
    y = rng.integers(0, int(rng.integers(2, 4)), n)
    table = {name: columns[name] for name in rng.permutation(list(columns))[: int(rng.integers(3, 6))]}
    if any(name not in table for name in (*task.increasing, *task.decreasing)):
        table = columns
    if seed % 4 == 0:
        table = {name: (column > 2).astype(int) for name, column in table.items() if name in ("x", "b")} | {
            "z": columns["b"]
        }
    found = streed.solve(task, table, y, **given)
    plain = streed.solve(task, table, y, search="general", **given)
    assert (found.status, found.value) == (plain.status, plain.value)
    assert found.tree is None or found.stats["route"] == "in order"
    assert found.tree is None or found.lower_bound == found.value
    if found.tree is not None:
        assert sum(leaf.cost for leaf in found.tree.leaves()) <= found.value
        names, signs = list(table), {**dict.fromkeys(task.increasing, 1), **dict.fromkeys(task.decreasing, -1)}
        assert in_order(found.tree.root, {names.index(name): sign for name, sign in signs.items()})
        assert all(check.holds for check in checks_of(found.tree, streed.Dataset.make(table, y, **given_rows(given))))


def given_rows(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("frequency", "sample_weight", "max_cuts") if name in given}


SIGNS: list[tuple[Any, dict[int, int]]] = [
    (None, {}),
    ([0, 0, 0], {}),
    ([1, 0, 0], {0: 1}),
    (np.array([-1.0, 0, 1]), {0: -1, 2: 1}),
    ((0, 1, -1), {1: 1, 2: -1}),
    ({"b": 1, "a": -1, "c": 0}, {0: -1, 1: 1}),
]


@pytest.mark.parametrize(("cst", "signs"), SIGNS)
@pytest.mark.parametrize("names", [["no", "yes"], [2, 10, 30]])
def test_the_classifier_takes_what_scikit_learn_calls_monotonic_cst(cst: Any, signs: Any, names: list[Any]) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 2, (14, 3)), columns=["a", "b", "c"])
    numbers, weights = rng.integers(0, len(names), 14), rng.integers(1, 4, 14)
    model = OptimalTreeClassifier(max_depth=2, cost_complexity=0.05, monotonic_cst=cst)
    model.fit(table, np.array(names)[numbers], sample_weight=weights)
    data = streed.Dataset.make(table, numbers, sample_weight=weights)
    evaluation = Evaluation(Misclassifications(), data)
    every = [root for root in every_tree(Misclassifications(), data, max_depth=2) if in_order(root, signs)]
    costs = [evaluation.cost(root) / int(weights.sum()) + 0.05 * branches(root) for root in every]
    assert model.optimal_
    assert model.value_ == pytest.approx(min(costs), abs=1e-12)
    assert in_order(model.tree_.root, signs)


def branches(node: Node) -> int:
    return 0 if isinstance(node, Leaf) else 1 + sum(map(branches, node.children))


@pytest.mark.parametrize(
    ("cst", "found", "more"),
    [
        ([1, 0, 0], "X has 2 columns", {}),
        ([2, 0], "2 of column 0", {}),
        ([True, 0], "True of column 0", {}),
        ("increasing", "give one of -1, 0 and 1", {}),
        ({"z": 1}, "no column 'z'", {}),
        ({"sex": 1}, "texts", {}),
        ([0, -1], "texts", {}),
        ([1, 0], "a task is given", {"task": "f1"}),
        ([1, 0], "that of their letters", {"y": ["low", "mid", "top", "low"]}),
    ],
)
def test_what_is_no_monotonic_cst(cst: Any, found: str, more: dict[str, Any]) -> None:
    table = pd.DataFrame({"age": [1.5, 2.0, 3.0, 1.0], "sex": ["f", "m", "m", "f"]})
    y, task = more.get("y", [0, 1, 1, 0]), more.get("task")
    refused("monotonic_cst", found, call=lambda: OptimalTreeClassifier(task, monotonic_cst=cst).fit(table, y))
