"""Costs per row are found where a leaf cost is linear, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Dataset
from streed.task import RowCostTask, State, Task
from streed.task.algebra import exact_costs
from streed.task.analysis.linear_form import row_cost_form
from streed.tree.evaluation import evaluate
from tests.unit.specimens import trees

if TYPE_CHECKING:
    from streed.exact import Array

LeafCost = Callable[[Any, Any, int], Any]


@attrs.frozen
class Written(Task):
    """A task whose leaf cost is a function of itself, the state and the label."""

    cost: LeafCost
    matrix: Any = attrs.field(factory=lambda: np.array([[0, 1.5, 2], [3, 0, 0.1], [1, 1, 0]]), eq=False)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        kinds: Array = (data.class_numbers[:, None] == np.arange(3)).astype(np.int64)
        return {"counts": kinds, "place": np.arange(data.n_rows), "real": data.class_numbers / 8}

    def labels(self, data: Dataset) -> tuple[str, ...]:
        return ("a", "b", "c")

    def leaf_cost(self, s: State, k: int) -> Any:
        return self.cost(self, s, k)


def plain(a: Any, b: Any, c: Any) -> Any:
    return a * 2 + b - c * Fraction(1, 3)


LINEAR: dict[str, LeafCost] = {
    "errors": lambda task, s, k: s.rows - s.counts[k],
    "sum of the others": lambda task, s, k: sum(s.counts[j] for j in range(3) if j != k),
    "sum minus one": lambda task, s, k: sum(s.counts) - s.counts[k],
    "matrix": lambda task, s, k: sum(task.matrix[j, k] * s.counts[j] for j in range(3)),
    "numpy": lambda task, s, k: np.dot(task.matrix[:, k], s.counts),
    "by label": lambda task, s, k: (s.place, 2 * s.real, s.rows / 4)[k],
    "negative": lambda task, s, k: -(3 - s.counts[0]) + 3 + +s.real * k - (s.rows - 1) - 1,
    "unpacked": lambda task, s, k: plain(*s.counts),
    "slice": lambda task, s, k: sum(s.counts[1:]) * 0.01,
    "nothing": lambda task, s, k: 0,
    "cancelled": lambda task, s, k: s.place - s.place,
    "entry from the back": lambda task, s, k: s.counts[-1 - k],
}


def some_data(weights: Any = None) -> Dataset:
    X = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]]
    return Dataset.make(X, [0, 1, 2, 0, 1, 1], sample_weight=weights)


def test_costs_are_exact() -> None:
    form = row_cost_form(Written(LINEAR["matrix"]), some_data())
    assert form is not None
    costs = exact_costs(form, some_data())
    assert costs.exact
    assert costs.unit == Fraction(1, 10)
    assert costs.costs[:3].tolist() == [[0, 15, 20], [30, 0, 1], [10, 10, 0]]
    assert isinstance(form, RowCostTask)
    assert form.row_costs(some_data())[1].tolist() == [3, 0, Fraction(1, 10)]
    whole = row_cost_form(Written(LINEAR["errors"]), some_data())
    assert isinstance(whole, RowCostTask)
    assert whole.row_costs(some_data()).dtype == np.int64


@attrs.frozen
class Variant(Written):
    """Errors, with one member of the contract changed at a time."""

    cost: LeafCost = LINEAR["sum minus one"]


@attrs.frozen
class PerSplit(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 0.1


@given(drawn=trees(), cost=st.sampled_from(list(LINEAR.values())), split=st.booleans())
def test_every_tree_has_the_same_value(drawn: Any, cost: LeafCost, split: bool) -> None:
    """By the task, by its form, and by the integers that the engine adds up."""
    tree, data = drawn
    task = (PerSplit if split else Written)(cost)
    form = row_cost_form(task, data)
    if form is None:
        assert data.weights is not None
        return
    own = evaluate(tree, task, data)
    assert evaluate(tree, form, data) == pytest.approx(float(own), abs=1e-9)
    costs = exact_costs(form, data)
    assert costs.exact
    labels = np.array([leaf.label for leaf in tree.leaves()])[tree.apply(data)]
    total = int(costs.costs[np.arange(data.n_rows), labels].sum())
    branches = 0 if costs.split == 0 else _branches(evaluate(tree, form, data), total, costs)
    assert costs.unit * (total + costs.split * branches) == evaluate(tree, form, data)


def _branches(value: Any, total: int, costs: Any) -> int:
    """How many branching nodes with rows a value counts."""
    number = (Fraction(value) / costs.unit - total) / costs.split
    assert number.denominator == 1
    assert number >= 0
    return int(number)
