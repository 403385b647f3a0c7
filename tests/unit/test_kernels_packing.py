"""Rows and columns as the engine holds them: bits, groups of rows, bit columns, and codes that keep order."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels import coding
from streed.kernels.coding import BITS, GRID, WHOLE, decoded
from streed.kernels.compiled import entry
from streed.kernels.counting.columns import pack_columns
from streed.kernels.counting.groups import MOST_GROUPS, Groups, common_divisor, group_rows, set_prices
from streed.kernels.counting.set_bits import pack_bytes, transposed
from streed.kernels.packed import NO_FLIPS
from streed.kernels.records import INFINITE, LANES, LOWEST


@entry
def _pack(array, words):  # type: ignore[no-untyped-def]
    for w in range(len(words)):
        words[w] = pack_bytes(array, 64 * w)


@entry
def _pack_at(array, at):  # type: ignore[no-untyped-def]
    return pack_bytes(array, at)


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


def test_bytes_are_packed_from_any_place() -> None:
    codes = np.arange(200).astype(np.uint8) % 3
    for at in (0, 1, 63, 64, 65, 136):
        assert int(_pack_at(codes, at)) == sum(int(codes[at + k] != 0) << k for k in range(64))


@pytest.mark.parametrize(("blocks", "words"), [(0, 0), (1, 1), (1, 3), (3, 1), (2, 5)])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.5, 1.0])
def test_a_transpose_is_numpys(blocks: int, words: int, density: float) -> None:
    rng = np.random.default_rng(blocks + words)
    bits = (rng.random((64 * blocks, 64 * words)) < density).astype(np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(64 * blocks, words)
    assert (as_bits(transposed(packed)).reshape(64 * words, 64 * blocks) == bits.T).all()


@pytest.mark.parametrize("labels", [1, 2, 3, 5])
@pytest.mark.parametrize("groups", [0, 1, 31, 32, 33, 48])
def test_prices_of_groups(labels: int, groups: int) -> None:
    rng = np.random.default_rng(labels + groups)
    for unit, split in ((1, 0), (6, 0), (6, 9), (2**33, 2**34)):
        costs = rng.integers(-20, 20, (groups, labels)) * unit + rng.integers(0, 5, (groups, 1))
        sizes = rng.integers(1, 2**15, groups)
        profits = np.full((groups, labels + 2), -7)
        signed = np.full((groups, 2), -7)
        base, worst, divisor, accuracy = set_prices(costs, sizes, split, profits, signed)
        assert divisor == max(1, math.gcd(split, *(costs - costs[:, :1]).ravel().tolist()))
        most = costs.max(axis=1)
        expected = (most[:, None] - costs) // divisor
        spread = (most - costs.min(axis=1)) // divisor
        assert base == sum((sizes * costs.min(axis=1)).tolist())
        assert worst == sum((sizes * spread).tolist())
        assert (profits[:, :labels] == expected).all()
        assert (profits[:, labels] == spread).all()
        assert (profits[:, labels + 1] == -7).all()
        assert accuracy == int(((expected != 0).sum(axis=1) <= 1).all())
        if labels == 2:
            assert (signed == np.column_stack([(costs[:, 0] - costs[:, 1]) // divisor, spread])).all()
        else:
            assert (signed == -7).all()


def test_prices_of_plain_errors_are_those_of_accuracy() -> None:
    profits, signed = np.zeros((3, 4), np.int64), np.zeros((3, 2), np.int64)
    wrong = 1 - np.eye(3, dtype=np.int64)
    assert set_prices(wrong, np.array([4, 5, 6]), 0, profits, signed) == (0, 15, 1, 1)
    wrong[0, 1] = 0
    assert set_prices(wrong, np.array([4, 5, 6]), 0, profits, signed)[3] == 0


def _sums_by_row(groups: Groups, rows: int) -> Array:
    """(n, K + 2): for every row, the multipliers of all groups that it stands in."""
    sums = np.zeros((rows, groups.profits.shape[1]), np.int64)
    for row, place in groups.places.reshape(-1, 2).tolist():
        group = np.searchsorted(groups.words, place // 64, "right") - 1
        sums[row] += groups.profits[group]
    return sums


def _check_groups(costs: Array, divisor: int, count_rows: bool) -> Groups:
    """The groups, after comparing them with the costs."""
    groups = group_rows(costs, divisor, count_rows)
    n, labels = costs.shape
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


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_common_divisor_is_that_of_all_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit = int(rng.choice([1, 2, 6, 10**9]))
    shape = (int(rng.integers(1, 8)), int(rng.integers(1, 4)))
    costs = unit * rng.integers(-20, 20, shape) + rng.integers(-9, 9, (shape[0], 1))
    split = unit * int(rng.integers(0, 5))
    differences: list[Any] = [split, *(costs - costs[:, :1]).reshape(-1).tolist()]
    assert common_divisor(costs, split) == max(1, math.gcd(*differences))


def _bits(words: Array) -> Array:
    """(..., 64 * W) of 0/1 for words (..., W)."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")


def _pack_columns(
    codes: Array, categories: list[int], places: list[tuple[int, int]] | None = None, words: int | None = None
) -> Any:
    """`pack_columns`; without places, the rows stand in their own order."""
    pairs = [(row, row) for row in range(len(codes))] if places is None else places
    size = -(-len(codes) // 64) if words is None else words
    flat = np.array(pairs, np.int64).reshape(-1)
    return pack_columns(
        np.ascontiguousarray(codes, np.uint8), flat, np.array(categories, np.int64), size, True, NO_FLIPS
    )


def _check_columns(codes: Array, categories: list[int], places: list[tuple[int, int]], words: int) -> None:
    """Compares `pack_columns` with the definition, column by column and row by row."""
    column, flipped, literals, column_rows, row_bits, rows = _pack_columns(codes, categories, places, words)
    counted = np.array([row for row, _ in places], int)
    expected: list[tuple[int, int, Array]] = []
    for f, categorical in enumerate(categories):
        values = codes[counted, f].astype(int)
        if categorical or values.sum() in (0, len(values)):
            continue
        # of exactly one half, the first row's side counts as without
        first = min(range(len(places)), key=lambda i: places[i][1])
        flip = int(2 * values.sum() > len(values) or (2 * values.sum() == len(values) and values[first] == 1))
        if not any((have == values ^ flip).all() for _, _, have in expected):
            expected.append((f, flip, values ^ flip))
    n_binary = len(expected)
    everyone = np.zeros(words * 64, int)
    everyone[[place for _, place in places]] = 1
    assert _bits(rows).reshape(-1).tolist() == everyone.tolist()
    begins = []
    for f, categorical in enumerate(categories):
        if categorical:
            begins.append(len(expected))
            expected += [(f, 0, (codes[counted, f] == category).astype(int)) for category in range(categorical)]
    assert column.tolist() == [f for f, _, _ in expected]
    assert flipped.tolist() == [flip for _, flip, _ in expected]
    assert literals.tolist() == [*begins, len(expected)]
    assert literals[0] == (n_binary if begins else len(expected))
    wanted = np.zeros((len(expected), words * 64), int)
    for k, (_, _, have) in enumerate(expected):
        wanted[k, [place for _, place in places]] = have
    assert column_rows.shape == (len(expected), words)
    assert _bits(column_rows).reshape(wanted.shape).tolist() == wanted.tolist()
    lanes = -(-len(expected) // LANES)
    assert row_bits.shape == (words * 64, lanes)
    if expected:
        by_row = _bits(row_bits)
        assert by_row[:, : len(expected)].tolist() == wanted.T.tolist()
        assert not by_row[:, len(expected) :].any()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_columns_are_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 7, 64, 65, 130]))
    p = int(rng.choice([0, 1, 5, 33, 64, 70, 131]))
    categories = np.where(rng.random(p) < rng.choice([0, 0.3]), rng.integers(1, 8, p), 0)
    chosen = rng.integers(0, np.maximum(categories, 1), (n, p))
    codes = np.where(categories > 0, chosen, rng.random((n, p)) < rng.random(p))
    if p > 1:
        for f in rng.integers(1, p, p // 3):
            other = rng.integers(0, f)
            if categories[f] == categories[other] == 0:
                codes[:, f] = codes[:, other] ^ rng.integers(0, 2)
    # rows stand anywhere, some of them twice and some nowhere, with gaps between them
    words = -(-n // 64) + int(rng.integers(0, 3))
    places = rng.permutation(words * 64)[: n + min(n, words * 64 - n)]
    rows = np.r_[np.arange(n), rng.integers(0, n, len(places) - n)]
    kept = rng.random(len(rows)) < rng.choice([0.5, 1.0])
    pairs = list(zip(rows[kept].tolist(), places[kept].tolist(), strict=True))
    _check_columns(codes.astype(np.uint8), categories.tolist(), pairs, words)


def test_equal_and_complementary_columns_go_under_the_first_name() -> None:
    a, b = np.array([0, 0, 1, 0, 0]), np.array([1, 1, 0, 0, 1])
    column, flipped, *_ = _pack_columns(np.column_stack([a * 0, b, a, 1 - a, 1 - b, b, a * 0 + 1, a]), [0] * 8)
    assert column.tolist() == [1, 2]
    assert flipped.tolist() == [1, 0]


def test_a_problem_without_columns_or_rows() -> None:
    column, _, literals, column_rows, row_bits, _ = _pack_columns(np.zeros((3, 0)), [])
    assert (len(column), literals.tolist(), column_rows.shape, row_bits.shape) == (0, [0], (0, 1), (64, 0))
    column, _, literals, column_rows, row_bits, _ = _pack_columns(np.ones((3, 2)), [0, 3], [], 0)
    assert (column.tolist(), literals.tolist()) == ([1, 1, 1], [0, 3])
    assert (column_rows.shape, row_bits.shape) == ((3, 0), (0, 1))


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
@given(numbers, numbers)
def test_bits_keep_order(a: float, b: float) -> None:
    check_order(BITS, a, b, 1.0)


@settings(deadline=None)
@given(numbers)
def test_bits_give_back_all_but_the_last_bits(a: float) -> None:
    code, native = CODES[BITS](a, 1.0)
    assert decoded(int(code), BITS, 1.0) == native
    assert abs(native - a) <= 8 * math.ulp(a)


@settings(deadline=None)
@given(numbers, numbers, st.integers(-300, 300))
def test_a_grid_keeps_order(a: float, b: float, exponent: int) -> None:
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
