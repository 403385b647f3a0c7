"""Gaps as objectives: the front of error and unfairness, counted from the raw rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.tasks import (
    Accuracy,
    ClassErrors,
    DemographicParity,
    EqualOpportunity,
    MinSupport,
    Splits,
    WorstLeaf,
)
from streed.tree import Tree
from streed.tree.verification import check
from tests.unit.refusal import refused

RNG = np.random.default_rng(5)
SEX = RNG.integers(0, 2, 80)
X = np.column_stack([RNG.integers(0, 2, (80, 3)), SEX ^ (RNG.random(80) < 0.2)])
Y = ((X[:, 0] + X[:, 1] + SEX + RNG.integers(0, 2, 80)) >= 2).astype(int)


def front(task: Any, groups: Any = SEX, **options: Any) -> list[Any]:
    result = streed.solve(task, X, Y, max_depth=2, sensitive_features=groups, **options)
    assert result.status == "optimal"
    return sorted(result.front, key=lambda point: point[0])


def test_saved_trees_hold_their_claims() -> None:
    data = Dataset.make(X, Y, sensitive_features=SEX)
    for task in (Accuracy() & DemographicParity(), Accuracy().subject_to(DemographicParity() <= 0.05)):
        for _, tree in streed.solve(task, data, max_depth=1).front:
            assert all(each.holds for each in check(Tree.from_json(tree.to_json()), data))


def test_a_stopped_trade_off_says_what_may_be_missing() -> None:
    rng = np.random.default_rng(0)
    many, labels = rng.integers(0, 2, (2_000, 60)), rng.integers(0, 2, 2_000)
    task = Accuracy() & DemographicParity()
    result = streed.solve(task, many, labels, max_depth=6, time_limit=1, sensitive_features=many[:, 0])
    assert result.stats["stopped"] == "time"
    assert "gap_below" in result.stats["missing"]


def test_refused_input() -> None:
    task = Accuracy() & DemographicParity()
    refused("sensitive_features", "missing", call=lambda: front(task, None))
    no_positives = np.where(Y == 1, 0, SEX)
    refused("sensitive_features", "positive", call=lambda: front(Accuracy() & EqualOpportunity(), no_positives))
    with pytest.raises(TaskError, match="sums over rows"):
        _ = WorstLeaf() & DemographicParity()
    with pytest.raises(TaskError, match="objective first"):
        _ = DemographicParity() & Accuracy()
    with pytest.raises(TaskError, match="sums over rows"):
        _ = ClassErrors() & DemographicParity()
    with pytest.raises(TaskError, match="subject_to last"):
        _ = Accuracy().subject_to(MinSupport(2)) & DemographicParity()
    assert front(Splits() & DemographicParity())[0][0] == (0, 0.0)
