"""A row of frequency f is f equal rows, for every family of tasks, driver, limit on leaves and number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.reference import optimum
from streed.tasks import Accuracy, MinSupport, Misclassifications
from tests.differential.frequencies import FAMILIES, differences, draw
from tests.searches import NATIVE, SCALAR

pytestmark = pytest.mark.compiles

COMPILED = ("squares", "worst leaf", "survival", "bits", "complexity", "posterior", "gini")
"""Families for each of which kernels are compiled."""

IN_A_MOMENT = [name for name in FAMILIES if name not in COMPILED]

OTHERS = [
    pytest.param(name, marks=pytest.mark.compiles if name == "squares" else pytest.mark.slow) for name in COMPILED
]

BLOCK = 8


@pytest.mark.parametrize("family", [*IN_A_MOMENT, *OTHERS])
@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (BLOCK, 2 * BLOCK))])
def test_frequencies_are_copies(family: str, first: int) -> None:
    for seed in range(first, first + BLOCK):
        assert not differences(draw(family, seed)), f"{family}, seed {seed}"


@pytest.mark.parametrize("driver", SCALAR)
def test_frequencies_are_copies_by_every_driver(driver: str) -> None:
    for seed in range(40):
        for family in ("errors", "sparse", "classes"):
            assert not differences(draw(family, 1000 + seed, driver)), f"{family}, seed {seed}"


@pytest.mark.parametrize("kinds", [3, 400])
def test_many_rows_are_counted_in_groups_and_row_by_row(kinds: int) -> None:
    """With few kinds of cost and frequency rows are counted, with many they are summed: both by frequency."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 300
        X, y, frequency = rng.integers(0, 2, (n, 6)), rng.integers(0, 3, n), rng.integers(1, kinds, n)
        least = int(frequency.sum() // 5)
        one = streed.solve(Misclassifications(), X, y, frequency=frequency, max_depth=3, min_leaf=least)
        rows = np.repeat(np.arange(n), frequency)
        other = streed.solve(Misclassifications(), X[rows], y[rows], max_depth=3, min_leaf=least)
        assert one.value == other.value
        assert one.value > streed.solve(Misclassifications(), X[rows], y[rows], max_depth=3).value
        assert one.tree is not None
        assert min(leaf.rows for leaf in one.tree.leaves()) >= least


def test_the_reference_counts_by_frequency() -> None:
    for seed in range(20):
        instance = draw("errors", seed, "depth-first")
        data = streed.Dataset.make(instance.X, instance.by_row["y"], frequency=instance.frequency)
        task = Misclassifications().subject_to(MinSupport(20))
        by_reference = optimum(task, data, max_depth=2)
        copies = optimum(task, data.expanded(), max_depth=2)
        assert (by_reference is None) == (copies is None)
        if by_reference is not None and copies is not None:
            assert by_reference[0] == copies[0]


def test_four_rows_of_ten_are_forty_rows() -> None:
    """XOR: four rows that stand for ten each, and forty rows, can be split as finely; weights are no rows."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    limits: dict[str, Any] = {"max_depth": 2, "min_leaf": 5}
    assert streed.solve(Misclassifications(), X, y, frequency=[10] * 4, **limits).value == 0
    copies = streed.solve(Misclassifications(), np.repeat(X, 10, axis=0), np.repeat(y, 10), **limits)
    assert copies.value == 0
    assert streed.solve(Misclassifications(), X, y, sample_weight=[10] * 4, max_depth=2, min_leaf=2).value == 20


def test_a_million_copies_take_no_room() -> None:
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    million = 10**6
    for task in (Accuracy(), Accuracy().subject_to(MinSupport(million))):
        for driver in (*NATIVE, "general"):
            result = streed.solve(task, X, y, frequency=[million, 3 * million, 10**9, 2], max_depth=2, search=driver)
            assert result.value == (0 if task == Accuracy() else 2)
            assert result.tree is not None
            assert sum(leaf.rows for leaf in result.tree.leaves()) == 10**9 + 4 * million + 2
