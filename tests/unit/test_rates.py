"""Limits on recall, precision and specificity, and on errors beside them, counted from the raw rows."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import best_trees
from streed.task import Totals
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    Accuracy,
    Recall,
    SparseAccuracy,
)
from tests.unit.outcomes import tree_of
from tests.unit.refusal import refused

RNG = np.random.default_rng(2)
X = RNG.integers(0, 2, (60, 4))
Y = ((X[:, 0] & X[:, 1]) ^ (RNG.random(60) < 0.25)).astype(int)


def test_refused_input() -> None:
    refused("y", "3 classes", call=lambda: streed.solve(Accuracy().subject_to(Recall() >= 0.5), X, np.arange(60) % 3))
    for limit in (-0.1, 1.1, True, "0.5"):
        refused("limit", call=functools.partial(Recall().__ge__, limit))
    refused("positive", "7", call=lambda: streed.solve(Accuracy().subject_to(Recall(positive=7) >= 0.5), X, Y))
    with pytest.raises(TaskError, match="from below"):
        _ = Recall() <= 0.5
    with pytest.raises(TaskError, match=r">= 0\.5"):
        _ = Recall() > 0.5


def test_a_limit_on_errors_and_splits_together_is_kept_exactly() -> None:
    task = F1().subject_to(at_most(SparseAccuracy(0.05), 0.4))
    result = streed.solve(task, X, Y, max_depth=2)
    values = [value for value, _ in best_trees(task, Dataset.make(X, Y), max_depth=2)]
    assert result.value == max(task.score(value, Totals(task, Dataset.make(X, Y))) for value in values)
    predicted = tree_of(result).predict(X)
    assert (predicted != Y).mean() + 0.05 * tree_of(result).n_branches <= 0.4 + 1e-12
