"""The archive: what solved subproblems say of similar ones never exceeds the optima of those."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.bnb import similarity_cache
from streed.exact import Array
from streed.kernels import values
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import NONE, UNLIMITED
from tests.unit.kernel_harness import KINDS, Bench, Instance, find_or_add, make_instance


@entry
def _remember(engine, v):  # type: ignore[no-untyped-def]
    similarity_cache.remember(engine_at(engine), v)


@entry
def _find_similar(engine, v, lower):  # type: ignore[no-untyped-def]
    return similarity_cache.find_similar(engine_at(engine), v, lower)


def _solve(bench: Bench, rows: Array, target: int) -> tuple[int, int]:
    """(node, lower bound) of the rows, solved up to the target and remembered."""
    v = find_or_add(bench.engine.address, bench.place(rows), 3, UNLIMITED, True)
    lower, upper, _ = bench.ask(3, rows, target=target)
    node = bench.workspace.nodes[v]
    node["lower"] = lower
    if upper > 0:
        _remember(bench.engine.address, v)
    return v, lower


def _instance(rng: np.random.Generator) -> Instance:
    signed = bool(rng.integers(0, 2))
    return make_instance(
        rng,
        rows=int(rng.integers(20, 50)),
        binary=int(rng.integers(3, 7)),
        categories=() if signed else rng.integers(3, 5, rng.integers(0, 2)).tolist(),
        labels=2 if signed else int(rng.integers(2, 5)),
        kind=str(rng.choice(KINDS)),
        split=int(rng.integers(0, 2)),
    )


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_bounds_from_similar_rows_are_admissible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng)
    worst = instance.costs.max(axis=1)
    base = rng.random(instance.data.n_rows) < 0.8
    with Bench(instance) as bench:
        remembered: list[tuple[Array, int]] = []
        for _ in range(6):
            rows = base ^ (rng.random(len(base)) < 0.1)
            u = find_or_add(bench.engine.address, bench.place(rows), 3, UNLIMITED, True)
            assert int(bench.workspace.nodes[u]["weight"]) == worst[rows].sum()
            optimum = instance.optimum(rows, 3)
            least = int(rng.integers(-1, optimum + 1))
            bound, entry_ = _find_similar(bench.engine.address, u, least)
            known = [lower - int(worst[other & ~rows].sum()) for other, lower in remembered]
            assert bound == max([least, *known])
            assert bound <= optimum
            assert (entry_ == NONE) == (bound == least)
            if entry_ != NONE:
                lower, upper, _ = bench.ask(3, rows, lower=bound, similar=entry_)
                assert lower == upper == optimum
                found = bench.values()
                for k in range(int(bench.engine["n_binary"])):
                    without, having = bench.sides(rows, k)
                    assert found[values.LOWER0, k] <= instance.optimum(without, 2)
                    assert found[values.LOWER1, k] <= instance.optimum(having, 2)
            _, lower = _solve(bench, rows, int(rng.integers(1, 2 * optimum + 2)))
            if lower > instance.split:
                remembered.append((rows, lower))
