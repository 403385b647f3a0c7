"""Bounds of many rows by the best trees of disjoint samples never exceed the optimum, and are something."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.ordered import samples, timed
from streed.ordered.features import Features
from streed.ordered.generated import generated_rows
from streed.ordered.problem import OrderedRows, SearchedRows
from streed.ordered.samples import Samples
from streed.ordered.session import OrderedSession
from streed.problem import Problem
from streed.task import Task
from streed.tasks import F1, Misclassifications, SquaredError


def labelled(seed: int, n: int = 300, n_labels: int = 2) -> tuple[Array, Array]:
    """Three columns with ties, and labels that the first two tell badly."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 40, (n, 3)).astype(float)
    y = (X[:, 0] // 14 + (X[:, 1] > 20)).astype(int) % n_labels
    return X, np.where(draw.random(n) < 0.2, draw.integers(0, n_labels, n), y)


def costly(seed: int, split: int, n_labels: int, categories: int = 0, min_leaf: int = 1) -> SearchedRows:
    """Rows of whole costs per label, or of errors, some of which the best label costs."""
    X, y = labelled(seed, n_labels=n_labels)
    costs = (y[:, None] != np.arange(n_labels)).astype(np.int64) * 3 + 2
    if n_labels > 2:
        costs += np.random.default_rng(seed).integers(0, 4, costs.shape)
    X[:, 2] %= 4
    return OrderedRows(np.ascontiguousarray(X.T, np.int32), costs, split, None, min_leaf, categories)


def squared() -> SearchedRows:
    """Rows of squared errors, whose kernels are generated."""
    X, y = labelled(5)
    data = Dataset.make(X, y + np.random.default_rng(1).normal(size=len(y)))
    found = generated_rows(Problem(data, SquaredError().bind(data), 2, None, 1), Features.of(data).ranks)
    assert found is not None
    return found


ROWS: dict[str, Callable[[], SearchedRows]] = {
    "errors": lambda: costly(1, 0, 2),
    "errors and a price": lambda: costly(2, 7, 2),
    "three labels": lambda: costly(3, 5, 3),
    "a category": lambda: costly(4, 0, 2, categories=1),
    "large leaves": lambda: costly(6, 0, 2, min_leaf=20),
    "squared error": squared,
}


def go_on(lower: int) -> str | None:
    return None


@pytest.mark.parametrize("name", ROWS)
def test_bounds_are_below_the_optimum_and_above_the_base(name: str) -> None:
    rows = ROWS[name]()
    best = OrderedSession(rows).solve(2).cost
    assert best is not None
    for size in (60, 150):
        told: list[int] = []
        lower, stopped = Samples(rows, 2, None, size).bound(best, 60, lambda found, told=told: told.append(found))  # type: ignore[misc]
        assert stopped is None
        assert rows.base < lower <= best
        assert told == sorted(told)
        assert told[-1] == lower


def test_a_single_sample_may_be_solved() -> None:
    rows = costly(1, 0, 2)
    best = OrderedSession(rows).solve(2).cost
    assert best is not None
    lower, stopped = Samples(rows, 2, None, rows.n_rows).bound(2 * best, 60, go_on)
    assert (lower, stopped) == (best, None)


def test_it_stops_when_it_is_told_to() -> None:
    rows = costly(1, 0, 2)
    assert Samples(rows, 2, None, 60).bound(100, 0, go_on) == (rows.base, "time")
    lower, stopped = Samples(rows, 2, None, 60).bound(rows.base + 200, 60, lambda lower: "gap")
    assert stopped == "gap"
    assert rows.base < lower


def test_where_time_is_short_some_samples_have_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = OrderedRows(np.zeros((1, 200_000), np.int32), np.tile(np.arange(2), (200_000, 1)))
    now = [0.0]

    def solve(self: Samples, chosen: Array, target: float, excess: int, seconds: float) -> tuple[int, str | None]:
        # any sample takes three seconds, more than any had if all were to be solved
        now[0] += min(seconds, 3.0)
        return (len(chosen), None) if seconds >= 3.0 else (0, "time")

    monkeypatch.setattr(samples, "clock", lambda: now[0])
    monkeypatch.setattr(Samples, "_solve", solve)
    lower, stopped = Samples(rows, 3, None, samples.ROWS).bound(100_000, 40.0, go_on)
    assert stopped == "time"
    assert lower >= 200
    assert now[0] == pytest.approx(40.0)


def test_a_sample_pays_its_share_of_the_price() -> None:
    rows = costly(2, 10, 2)
    part = rows.sample(np.arange(0, 300, 4))
    assert part.n_rows == 75
    assert part.price * part.divisor == 2
    assert (np.diff(np.sort(part.ranks[2])) <= 1).all()


@pytest.mark.parametrize(
    ("task", "max_depth"), [(Misclassifications(), 4), (SquaredError(), 3)], ids=["errors", "squared error"]
)
def test_a_late_search_without_a_bound_gets_one(task: Task, max_depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(6000, 8))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (draw.random(6000) < 0.1)
    seconds = 3.0
    time_of: list[float] = [0.0]

    def clock() -> float:
        time_of.append(0.6 * seconds)
        return time_of[-2] if len(time_of) == 2 else time_of[-1]

    sampled: list[tuple[int, str | None]] = []
    whole = Samples.bound

    def bound(self: Samples, *arguments: Any) -> tuple[int, str | None]:
        sampled.append(whole(self, *arguments))
        return sampled[-1]

    monkeypatch.setattr(samples, "FEWEST", 1000)
    monkeypatch.setattr(samples, "ROWS", 500)
    monkeypatch.setattr(timed, "clock", clock)
    monkeypatch.setattr(Samples, "bound", bound)
    result = streed.solve(task, X, y.astype(int), max_depth=max_depth, max_cuts="all", time_limit=seconds)
    assert len(sampled) == 1
    assert result.status == "feasible"
    assert 0 < result.lower_bound <= result.value


def test_a_score_of_many_rows_gets_a_bound_from_its_scalar_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(6000, 8))
    y = ((X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (draw.random(6000) < 0.1)).astype(int)
    seconds = 600.0
    asked: list[float | None] = []
    late = itertools.count(0.0, 0.6 * seconds)
    whole = Samples.bound

    def bound(self: Samples, cost: int, left: float, look: Callable[[int], str | None]) -> tuple[int, str | None]:
        asked.append(self.max_depth)
        return whole(self, cost, 60.0, look)

    monkeypatch.setattr(samples, "FEWEST", 1000)
    monkeypatch.setattr(samples, "ROWS", 500)
    # half of the time is over whenever a search looks at the clock
    monkeypatch.setattr(timed, "clock", lambda: next(late))
    monkeypatch.setattr(Samples, "bound", bound)
    result = streed.solve(F1(), X, y, max_depth=4, max_cuts=60, time_limit=seconds)
    assert asked[-1] == 4
    assert result.status == "feasible"
    assert result.value <= result.upper_bound < 0.99
