"""Values as the search holds them: int64 codes that keep order.

Whole numbers code themselves. Real values that are added are rounded to a grid, a power of two of their size, so that
sums of codes are exact and no two ways to add the same leaves differ. Real values under any other operator are coded by
their bits, less the last three, which keeps their precision at every size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import int64, types
from numba.extending import intrinsic

from streed.kernels.records import INFINITE, LOWEST
from streed.kernels.views import inline

WHOLE, GRID, BITS = "whole", "grid", "bits"

LARGEST_CODE = 2**53
"""Codes on a grid stay below this in size: a larger cost is none that an optimal tree pays."""

INFEASIBLE = 2**60
"""In place of a whole cost: what is infeasible. The sum of four of them fits int64."""

NOT_WHOLE = -7 * 2**58
"""In place of a cost that is not whole: with an infeasible one it still adds up to less than LOWEST // 2, and the sum
of four of them fits int64."""

SPARE_BITS = 3
"""So few bits are left that every finite code lies between LOWEST and INFINITE."""


def decoded(code: int, coding: str, scale: float) -> int | float:
    """The value of a code, in Python."""
    if coding == WHOLE:
        return code
    if coding == GRID:
        return code / scale
    size = np.int64(abs(code)) << np.int64(SPARE_BITS)
    real = float(np.asarray(size).view(np.float64))
    return real if code >= 0 else -real


@intrinsic
def bits_of(typing: Any, x: Any) -> Any:
    """The bits of a float64, as int64."""
    return types.int64(types.float64), lambda context, builder, sig, args: builder.bitcast(args[0], ir.IntType(64))


@intrinsic
def real_of(typing: Any, x: Any) -> Any:
    """The float64 that has these bits."""
    return types.float64(types.int64), lambda context, builder, sig, args: builder.bitcast(args[0], ir.DoubleType())


@inline
def whole(x):  # type: ignore[no-untyped-def]
    """A number that is to be whole, as int64; NOT_WHOLE if it is not, which makes the search start again in reals."""
    return int64(x) if int64(x) == x else int64(NOT_WHOLE)


@inline
def next_whole(x):  # type: ignore[no-untyped-def]
    """The least whole number that is not below x."""
    if x < INFEASIBLE:
        return int64(x) + int64(int64(x) < x)
    return int64(INFEASIBLE)


@inline
def encode_whole(x, scale):  # type: ignore[no-untyped-def]
    """The code of a whole number; LOWEST of a sum with one that turned out not to be whole."""
    if x <= LOWEST // 2:
        return int64(LOWEST)
    return int64(x) if x < INFEASIBLE else int64(INFINITE)


@inline
def decode_whole(code, scale):  # type: ignore[no-untyped-def]
    """The whole number of a code."""
    return code


@inline
def encode_grid(x, scale):  # type: ignore[no-untyped-def]
    """The code of a real number on the grid of 1 / scale; INFINITE where it is too large, LOWEST where too small."""
    scaled = x * scale
    if -LARGEST_CODE < scaled < LARGEST_CODE:
        return int64(np.rint(scaled))
    return int64(LOWEST) if scaled < 0.0 else int64(INFINITE)


@inline
def decode_grid(code, scale):  # type: ignore[no-untyped-def]
    """The real number of a code on the grid."""
    return code / scale


@inline
def encode_bits(x, scale):  # type: ignore[no-untyped-def]
    """The code of any real number, by its bits."""
    if x < 1e308:
        size = (bits_of(x) & int64(0x7FFFFFFFFFFFFFFF)) >> SPARE_BITS
        return size if x >= 0.0 else -size
    return int64(INFINITE)


@inline
def decode_bits(code, scale):  # type: ignore[no-untyped-def]
    """The real number of a code made of its bits."""
    return real_of(code << SPARE_BITS) if code >= 0 else -real_of(-code << SPARE_BITS)


CODINGS = {WHOLE: (encode_whole, decode_whole), GRID: (encode_grid, decode_grid), BITS: (encode_bits, decode_bits)}
