"""Row prices: the heaviest conjunctions are found, and prices change no answer, only the bound of what is stopped."""

from __future__ import annotations

import itertools
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
from streed.exact import Array
from streed.kernels.conjunctions import heaviest_conjunctions
from streed.kernels.control import LONGEST, ROWS_OF_CONTROL, STOP

pytestmark = pytest.mark.compiles

CAP = 400
KINDS = ("errors", "weights", "huge weights", "frequency", "cost matrix", "costs of rows", "a score", "a limit")


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches begin with the best prices of their rows."""

    def work(self: PricingBeside, seconds: float) -> None:
        if self._end is None:
            self._end = threading.Event()
            self._work(self._end)

    monkeypatch.setattr(PricingBeside, "start_after", work)


def _heaviest(bits: Array, allowed: Array, weights: Array, counts: Array, least: int, over: int, most: int) -> Any:
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    masks = np.ascontiguousarray(-bits.astype(np.int8))
    room = np.zeros(CAP, np.int64), np.zeros((CAP, LONGEST), np.int32), np.zeros(CAP, np.int64)
    return heaviest_conjunctions(masks, allowed, weights, counts, least, over, most, 10**6, control, *room), room


@pytest.mark.parametrize("number", range(20))
def test_the_heaviest_conjunction_is_found(number: int) -> None:
    rng = np.random.default_rng((7, number))
    n, m = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    bits = rng.integers(0, 2, (n, m)).astype(np.uint8)
    allowed = (rng.random(2 * m) < 0.85).astype(np.uint8)
    weights, counts = rng.integers(-60, 60, n).astype(np.int32), rng.integers(1, 4, n)
    least, most, over = int(rng.choice([1, 3])), int(rng.choice([2**30, 2])), int(rng.integers(0, 100))
    sums = [-(10**9)]
    for chosen in itertools.product(*([None, *(v for v in (0, 1) if allowed[2 * f + v])] for f in range(m))):
        asked = [(f, v) for f, v in enumerate(chosen) if v is not None]
        inside = np.all([bits[:, f] == v for f, v in asked] or [np.ones(n, bool)], axis=0)
        if len(asked) <= most and inside.any() and counts[inside].sum() >= least:
            sums.append(int(weights[inside].sum()))
    (best, _, complete, stored), (values, literals, lengths) = _heaviest(
        bits, allowed, weights, counts, least, over, most
    )
    assert complete
    assert max(best, over) == max(*sums, over)
    for value, found, length in zip(values[:stored], literals[:stored], lengths[:stored], strict=True):
        inside = np.all([bits[:, each >> 1] == each & 1 for each in found[:length]] or [np.ones(n, bool)], axis=0)
        assert weights[inside].sum() == value > over


def test_a_stop_ends_an_enumeration_that_says_so() -> None:
    rng = np.random.default_rng(3)
    masks = np.ascontiguousarray(-rng.integers(0, 2, (200, 20)).astype(np.int8))
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    control[STOP] = 1
    given = masks, np.ones(40, np.uint8), rng.integers(-60, 60, 200).astype(np.int32), np.ones(200, np.int64)
    room = np.zeros(CAP, np.int64), np.zeros((CAP, LONGEST), np.int32), np.zeros(CAP, np.int64)
    _, nodes, complete, _ = heaviest_conjunctions(*given, 1, 0, 2**30, 10**9, control, *room)
    assert (complete, nodes < 100) == (False, True)


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
