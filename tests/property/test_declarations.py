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

from streed.data import Dataset
from streed.exact import exact_number
from streed.reference import Evaluation
from streed.reference.definition import OptimizationTask, S
from streed.reference.recursion import Recursion
from streed.task import TOTAL, Task
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
