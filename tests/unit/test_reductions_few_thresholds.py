"""Limits over many thresholds: trees over few of them first, whose best one leaves less to be enumerated."""

from __future__ import annotations

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.data.questions import Questions
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


def test_few_thresholds_that_take_too_long_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, groups = sample(0)
    task = Misclassifications().subject_to(DemographicParity() <= 0.02)
    best = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    monkeypatch.setattr(lagrangian, "_MANY_QUESTIONS", 50)
    monkeypatch.setattr(lagrangian, "_AT_MOST", 0.0)
    again = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    assert again.status == "optimal"
    assert again.value == best.value


def test_questions_about_few_thresholds() -> None:
    X = np.column_stack([np.arange(40.0), np.tile([0.0, 1.0], 20), np.arange(40.0) % 7])
    X[::5, 2] = np.nan
    questions = Questions.of(Dataset.make(X, np.zeros(40)))
    kept = questions.among(3)
    assert questions.limit[kept][questions.column[kept] == 0].tolist() == [9, 19, 29]
    assert (questions.column[kept] == 1).sum() == 1
    # each threshold with gaps on either side, and whether there is one
    assert (questions.column[kept] == 2).sum() == 3 * 2 + 1
    assert questions.among(100).tolist() == list(range(len(questions.column)))
    cut = Questions.of(Dataset.make(X, np.zeros(40), max_cuts=5))
    assert len(cut.among(2)) == 2 + 1 + 2 * 2 + 1
