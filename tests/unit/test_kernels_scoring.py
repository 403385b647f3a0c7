"""Rows as the engine holds them, codes that keep order, depth-two scoring and floors: by numpy and the reference."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels import coding, values
from streed.kernels.coding import BITS, GRID, WHOLE, decoded
from streed.kernels.compiled import entry
from streed.kernels.counting.columns import pack_bytes, pack_columns
from streed.kernels.counting.groups import MOST_GROUPS, Groups, group_rows
from streed.kernels.records import INFINITE, LOWEST
from tests.unit.kernel_harness import KINDS, Bench, Instance, make_instance

pytestmark = pytest.mark.compiles


@entry
def _pack(array, words):  # type: ignore[no-untyped-def]
    for w in range(len(words)):
        words[w] = pack_bytes(array, 64 * w)


def as_bits(words: Array) -> Array:
    """(rows, 64 * words) 0/1: the lowest bit first."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")


@pytest.mark.parametrize("used", [0, 1, 31, 32, 33, 63, 64, 65, 128])
def test_bytes_that_are_not_zero_are_bits(used: int) -> None:
    rng = np.random.default_rng(used)
    size = -(-used // 64) * 64
    codes = np.zeros(size, np.uint8)
    codes[:used] = rng.choice([0, 1, 2, 127, 128, 255], used)
    words = np.zeros(size // 64, np.uint64)
    _pack(codes, words)
    assert (words == np.packbits(codes != 0, bitorder="little").view(np.uint64)).all()


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (33, 64), (64, 130), (65, 70), (130, 320)])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.5, 1.0])
def test_the_bits_of_columns_are_numpys_both_ways(columns: int, rows: int, density: float) -> None:
    codes = (np.random.default_rng(columns + rows).random((rows, columns)) < density).astype(np.uint8)
    places, kinds, words = np.repeat(np.arange(rows), 2), np.zeros(columns, np.int64), -(-rows // 64)
    kept, flipped, _, sets, row_bits, valid = pack_columns(codes, places, kinds, words, False, np.zeros(0, np.int8))
    expected = np.pad(codes[:, kept] ^ flipped, ((0, 64 * words - rows), (0, 0)))
    assert (as_bits(sets).T.reshape(expected.shape) == expected).all()
    assert (as_bits(row_bits)[:, : len(kept)] == expected).all()
    assert as_bits(valid[None]).sum() == rows
    assert set(np.flatnonzero((codes != codes[0]).any(axis=0))) == set(kept)


def _sums_by_row(groups: Groups, rows: int) -> Array:
    """(n, K + 2): for every row, the multipliers of all groups that it stands in."""
    sums = np.zeros((rows, groups.profits.shape[1]), np.int64)
    for row, place in groups.places.reshape(-1, 2).tolist():
        group = np.searchsorted(groups.words, place // 64, "right") - 1
        sums[row] += groups.profits[group]
    return sums


def _check_groups(costs: Array, divisor: int, count_rows: bool) -> Groups:
    """The groups, after comparing them with the costs."""
    n, labels = costs.shape
    groups = group_rows(costs, divisor, np.ones(n, np.int64) if count_rows else None)
    sums = _sums_by_row(groups, n)
    worst = costs.max(axis=1, initial=-(2**62))
    assert (sums[:, :labels] * divisor == worst[:, None] - costs).all()
    assert (sums[:, labels] * divisor == worst - costs.min(axis=1, initial=2**62)).all()
    assert groups.base == costs.min(axis=1, initial=2**62).sum()
    assert groups.worst == sums[:, labels].sum()
    if count_rows:
        assert (sums[:, labels + 1] == 1).all()
    places = groups.places[1::2]
    assert len(set(places.tolist())) == len(places)
    assert (places < 64 * groups.words[-1]).all()
    # every group fills its words from their beginning, and takes no more of them than it needs
    for begin, end in zip(groups.words[:-1], groups.words[1:], strict=True):
        inside = np.sort(places[(places >= 64 * begin) & (places < 64 * end)])
        assert inside.tolist() == list(range(64 * begin, 64 * begin + len(inside)))
        assert end - begin == -(-len(inside) // 64) > 0
    return groups


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_groups_give_the_costs_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, labels = int(rng.choice([1, 5, 60, 150])), int(rng.integers(1, 6))
    largest = int(rng.choice([2, 4, 1000, 2**30, 2**50]))
    divisor = int(rng.choice([1, 1, 3, 10]))
    costs = divisor * rng.integers(-largest, largest, (n, labels)) + rng.integers(-50, 50, (n, 1))
    _check_groups(costs, divisor, bool(rng.integers(0, 2)))


@pytest.mark.parametrize("count_rows", [False, True])
@pytest.mark.parametrize("extra", [0, 1])
def test_too_many_different_costs_are_sliced_into_bits(count_rows: bool, extra: int) -> None:
    different = MOST_GROUPS + extra
    costs = np.zeros((2 * different, 2), np.int64)
    costs[:, 0] = np.repeat(np.arange(1, different + 1), 2)
    groups = _check_groups(costs, 1, count_rows)
    if extra == 0:
        assert groups.profits.tolist() == [[0, c, c, 1] for c in range(1, different + 1)]
    else:
        used = np.unique(groups.profits).tolist()
        assert used == [0, *(2**bit for bit in range(different.bit_length()))]
        assert len(groups.profits) == 2 * different.bit_length() + count_rows
        assert ((groups.profits > 0).sum(axis=1) == 1).all()


@entry
def codes_on_grid(x, scale):  # type: ignore[no-untyped-def]
    code = coding.encode_grid(x, scale)
    return code, coding.decode_grid(code, scale)


@entry
def codes_of_bits(x, scale):  # type: ignore[no-untyped-def]
    code = coding.encode_bits(x, scale)
    return code, coding.decode_bits(code, scale)


@entry
def codes_of_whole(x, scale):  # type: ignore[no-untyped-def]
    code = coding.encode_whole(x, scale)
    return code, coding.decode_whole(code, scale)


@entry
def rounded_up(x):  # type: ignore[no-untyped-def]
    return coding.next_whole(x)


CODES = {WHOLE: codes_of_whole, GRID: codes_on_grid, BITS: codes_of_bits}

numbers = st.floats(-1e307, 1e307)
small = st.integers(-(2**50), 2**50)


def check_order(kind: str, a: Any, b: Any, scale: float) -> None:
    first, second = int(CODES[kind](a, scale)[0]), int(CODES[kind](b, scale)[0])
    assert LOWEST <= first <= INFINITE
    if a <= b:
        assert first <= second
    if a >= b:
        assert first >= second


@settings(deadline=None)
@given(numbers)
def test_bits_give_back_all_but_the_last_bits(a: float) -> None:
    code, native = CODES[BITS](a, 1.0)
    assert decoded(int(code), BITS, 1.0) == native
    assert abs(native - a) <= 8 * math.ulp(a)


@settings(deadline=None)
@given(numbers, numbers, st.integers(-300, 300))
def test_bits_and_grids_keep_order(a: float, b: float, exponent: int) -> None:
    check_order(BITS, a, b, 1.0)
    check_order(GRID, a, b, 2.0**exponent)


@settings(deadline=None)
@given(small, st.integers(-200, 200))
def test_a_grid_gives_back_its_points(steps: int, exponent: int) -> None:
    scale = 2.0**exponent
    code, native = CODES[GRID](steps / scale, scale)
    assert code == steps
    assert native == decoded(int(code), GRID, scale) == steps / scale


@settings(deadline=None)
@given(small, small)
def test_whole_numbers_are_their_own_codes(a: int, b: int) -> None:
    check_order(WHOLE, a, b, 1.0)
    code, native = CODES[WHOLE](a, 1.0)
    assert code == native == decoded(int(code), WHOLE, 1.0) == a


@settings(deadline=None)
@given(st.integers(-(2**40), 2**40), st.integers(1, 64))
def test_bounds_are_rounded_up(a: int, b: int) -> None:
    assert rounded_up(a / b) == math.ceil(Fraction(a / b))
    assert rounded_up(a) == a


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


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("lane", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_nodes_and_children_have_their_optima(lane: Any, signed: bool, seed: int) -> None:
    """Of two labels on binary columns; and of labels, categories and minimum support."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS[:2] if lane is np.int16 else KINDS))
    rows, binary, split = int(rng.integers(1, 40)), int(rng.integers(0, 7)), int(rng.integers(0, 4))
    more: dict[str, Any] = (
        {} if signed else {"labels": int(rng.integers(2, 6)), "min_leaf": int(rng.choice([1, 1, 2, 5]))}
    )
    if not signed:
        rows = max(rows, 6)
        more["categories"] = rng.integers(3, 6, rng.integers(0, 3)).tolist() or [3] * (more["labels"] == 2)
    instance = make_instance(rng, rows=rows, binary=max(binary, int(signed)), kind=kind, split=split, **more)
    assert instance.packed.signed == signed
    _check(instance, lane, rng)
