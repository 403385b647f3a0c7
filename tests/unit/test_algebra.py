"""Compositions of tasks, against what their parts say of every tree: sums, products, limits, and the largest value."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.reference import Evaluation, best_trees, optimal_front
from streed.task import COMPONENTWISE, State, Task, Totals
from streed.task.algebra import Sum, maximize
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
from streed.tree.description import describe, rebuild
from tests.unit.algebra_tasks import (
    Gain,
    Largest,
    Pairs,
    Spread,
    WorstLeaf,
    data_sets,
    most,
    some_data,
    values,
)

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
        expected = [
            sofar + Fraction(str(weight)) * value for sofar, value in zip(expected, values(term, data), strict=True)
        ]
    assert values(total, data) == expected


@pytest.mark.parametrize("other", [WorstLeaf(), Pairs()])
def test_only_additive_tasks_are_added(other: Task) -> None:
    with pytest.raises(NotSeparableError, match=r"Def\. 4\.4"):
        Accuracy() + other
    with pytest.raises(NotSeparableError, match=r"Def\. 4\.4"):
        2 * other


def test_weights_are_not_negative_and_limits_come_last() -> None:
    with pytest.raises(TaskError, match="negative"):
        -1 * Spread()
    makes: list[Any] = [lambda a: a + Splits(), lambda a: 2 * a, lambda a: a & Splits(), lambda a: a <= 3]
    for make in makes:
        with pytest.raises(TaskError, match="subject_to last"):
            make(Accuracy().subject_to(MinSupport(2)))
    with pytest.raises(TaskError, match="is none"):
        Accuracy() + 1  # type: ignore[operator]
    with pytest.raises(TaskError, match="is none"):
        Accuracy() & 1  # type: ignore[operator]


PRODUCTS = [
    [Misclassifications(), Splits()],
    [Spread(), WorstLeaf()],
    [WorstLeaf(), Splits(), Misclassifications()],
]


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


def test_a_product_scores_part_by_part() -> None:
    data = some_data()
    joint = BalancedAccuracy() & Splits()
    assert joint.larger_is_better
    totals = Totals(joint, data)
    assert joint.score((Fraction(1, 4), 2), totals) == (Fraction(3, 4), 2)
    assert (Spread() & Splits()).lower_bound(State(1, part0_positive=1, part0_negative=0)) is None
    assert (Spread() & Spread()).lower_bound(State(1)) == (0, 0)
    assert (Spread() & Splits()).subtract((3, 4), (1, 1)) == (2, 3)
    assert (Spread() & WorstLeaf()).subtract((3, 4), (1, 1)) is None


@pytest.mark.parametrize(
    "task",
    [
        Accuracy().subject_to(most(Splits(), 2), MinSupport(2)),
        maximize(Accuracy() + 0.1 * Splits()),
        Gini() & (PessimisticError(0.1) + 0.5 * Splits()),
        SquaredError(0.1, normalized=True).bind(Dataset.make([[0], [1]], [1, 2])),
    ],
)
def test_compositions_are_described_and_rebuilt(task: Task) -> None:
    assert rebuild(json.loads(json.dumps(describe(task)))) == task


THRESHOLDS: list[tuple[Task, list[tuple[Task, Any]]]] = [
    (Misclassifications(), [(Splits(), 1)]),
    (Spread(), [(WorstLeaf(), 1)]),
    (WorstLeaf(), [(Misclassifications(), 1.5), (Splits(), 2)]),
    (Splits(), [(SparseAccuracy(0.1), 0.3)]),
    (BalancedAccuracy(), [(Spread() + Splits(), 3)]),
]


@pytest.mark.parametrize(("task", "limits"), THRESHOLDS)
@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_thresholds_keep_the_best_tree_within_them(task: Task, limits: list[tuple[Task, Any]], data: Dataset) -> None:
    limited = task.subject_to(*(most(other, limit) for other, limit in limits))
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


def test_a_limit_needs_a_worsening_operator() -> None:
    with pytest.raises(NotSeparableError, match=r"Def\. A\.2"):
        most(Largest(), 3)
    with pytest.raises(NotSeparableError, match=r"Def\. A\.2.*costs may be negative"):
        Accuracy().subject_to(most(Gain(), 3)).bind(some_data())
    with pytest.raises(NotSeparableError, match=r"Def\. A\.2"):
        Accuracy().subject_to(most(Gain() + Accuracy(), 3)).bind(some_data())
    with pytest.raises(TaskError, match="not the value"):
        most(BalancedAccuracy(), 0.8)
    with pytest.raises(TaskError, match="is componentwise"):
        most(Accuracy() & Splits(), 3)
    with pytest.raises(TaskError, match="is componentwise"):
        (Accuracy() & Splits()).subject_to(most(Splits(), 3))
    with pytest.raises(TaskError, match="subject_to takes limits"):
        Accuracy().subject_to(3)  # type: ignore[arg-type]


@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_the_largest_value_is_found_and_shown(data: Dataset) -> None:
    task = maximize(Gain())
    assert task.larger_is_better
    ((value, tree),) = best_trees(task, data, max_depth=2)
    shown = task.score(value, Totals(task, data))
    assert shown == max(values(Gain(), data)) == Evaluation(Gain(), data).cost(tree)
