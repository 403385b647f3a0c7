"""Similar nodes: what the tables say of a set of rows never exceeds its optimum, and is what the lemma gives."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streed
from streed.bnb import similar_nodes, workspace
from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, UNLIMITED
from streed.tasks import MisclassificationCosts, SparseAccuracy
from tests.unit.kernel_harness import KINDS, Bench, find_or_add, make_instance


@entry
def _remember(engine, v):  # type: ignore[no-untyped-def]
    similar_nodes.remember_node(engine_at(engine), v)


@entry
def _bound(engine, v, goal):  # type: ignore[no-untyped-def]
    similar_nodes.bound_by_similar_nodes(engine_at(engine), v, goal)


def _add(bench: Bench, rows: Array, depth: int = UNLIMITED) -> Any:
    v = find_or_add(bench.engine.address, bench.place(rows), depth, UNLIMITED, True)
    bench.workspace.nodes[v]["upper"] = INFINITE
    return v


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_bounds_from_similar_nodes_are_admissible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 4))
    instance = make_instance(
        rng,
        rows=int(rng.integers(10, 90)),
        binary=int(rng.integers(2, 5)),
        categories=[3] if rng.integers(0, 2) else (),
        labels=labels,
        kind=str(rng.choice(KINDS)),
        split=int(rng.integers(0, 4)),
    )
    worst = instance.costs.max(axis=1)
    base = rng.random(instance.data.n_rows) < 0.8
    # such sets may part equal rows, which no branch does
    with Bench(instance, flags={"floors": 0}) as bench:
        known: list[tuple[Array, int]] = []
        for _ in range(12):
            rows = base ^ (rng.random(len(base)) < rng.choice([0.02, 0.1]))
            v = _add(bench, rows)
            node = bench.workspace.nodes[v]
            before = int(node["lower"])
            _bound(bench.engine.address, v, INFINITE)
            optimum = instance.optimum(rows, None)
            best = max([before, *(lower - int(worst[other & ~rows].sum()) for other, lower in known)])
            assert before <= int(node["lower"]) <= min(best, optimum)
            node["lower"] = optimum
            _remember(bench.engine.address, v)
            known.append((rows, optimum))


SEARCHES = ("depth-first", "branches")


@pytest.mark.parametrize("search", SEARCHES)
def test_values_are_the_same_with_and_without(search: str) -> None:
    rng = np.random.default_rng(5)
    used = 0
    for _ in range(25):
        n, p = int(rng.integers(20, 160)), int(rng.integers(3, 9))
        X = rng.integers(0, 2, (n, p))
        y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n) < 0.2)) % 2
        weight = rng.integers(1, 50, n) if rng.integers(0, 2) else None
        sparse = SparseAccuracy(float(rng.choice([0.003, 0.01, 0.03])))
        for task, depth in ((sparse, None), (sparse, 5), (MisclassificationCosts([[0, 3], [1, 0]]), 4)):
            values = []
            for first in (1, 10**9):
                with mock.patch.object(workspace, "SIMILAR_FROM", first):
                    found = streed.solve(task, X, y, sample_weight=weight, max_depth=depth, search=search)
                assert found.status == "optimal"
                values.append(found.value)
                used += found.stats.get("similar", 0)
            assert values[0] == values[1]
    assert used > 0
