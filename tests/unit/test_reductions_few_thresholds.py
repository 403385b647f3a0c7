"""Limits over many thresholds: trees over few of them first, whose best one leaves less to be enumerated."""

from __future__ import annotations

import numpy as np
import pytest

import streed
from streed.enumerate.vector_trees import Trees
from streed.exact import Array
from streed.reductions import lagrangian
from streed.tasks import DemographicParity, Misclassifications


def sample(seed: int) -> tuple[Array, Array, Array]:
    """(X, y, groups): a threshold of the first column tells the groups apart."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 25, (70, 3)).astype(float)
    y = ((X[:, 0] > 9) ^ (X[:, 1] > 15) ^ (draw.random(70) < 0.2)).astype(int)
    return X, y, (X[:, 0] > 12).astype(int)


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_the_optimum_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, groups = sample(seed)
    task = Misclassifications().subject_to(DemographicParity() <= 0.02)
    monkeypatch.setattr(lagrangian, "_MANY_QUESTIONS", 50)
    asked: list[int] = []
    asking = Trees.asking

    def spied(trees: Trees, columns: Array, seconds: float | None) -> object:
        asked.append(len(columns))
        return asking(trees, columns, seconds)

    monkeypatch.setattr(Trees, "asking", spied)
    few = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    assert asked
    assert asked == sorted(set(asked))
    monkeypatch.setattr(lagrangian.Relaxation, "_ask_few_thresholds", lambda self: None)
    every = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    assert few.status == every.status == "optimal"
    assert few.value == every.value
