"""Every native driver: the reference's optimum, alone and with threads, one value among all, a gap that only closes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import InputError
from streed.tasks import F1, Accuracy, SparseAccuracy
from tests.differential.comparison import differences
from tests.differential.instances import make_instance
from tests.searches import NATIVE

BLOCK = 40


def noisy(seed: int, rows: int, widths: list[int], classes: int = 2) -> Dataset:
    """Data whose labels follow two columns, with noise; wide columns are categorical."""
    draw = np.random.default_rng(seed)
    X = np.stack([draw.integers(0, width, rows) for width in widths], axis=1).astype(np.uint8)
    y = np.where(draw.random(rows) < 0.25, draw.integers(0, classes, rows), (X[:, 0] + X[:, -1]) % classes)
    return Dataset.make(X, y, categorical=[j for j, width in enumerate(widths) if width > 2])


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(BLOCK, 1200, BLOCK))])
def test_it_agrees_with_the_reference(first: int, search: str) -> None:
    for number in range(first, first + BLOCK):
        instance = make_instance(2026, number)
        wrong = differences(instance, streed.solve, search=search)
        assert not wrong, "\n".join([*wrong, instance.snippet(search=search)])


@pytest.mark.slow
@pytest.mark.parametrize("search", NATIVE)
def test_two_threads_agree_with_the_reference(search: str) -> None:
    for number in range(20):
        instance = make_instance(2027, number)
        wrong = differences(instance, streed.solve, search=search, threads=2)
        assert not wrong, "\n".join([*wrong, instance.snippet(search=search, threads=2)])


LIMITS: list[dict[str, Any]] = [
    {},
    {"max_depth": 5},
    {"max_nodes": 4},
    {"max_depth": 4, "max_nodes": 6},
    {"max_depth": 4, "min_leaf": 9},
]


@functools.cache
def _optimum(penalty: float, seed: int, limits: int) -> float:
    """By the default driver."""
    return float(streed.solve(SparseAccuracy(penalty), _data(seed), **LIMITS[limits]).value)


def _data(seed: int) -> Dataset:
    return noisy(seed, 150, [[2] * 9, [3, 2, 2, 4, 2], [5, 4, 3]][seed % 3], 2 + seed % 2)


@pytest.mark.parametrize("search", NATIVE[1:])
@pytest.mark.parametrize("limits", range(len(LIMITS)))
def test_all_agree_with_the_default(limits: int, search: str) -> None:
    for seed in range(4):
        for penalty in (0.0, 0.004, 0.02) if LIMITS[limits] else (0.004, 0.02):
            result = streed.solve(SparseAccuracy(penalty), _data(seed), search=search, **LIMITS[limits])
            assert (result.status, result.value) == ("optimal", _optimum(penalty, seed, limits))
            assert result.stats["search"] == search


@pytest.mark.parametrize("search", NATIVE)
def test_little_memory_does_not_change_the_optimum(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from streed.bnb import cache_sizes
    from tests.differential.stops import small_space

    data = noisy(2, 200, [2] * 9)
    whole = streed.solve(SparseAccuracy(0.004), data)
    for threads in (1, 2):
        monkeypatch.setattr(cache_sizes, "space_for", small_space(cache_sizes.space_for, 0, 400))
        result = streed.solve(SparseAccuracy(0.004), data, search=search, threads=threads)
        monkeypatch.undo()
        assert result.stats["evictions"] > 0
        assert result.status == "optimal" or result.stats["stopped"] == "memory"
        assert result.lower_bound <= whole.value <= result.value
    assert result.tree is not None


@pytest.mark.parametrize("search", NATIVE)
def test_the_same_input_gives_the_same_tree(search: str) -> None:
    data = noisy(6, 150, [2] * 9)
    found = [streed.solve(SparseAccuracy(0.004), data, search=search) for _ in range(2)]
    assert found[0].tree == found[1].tree
    assert found[0].stats["nodes"] == found[1].stats["nodes"]


@pytest.mark.parametrize("search", NATIVE)
def test_the_gap_never_grows_and_ends_at_zero(search: str) -> None:
    result = streed.solve(SparseAccuracy(0.002), noisy(3, 300, [2] * 14), search=search)
    trace = result.stats["trace"]
    assert result.status == "optimal"
    assert trace[-1][1:3] == (result.value, result.value)
    assert len(trace) <= 257
    gaps = [best - bound for _, best, bound, _ in trace if best is not None and bound is not None]
    assert gaps == sorted(gaps, reverse=True)
    assert [entry[0] for entry in trace] == sorted(entry[0] for entry in trace)


@pytest.mark.parametrize("search", NATIVE)
def test_a_stop_by_the_gap_keeps_its_promise(search: str) -> None:
    result = streed.solve(SparseAccuracy(0.0005), noisy(5, 400, [2] * 24), search=search, gap=0.9, time_limit=60)
    assert result.status in ("optimal", "feasible")
    assert result.stats["stopped"] in (None, "gap")
    assert result.gap <= 0.9 * result.value
    assert streed.solve(Accuracy(), noisy(5, 400, [2] * 8), search=search, max_depth=2, gap=0).status == "optimal"


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("threads", [1, 2])
def test_it_stops_in_time_with_a_tree_and_a_bound(search: str, threads: int) -> None:
    data = noisy(7, 3000, [2] * 60)
    streed.solve(SparseAccuracy(0.0005), noisy(7, 50, [2] * 5), search=search, threads=threads)
    result = streed.solve(SparseAccuracy(0.0005), data, search=search, threads=threads, time_limit=0.5)
    assert (result.status, result.stats["stopped"]) == ("feasible", "time")
    assert result.tree is not None
    assert result.lower_bound < result.value
    assert result.stats["seconds_search"] < 2.5


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("limits", [{}, {"max_nodes": 3}, {"max_depth": 2}])
def test_scores_are_reduced_to_its_scalar_solves(limits: dict[str, Any], search: str) -> None:
    data = noisy(4, 60, [2] * 5)
    result = streed.solve(F1(), data, search=search, **limits)
    assert result.value == streed.solve(F1(), data, **limits).value
    assert result.stats["search"] == search
    with pytest.raises(InputError, match="no bound before its end"):
        streed.solve(F1(), data, search=search, gap=0.1)
