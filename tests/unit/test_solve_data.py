"""`streed.solve` with any labels, weights and tables, and the caller's objects after it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from streed.data import Dataset
from streed.solve import solve
from streed.tasks import Accuracy, BalancedAccuracy, SparseAccuracy
from tests.unit.outcomes import BOTH, CUBE, check, tree_of
from tests.unit.specimens import XOR

# -- labels ------------------------------------------------------------------------------------------------------------

LABELS: list[Any] = [
    [0, 1],
    [-1, 1],
    [1, 2],
    [0, 10**6],
    [-(2**70), 2**70],
    ["no", "yes"],
    [False, True],
    [0.0, 1.0],
    [Fraction(1, 3), Fraction(2, 3)],
    [(0, "a"), (0, "b")],
]


@pytest.mark.parametrize("pair", LABELS)
def test_any_labels(pair: Any) -> None:
    y = [pair[k] for k in [0, 1, 1, 0]]
    for task in (Accuracy(), SparseAccuracy(0.01), BalancedAccuracy()):
        predicted = tree_of(solve(task, XOR, y, max_depth=2)).predict(XOR)
        assert predicted.tolist() == y
        assert [type(label) for label in predicted.tolist()] == [type(label) for label in y]


def test_no_labels_one_label_and_one_row() -> None:
    for X, y, shown in (
        (CUBE, None, None),
        (CUBE, ["only"] * 8, "only"),
        (CUBE, [True] * 8, True),
        ([[1, 0]], [7], 7),
        ([[0]], ["x"], "x"),
    ):
        several: tuple[dict[str, Any], ...] = ({}, {"max_depth": 0}, {"max_depth": 4}, {"max_nodes": 2})
        for limits in several:
            result = solve(Accuracy(), X, y, **limits)
            assert (result.value, result.status, tree_of(result).shows()) == (0, "optimal", (shown,))
    assert solve(BalancedAccuracy(), CUBE, [3] * 8).value == 1
    assert solve(SparseAccuracy(0.1), [[1, 0]], [7]).value == 0


def test_the_label_of_a_tie_is_the_smallest() -> None:
    assert tree_of(solve(Accuracy(), CUBE, ["b", "a"] * 4, max_depth=0)).shows() == ("a",)


@pytest.mark.parametrize(
    ("weights", "optimum"),
    [
        ([1, 1, 1, 1, 1, 1, 3, 4], 6),
        ([0, 0, 0, 0, 1, 1, 1, 1], 2),
        ([2**40] * 8, 2**41),
        ([0.5] * 8, 1.0),
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.4], 0.6),
        ([Decimal("0.1")] * 8, 0.2),
        ([Fraction(1, 4)] * 8, 0.5),
        ([True] * 8, 2),
        (np.full(8, 1.0), 2),
        (np.full(8, 2.0), 4.0),
        (pd.Series([3] * 8), 6),
        (pl.Series([0.125] * 8), 0.25),
    ],
)
def test_weights_are_exact(weights: Any, optimum: Any) -> None:
    result = solve(Accuracy(), CUBE, BOTH, sample_weight=weights, max_depth=0)
    assert (result.value, result.stats["exact"]) == (optimum, True)
    check(result, Dataset.make(CUBE, BOTH, sample_weight=weights), {"max_depth": 0})


def test_real_weights_are_the_decimals_that_they_print_as() -> None:
    weights = np.pi * np.arange(1, 9)
    result = solve(Accuracy(), CUBE, BOTH, sample_weight=weights, max_depth=0)
    assert result.value == pytest.approx(15 * np.pi, rel=1e-15)
    assert (result.status, result.gap, result.stats["exact"]) == ("optimal", 0, True)
