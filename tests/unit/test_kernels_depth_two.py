"""Depth-two scoring, by both kernels and for every lane type, against the reference's optima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels import values
from streed.kernels.records import INFINITE
from tests.unit.kernel_harness import KINDS, Bench, Instance, make_instance

pytestmark = pytest.mark.compiles

LANE_TYPES = (np.int16, np.int32, np.int64)


def _literals(bench: Bench, c: int) -> range:
    """The local literals of the c-th categorical split of the node at hand."""
    local = bench.view("local_literals", np.int64, 3, len(bench.packed.literals) - 1)
    return range(int(local[0, c]), int(local[1, c]))


def _check_node(bench: Bench, rows: Array) -> None:
    """Compares what `prepare` answers for the rows with the reference."""
    instance, e = bench.instance, bench.engine
    bench.load(rows)
    bench.call("prepare")
    found = bench.values()
    worst = instance.costs.max(axis=1)
    assert int(e["upper"]) == instance.optimum(rows, 0)
    assert int(e["weight"]) == worst[rows].sum()
    active = len(bench.active())
    for k in range(active):
        without, having = bench.sides(rows, k)
        assert found[values.WEIGHT, k] == worst[having].sum()
        assert found[values.LEAF1, k] == instance.optimum(having, 0)
        assert found[values.LEAF0, k] == instance.optimum(without, 0)
        if k < int(e["n_binary"]) and having.any() and without.any():
            cost = instance.split + instance.optimum(having, 1) + instance.optimum(without, 1)
            assert found[values.KEY, k] == min(cost, INFINITE)
    for c in range(int(e["n_categorical"])):
        sides = [bench.sides(rows, k)[1] for k in _literals(bench, c)]
        cost = instance.split + sum(instance.optimum(side, 1) for side in sides)
        assert found[values.KEY, active + c] == min(cost, INFINITE)


def _check_children(bench: Bench, rows: Array) -> None:
    """Compares the optima of all children of the node at hand with the reference."""
    for k in range(len(bench.active())):
        without, having = bench.sides(rows, k)
        literal = k >= int(bench.engine["n_binary"])
        expected = (0 if literal else bench.instance.optimum(without, 2), bench.instance.optimum(having, 2))
        if literal or (without.any() and having.any()):
            assert bench.solve_children(k) == expected


def _check(instance: Instance, lane: Any, rng: np.random.Generator) -> None:
    with Bench(instance, lane=lane) as bench:
        for share in (1.0, 0.5, 0.2):
            rows = rng.random(instance.data.n_rows) < share
            if rows.any():
                _check_node(bench, rows)
                _check_children(bench, rows)


@pytest.mark.parametrize("lane", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_two_labels_on_binary_columns(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS[:2] if lane is np.int16 else KINDS))
    instance = make_instance(
        rng, rows=int(rng.integers(1, 40)), binary=int(rng.integers(1, 7)), kind=kind, split=int(rng.integers(0, 4))
    )
    assert instance.packed.signed
    _check(instance, lane, rng)


@pytest.mark.parametrize("lane", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_labels_categories_and_minimum_support(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 6))
    instance = make_instance(
        rng,
        rows=int(rng.integers(6, 40)),
        binary=int(rng.integers(0, 5)),
        categories=rng.integers(3, 6, rng.integers(0, 3)).tolist() or ([] if labels > 2 else [3]),
        labels=labels,
        kind=str(rng.choice(KINDS[:2] if lane is np.int16 else KINDS)),
        split=int(rng.integers(0, 4)),
        min_leaf=int(rng.choice([1, 1, 2, 5])),
    )
    assert not instance.packed.signed
    _check(instance, lane, rng)


@pytest.mark.parametrize(("lane", "limit"), [(np.int16, 2**15 - 2), (np.int32, 2**30), (np.int64, 2**60)])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("tenths", [0, 1, 10])
def test_costs_up_to_the_limit_of_every_lane_type(lane: Any, limit: int, labels: int, tenths: int) -> None:
    """`tenths`: what a split costs, in tenths of all worst costs together."""
    rng = np.random.default_rng(6)
    instance = make_instance(rng, labels=labels)
    worst = (limit - 3) * 10 // (10 + 2 * tenths)
    costs = instance.costs * (worst // len(instance.costs))
    costs[0, costs[0] > 0] += worst - int(costs.max(axis=1).sum())
    instance = Instance(instance.data, costs, (limit - 3 - worst) // 2)
    assert instance.packed.lane_type() is lane
    assert limit - 4 <= instance.packed.groups.worst + 2 * instance.packed.split_cost <= limit - 3
    _check(instance, None, rng)
