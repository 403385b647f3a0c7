"""Entries that outgrow the memory come in pieces, and give the same trees, whoever keeps the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.enumerate import near_optimal
from streed.tasks import F1, DemographicParity, GMean, MonotoneMetric


def _worse_rate(fn: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    return -max(fn * negatives, fp * positives)


FAIR = F1().subject_to(DemographicParity() <= 0.02)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("task", "seed", "max_depth", "space"),
    [
        (FAIR, 3, 3, 4),
        (FAIR, 7, 3, 4),
        (FAIR, 4, 4, 64),
        (GMean(), 6, 2, 4),
        (MonotoneMetric(_worse_rate), 5, 2, 4),
        (MonotoneMetric(_worse_rate), 0, 3, 4),
    ],
)
def test_the_optimum_is_the_same_with_next_to_no_memory(
    task: Any, seed: int, max_depth: int, space: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(seed)
    extras: dict[str, Any] = {}
    if task is FAIR:
        extras["sensitive_features"] = draw.integers(0, 2, 80)
    X = draw.integers(0, 2, (80, 6))
    y = X[:, 0] & X[:, 1]
    y = (
        y ^ (extras["sensitive_features"] & X[:, 2]) ^ (draw.random(80) < 0.2)
        if extras
        else y ^ (draw.random(80) < 0.3)
    )
    results = []
    for entries in (10**6, space):
        monkeypatch.setattr(near_optimal, "_space", lambda search_limits, width, entries=entries: entries)
        results.append(streed.solve(task, X, y.astype(int), max_depth=max_depth, threads=threads, **extras))
    assert [result.status for result in results] == ["optimal"] * 2
    assert results[0].value == results[1].value
    assert "enumerated_in_pieces" not in results[0].stats
    assert results[1].stats["enumerated_in_pieces"] > 0
