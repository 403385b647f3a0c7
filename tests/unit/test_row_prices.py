"""Row prices change no answer, only the bound of what is stopped."""

from __future__ import annotations

import sys
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import streed
from streed import tasks
from streed.bnb.pricing_beside import PricingBeside
from streed.drivers.native import Branches, DepthFirst

pytestmark = pytest.mark.compiles

KINDS = ("errors", "weights", "huge weights", "frequency", "cost matrix", "costs of rows", "a score", "a limit")


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches begin with the best prices of their rows."""

    def work(self: PricingBeside, seconds: float) -> None:
        if self._end is None:
            self._end = threading.Event()
            self._work(self._end)

    monkeypatch.setattr(PricingBeside, "start_after", work)


def pose(kind: str, number: int) -> tuple[Any, Any, Any, dict[str, Any]]:
    """(task, X, y, arguments) of a random problem whose search takes a moment."""
    rng = np.random.default_rng((12, KINDS.index(kind), number))
    n, m, labels = int(rng.integers(20, 120)), int(rng.integers(3, 9)), int(rng.integers(2, 4))
    X = rng.integers(0, 2, (n, m))
    given: dict[str, Any] = {"min_leaf": int(rng.choice([1, 1, 2, 4]))}
    if rng.random() < 0.3:
        X[:, 0] = rng.integers(0, 3, n)
        X[:3, 0] = range(3)
        given["categorical"] = [0]
    labels = 2 if kind in ("a score", "a limit") else labels
    y: Any = (X[:, 0] + (X[:, -1] & X[:, 1]) + (rng.random(n) < 0.25)) % labels
    y[:labels] = range(labels)
    lam = Fraction(str(rng.choice(["0.01", "0.03", "0.05"])))
    task: Any = tasks.SparseAccuracy(lam)
    if "weights" in kind:
        given["sample_weight"] = rng.integers(1, 10**12 if kind == "huge weights" else 99, n)
    elif kind == "frequency":
        given["frequency"] = rng.integers(1, 5, n)
    elif kind == "cost matrix":
        matrix = rng.integers(0, 10, (labels, labels))
        np.fill_diagonal(matrix, 0)
        task = tasks.MisclassificationCosts(matrix.tolist()) + int(rng.integers(1, 20)) * tasks.Splits()
    elif kind == "costs of rows":
        given["costs"] = rng.integers(-5, 20, (n, labels))
        task, y = tasks.InstanceCosts() + int(rng.integers(1, 20)) * tasks.Splits(), None
    elif kind == "a score":
        task = tasks.F1() - lam * tasks.Splits()
    elif kind == "a limit":
        task = task.subject_to(tasks.DemographicParity() <= Fraction(int(rng.integers(3, 20)), 100))
        given["sensitive_features"] = rng.permutation(np.arange(n) % 2)
    return task, X, y, given


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("kind", KINDS)
def test_prices_change_no_answer(kind: str) -> None:
    for number in range(3):
        task, X, y, given = pose(kind, number)
        plain = streed.solve(task, X, y, search=DepthFirst(row_prices=False), **given)
        for driver in (DepthFirst, Branches):
            result = streed.solve(task, X, y, search=driver(), **given)
            assert (result.status, result.value) == (plain.status, plain.value)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("driver", [DepthFirst, Branches])
def test_a_search_that_is_stopped_keeps_the_bound_of_its_prices(driver: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (90, 14))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(90) < 0.3)).astype(int)
    result = streed.solve(tasks.SparseAccuracy(0.02), X, y, time_limit=0.2, search=driver())
    prices = result.stats["row_prices"]
    assert prices["rounds"] >= 1
    assert prices["bound"] <= result.lower_bound <= result.value


@pytest.mark.usefixtures("_at_once")
def test_a_failure_of_the_linear_programs_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    task, X, y, given = pose("errors", 1)
    plain = streed.solve(task, X, y, search=DepthFirst(row_prices=False), **given)
    result = streed.solve(task, X, y, **given)
    assert (result.status, result.value) == ("optimal", plain.value)


@pytest.mark.usefixtures("_at_once")
def test_nothing_is_priced_under_a_depth_limit_or_a_memory_limit() -> None:
    X, y = np.eye(6, dtype=int), np.arange(6) % 2
    assert "row_prices" not in streed.solve(tasks.SparseAccuracy(0.01), X, y, max_depth=3).stats
    assert "row_prices" not in streed.solve(tasks.SparseAccuracy(0.01), X, y, memory_limit=2**32).stats
