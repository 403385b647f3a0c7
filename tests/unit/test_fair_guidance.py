"""What a fair estimator says beyond its tree: names, margins, constant trees, and intervals on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from streed.estimators import FairTreeClassifier, fairness_margin
from tests.unit.refusal import refused

RNG = np.random.default_rng(5)
SEX = RNG.choice(["f", "m"], 160)
X = np.column_stack([(SEX == "m") ^ (RNG.random(160) < 0.1), RNG.integers(0, 2, 160)]).astype(int)
Y = np.where((X[:, 0] == 1) & (RNG.random(160) < 0.8), "yes", "no")


def fit(**given: Any) -> FairTreeClassifier:
    return FairTreeClassifier(**{"max_depth": 1, **given}).fit(X, Y, sensitive_features=SEX)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("demographic-parity", "demographic_parity"),
        ("equalized-odds", "equalized_odds"),
        ("equal-opportunity", "true_positive_rate_parity"),
        ("predictive-equality", "false_positive_rate_parity"),
        ("error-rate-parity", "error_rate_parity"),
    ],
)
def test_the_names_of_fairlearn(ours: str, theirs: str) -> None:
    assert fit(notion=ours, limit=0.3).tree_ == fit(notion=theirs, limit=0.3).tree_


def test_a_margin_for_the_sample_tightens_the_limit() -> None:
    sizes = [SEX.tolist().count(group) for group in ("f", "m")]
    # The one-sided quantile of 0.9 is 1.2816.
    margin = 1.2815515655 * np.sqrt(1 / (4 * sizes[0]) + 1 / (4 * sizes[1]))
    assert fairness_margin(sizes, 0.9) == pytest.approx(margin)
    model = fit(limit=0.5, confidence=0.9)
    assert model.limit_ == pytest.approx(0.5 - margin)
    assert "tightened from 0.5" in model.verdict()
    refused("confidence", call=lambda: fit(confidence=90))
