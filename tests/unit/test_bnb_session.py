"""The search: the reference's optimum whatever is switched on, and honest bounds whenever it is stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.bnb import runner, session
from streed.bnb.procedure import DEPTH_FIRST
from streed.kernels.control import ROWS_OF_CONTROL, STOP
from streed.kernels.records import HOLE, INFINITE, UNLIMITED
from tests.unit.kernel_harness import KINDS, Bench, Instance, make_instance

LIMITS = [(4, None), (5, None), (None, None), (None, 4), (4, 5), (3, None), (3, 4), (2, None), (0, None)]
"""(depth, branching nodes)"""


def _instance(rng: np.random.Generator, *, split: int | None = None, min_leaf: int | None = None) -> Instance:
    signed = bool(rng.integers(0, 2)) and min_leaf is None
    return make_instance(
        rng,
        rows=int(rng.integers(10, 60)),
        binary=int(rng.integers(2, 7)),
        categories=() if signed else rng.integers(3, 5, rng.integers(0, 2)).tolist(),
        labels=2 if signed else int(rng.integers(2, 5)),
        kind=str(rng.choice(KINDS)),
        split=int(rng.choice([0, 1, 2])) if split is None else split,
        min_leaf=1 if signed else int(rng.choice([1, 1, 2, 4])) if min_leaf is None else min_leaf,
    )


def _check(instance: Instance, depth: int | None, nodes: int | None, **options: Any) -> None:
    """The search proves the reference's optimum and has a tree of that cost."""
    optimum = instance.optimum(instance.everything(), depth, nodes)
    with Bench(instance, **options) as bench:
        assert bench.search(depth, nodes) == (optimum, optimum)
        if optimum < INFINITE:
            assert instance.cost_of(bench.extract(depth, nodes)) == optimum


@given(seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS))
@settings(max_examples=60, deadline=None)
def test_the_optimum_and_its_tree(seed: int, limits: tuple[int | None, int | None]) -> None:
    _check(_instance(np.random.default_rng(seed)), *limits)


@given(seed=st.integers(0, 2**32), depth=st.sampled_from([4, 5]))
@settings(max_examples=40, deadline=None)
def test_both_ways_to_expand_a_node(seed: int, depth: int) -> None:
    instance = _instance(np.random.default_rng(seed), split=0)
    for relaxed in (False, True):
        _check(instance, depth, None, relaxed=relaxed)


@given(seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS[:5]), relaxed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_bounds_that_are_switched_off(seed: int, limits: tuple[int | None, int | None], relaxed: bool) -> None:
    instance = _instance(np.random.default_rng(seed), split=0 if relaxed else None)
    relaxed = relaxed and limits[0] is not None and limits[1] is None
    for flag in ("restrictable", "extensible", "class_bound", "archived", "floors", "similar_buckets"):
        _check(instance, *limits, relaxed=relaxed, flags={flag: 0})


def _stop_at(bench: Bench, kernel: str, number: int) -> list[int]:
    """Stops the search at this call of the kernel; the list that is returned counts the calls."""
    calls = [0]

    def look() -> None:
        bench.control[STOP] = int(calls[0] >= number or bench.control[STOP])
        calls[0] += 1

    bench.watch(kernel, look)
    return calls


@pytest.mark.parametrize("kernel", ["solve_shallow", "solve_children", "open_node"])
@pytest.mark.parametrize(
    ("limits", "split", "labels"),
    [
        ((5, None), 0, 2),
        ((5, None), 0, 3),
        ((5, None), 1, 2),
        ((None, None), 1, 3),
        ((None, 6), 0, 2),
        ((3, None), 0, 2),
    ],
)
def test_stopped_at_any_moment_bounds_hold(
    kernel: str, limits: tuple[int | None, int | None], split: int, labels: int
) -> None:
    instance = make_instance(
        np.random.default_rng(labels), rows=70, binary=6, labels=labels, kind="weights", split=split
    )
    optimum = instance.optimum(instance.everything(), *limits)
    relaxed = split == 0 and limits[1] is None
    with Bench(instance, relaxed=relaxed) as bench:
        calls = _stop_at(bench, kernel, 10**9)
        assert bench.search(*limits) == (optimum, optimum)
    total = calls[0]
    best = INFINITE
    for number in sorted({0, 1, 2, 3, total - 1, *np.linspace(0, total, 12, dtype=int).tolist()}):
        with Bench(instance, relaxed=relaxed) as bench:
            _stop_at(bench, kernel, number)
            lower, upper = bench.search(*limits)
            assert lower <= optimum <= upper
            if number >= total:
                assert lower == upper
            if upper < INFINITE:
                assert optimum <= instance.cost_of(bench.extract(*limits)) <= upper
            best = min(best, upper)
    assert best == optimum


def _settled(bench: Bench, depth: int, budget: int, limits: tuple[int | None, int | None]) -> list[int]:
    """The tree that the rule of ties chooses."""
    session.settle(bench.workspace, depth, budget, 2**40, short=True)
    assert bench.engine["settled"]
    return bench.extract(*limits)


@given(
    seed=st.integers(0, 2**32),
    limits=st.sampled_from(LIMITS[:5]),
    threads=st.integers(2, 4),
    best_first=st.booleans(),
    slots=st.sampled_from([16, 1024]),
)
@settings(max_examples=40, deadline=None)
def test_threads_search_one_store(
    seed: int, limits: tuple[int | None, int | None], threads: int, best_first: bool, slots: int
) -> None:
    instance = _instance(np.random.default_rng(seed))
    optimum = instance.optimum(instance.everything(), *limits)
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    relaxed = instance.split == 0 and limits[0] is not None and limits[1] is None
    benches = [
        Bench(instance, control=control, relaxed=relaxed, shared_branches=slots, joins=number > 0)
        for number in range(threads)
    ]
    workspaces = [bench.workspace for bench in benches]
    for each in workspaces:
        each.engine.write({"best_first": best_first, "frontier": UNLIMITED})
    depth, budget = (UNLIMITED if limit is None else limit for limit in limits)
    searches, end = session.searches_of(DEPTH_FIRST, workspaces, depth, budget)
    runner.run(searches, control, None, lambda: None)
    control[STOP] = 0
    end()
    _, lower, upper = session.bounds_of(workspaces)
    assert (lower, upper) == (optimum, optimum)
    count = int(benches[0].engine["node_count"])
    is_node = workspaces[0].nodes["depth"][:count] != HOLE
    assert is_node[0]
    assert not workspaces[0].nodes_inside[:count][is_node].any()
    assert not any(each.engine["shared"] for each in workspaces)
    if optimum < INFINITE:
        found = _settled(benches[0], depth, budget, limits)
        assert instance.cost_of(found) == optimum
        with Bench(instance, relaxed=relaxed) as alone:
            session.search_fully(alone.workspace, depth, budget)
            assert _settled(alone, depth, budget, limits) == found
    for bench in benches:
        bench.workspace.close()
