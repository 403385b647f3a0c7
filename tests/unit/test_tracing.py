"""Costs per row are found where a leaf cost is linear, and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Dataset
from streed.task import Limit, RowCostTask, State, Task
from streed.task.algebra import exact_costs
from streed.task.analysis.linear_form import branching_context, row_cost_form
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, SparseAccuracy
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

NOT_LINEAR: dict[str, LeafCost] = {
    "product": lambda task, s, k: s.counts[0] * s.counts[1],
    "square": lambda task, s, k: s.place**2,
    "quotient": lambda task, s, k: s.place * s.place / s.rows,
    "inverse": lambda task, s, k: 1 / s.rows,
    "comparison": lambda task, s, k: s.place if s.rows > 3 else 0,
    "equality": lambda task, s, k: 0 if s.counts[k] == s.rows else s.rows,
    "truth": lambda task, s, k: 1 if s.place else 0,
    "max": lambda task, s, k: s.rows - max(s.counts),
    "min": lambda task, s, k: min(s.place, 3),
    "abs": lambda task, s, k: abs(s.place - s.rows),
    "root": lambda task, s, k: math.sqrt(s.place),
    "numpy root": lambda task, s, k: np.sqrt(s.place),
    "float": lambda task, s, k: float(s.place),
    "round": lambda task, s, k: round(s.place),
    "whole quotient": lambda task, s, k: s.place // 2,
    "remainder": lambda task, s, k: s.place % 2,
    "index": lambda task, s, k: task.matrix[0][s.place],
    "membership": lambda task, s, k: 1 if 0 in s.counts else 0,
    "position": lambda task, s, k: s.counts[1:].index(s.counts[1]),
    "equal tuples": lambda task, s, k: int(s.counts == (1, 2, 3)),
    "a cost per leaf": lambda task, s, k: s.place + 1,
    "a constant": lambda task, s, k: 1,
    "infinite": lambda task, s, k: s.place * math.inf,
    "text": lambda task, s, k: len(str(s.place)),
    "hash": lambda task, s, k: len({s.place}),
    "not a number": lambda task, s, k: s.counts,
    "nothing at all": lambda task, s, k: None,
    "missing": lambda task, s, k: s.nowhere,
    "failing": lambda task, s, k: s.place + 1 // (k - k),
    "another way for numbers": lambda task, s, k: s.place**2 if isinstance(s.place, (int, float)) else s.place,
}


def hidden(task: Any, s: Any, k: int) -> Any:
    """Catches whatever the question throws."""
    try:
        return s.place if s.rows > 3 else s.counts[0]
    except:  # noqa: E722 - the worst that a task may do
        return s.place


def some_data(weights: Any = None) -> Dataset:
    X = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]]
    return Dataset.make(X, [0, 1, 2, 0, 1, 1], sample_weight=weights)


@pytest.mark.parametrize("cost", LINEAR.values(), ids=LINEAR)
def test_linear_leaf_costs_are_costs_per_row(cost: LeafCost) -> None:
    form = row_cost_form(Written(cost), some_data())
    assert isinstance(form, RowCostTask)
    assert form.labels(some_data()) == ("a", "b", "c")


@pytest.mark.parametrize("cost", [*NOT_LINEAR.values(), hidden], ids=[*NOT_LINEAR, "hidden"])
def test_others_are_not(cost: LeafCost) -> None:
    assert row_cost_form(Written(cost), some_data()) is None


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


def test_factors_too_fine_for_integers_are_rounded_once() -> None:
    form = row_cost_form(Written(lambda task, s, k: s.place * (math.pi, 1e-12, 1e15)[k]), some_data())
    assert form is not None
    costs = exact_costs(form, some_data())
    assert not costs.exact
    expected = [[place * factor for factor in (math.pi, 1e-12, 1e15)] for place in range(6)]
    found = costs.costs * float(costs.unit)
    assert np.abs(found - np.array(expected)).max() <= 1e15 * 2.0**-40


def test_rows_count_without_weights_so_they_are_linear_only_without() -> None:
    weights = [1, 2, 0.5, 1, 0, 3]
    assert row_cost_form(Written(LINEAR["errors"]), some_data(weights)) is None
    assert row_cost_form(Written(LINEAR["sum minus one"]), some_data(weights)) is not None


@attrs.frozen
class Variant(Written):
    """Errors, with one member of the contract changed at a time."""

    cost: LeafCost = LINEAR["sum minus one"]


@attrs.frozen
class Maximum(Variant):
    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@attrs.frozen
class Larger(Variant):
    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)


@attrs.frozen
class AtMostTwo(Variant):
    def feasible(self, value: Any) -> bool:
        return bool(value <= 2)


@attrs.frozen
class Discounted(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 1 if split in path else 2


@attrs.frozen
class PerRow(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 0.1 * rows


@attrs.frozen
class PerSplit(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 0.1


@attrs.frozen
class Paid(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return -1


@attrs.frozen
class Front(Variant):
    order = "componentwise"


@attrs.frozen
class HalfPure(Limit):
    def allows(self, s: State) -> bool:
        return bool(2 * max(s.counts) >= s.rows)


@pytest.mark.parametrize("kind", [Maximum, Larger, AtMostTwo, Discounted, PerRow, Paid, Front])
def test_another_contract_is_not_a_cost_per_row(kind: type[Variant]) -> None:
    assert row_cost_form(kind(), some_data()) is None


def test_a_constant_branching_cost_is_a_split_cost() -> None:
    form = row_cost_form(PerSplit(), some_data())
    assert isinstance(form, RowCostTask)
    assert form.split_cost() == Fraction(1, 10)


@attrs.frozen
class PerColumn(Variant):
    prices: tuple[float, ...] = (1, 2, 3)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.prices[split] * rows


@attrs.frozen
class RowsThemselves(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return rows


@attrs.frozen
class PathThemselves(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return path


@attrs.frozen
class Free(Variant):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 0.0


@attrs.frozen
class Rarely(Variant):
    """Looks at the path where there are many rows."""

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 1 if rows > 100 and split in path else 2


def test_what_branching_costs_depend_on_is_never_understated() -> None:
    assert branching_context(Variant(), 3) == "none"
    assert branching_context(PerSplit(), 3) == "constant"
    assert branching_context(PerSplit().subject_to(MinSupport(2)), 3) == "constant"
    assert branching_context(PerRow(), 3) == "split"
    assert branching_context(PerColumn(), 3) == "split"
    assert branching_context(Discounted(), 3) == "path"
    assert branching_context(RowsThemselves(), 3) == "split"
    assert branching_context(RowsThemselves() & PerSplit(), 3) == "split"
    assert branching_context(PathThemselves(), 3) == "path"
    assert branching_context(Free(), 3) == "none"
    assert row_cost_form(RowsThemselves(), some_data()) is None
    assert branching_context(Rarely(), 3) == "path"
    assert branching_context(PerColumn() + 2 * Rarely(), 3) == "path"
    assert branching_context(PerColumn() & SparseAccuracy(0.1), 3) == "split"


def test_limits_on_rows_are_kept_and_others_are_not_expressible() -> None:
    form = row_cost_form(Variant().subject_to(MinSupport(2)), some_data())
    assert form is not None
    assert form.limits == (MinSupport(2),)
    assert row_cost_form(Variant().subject_to(HalfPure()), some_data()) is None


def test_score_and_display_stay_the_tasks_own() -> None:
    @attrs.frozen
    class Shown(Variant):
        larger_is_better = True

        def score(self, value: Any, totals: State) -> Any:
            return totals.place - value

        def leaf_label(self, s: State, k: int) -> Any:
            return f"{k}: {s.place}"

    form = row_cost_form(Shown(), some_data())
    assert form is not None
    assert form.larger_is_better
    assert form.score(3, State(6, place=10)) == 7
    assert form.leaf_label(State(6, place=10), 1) == "1: 10"


@pytest.mark.parametrize("task", [Accuracy(), BalancedAccuracy(), SparseAccuracy(0.1)])
def test_row_cost_tasks_are_their_own_form(task: Task) -> None:
    bound = task.bind(some_data())
    assert row_cost_form(bound, some_data()) is bound
    limited = bound.subject_to(MinSupport(2))
    assert row_cost_form(limited, some_data()) is limited
    assert row_cost_form(bound.subject_to(HalfPure()), some_data()) is None
    ours, theirs = exact_costs(limited, some_data()), exact_costs(bound, some_data())
    assert (ours.costs * ours.unit == theirs.costs * theirs.unit).all()


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
