"""`streed.solve` as a user meets it: the optimum of every shipped task within every limit, any labels and weights."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

from streed.data import Dataset
from streed.solve import solve
from streed.task import RowCostTask
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, SparseAccuracy, Splits
from tests.unit.outcomes import BOTH, CUBE, check, errors, task_of, tree_of
from tests.unit.specimens import XOR

TASKS: list[tuple[str, dict[str, Any], Any]] = [
    ("Accuracy()", {"max_depth": 0}, 2),
    ("Accuracy()", {"max_depth": 1}, 2),
    ("Accuracy()", {"max_depth": 2}, 0),
    ("Accuracy()", {"max_nodes": 1}, 2),
    ("Accuracy()", {"max_nodes": 2}, 0),
    ("Misclassifications()", {"max_depth": 1}, 2),
    ("3 * Misclassifications()", {"max_depth": 1}, 6),
    ("Splits()", {}, 0),
    ("Misclassifications() + Splits()", {}, 2),
    ("Misclassifications() + 0.5 * Splits()", {}, 1.0),
    ("minimize(Misclassifications() + 2.5 * Splits())", {}, 2.0),
    ("SparseAccuracy(0.05)", {}, 0.1),
    ("SparseAccuracy(0.125)", {}, 0.25),
    ("SparseAccuracy(0.2)", {"max_depth": 2}, 0.25),
    ("SparseAccuracy(0)", {"max_depth": 2}, 0.0),
    ("WeightedAccuracy({1: 5})", {"max_depth": 0}, 6),
    ("WeightedAccuracy({1: 5})", {"max_depth": 1}, 2),
    ("WeightedAccuracy({1: 0.5})", {"max_depth": 1}, 1.0),
    ("WeightedAccuracy({0: 0})", {}, 0),
    ("BalancedAccuracy()", {"max_depth": 0}, 0.5),
    ("BalancedAccuracy()", {"max_depth": 1}, 1 - 1 / 6),
    ("BalancedAccuracy()", {"max_depth": 2}, 1.0),
    ("AbsoluteError()", {"max_depth": 1}, 2),
    ("AbsoluteError()", {}, 0),
    ("F1()", {"max_depth": 1}, 2 / 3),
    ("FBeta(2)", {"max_depth": 1}, 10 / 12),
    ("Jaccard()", {"max_depth": 1}, 0.5),
    ("CohenKappa()", {"max_depth": 1}, 0.5),
    ("MatthewsCorrelation()", {}, 1.0),
    ("GMean()", {}, 1.0),
    ("Lexicographic()", {}, (0, 2)),
    ("Lexicographic()", {"max_depth": 0}, (2, 0)),
    ("Accuracy().subject_to(MinSupport(2))", {"max_depth": 2}, 0),
    ("Accuracy().subject_to(MinSupport(3))", {"max_depth": 2}, 2),
    ("SparseAccuracy(0.05).subject_to(MinSupport(3))", {}, 0.25),
    ("BalancedAccuracy().subject_to(MinSupport(3))", {}, 1 - 1 / 6),
]
"""A task, limits and the optimum of `BOTH`, by hand."""


# -- every task --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "limits", "optimum"), TASKS)
def test_the_optimum_of_every_task(source: str, limits: dict[str, Any], optimum: Any) -> None:
    result = solve(task_of(source), CUBE, BOTH, **limits)
    assert result.value == optimum
    assert type(result.value) is type(result.lower_bound) is type(result.upper_bound) is type(optimum)
    check(result, Dataset.make(CUBE, BOTH), limits)


@pytest.mark.parametrize(
    ("source", "limits", "optimum"),
    [
        ("Accuracy()", {"max_depth": 0}, 5),
        ("Accuracy()", {"max_depth": 1}, 3),
        ("Accuracy()", {"max_depth": 2}, 1),
        ("SparseAccuracy(0.01)", {"max_nodes": 2}, 0.145),
        ("BalancedAccuracy()", {"max_depth": 0}, 1 / 3),
    ],
)
def test_several_classes(source: str, limits: dict[str, Any], optimum: Any) -> None:
    X, y = CUBE, ["a", "a", "a", "b", "b", "b", "c", "c"]
    result = solve(task_of(source), X, y, **limits)
    assert result.value == optimum
    check(result, Dataset.make(X, y), limits)


def test_a_task_of_ones_own() -> None:
    @attrs.frozen
    class Regret(RowCostTask):
        """A wrong 1 costs 3, a wrong 0 costs 1."""

        def row_costs(self, data: Dataset) -> np.ndarray[Any, Any]:
            return np.column_stack([data.class_numbers, 3 * (1 - data.class_numbers)])

    assert [solve(Regret(), CUBE, BOTH, max_depth=d).value for d in range(3)] == [2, 2, 0]
    noisy = [1, 0, 0, 0, 0, 0, 1, 1]
    assert [solve(Regret() + 0.25 * Splits(), CUBE, noisy, max_depth=d).value for d in range(4)] == [3.0, 3.0, 1.5, 1.0]


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "optimum"), [(0, 6), (1, 6), (2, 3), (3, 0), (4, 0), (None, 0)])
def test_branching_nodes(nodes: int | None, optimum: int) -> None:
    y = [0, 1, 1, 0] * 3
    for depth in (None, 2, 3, 9):
        result = solve(Accuracy(), XOR * 3, y, max_depth=depth, max_nodes=nodes)
        assert result.value == optimum == errors(result, XOR * 3, y)
        assert tree_of(result).n_branches <= (3 if nodes is None else nodes)


@pytest.mark.parametrize(("least", "optimum"), [(1, 0), (2, 0), (3, 2), (4, 2), (5, 2), (8, 2)])
def test_rows_in_a_leaf(least: int, optimum: int) -> None:
    several: tuple[dict[str, Any], ...] = ({"max_depth": 2}, {"max_depth": 5}, {"max_nodes": 3}, {})
    for limits in several:
        for task in (Accuracy(), Accuracy().subject_to(MinSupport(least))):
            result = solve(task, CUBE, BOTH, min_leaf=least if task == Accuracy() else 1, **limits)
            assert result.value == optimum
            assert min(leaf.rows for leaf in tree_of(result).leaves()) >= least


@pytest.mark.parametrize("least", [9, 2**31, 2**59, 2**61, 2**70])
def test_no_tree_has_enough_rows_in_a_leaf(least: int) -> None:
    result = solve(Accuracy().subject_to(MinSupport(least)), CUBE, BOTH, max_depth=2)
    assert (result.status, result.value, result.tree, result.front) == ("infeasible", None, None, ())
    assert (result.lower_bound, result.upper_bound, result.gap) == (None, None, None)


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
