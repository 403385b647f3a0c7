"""Thresholds that a node leaves to none of its sides: many splits at a price, over thresholds and over questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.ordered import choice
from streed.tasks import Misclassifications, Splits

LIMITS: dict[str, dict[str, Any]] = {
    "none": {},
    "depth": {"max_depth": 5},
    "leaves": {"min_leaf": 2},
    "nodes": {"max_nodes": 6},
}


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("limit", LIMITS)
def test_many_splits_at_a_price_cost_the_same_over_questions(
    limit: str, labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = []
    for seed in range(6):
        rng = np.random.default_rng([labels, seed])
        X = rng.integers(0, 12, (50, 3)).astype(float)
        kinds = (X[:, 0] > 6).astype(int) + (X[:, 1] > 4) + (X[:, 0] > X[:, 1]) + (X[:, 2] > 8)
        y = np.where(rng.random(50) < 0.03, rng.integers(0, labels, 50), kinds % labels)
        weights = rng.integers(1, 4, 50) if seed % 2 else None
        found = []
        for few in (-1, 10**9):
            monkeypatch.setattr(choice, "FEW", few)
            task = Misclassifications() + (1 + seed % 2) * Splits()
            given = {"max_depth": None, "sample_weight": weights, **LIMITS[limit]}
            found.append(streed.solve(task, X, y, **given))
        by_thresholds, by_questions = found
        assert by_thresholds.stats["route"] == "thresholds"
        assert by_questions.stats["route"] != "thresholds"
        assert by_thresholds.status == by_questions.status == "optimal"
        assert by_thresholds.value == by_questions.value
        assert by_thresholds.tree is not None
        splits.append(by_thresholds.tree.n_branches)
    assert max(splits) > 3
