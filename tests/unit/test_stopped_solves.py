"""Scores, limits and prices of splits, stopped in the middle of any of their scalar solves: what is proved stays true.

A stop comes with the n-th solve, not at a time: that solve's tree and what is known by then of its cost are handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import streed
from streed.enumerate.vector_trees import EvaluatedTree, Trees
from streed.problem import SearchStopped
from streed.tasks import F1, Accuracy, DemographicParity, SparseAccuracy, Splits

LIMITED = SparseAccuracy(0.005).subject_to(DemographicParity() <= 0.1)

CASES: dict[str, tuple[Any, int | None]] = {
    "a score": (F1(), 4),
    "a score and a price": (F1() - 0.005 * Splits(), None),
    "a score and a price to a depth": (F1() - 0.005 * Splits(), 4),
    "a limit": (Accuracy().subject_to(DemographicParity() <= 0.05), 4),
    "a limit and a price": (LIMITED, None),
}


def sample() -> tuple[Any, Any, Any]:
    """Rows that trees of three levels, which are searched first, tell apart badly."""
    draw = np.random.default_rng(11)
    X = draw.integers(0, 2, (60, 6))
    y = (X[:, 0] ^ X[:, 1] ^ X[:, 2] ^ X[:, 3] ^ (draw.random(60) < 0.1)).astype(int)
    return X, y, X[:, 5] ^ (draw.random(60) < 0.3)


def stopping(call: int, short_of: int | None, calls: list[int]) -> Callable[..., EvaluatedTree | None]:
    """`Trees.cheapest`, of which this call stops with a bound that is so much below what was found, or without any."""
    cheapest = Trees.cheapest

    def stopped(trees: Trees, weights: Sequence[int], below: int | None = None) -> EvaluatedTree | None:
        found = cheapest(trees, weights, below)
        calls[0] += 1
        if calls[0] != call:
            return found
        if found is None:
            raise SearchStopped("time", None if below is None or short_of is None else below - short_of)
        cost = sum(w * x for w, x in zip(weights, found.vector, strict=False))
        raise SearchStopped("time", None if short_of is None else cost - short_of, found)

    return stopped


@pytest.mark.parametrize("short_of", [None, 0, 2])
@pytest.mark.parametrize("name", CASES)
def test_bounds_of_stopped_solves_hold(name: str, short_of: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    task, max_depth = CASES[name]
    X, y, groups = sample()

    def solve() -> Any:
        return streed.solve(task, X, y, max_depth=max_depth, sensitive_features=groups, search="branches")

    whole = solve()
    assert whole.status == "optimal"
    more_is_better = "score" in name
    stopped = 0
    for call in range(1, 40):
        calls = [0]
        with monkeypatch.context() as patch:
            patch.setattr(Trees, "cheapest", stopping(call, short_of, calls))
            result = solve()
        if calls[0] < call:
            break
        stopped += 1
        least, most = result.lower_bound, result.upper_bound
        assert least is None or least <= whole.value
        assert most is None or most >= whole.value
        if result.status != "optimal":
            assert result.stats["stopped"] == "time"
        else:
            assert result.value == whole.value
        bound = most if more_is_better else least
        assert short_of != 0 or bound is not None
    assert stopped >= 3
