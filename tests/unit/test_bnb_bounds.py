"""Bounds: what they say of a node or of its children never exceeds the optimum."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels import values
from streed.kernels.records import INFINITE, UNLIMITED
from tests.unit.kernel_harness import KINDS, Bench, Instance, make_instance


def _instance(rng: np.random.Generator, min_leaf: int = 1) -> Instance:
    signed = bool(rng.integers(0, 2)) and min_leaf == 1
    return make_instance(
        rng,
        rows=int(rng.integers(10, 40)),
        binary=int(rng.integers(2, 6)),
        categories=() if signed else rng.integers(3, 5, rng.integers(0, 2)).tolist(),
        labels=2 if signed else int(rng.integers(2, 5)),
        kind=str(rng.choice(KINDS)),
        split=int(rng.integers(0, 3)),
        min_leaf=min_leaf,
    )


def _sides(bench: Bench, rows: Array) -> list[tuple[int, int, Array]]:
    """(local column, 1 with it or 0 without, rows) of all sides that have rows; of literals only that with it."""
    found = []
    for k in range(len(bench.active())):
        pair = bench.sides(rows, k)
        is_binary = k < bench.engine["n_binary"]
        found += [(k, with_, pair[with_]) for with_ in range(2) if pair[with_].any() and (with_ or is_binary)]
    return found


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_solved_column_bounds_all_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng)
    worst = instance.costs.max(axis=1)
    with Bench(instance) as bench:
        rows = rng.random(instance.data.n_rows) < rng.choice([1.0, 0.6])
        bench.load(rows)
        bench.call("prepare")
        before = bench.values()
        before[[values.LOWER1, values.LOWER0]] = 0
        bench.write("values", before)
        expected = {(k, with_): 0 for k, with_, _ in _sides(bench, rows)}
        for column in rng.permutation(len(bench.active()))[:3].tolist():
            solved = [(side, instance.optimum(side, 2)) for k, _, side in _sides(bench, rows) if k == column]
            bench.solve_children(column)
            known = bench.values()
            for k, with_, side in _sides(bench, rows):
                if k == column:
                    known[values.LOWER1 if with_ else values.LOWER0, k] = instance.optimum(side, 2)
            bench.write("values", known)
            bench.call("push_bounds")
            for k, with_, side in _sides(bench, rows):
                lost = [optimum - int(worst[one & ~side].sum()) for one, optimum in solved]
                expected[k, with_] = max([expected[k, with_], *lost])
                row = values.LOWER1 if with_ else values.LOWER0
                assert bench.values()[row, k] == expected[k, with_] <= instance.optimum(side, 2)


def _check_unit(instance: Instance, rows: Array, target: int) -> None:
    """The work unit's lower bounds of all sides are admissible: at depth two and, if all were solved, at three."""
    for everything in (False, True):
        with Bench(instance) as bench:
            bench.ask(3, rows, target=target, everything=everything)
            found, depth = bench.values(), 3 if everything else 2
            for k, with_, side in _sides(bench, rows):
                bound = found[values.LOWER1 if with_ else values.LOWER0, k]
                assert bound <= instance.optimum(side, depth), (k, with_, everything)


@given(seed=st.integers(0, 2**32), min_leaf=st.sampled_from([1, 1, 2, 4]))
@settings(max_examples=60, deadline=None)
def test_bounds_of_a_work_unit_are_admissible(seed: int, min_leaf: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng, min_leaf)
    rows = rng.random(instance.data.n_rows) < rng.choice([1.0, 0.6])
    upper = instance.optimum(rows, 2)
    if upper > 0 and instance.optimum(rows, 0) < INFINITE:
        _check_unit(instance, rows, int(rng.integers(1, upper + 2)))


@given(seed=st.integers(0, 2**32), limits=st.sampled_from([(4, None), (None, None), (None, 4), (5, 4)]))
@settings(max_examples=60, deadline=None)
def test_no_node_is_bounded_above_its_optimum(seed: int, limits: tuple[int | None, int | None]) -> None:
    # few columns: many equal rows, whose labels differ
    rng = np.random.default_rng(seed)
    kind, split, min_leaf = str(rng.choice(KINDS)), int(rng.integers(0, 4)), int(rng.choice([1, 1, 3]))
    instance = make_instance(rng, rows=30, binary=4, labels=3, kind=kind, split=split, min_leaf=min_leaf)
    places = instance.packed.groups.places.reshape(-1, 2)
    with Bench(instance) as bench:
        bench.search(*limits)
        for v in range(bench.engine["node_count"]):
            bits = np.unpackbits(bench.workspace.node_rows[v].view(np.uint8), bitorder="little")
            rows = np.zeros(instance.data.n_rows, bool)
            rows[places[:, 0]] = bits[places[:, 1]] == 1
            node = bench.workspace.nodes[v]
            depth, nodes = (None if each == UNLIMITED else int(each) for each in (node["depth"], node["budget"]))
            assert node["lower"] <= instance.optimum(rows, depth, nodes)
