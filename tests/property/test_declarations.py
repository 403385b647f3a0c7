"""What shipped tasks declare for the bounds holds whatever rows weigh: less than one, nothing, or billions.

Data are drawn by a fixed seed. The law of each declaration is that of `streed.Task`.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from streed import registry
from streed.data import Dataset
from streed.exact import exact_number
from streed.reference import Evaluation
from streed.reference.definition import OptimizationTask, S
from streed.reference.recursion import Recursion
from streed.task import TOTAL, Task
from streed.task.sums import SumTask
from streed.tasks import (
    AbsoluteError,
    Accuracy,
    BayesianTree,
    BrierScore,
    CostSensitive,
    Entropy,
    Gini,
    InstanceCosts,
    LinearLeaves,
    MehtaMDL,
    MinimumError,
    Misclassifications,
    PessimisticError,
    PoissonDeviance,
    QuantileError,
    QuinlanMDL,
    RelativeRisk,
    SparseAccuracy,
    Splits,
    SquaredError,
    TreatmentCosts,
    WorstLeaf,
)
from streed.tasks.cost_tables import CostTable, TestCost

DATA_SETS = 40

KINDS = (
    (0.25, 1),
    (0.01, 0.5, 0.75, 1.25),
    (0, 0.3, 1),
    (0, 1e-9, 1),
    (1e6, 1e9, 2**40),
    (0, 0.1, 1, 50, 1e9),
    (1, 2, 3, 0),
    None,
)
"""Weights of the rows of one data set."""

ONE_COST = CostTable.of([[0, 2, 5], [1.5, 0, 4], [3, 3, 0]], [TestCost("x0", 1.5, 0.5, "lab"), TestCost("x1", 2)])

TASKS: list[Task] = [
    *(PessimisticError(confidence) for confidence in (0.0001, 0.001, 0.01, 0.1, 0.25, 0.6, 1.0)),
    *(MinimumError(m=m) for m in (None, 0.01, 0.5, 10)),
    *(BayesianTree(concentration=a, growth=g) for a, g in ((0.01, 1), (0.3, 1), (1, 0.5), (2.5, 1))),
    *(QuinlanMDL(tree_bits=bits) for bits in (True, False)),
    *(MehtaMDL(tree_bits=bits) for bits in (True, False)),
    BrierScore(),
    Gini(),
    Entropy(),
    WorstLeaf(),
    SquaredError(),
    SquaredError(0.01, normalized=True),
    PoissonDeviance(),
    RelativeRisk(),
    LinearLeaves(0.5),
    AbsoluteError(),
    QuantileError(0.25),
    CostSensitive(ONE_COST),
    Accuracy(),
    SparseAccuracy(0.025),
    InstanceCosts(),
    TreatmentCosts({0: 1, 1: 2.5}),
    Misclassifications() + 0.5 * Gini(),
    Gini() + 0.25 * Splits(),
    PessimisticError(0.001) + 0.5 * Entropy(),
]

every_task = pytest.mark.parametrize("task", TASKS, ids=repr)


def data_sets(task: Task) -> Iterator[Dataset]:
    """Small data that the task accepts."""
    rng = np.random.default_rng(zlib.crc32(repr(task).encode()))
    for number in range(DATA_SETS):
        n = int(rng.integers(2, 6))
        kind = None if isinstance(task, CostSensitive) else KINDS[number % len(KINDS)]
        weights = None if kind is None else rng.choice(np.array(kind, dtype=float), n)
        if weights is not None and not weights.any():
            weights[0] = 1
        y = rng.integers(0, 3, n)
        y[: min(n, 3)] = np.arange(3)[:n] if n >= 3 else 0
        yield Dataset.make(
            rng.integers(0, 2, (n, 2)),
            np.array([0, 1, 2, *y])[3:] if n >= 3 else y,
            sample_weight=weights,
            exposure=rng.integers(1, 4, n),
            event=np.maximum(
                rng.integers(0, 2, n), np.arange(n) == (0 if weights is None else int(np.argmax(weights)))
            ),
            features=rng.normal(size=(n, 1)),
            costs=rng.integers(-3, 6, (n, 3)),
            predicted=rng.integers(-3, 6, (n, 2)),
        )


def cases(task: Task) -> Iterator[Evaluation]:
    for data in data_sets(task):
        if isinstance(task, CostSensitive) and data.n_classes < 3:
            continue
        yield Evaluation(task, data)


def subsets(n: int) -> Iterator[list[int]]:
    for size in range(1, n + 1):
        yield from map(list, itertools.combinations(range(n), size))


def slack(*values: Any) -> Fraction:
    """What rounding may make of numbers of this size."""
    return Fraction(max(abs(float(value)) for value in values)) / 10**9 + Fraction(1, 10**12)


def cancelled(data: Dataset) -> Fraction:
    """What is left of a small difference of two sums over all rows."""
    return Fraction(data.n_rows if data.weights is None else float(data.weights.sum())) / 2**48


def least(evaluation: Evaluation, rows: list[int]) -> Any:
    state = evaluation.state(rows)
    return min(evaluation.task.leaf_cost(state, k) for k in range(len(evaluation.labels)))


@every_task
def test_no_tree_at_any_state_is_better_than_the_lower_bound(task: Task) -> None:
    for evaluation in cases(task):
        data = evaluation.data
        recursion = Recursion(OptimizationTask(task, data))
        for rows in subsets(data.n_rows):
            bound = evaluation.task.lower_bound(evaluation.state(rows))
            if bound is None:
                continue
            (best,) = recursion.T(S(sum(1 << row for row in rows), ()), None, None)
            assert bound <= best.value + slack(best.value), (rows, data.weights)


@every_task
def test_a_row_more_costs_between_nothing_and_its_worst(task: Task) -> None:
    for evaluation in cases(task):
        data = evaluation.data
        worst = evaluation.task.worst_per_row(data)
        if worst is None:
            continue
        for rows in subsets(data.n_rows):
            before = least(evaluation, rows)
            for row in set(range(data.n_rows)) - set(rows):
                after = least(evaluation, sorted([*rows, row]))
                weight = 1 if data.weights is None else exact_number(data.weights[row].item())
                rounding = slack(before, after) + cancelled(data)
                assert before <= after + rounding, (rows, row, data.weights)
                assert after <= before + Fraction(float(worst[row])) * weight + rounding, (rows, row, data.weights)


@every_task
def test_declared_superadditivity_and_worsening(task: Task) -> None:
    for evaluation in cases(task):
        bound = evaluation.task
        for rows in subsets(evaluation.data.n_rows):
            for part in subsets(len(rows) - 1):
                inside = [rows[place] for place in part]
                parts = [least(evaluation, side) for side in (inside, [row for row in rows if row not in inside])]
                together = functools.reduce(bound.combine, parts)
                if bound.superadditive and bound.order == TOTAL:
                    assert least(evaluation, rows) >= together - slack(*parts), (rows, inside)
                if bound.worsening:
                    assert together >= max(parts) - slack(*parts), (rows, inside)


@every_task
def test_declared_grain_labels_and_prices(task: Task) -> None:
    for evaluation in cases(task):
        bound, data = evaluation.task, evaluation.data
        priced = bound.priced(data)
        prices = None if priced is None else Evaluation(priced.costs, data)
        for rows in subsets(data.n_rows):
            state = evaluation.state(rows)
            costs = [bound.leaf_cost(state, k) for k in range(len(evaluation.labels))]
            if bound.grain is not None:
                assert all(Fraction(cost) % bound.grain == 0 for cost in costs)
            if bound.any_label:
                assert {bound.leaf_cost(state, k) for k in range(5)} == set(costs)
            if priced is None or prices is None:
                continue
            own = prices.state(rows)
            assert costs == [priced.costs.leaf_cost(own, k) for k in range(len(costs))]
            for split, path in itertools.product(range(data.n_columns), ((), (0,), (1,), (0, 1))):
                price = min([priced.full[split], *(priced.given[column, split] for column in path)])
                assert bound.branching_cost(len(rows), path, split) == len(rows) * int(price) * priced.unit


def test_the_bound_of_pessimistic_errors_under_weights_below_one() -> None:
    """Two rows of the same column, of weights 0.25 and 1: one leaf, whose cost is 1.1675."""
    task = PessimisticError(0.001)
    evaluation = Evaluation(task, Dataset.make([[0, 0], [0, 0]], [0, 1], sample_weight=[0.25, 1]))
    rows = [0, 1]
    assert float(least(evaluation, rows)) == pytest.approx(1.1675)
    bound = evaluation.task.lower_bound(evaluation.state(rows))
    assert bound is not None
    assert bound <= 1.1675


@pytest.mark.parametrize("confidence", [0.0001, 0.0007, 0.001, 0.003, 0.01, 0.1, 0.25, 0.6, 1.0])
def test_the_bound_of_pessimistic_errors_lies_below_every_leaf_and_is_subadditive(confidence: float) -> None:
    """On a grid of rows and errors that are not whole, and beside the kinks of its three functions."""
    from streed.task import State

    task = PessimisticError(confidence)

    def bound(rows: float) -> float:
        return float(task.lower_bound(State(1, counts=(rows, 0.0))))

    sizes = [*np.linspace(0.01, 4, 200), 5.5, 10, 33.3, 1e3, 1e9]
    for rows in sizes:
        for errors in {*np.linspace(0, rows, 40), *(x for x in (0.999, 1, rows - 0.5, rows - 0.51) if 0 <= x <= rows)}:
            cost = task.leaf_cost(State(2, counts=(rows - errors, errors)), 0)
            assert bound(rows) <= cost + 1e-9 * (1 + cost), (rows, errors)
    for a, b in itertools.product(sizes[::7], repeat=2):
        assert bound(a + b) <= (bound(a) + bound(b)) * (1 + 1e-9)


def test_every_shipped_task_that_declares_anything_is_here() -> None:
    """Tasks of their own leaf costs; those of costs per row and of sums have these facts by what they are."""
    from streed.task import Composition, RowCostTask

    shipped = {entry.made_by for entry in registry.tasks().values()}
    own = {
        kind
        for kind in shipped
        if not issubclass(kind, (RowCostTask, Composition, SumTask))
        and (
            kind.superadditive is True
            or kind.lower_bound is not Task.lower_bound
            or kind.worst_per_row is not Task.worst_per_row
            or kind.priced is not Task.priced
            or kind.grain is not Task.grain
        )
    }
    assert own <= set(map(type, TASKS))
