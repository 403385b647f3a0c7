"""Compositions of tasks, against what their parts say of every tree."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.reference import Evaluation, best_trees, optimal_front
from streed.task import COMPONENTWISE, PARTIAL, State, Task, Totals
from streed.task.algebra import Constrained, Product, Sum, WeightedSum, exact_costs, maximize
from streed.task.analysis.linear_form import row_cost_form
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
    Paired,
    Pairs,
    Spread,
    Treatments,
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


def test_sums_of_costs_per_row_stay_costs_per_row() -> None:
    assert isinstance(Accuracy() + 0.1 * Splits(), WeightedSum)
    assert isinstance(3 * Accuracy(), WeightedSum)
    assert isinstance(Accuracy() + 0.0 * Spread(), Sum)


def test_labels_are_those_of_the_task_that_cares() -> None:
    data = some_data()
    assert tuple((Spread() + Accuracy()).labels(data)) == (0, 1)
    assert (Spread() + Accuracy()).shows_labels
    assert tuple((Splits() + Treatments()).labels(data)) == ("drug", "placebo", "nothing")
    both = Splits() + Spread()
    assert tuple(both.labels(data)) == ("share",)
    assert not both.shows_labels
    assert both.leaf_label(State(3, part1_positive=2, part1_negative=1), 0) == Fraction(2, 3)
    with pytest.raises(TaskError, match="Accuracy and Treatments cannot be joined"):
        (Accuracy() + Treatments()).bind(data).labels(data)
    with pytest.raises(TaskError, match="Treatments and Accuracy cannot be joined"):
        (Treatments() & Accuracy()).bind(data).labels(data)


def test_any_label_joins_row_costs_of_other_labels() -> None:
    form = row_cost_form(Treatments(), some_data())
    assert form is not None
    costs = exact_costs((form + 0.5 * Splits()).bind(some_data()), some_data())
    assert costs.costs.shape == (7, 3)
    assert (costs.unit * costs.costs[1]).tolist() == [0, 1, 2]
    assert costs.unit * costs.split == Fraction(1, 2)


def test_facts_of_a_sum_follow_from_its_terms() -> None:
    whole = State(3, part0_positive=2, part0_negative=1, part1_cost=(1, 2))
    one = Spread() + 0.5 * Misclassifications()
    assert isinstance(one, Sum)
    assert one.superadditive
    assert one.worsening
    assert one.lower_bound(whole) == 0
    assert not (Accuracy() + Gain()).worsening
    assert (Spread() + Gain()).lower_bound(State(1, part0_positive=1, part0_negative=0)) is None
    assert not (Spread() + Treatments() + Gain()).superadditive
    assert one.worst_per_row(some_data()) is None
    twice = 2 * Spread() + Spread()
    assert twice.superadditive
    assert twice.worsening
    assert twice.lower_bound(State(3, part0_positive=2, part0_negative=1, part1_positive=2, part1_negative=1)) == 0
    worst = twice.worst_per_row(some_data())
    assert worst is not None
    assert worst.tolist() == [21.0] * 7


@pytest.mark.parametrize("other", [WorstLeaf(), Pairs()])
def test_only_additive_tasks_are_added(other: Task) -> None:
    with pytest.raises(NotSeparableError, match=r"Def\. 4\.4"):
        Accuracy() + other
    with pytest.raises(NotSeparableError, match=r"Def\. 4\.4"):
        2 * other


def test_tuples_are_not_added() -> None:
    with pytest.raises(TaskError, match="costs are numbers"):
        (Paired() + Accuracy()).leaf_cost(State(2, part0_y=1, part1_cost=(1, 1)), 0)
    with pytest.raises(TaskError, match="values are numbers"):
        (Paired() & Accuracy()).leaf_cost(State(2, part0_y=1, part1_cost=(1, 1)), 0)


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


@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_a_product_of_other_orders_is_partial(data: Dataset) -> None:
    joint = Misclassifications() & Largest()
    assert joint.order == PARTIAL
    every = set(values(joint, data))
    front = {v for v in every if not any(u != v and u[0] <= v[0] and u[1] >= v[1] for u in every)}
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


def test_a_task_stays_hashable_and_comparable() -> None:
    assert SparseAccuracy(0.1) == SparseAccuracy(0.1)
    assert SparseAccuracy(0.1) != SparseAccuracy(0.2)
    assert len({Accuracy(), Accuracy(), Splits()}) == 2


@pytest.mark.parametrize(
    "task",
    [
        Spread(),
        2 * Spread() + 0.5 * Splits() + Gain(),
        maximize(Gain() + 3 * Spread()),
        0.5 * maximize(Gain() + 3 * Spread()) - Misclassifications(),
        (Spread() + 0.25 * Misclassifications()).subject_to(MinSupport(2)),
    ],
)
@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_written_terms_add_up_to_the_task(task: Task, data: Dataset) -> None:
    evaluation = Evaluation(task, data)
    terms = evaluation.task.written_terms()
    assert not any(isinstance(term.task, (Sum, Constrained)) for term in terms)
    state = evaluation.state(evaluation.root_rows)
    for k in range(len(evaluation.labels)):
        total: Any = 0
        for term in terms:
            own = {name: getattr(state, term.prefix + name) for name in term.task.statistics(data)}
            total += term.weight * term.task.leaf_cost(State(state.rows, **own), 0 if term.task.any_label else k)
        assert total == evaluation.task.leaf_cost(state, k)
    costs = [term.weight * (term.task.branching_cost(data.n_rows, (), 0) or 0) for term in terms]
    assert sum(costs) == (evaluation.task.branching_cost(data.n_rows, (), 0) or 0)


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
