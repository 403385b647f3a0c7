"""The engine gives the reference's optimum, exactly, on small random instances of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streed
from tests.differential.comparison import differences
from tests.differential.instances import Instance, make_instance

pytestmark = pytest.mark.compiles

BLOCK = 50
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2

FOUND: dict[str, dict[str, Any]] = {
    "a chain under a node limit": {
        "X": [[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]],
        "y": [1, -1, -1, -1],
        "max_nodes": 3,
    },
    "more classes than binary splits could tell apart, node limit": {
        "X": [[0, 3, 1], [2, 2, 0], [1, 0, 0], [1, 3, 0], [2, 2, 1],
              [3, 0, 0], [0, 1, 0], [1, 3, 1], [3, 1, 0], [1, 2, 1]],
        "y": [2, 1, 4, 4, 5, 5, 3, 3, 3, 4],
        "categorical": [0, 1],
        "max_nodes": 5,
    },
    "more classes than binary splits could tell apart, penalty": {
        "task_source": "SparseAccuracy(0.01)",
        "X": [[0, 2, 0], [1, 1, 1], [1, 1, 0], [0, 3, 0], [0, 1, 0], [0, 3, 1]],
        "y": [4, 3, 2, 1, 3, 3],
        "categorical": [1],
    },
    "more classes than binary splits could tell apart, price": {
        "task_source": "Misclassifications() + 0.5 * Splits()",
        "X": [[1, 0, 3], [1, 0, 0], [1, 0, 2], [0, 0, 3], [1, 0, 1], [0, 1, 1], [1, 1, 3], [0, 0, 0]],
        "y": [4, 2, 5, 1, 1, 5, 1, 4],
        "categorical": [2],
    },
    "a depth limit of 0 beside a node limit": {
        "X": [[2], [0], [0], [0], [1], [0]],
        "y": [1, 1, -1, 2, 2, 7],
        "categorical": [0],
        "max_depth": 0,
        "max_nodes": 5,
    },
    "a node limit of 0 beside a depth limit": {"X": SQUARE, "y": [0, 1, 1, 1] * 2, "max_depth": 4, "max_nodes": 0},
}  # fmt: skip
"""Shrunk from mismatches that the fuzz found."""


@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND)
def test_engine_agrees_where_it_once_did_not(found: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "name": "found", "task_source": "Accuracy()", "sample_weight": None, "categorical": [], "max_depth": None,
        "max_nodes": None, "min_leaf": 1, "exact": True, "features": frozenset(),
    }  # fmt: skip
    assert differences(Instance(**{**usual, **found}), streed.solve) == []


@pytest.mark.parametrize("first", range(0, 1200, BLOCK))
def test_engine_agrees_with_reference(first: int) -> None:
    for number in range(first, first + BLOCK):
        instance = make_instance(2023, number)
        wrong = differences(instance, streed.solve)
        assert not wrong, "\n".join([*wrong, instance.snippet()])


@pytest.mark.slow
def test_two_threads_agree_with_reference() -> None:
    for number in range(200):
        instance = make_instance(2024, number)
        wrong = differences(instance, streed.solve, threads=2)
        assert not wrong, "\n".join([*wrong, instance.snippet(threads=2)])


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32), number=st.integers(0, 2**32))
def test_engine_agrees_with_reference_wherever_hypothesis_looks(seed: int, number: int) -> None:
    instance = make_instance(seed, number)
    wrong = differences(instance, streed.solve)
    assert not wrong, "\n".join([*wrong, instance.snippet()])
