"""What shipped tasks declare for the bounds holds whatever rows weigh: less than one, nothing, or billions.

Data are drawn by a fixed seed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from streed.data import Dataset
from streed.reference import every_tree
from streed.task import Task
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
from streed.tree.evaluation import check_declarations

DATA_SETS = 16

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


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_no_tree_refutes_what_shipped_tasks_declare(task: Task) -> None:
    for data in data_sets(task):
        if isinstance(task, CostSensitive) and data.n_classes < 3:
            continue
        bound = task.bind(data)
        for root in every_tree(bound, data, max_depth=1):
            check_declarations(bound, data, root)
