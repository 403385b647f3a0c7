"""Compositions of tasks, against what their parts say of every tree."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.reference import best_trees, optimal_front
from streed.task import COMPONENTWISE, State, Task, Totals
from streed.task.algebra import Product, Sum, maximize
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
    assert isinstance(joint, Product)
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
