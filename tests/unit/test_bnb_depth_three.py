"""The work unit: trees of depth up to three, whole or up to a target, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels import values
from streed.kernels.control import STOP
from streed.kernels.records import INFINITE, LEAF
from tests.unit.kernel_harness import KINDS, Bench, Instance, make_instance


def _instance(rng: np.random.Generator) -> Instance:
    signed = bool(rng.integers(0, 2))
    return make_instance(
        rng,
        rows=int(rng.integers(5, 40)),
        binary=int(rng.integers(1, 6)),
        categories=() if signed else rng.integers(3, 5, rng.integers(0, 2)).tolist(),
        labels=2 if signed else int(rng.integers(2, 5)),
        kind=str(rng.choice(KINDS)),
        split=int(rng.choice([0, 0, 1, 3])),
        min_leaf=1 if signed else int(rng.choice([1, 2, 4])),
    )


def _sides_of(bench: Bench, rows: Array, split: int) -> list[Array]:
    """The sides of a split of the problem."""
    packed = bench.packed
    if split < packed.n_binary:
        having = bench.rows_with(split)
        return [rows & ~having, rows & having]
    c = split - packed.n_binary
    return [rows & bench.rows_with(f) for f in range(packed.literals[c], packed.literals[c + 1])]


def _check_split(bench: Bench, rows: Array, depth: int, upper: int, split: int) -> None:
    """The split that is answered begins a tree of the cost that is answered, or of less if the unit did not look."""
    if split == LEAF:
        assert upper == bench.instance.optimum(rows, 0)
    else:
        sides = _sides_of(bench, rows, split)
        assert sum(side.any() for side in sides) >= 2
        assert sum(bench.instance.optimum(side, depth - 1) for side in sides) + bench.instance.split <= upper


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_depths_up_to_three_are_solved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng)
    for share in (1.0, 0.5):
        rows = rng.random(instance.data.n_rows) < share
        with Bench(instance) as bench:
            for depth in range(4):
                optimum = instance.optimum(rows, depth)
                lower, upper, split = bench.ask(depth, rows)
                assert lower == upper == optimum
                if optimum < INFINITE:
                    _check_split(bench, rows, depth, upper, split)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_up_to_a_target_the_optimum_is_known_and_above_it_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng)
    rows = rng.random(instance.data.n_rows) < rng.choice([1.0, 0.6])
    optimum = instance.optimum(rows, 3)
    if optimum == INFINITE:
        return
    for target in {0, 1, optimum // 2, optimum - 1, optimum, optimum + 1, 2 * optimum}:
        known = int(rng.integers(0, optimum + 1))
        for lower_bound in (0, known, optimum):
            with Bench(instance) as bench:
                lower, upper, split = bench.ask(3, rows, target=target, lower=lower_bound)
                assert lower_bound <= lower <= optimum <= upper
                assert lower >= target or lower == upper
                _check_split(bench, rows, 3, upper, split)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_asked_for_all_it_solves_every_child(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng)
    rows = rng.random(instance.data.n_rows) < rng.choice([1.0, 0.6])
    with Bench(instance) as bench:
        lower, upper, split = bench.ask(3, rows, everything=True)
        assert lower == upper == instance.optimum(rows, 3)
        if upper == 0 and split == LEAF:
            return
        found = bench.values()
        local = bench.view("local_literals", np.int64, 3, max(int(bench.engine["categorical"]), 1))
        literals = {k for c in range(int(bench.engine["n_categorical"])) for k in range(local[0, c], local[1, c])}
        for k in range(len(bench.active())):
            without, having = bench.sides(rows, k)
            if (k < bench.engine["n_binary"] and without.any() and having.any()) or (k in literals and having.any()):
                assert found[values.OPTIMUM1, k] == instance.optimum(having, 2)
                assert found[values.LOWER1, k] <= instance.optimum(having, 3)
                if k not in literals:
                    assert found[values.OPTIMUM0, k] == instance.optimum(without, 2)
                    assert found[values.LOWER0, k] <= instance.optimum(without, 3)


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("known", [0, 1])
def test_stopped_at_once_it_answers_with_depth_two(everything: bool, known: int) -> None:
    instance = make_instance(np.random.default_rng(3), rows=60, binary=6)
    rows = instance.everything()
    with Bench(instance) as bench:
        bench.control[STOP] = 1
        lower, upper, split = bench.ask(3, lower=known, everything=everything)
        assert upper == instance.optimum(rows, 2)
        assert known == lower <= instance.optimum(rows, 3)
        _check_split(bench, rows, 2, upper, split)
        assert int(bench.engine["pair_passes"]) == 0
        assert bench.ask(2)[:2] == (upper, upper)
