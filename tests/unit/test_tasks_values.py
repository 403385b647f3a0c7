"""Objectives computed by hand, and as pystreed 1.4.0's `accuracy-flex` computes them for one leaf.

pystreed shows no objective value; the recorded ones are the least `upper_bound` for which it finds the leaf, which it
compares with a tolerance of 0.01 %.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from streed.data import Dataset
from streed.errors import InputError
from streed.reference import Evaluation, optimum
from streed.task import State, Task
from streed.tasks import (
    BayesianTree,
    Entropy,
    Gini,
    Lexicographic,
    MehtaMDL,
    MinimumError,
    Misclassifications,
    PessimisticError,
    QuinlanMDL,
    SquaredError,
    WorstLeaf,
)

NATS = math.log(2)


def leaf(task: Task, *counts: int) -> float:
    """The cost of a leaf with these numbers of rows per class, on data that has no columns to split."""
    y = [k for k, count in enumerate(counts) for _ in range(count)]
    evaluation = Evaluation(task, Dataset.make([[0]] * len(y), y))
    state = evaluation.state(evaluation.root_rows)
    return min(float(evaluation.task.leaf_cost(state, k)) for k in range(len(evaluation.labels)))


@pytest.mark.parametrize(
    ("task", "unit", "mixed", "many"),
    [
        (Misclassifications(), 1, 2.9997, 9.999),
        (Gini(), 1, 4.19958, 14.9985),
        (Entropy(), 1, 8.812028, 32.44788),
        (QuinlanMDL(tree_bits=False), 1, 9.490904, 34.047824),
        (MehtaMDL(tree_bits=False), NATS, 8.057286, 25.133488),
        (PessimisticError(), 1, 4.590815, 12.530208),
        (BayesianTree(concentration=2.5), 1, 6.934692, 24.150635),
        (MinimumError(), 1, 3.333, 10.475143),
    ],
)
def test_one_leaf_costs_what_pystreed_has(task: Task, unit: float, mixed: float, many: float) -> None:
    """Leaves of (3, 7) and (10, 30) rows."""
    assert leaf(task, 3, 7) * unit == pytest.approx(1.0001 * mixed, abs=2e-6)
    assert leaf(task, 10, 30) * unit == pytest.approx(1.0001 * many, abs=4e-6)
    assert leaf(task, 7, 3) == pytest.approx(leaf(task, 3, 7), abs=1e-12)


def test_impurities_by_hand() -> None:
    assert leaf(Gini(), 1, 1, 2) == 4 * (1 - 1 / 16 - 1 / 16 - 1 / 4)
    assert leaf(Entropy(), 1, 1, 2) == 2 + 2 + 2
    assert leaf(Gini(), 5) == leaf(Entropy(), 5) == 0


def test_description_lengths_by_hand() -> None:
    # b = 4 of 7 rows, C(7, 3) = 35
    assert leaf(QuinlanMDL(tree_bits=False), 3, 4) == pytest.approx(math.log2(5) + math.log2(35))
    # three classes: b = 4, C(4, 2) = 6, two exceptions of two classes each; 1 bit and log2(3) for the leaf
    assert leaf(QuinlanMDL(), 1, 1, 2) == pytest.approx(1 + math.log2(3) + math.log2(5) + math.log2(6) + 2)
    # (K - 1) / 2 log2(n / 2) = 1, pi^1.5 / Gamma(1.5) = 2 pi
    assert leaf(MehtaMDL(tree_bits=False), 1, 1, 2) == pytest.approx(6 + 1 + math.log2(2 * math.pi))
    data = Dataset.make(np.eye(8, 8, dtype=np.uint8), [0, 1] * 4)
    for task in (QuinlanMDL(), MehtaMDL()):
        assert task.bind(data).branching_cost(8, (), 0) == 1 + 3
    assert QuinlanMDL(tree_bits=False).bind(data).branching_cost(8, (), 0) == 0


def test_expected_errors_by_hand() -> None:
    assert leaf(MinimumError(), 1, 1, 2) == pytest.approx(4 * (2 + 2) / 7)
    # shares 1/4, 1/4, 1/2 of all rows, which are the leaf's
    assert leaf(MinimumError(m=2), 1, 1, 2) == pytest.approx(4 * (2 + 0.5 * 2) / 6)
    # no errors among one row at CF 0.25; one among two, by the normal approximation with z = 0.6925
    assert leaf(PessimisticError(), 1) == pytest.approx(0.75)
    spread = math.sqrt(0.6925**2 * (1.5 * 0.25 + 0.6925**2 / 4))
    assert leaf(PessimisticError(), 1, 1) == pytest.approx(2 * (1.5 + 0.6925**2 / 2 + spread) / (2 + 0.6925**2))


def test_posterior_by_hand() -> None:
    # uniform prior: the probability of a sequence of 3 and 7 is 3! 7! / 11!
    assert leaf(BayesianTree(), 3, 7) == pytest.approx(math.log(math.factorial(11) / 6 / math.factorial(7)))
    assert BayesianTree(growth=0.25).branching_cost(5, (), 0) == pytest.approx(math.log(4))
    assert BayesianTree().branching_cost(5, (), 0) == 0


def test_lexicographic_takes_errors_first_and_then_nodes() -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1]]
    data = Dataset.make(X, [0, 1, 0, 1, 1], sample_weight=[1, 2, 3, 1, 1])
    found = optimum(Lexicographic(), data)
    assert Lexicographic().score(found[0], State(data.n_rows)) == (0, 1)
    none = optimum(Lexicographic(), data, max_depth=0)
    assert Lexicographic().score(none[0], State(data.n_rows)) == (4, 0)
    with pytest.raises(InputError, match="weight is not whole"):
        Lexicographic().bind(Dataset.make(X, [0, 1, 0, 1, 1], sample_weight=[0.5, 1, 1, 1, 1]))


def test_squared_errors_by_hand() -> None:
    X, y = [[0], [0], [1], [1]], [1.0, 2.0, 5.0, 5.0]
    data = Dataset.make(X, y)
    found = optimum(SquaredError(), data, max_depth=0)
    assert float(found[0]) == pytest.approx(12.75)  # mean 3.25: 2.25^2 + 1.25^2 + 1.75^2 + 1.75^2
    assert float(optimum(SquaredError(), data)[0]) == 0.5
    assert float(optimum(SquaredError(13), data)[0]) == pytest.approx(12.75)
    share = optimum(SquaredError(0.125, normalized=True), data)
    assert float(share[0]) == pytest.approx(0.5 / 12.75 + 0.125)
    bound = SquaredError().bind(data)
    evaluation = Evaluation(SquaredError(), data)
    assert bound.leaf_label(evaluation.state([0, 1]), 0) == 1.5


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: PessimisticError(0), "confidence"),
        (lambda: PessimisticError(1.5), "confidence"),
        (lambda: MinimumError(m=0), "m"),
        (lambda: BayesianTree(concentration=0), "concentration"),
        (lambda: BayesianTree(growth=0), "growth"),
        (lambda: BayesianTree(growth=2), "growth"),
        (lambda: SquaredError(-1), "cost_complexity"),
        (lambda: SquaredError().bind(Dataset.make([[0], [1]], ["a", "b"])), "y"),
        (lambda: Gini().bind(Dataset.make([[0]] * 40, [row + 0.5 for row in range(40)])), "y"),
        (lambda: WorstLeaf().statistics(Dataset.make([[0]] * 40, [row + 0.5 for row in range(40)])), "y"),
    ],
)
def test_refuses(make: Any, argument: str) -> None:
    with pytest.raises(InputError) as refused:
        make()
    assert refused.value.argument == argument
