"""The facts that the objectives of sums declare, on random small data: each would make a bound unsound if it failed."""

from __future__ import annotations

import itertools
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
from streed.reference import Evaluation, best_trees, optimum
from streed.task import GeneralTask, RowCostTask, Task
from streed.task.sums import SumTask
from streed.tasks import PessimisticError, WorstLeaf
from tests.shipped import examples, of_any_data

OF_STATISTICS = {
    name: entry
    for name, entry in of_any_data(Task).items()
    if not issubclass(entry.made_by, RowCostTask | SumTask | GeneralTask) and entry.made_by.order == "total"
}
"""Tasks whose leaves cost a function of sums; those of costs per row are in tests/property/test_task_laws.py."""

every_task = pytest.mark.parametrize("task", [task for name in OF_STATISTICS for task in examples(name)], ids=repr)

TINY = 1e-9


@st.composite
def data_sets(draw: st.DrawFn, most_rows: int = 6) -> Dataset:
    n = draw(st.integers(1, most_rows))
    bits = st.lists(st.integers(0, 1), min_size=2, max_size=2)
    y = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from((0, 0.25, 1, 3)), min_size=n, max_size=n).filter(any))
    return Dataset.make(draw(st.lists(bits, min_size=n, max_size=n)), y, sample_weight=weights)


def least(evaluation: Evaluation, rows: Any) -> float:
    """g*(s): the least cost of a leaf."""
    state = evaluation.state(list(rows))
    return min(float(evaluation.task.leaf_cost(state, k)) for k in range(len(evaluation.labels)))


@every_task
@given(data=data_sets())
@settings(max_examples=12, deadline=None)
def test_the_recursion_finds_the_enumerated_optimum(task: Task, data: Dataset) -> None:
    found = optimum(task, data, max_depth=2)
    every = best_trees(task, data, max_depth=2)
    assert found is not None
    assert float(found[0]) == pytest.approx(min(float(value) for value, _ in every), abs=TINY)
    assert float(Evaluation(task, data).cost(found[1])) == pytest.approx(float(found[0]), abs=TINY)


@every_task
@given(data=data_sets())
@settings(max_examples=12, deadline=None)
def test_no_tree_is_better_than_the_lower_bound(task: Task, data: Dataset) -> None:
    evaluation = Evaluation(task, data)
    bound = evaluation.task.lower_bound(evaluation.state(evaluation.root_rows))
    found = optimum(task, data)
    assert bound is not None
    assert found is not None
    assert bound <= float(found[0]) + TINY


@every_task
@given(data=data_sets(), draws=st.data())
@settings(max_examples=12, deadline=None)
def test_a_further_row_costs_between_nothing_and_its_worst(task: Task, data: Dataset, draws: st.DataObject) -> None:
    evaluation = Evaluation(task, data)
    worst = evaluation.task.worst_per_row(data)
    if worst is None:
        return
    order = draws.draw(st.permutations(range(data.n_rows)))
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    for size in range(1, data.n_rows):
        before, after = least(evaluation, order[:size]), least(evaluation, order[: size + 1])
        row = order[size]
        assert before <= after + TINY
        assert after <= before + worst[row] * weights[row] + TINY


@every_task
@given(data=data_sets(), draws=st.data())
@settings(max_examples=12, deadline=None)
def test_declared_superadditivity_and_worsening(task: Task, data: Dataset, draws: st.DataObject) -> None:
    evaluation = Evaluation(task, data)
    if data.n_rows < 2:
        return
    order = draws.draw(st.permutations(range(data.n_rows)))
    at = draws.draw(st.integers(1, data.n_rows - 1))
    whole, parts = least(evaluation, order), [least(evaluation, order[:at]), least(evaluation, order[at:])]
    if task.superadditive:
        assert whole >= sum(parts) - TINY
    if task.worsening:
        assert min(parts) >= -TINY
        assert task.combine(*parts) >= max(parts) - TINY
        assert (evaluation.task.branching_cost(data.n_rows, (), 0) or 0) >= 0


@every_task
@given(data=data_sets())
@settings(max_examples=10, deadline=None)
def test_no_leaf_cost_of_all_labels_differs_where_any_label_is_declared(task: Task, data: Dataset) -> None:
    evaluation = Evaluation(task, data)
    state = evaluation.state(evaluation.root_rows)
    if task.any_label:
        assert len(evaluation.labels) == 1
        assert {evaluation.task.leaf_cost(state, k) for k in range(3)} == {evaluation.task.leaf_cost(state, 0)}
    else:
        assert evaluation.labels == data.classes


@pytest.mark.parametrize("confidence", [0.0001, 0.001, 0.01, 0.25, 0.5, 1.0])
def test_pessimistic_errors_grow_with_errors_and_lie_above_their_bound(confidence: float) -> None:
    task = PessimisticError(confidence)
    for rows in [*range(1, 40), 100, 1000, 10**6]:
        costs = [task.leaf_cost(_state(rows, errors), 0) for errors in range(min(rows, 40) + 1)]
        assert all(a <= b + TINY for a, b in itertools.pairwise(costs))
        assert all(task.lower_bound(_state(rows, errors)) <= cost + TINY for errors, cost in enumerate(costs))
        assert all(errors <= cost for errors, cost in enumerate(costs))


def _state(rows: int, errors: int) -> Any:
    from streed.task import State

    return State(rows, counts=(rows - errors, errors))


@given(a=st.fractions(0, 1), b=st.fractions(0, 1), x=st.fractions(0, 1))
def test_the_bound_for_the_sibling_under_max(a: Any, b: Any, x: Any) -> None:
    """subtract: combine(x, b) is better than a only if x is better than u."""
    task = WorstLeaf()
    bound = task.subtract(a, b)
    if task.better(task.combine(x, b), a):
        assert task.better(x, bound)


def test_bound_fields_are_no_parameters() -> None:
    for entry in OF_STATISTICS.values():
        fields = {field.alias for field in attrs.fields(entry.made_by) if field.metadata.get("bound")}
        assert not fields & set(entry.parameters)
