"""Compositions of tasks, against what their parts say of every tree: sums, products, limits, and the largest value."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streed
from streed.data import Dataset
from streed.data.strict_json import describe, rebuild
from streed.errors import InputError, NotSeparableError, TaskError
from streed.exact import Array
from streed.reference import Evaluation, best_trees, every_tree, optimal_front
from streed.task import COMPONENTWISE, ExactSums, RowCostTask, State, Task, Totals
from streed.task.algebra import at_most, maximize
from streed.task.joint import Sum
from streed.task.objective import Objective
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    Gini,
    MinSupport,
    Misclassifications,
    PessimisticError,
    SparseAccuracy,
    Splits,
    SquaredError,
)
from streed.tree import Leaf, Node
from tests.unusual_tasks import ErrorsByClass, WorstLeaf


@final
@attrs.frozen
class Spread(Task):
    """The sum over leaves of (positives * negatives), whatever the label; shows the share of positives."""

    any_label: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    superadditive: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"positive": data.class_numbers, "negative": 1 - data.class_numbers}

    def labels(self, data: Dataset) -> tuple[str]:
        return ("share",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.positive * s.negative

    def leaf_label(self, s: State, k: int) -> Any:
        return Fraction(s.positive, s.positive + s.negative)

    def lower_bound(self, s: State) -> Any:
        return 0

    def worst_per_row(self, data: Dataset) -> Array:
        return np.full(data.n_rows, float(data.n_rows))


@final
@attrs.frozen
class Gain(Task):
    """1 for every row with the label 1 whose class is 1, -1 for other rows with the label 1, and 0.5 for a split."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"gain": 2 * data.class_numbers - 1}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.gain * k

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return -0.5


@attrs.frozen
class Told(RowCostTask):
    def row_costs(self, data: Dataset) -> Array:
        return Accuracy().row_costs(data)

    def leaf_label(self, s: State, k: int) -> Any:
        return f"{k} at {s.cost[k]}"


X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 1], [0, 0]]
Y = [0, 1, 1, 0, 1, 1, 1]


def some_data() -> Dataset:
    return Dataset.make(X, Y)


@st.composite
def data_sets(draw: st.DrawFn) -> Dataset:
    n = draw(st.integers(2, 7))
    bits = st.lists(st.integers(0, 1), min_size=2, max_size=2)
    rows = draw(st.lists(bits, min_size=n, max_size=n))
    y = [0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    weights = draw(st.none() | st.lists(st.sampled_from((0.5, 1, 2)), min_size=n, max_size=n))
    return Dataset.make(rows, y, sample_weight=weights)


def values(task: Task, data: Dataset) -> list[Any]:
    """The task's value of every tree of depth two."""
    evaluation = Evaluation(task, data)
    trees = every_tree(Splits(), data, max_depth=2)
    return [evaluation.cost(unlabelled(tree) if len(evaluation.labels) == 1 else tree) for tree in trees]


def unlabelled(node: Node) -> Node:
    """The tree with the one label of tasks that do not care."""
    if isinstance(node, Leaf):
        return attrs.evolve(node, label=0)
    return attrs.evolve(node, children=tuple(map(unlabelled, node.children)))


@final
@attrs.frozen
class Largest(Task):
    """The largest number of rows in a leaf, larger being better."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.rows

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)


WORST = type("Worst", (WorstLeaf,), {"worsening": True})()
"""The most errors in one leaf."""

SUMS = [
    (Spread() + 0.5 * Splits(), [(1, Spread()), (0.5, Splits())]),
    (Misclassifications() + 0.25 * Spread(), [(1, Misclassifications()), (0.25, Spread())]),
    (2 * (Spread() + 3 * Accuracy()) + Splits(), [(2, Spread()), (6, Accuracy()), (1, Splits())]),
    (0.1 * SparseAccuracy(0.2) + Spread(), [(0.1, SparseAccuracy(0.2)), (1, Spread())]),
]


@pytest.mark.parametrize(("total", "terms"), SUMS)
@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_a_sum_adds_the_values_of_its_terms(total: Task, terms: list[tuple[Any, Task]], data: Dataset) -> None:
    assert isinstance(total, Sum)
    expected = [0] * len(values(total, data))
    for weight, term in terms:
        weighed = [Fraction(str(weight)) * value for value in values(term, data)]
        expected = list(map(sum, zip(expected, weighed, strict=True)))
    assert values(total, data) == expected


LIMITED, FEW = Accuracy().subject_to(MinSupport(2)), at_most(Splits(), 3)
MORE = Accuracy().subject_to(at_most(Gain() + Accuracy(), 3))

REFUSED: list[tuple[Any, type[Exception], str]] = [
    *[(lambda a=a: Accuracy() + a, NotSeparableError, r"Def\. 4\.4") for a in (WORST, ErrorsByClass())],
    *[(lambda a=a: 2 * a, NotSeparableError, r"Def\. 4\.4") for a in (WORST, ErrorsByClass())],
    (lambda: -1 * Spread(), TaskError, "negative"),
    *[(f, TaskError, "subject_to last") for f in (lambda: LIMITED + Splits(), lambda: LIMITED & Splits())],
    (lambda: 2 * LIMITED, TaskError, "subject_to last"),
    (lambda: BalancedAccuracy() >= 0.5, TaskError, "neither from below"),  # type: ignore[operator]
    *[
        (f, TaskError, "is a limit; give several")
        for f in (lambda: FEW and FEW, lambda: FEW & FEW, lambda: MinSupport(2) or FEW)
    ],
    (lambda: at_most(LIMITED, 3), TaskError, "subject_to last"),
    (lambda: Accuracy() + 1, TaskError, "is none"),  # type: ignore[operator]
    (lambda: Accuracy() & 1, TaskError, "is none"),  # type: ignore[operator]
    (lambda: at_most(Largest(), 3), NotSeparableError, r"Def\. A\.2"),
    (lambda: streed.solve(Accuracy().subject_to(at_most(Gain(), 3)), X, Y), NotSeparableError, "may be negative"),
    (lambda: streed.explain(MORE, some_data()), NotSeparableError, r"Def\. A\.2"),
    (lambda: at_most(BalancedAccuracy(), 0.8), TaskError, "not the value"),
    (lambda: at_most(Accuracy() & Splits(), 3), TaskError, "is componentwise"),
    (lambda: (Accuracy() & Splits()).subject_to(at_most(Splits(), 3)), TaskError, "is componentwise"),
    (lambda: Accuracy().subject_to(3), TaskError, "subject_to takes limits"),  # type: ignore[arg-type]
    (lambda: streed.explain(Accuracy(), X), InputError, r"data: it is a list; give .*make"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "said"), REFUSED)
def test_what_does_not_compose_is_refused(call: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


PRODUCTS = [[Misclassifications(), Splits()], [Spread(), WORST], [WORST, Splits(), Misclassifications()]]


@pytest.mark.parametrize("parts", PRODUCTS)
@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_a_product_has_the_front_of_its_parts(parts: list[Task], data: Dataset) -> None:
    joint = parts[0] & parts[1]
    for part in parts[2:]:
        joint = joint & part
    assert isinstance(joint, Objective)
    assert len(joint.parts) == len(parts)
    assert joint.order == COMPONENTWISE
    assert values(joint, data) == list(zip(*(values(part, data) for part in parts), strict=True))
    every = set(values(joint, data))
    front = {v for v in every if not any(u != v and all(a <= b for a, b in zip(u, v, strict=True)) for u in every)}
    assert {value for value, _ in best_trees(joint, data, max_depth=2)} == front
    assert {value for value, _ in optimal_front(joint, data, max_depth=2)} == front


@pytest.mark.parametrize(
    "task",
    [
        Accuracy().subject_to(at_most(Splits(), 2), MinSupport(2)),
        maximize(Accuracy() + 0.1 * Splits()),
        Gini() & (PessimisticError(0.1) + 0.5 * Splits()),
        SquaredError(0.1, normalized=True).bind(Dataset.make([[0], [1]], [1, 2])),
    ],
)
def test_compositions_are_described_and_rebuilt(task: Task) -> None:
    assert rebuild(json.loads(json.dumps(describe(task)))) == task


THRESHOLDS: list[tuple[Task, list[tuple[Task, Any]]]] = [
    (Misclassifications(), [(Splits(), 1)]),
    (Spread(), [(WORST, 1)]),
    (WORST, [(Misclassifications(), 1.5), (Splits(), 2)]),
    (Splits(), [(SparseAccuracy(0.1), 0.3)]),
    (BalancedAccuracy(), [(Spread() + Splits(), 3)]),
]


@pytest.mark.parametrize(("task", "limits"), THRESHOLDS)
@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_thresholds_keep_the_best_tree_within_them(task: Task, limits: list[tuple[Task, Any]], data: Dataset) -> None:
    limited = task.subject_to(*(at_most(other, limit) for other, limit in limits))
    rows = zip(values(task, data), *(values(other, data) for other, _ in limits), strict=True)
    within = [row[0] for row in rows if all(x <= Fraction(str(m)) for x, (_, m) in zip(row[1:], limits, strict=True))]
    found = optimal_front(limited, data, max_depth=2)
    totals = Totals(limited, data)
    scores = [limited.score(value, totals) for value, _ in found]
    if not within:
        assert scores == []
    else:
        best = task.score(min(within), Totals(task, data))
        assert (max if limited.larger_is_better else min)(scores) == best


@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_the_largest_value_is_found_and_shown(data: Dataset) -> None:
    task = maximize(Gain())
    assert task.larger_is_better
    ((value, tree),) = best_trees(task, data, max_depth=2)
    shown = task.score(value, Totals(task, data))
    assert shown == max(values(Gain(), data)) == Evaluation(Gain(), data).cost(tree)
    told, rows = 2 * Told() + Splits(), np.arange(data.n_rows)
    assert len({each.leaf_label(ExactSums(each, data).state(rows), 0) for each in (told, Told())}) == 1
