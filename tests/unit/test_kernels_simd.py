"""Vector operations, and counting by tables that they make: against numpy, for each lane type."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.registry import cpu_target

from streed.exact import Array
from streed.kernels import simd
from streed.kernels.compiled import entry
from streed.kernels.counting import look_up
from streed.kernels.counting.look_up import AGAINST, build_nibbles, build_units, fill_up, look_up_bytes
from streed.kernels.counting.pair_counts import count_split, count_units
from streed.kernels.records import CHUNK, LANES, NIBBLE, UNIT_BYTES, UNIT_ROWS, WORD_ROWS
from streed.kernels.simd import store

pytestmark = pytest.mark.compiles

LANE_TYPES = (np.int16, np.int32, np.int64)


@entry
def _lane_by_lane(a, b, narrow, scalar, least, price, mask, out):  # type: ignore[no-untyped-def]
    """Writes the result of every operation on a[1, 32:] and b[0, :32], one row each."""
    x = simd.load(a, 1, LANES)
    y = simd.load(b, 0, 0)
    simd.store(out, 0, 0, x)
    simd.store(out, 1, 0, simd.broadcast(a, 1, LANES + 3))
    simd.store(out, 2, 0, simd.fill(a, scalar))
    simd.store(out, 3, 0, x + y)
    simd.store(out, 4, 0, x - y)
    simd.store(out, 5, 0, x * y)
    simd.store(out, 6, 0, x & y)
    simd.store(out, 7, 0, x | y)
    simd.store(out, 8, 0, x + scalar)
    simd.store(out, 9, 0, x - scalar)
    simd.store(out, 10, 0, x * scalar)
    simd.store(out, 11, 0, x & scalar)
    simd.store(out, 12, 0, x | scalar)
    simd.store(out, 13, 0, simd.minimum(x, y))
    simd.store(out, 14, 0, simd.maximum(x, y))
    simd.store(out, 15, 0, simd.popcount(x))
    simd.store(out, 16, 0, simd.forbid(x, y, least, price))
    simd.store(out, 17, 0, simd.keep_lanes(mask, x))
    simd.store(out, 18, 0, simd.widen(a, simd.load(narrow, 0, 0)))


@entry
def _across_lanes(a, b):  # type: ignore[no-untyped-def]
    """(largest, smallest, lanes_with, infeasible_of)."""
    x = simd.load(a, 0, 0)
    return simd.largest(x), simd.smallest(x), simd.lanes_with(x, simd.load(b, 0, 0)), simd.infeasible_of(a)


@entry
def _bytes(a, b, words, which, out, wide):  # type: ignore[no-untyped-def]
    x = simd.load(a, 0, 0)
    y = simd.load(b, 0, 0)
    simd.store(out, 0, 0, simd.maximum_unsigned(x, y))
    simd.store(out, 1, 0, simd.minimum_unsigned(x, y))
    simd.store(out, 2, 0, simd.narrow(a, simd.load(words, 0, 0)))
    simd.store(out, 3, 0, simd.nibble_of(a, simd.load(words, 0, 0), which))
    simd.store(wide, 0, 0, simd.widen_unsigned(wide, x))


def _whole(rng: np.random.Generator, dtype: Any, *shape: int) -> Any:
    """Numbers of every size up to the dtype's limits, some of them the limits themselves."""
    limits = np.iinfo(dtype)
    shift = rng.integers(0, limits.bits, shape)
    numbers = rng.integers(limits.min, limits.max, shape, dtype=np.int64, endpoint=True) >> shift
    extreme = rng.choice(np.array([limits.min, limits.max, 0, -1, 1]), shape)
    return np.where(rng.random(shape) < 0.2, extreme, numbers).astype(dtype)


@pytest.mark.parametrize("dtype", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_operations_are_numpys_lane_by_lane(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = _whole(rng, dtype, 2, 2 * LANES), _whole(rng, dtype, 2, LANES)
    narrow = _whole(rng, np.int16, 1, LANES)
    scalar, least, price = (int(number) for number in _whole(rng, dtype, 3))
    mask = int(rng.integers(0, 2**LANES))
    out = np.full((20, LANES), 7, dtype)
    _lane_by_lane(a, b, narrow, scalar, least, price, mask, out)
    x, y, s = a[1, LANES:], b[0], dtype(scalar)
    words = x.astype(np.uint64) & np.uint64(2 ** np.iinfo(dtype).bits - 1)
    ones = np.array([int(word).bit_count() for word in words])
    kept = (mask >> np.arange(LANES)) & 1 == 1
    with np.errstate(over="ignore"):
        expected = [x, np.full(LANES, x[3]), np.full(LANES, s), x + y, x - y, x * y, x & y, x | y]
        expected += [x + s, x - s, x * s, x & s, x | s, np.minimum(x, y), np.maximum(x, y), ones]
        expected += [np.where((y > 0) & (y < least), dtype(price), x), np.where(kept, x, 0), narrow[0].astype(dtype)]
    for number, (lanes, wanted) in enumerate(zip(out, expected, strict=False)):
        assert lanes.tolist() == wanted.tolist(), f"operation {number}"
    assert (out[len(expected) :] == 7).all()


@pytest.mark.parametrize("dtype", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_reductions_and_masks(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = _whole(rng, dtype, 1, LANES), _whole(rng, dtype, 1, LANES)
    largest, smallest, mask, price = _across_lanes(a, b)
    assert (largest, smallest) == (int(a.max()), int(a.min()))
    assert [mask >> lane & 1 for lane in range(LANES)] == ((a[0] & b[0]) != 0).astype(int).tolist()
    assert 0 <= mask < 2**LANES
    assert price == min(np.iinfo(dtype).max, 2**62 - 1)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@given(seed=st.integers(0, 2**32), which=st.integers(0, 3))
@settings(deadline=None, max_examples=20)
def test_bytes_without_sign(dtype: Any, seed: int, which: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 256, (2, 1, LANES)).astype(np.uint8)
    words = rng.integers(0, 2**16, (1, LANES)).astype(np.uint16)
    out, wide = np.zeros((4, LANES), np.int8), np.zeros((1, LANES), dtype)
    _bytes(a.view(np.int8), b.view(np.int8), words.view(np.int16), which, out, wide)
    expected = [np.maximum(a, b), np.minimum(a, b), words % 256, words >> 4 * which & 15]
    assert (out.view(np.uint8)[:, None] == expected).all()
    assert (wide == a).all()


FEATURES = cpu_target.target_context.codegen().magic_tuple()[2]

tables = pytest.mark.skipif(
    not (look_up.LOOKS_UP or "+ssse3" in FEATURES),
    reason="the tables need an instruction that the target does not have",
)


@entry
def _build(rows, row_bits, blocks, units, unit):  # type: ignore[no-untyped-def]
    return build_units(rows, 0, len(rows), row_bits, blocks, units, unit)


@entry
def _mixed(rows, of_first, row_bits, blocks, units, j, k, out):  # type: ignore[no-untyped-def]
    """What is added to the counts of the first rows, less those of the others, in out: bytes (4, 32)."""
    used = build_nibbles(rows, 0, of_first, row_bits, blocks, units, 0, 0)
    others = build_nibbles(rows, of_first, len(rows) - of_first, row_bits, blocks, units, used, AGAINST)
    b0, b1, b2, b3 = look_up_bytes(units, 0, fill_up(units, used + others, blocks), j, k)
    store(out, 0, 0, b0)
    store(out, 1, 0, b1)
    store(out, 2, 0, b2)
    store(out, 3, 0, b3)
    return NIBBLE * others


@entry
def _pairs(units, begins, columns, multipliers, pairs):  # type: ignore[no-untyped-def]
    count_units(units, begins, len(begins) - 1, columns, multipliers, multipliers.shape[1], pairs)


@entry
def _pairs_of_words(words, begins, columns, multipliers, pairs, units):  # type: ignore[no-untyped-def]
    groups = len(begins) - 1
    count_split(words, begins, groups, columns, multipliers, multipliers.shape[1], pairs, units)


def _draw(rng: np.random.Generator, rows: int, columns: int) -> tuple[Array, Array]:
    """0/1 (rows, columns padded to lanes), and the same as bits (rows, blocks) int32."""
    stride = -(-max(columns, 1) // LANES) * LANES
    bits = np.zeros((rows, stride), np.uint8)
    bits[:, :columns] = rng.random((rows, columns)) < rng.uniform(0, 1, columns)
    return bits, np.packbits(bits, axis=1, bitorder="little").view(np.int32)


def _room(units: int, stride: int) -> Array:
    return np.full((units, UNIT_BYTES * stride), 99, np.int8)


def _words_of(bits: Array, begins: list[int]) -> tuple[Array, Array]:
    """Words (w, stride) int16 of the rows, every group from a word of its own, and where groups begin in them."""
    words, starts = [np.zeros((0, bits.shape[1]), np.uint16)], [0]
    for begin, end in itertools.pairwise(begins):
        group = np.zeros((-(-(end - begin) // WORD_ROWS) * WORD_ROWS, bits.shape[1]), np.uint16)
        group[: end - begin] = bits[begin:end]
        group = group.reshape(-1, WORD_ROWS, bits.shape[1]) << np.arange(WORD_ROWS, dtype=np.uint16)[None, :, None]
        words.append(group.sum(axis=1, dtype=np.uint16))
        starts.append(starts[-1] + len(words[-1]))
    return np.concatenate(words).view(np.int16), np.array(starts)


@tables
@pytest.mark.parametrize("rows", [1, 12, 100, 251, 252])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("full", [False, True])
def test_rows_for_and_against_meet_in_a_byte(rows: int, share: float, full: bool) -> None:
    rng = np.random.default_rng(rows)
    bits, packed = _draw(rng, rows, 60)
    if full:
        bits[:, :60], packed[:] = 1, [-1, 2**28 - 1]
    first = int(share * rows)
    if rows == 252 and share == 0.5:
        first = 128  # whole nibbles of both, or 252 rows take more than a byte holds
    signs = np.where(np.arange(rows) < first, 1, -1)
    expected = bits.T.astype(np.int64) @ (bits * signs[:, None])
    units = _room(rows // UNIT_ROWS + 2, 64)
    out = np.zeros((4, LANES), np.int8)
    for j in range(0, 64, 4):
        for k in (0, 32):
            added = _mixed(np.arange(rows, dtype=np.int32), first, packed, 2, units, j, k, out)
            assert added == -(-(rows - first) // NIBBLE) * NIBBLE
            assert (out.view(np.uint8).astype(np.int64) - added == expected[j : j + 4, k : k + LANES]).all()


@tables
@pytest.mark.parametrize("lane", [np.int16, np.int32, np.int64])
@given(seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=12)
def test_pair_sums_of_units_and_words_are_matrix_products(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = int(rng.choice([1, 4, 31, 33, 64]))
    begins = [0, *np.cumsum(rng.choice([0, 1, 12, 30, 241, 300], rng.integers(1, 4))).tolist()]
    bits, packed = _draw(rng, max(begins[-1], 1), columns)
    multipliers = rng.integers(-3, 4, (len(begins) - 1, 2))
    stride = bits.shape[1]
    amounts = np.repeat(multipliers, np.diff(begins), axis=0)
    having = bits[: begins[-1]].astype(np.int64)
    expected = np.stack([having.T @ (having * amount[:, None]) for amount in amounts.T])
    units = _room(begins[-1] // UNIT_ROWS + len(begins), stride)
    starts = [0]
    for begin, end in itertools.pairwise(begins):
        starts.append(
            starts[-1] + _build(np.arange(begin, end, dtype=np.int32), packed, stride // 32, units, starts[-1])
        )
    pairs = np.full((2 * stride, stride), 77, lane)
    _pairs(units, np.array(starts), columns, multipliers, pairs)
    assert (pairs.reshape(2, stride, stride)[:, :columns] == expected[:, :columns]).all()
    words, starts_of_words = _words_of(bits[: begins[-1]], begins)
    pairs[:] = 77
    _pairs_of_words(words, starts_of_words, columns, multipliers, pairs, _room(CHUNK, stride))
    assert (pairs.reshape(2, stride, stride)[:, :columns] == expected[:, :columns]).all()
