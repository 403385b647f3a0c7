"""Scores minus a price of splits: what may be written, what is refused, and that every way of proving it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.errors import NotSeparableError, TaskError
from streed.tasks import (
    F1,
    Accuracy,
    MatthewsCorrelation,
    MinSupport,
    MonotoneMetric,
    SparseAccuracy,
    Splits,
)


def sample(seed: int, rows: int = 40) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (rows, 4))
    return X, ((X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (draw.random(rows) < 0.1)).astype(int)


@pytest.mark.compiles
def test_a_time_limit_leaves_a_tree_and_a_bound() -> None:
    draw = np.random.default_rng(3)
    X = draw.integers(0, 2, (400, 60))
    y = draw.integers(0, 2, 400)
    result = streed.solve(F1() - 0.001 * Splits(), X, y, search="branches", time_limit=0.3)
    assert result.status == "feasible"
    assert result.tree is not None
    assert result.value <= result.upper_bound <= 1


def test_refusals_say_what_to_do() -> None:
    X, y = sample(4)
    with pytest.raises(TaskError, match="max_nodes"):
        MatthewsCorrelation() - 0.01 * Splits()
    with pytest.raises(TaskError, match=r"\+"):
        Accuracy() - 0.01 * Splits()
    with pytest.raises(TaskError, match="price of splits"):
        F1() - SparseAccuracy(0.1)
    with pytest.raises(TaskError, match="subject_to last"):
        F1().subject_to(MinSupport(2)) - 0.01 * Splits()
    with pytest.raises(TaskError, match="price such as"):
        F1() - 0.01  # type: ignore[operator]
    with pytest.raises(NotSeparableError):
        F1() + 0.01 * Splits()
    many = np.arange(len(y)) % 3
    with pytest.raises(TaskError, match="has more here"):
        streed.solve(MonotoneMetric(lambda *errors: -sum(errors[:3])) - Splits(), X, many, max_depth=1)
