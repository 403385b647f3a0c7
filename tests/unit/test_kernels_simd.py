"""Every vector operation against numpy, for each lane type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.kernels import simd
from streed.kernels.compiled import entry
from streed.kernels.records import LANES

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
    found = out.view(np.uint8)
    assert (found[0] == np.maximum(a, b)).all()
    assert (found[1] == np.minimum(a, b)).all()
    assert (found[2] == words % 256).all()
    assert (found[3] == words >> 4 * which & 15).all()
    assert (wide == a).all()
