"""0/1 arrays, checked and cast in about one pass over memory: the common case, and the one that must be fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streed.exact import Array

_BLOCK_BYTES = 1 << 19
"""Rows are checked and cast in blocks of about this size, so that the cast finds them in the cache."""


def binary_codes(X: Array) -> Array | None:
    """(n, p) uint8, C-contiguous and never the caller's memory: the 0/1 array `X` (bool, int or float); or None.

    None where a value is neither 0 nor 1, or the array is not numeric; then `table` says which.
    """
    kind = X.dtype.kind
    if kind == "b":
        return X.astype(np.uint8, order="C")
    if kind == "f":
        return _float_codes(X)
    if kind not in "iu":
        return None
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    codes: Array = np.empty(X.shape, dtype=np.uint8)
    if codes.size == 0:
        return codes
    # Seen as unsigned, a negative number is huge: one maximum finds both sides of {0, 1}.
    unsigned = X.view(f"u{X.itemsize}")
    if not X.flags.c_contiguous and X.flags.f_contiguous:
        if unsigned.T.max() > 1:
            return None
        codes[...] = unsigned
        return codes
    step = max(1, _BLOCK_BYTES // (X.shape[1] * X.itemsize))
    for start in range(0, len(X), step):
        block = unsigned[start : start + step]
        if block.max() > 1:
            return None
        codes[start : start + step] = block
    return codes


def _float_codes(X: Array) -> Array | None:
    with np.errstate(invalid="ignore"):  # NaN and what overflows uint8 are found by the comparison
        codes: Array = X.astype(np.uint8, order="C")
    if codes.size and (codes.max() > 1 or not np.array_equal(codes, X)):
        return None
    return codes
