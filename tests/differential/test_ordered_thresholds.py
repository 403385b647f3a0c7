"""Raw numbers by the search over thresholds, however few they are, against every tree and against the recursion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed import reference
from streed.data import Dataset
from streed.exact import Array
from streed.ordered import choice
from streed.tasks import F1, Accuracy, Misclassifications
from tests.differential.ordered import TASKS, make_instance, wrong_in

KINDS = ("errors", "accuracy", "price", "support", "costs", "own errors", "F1", "parity", "balanced")


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the search over thresholds take all that it can."""
    monkeypatch.setattr(choice, "FEW", -1)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_numbers_by_thresholds(kind: str) -> None:
    place = list(TASKS).index(kind)
    for number in range(place, place + 12 * len(TASKS), len(TASKS)):
        assert make_instance(13, number).kind == kind
        assert wrong_in(13, number) == []


def _draw(rng: np.random.Generator) -> tuple[Array, Array]:
    n = int(rng.integers(20, 60))
    X = np.round(rng.normal(size=(n, 3)), 1)
    X[:, 2] = rng.integers(0, 2, n)
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, rng.integers(0, 2, n)


def test_binary_columns_gaps_and_limits_beside_thresholds() -> None:
    for seed in range(30):
        rng = np.random.default_rng([14, seed])
        X, y = _draw(rng)
        limits: dict[str, Any] = {"max_depth": 2, "min_leaf": int(rng.integers(1, 5))}
        if rng.random() < 0.5:
            limits["max_nodes"] = int(rng.integers(1, 4))
        data = Dataset.make(X, y)
        assert set(data.ordered) == {0, 1}
        result = streed.solve(Misclassifications(), data, **limits)
        assert result.stats["route"] == "thresholds"
        optimum = reference.optimum(Misclassifications(), data, **limits)
        assert optimum is not None
        assert (result.status, result.value) == ("optimal", optimum[0])
        assert result.tree is not None
        assert (result.tree.predict(X) != y).sum() == result.value


def test_reductions_ask_the_search_over_thresholds() -> None:
    rng = np.random.default_rng(15)
    X, y = _draw(rng)
    result = streed.solve(F1(), X, y, max_depth=2)
    best = reference.optimal_front(F1(), Dataset.make(X, y), max_depth=2)
    data = Dataset.make(X, y)
    assert result.status == "optimal"
    scores = [float(F1().score(value, streed.task.Totals(F1(), data))) for value, _ in best]
    assert result.value == pytest.approx(max(scores), rel=1e-12)
    # of a column with gaps, whether a value is missing is asked with the gaps first and with the gaps last
    assert result.stats["thresholds"] == data.n_questions + 1


def test_the_gap_the_time_and_progress_of_a_long_search() -> None:
    rng = np.random.default_rng(16)
    X, y = rng.normal(size=(300, 8)), rng.integers(0, 3, 300)
    seen: list[streed.Progress] = []
    streed.solve(Accuracy(), X, y, max_depth=2)  # what must be compiled is compiled
    result = streed.solve(Accuracy(), X, y, max_depth=4, time_limit=1.0, progress=seen.append)
    assert result.status == "feasible"
    assert result.stats["stopped"] == "time"
    assert result.lower_bound < result.value == result.upper_bound
    assert result.stats["trace"]
    assert seen
    close = streed.solve(Accuracy(), X, y, max_depth=4, gap=0.9)
    assert close.stats["stopped"] == "gap"
    assert close.value - close.lower_bound <= 0.9 * close.value
