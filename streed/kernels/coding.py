"""Values as the search holds them: int64 codes that keep order.

Whole numbers code themselves. Real values that are added are rounded to a grid, a power of two of their size, so that
sums of codes are exact and no two ways to add the same leaves differ. Real values under any other operator are coded by
their bits, less the last three, which keeps their precision at every size. Native code does so in `coding_kernels.py`.
"""

from __future__ import annotations

import numpy as np

WHOLE, GRID, BITS = "whole", "grid", "bits"

LARGEST_CODE = 2**53
"""Codes on a grid stay below this in size: a larger cost is none that an optimal tree pays."""

INFEASIBLE = 2**60
"""In place of a whole cost: what is infeasible. The sum of four of them fits int64."""

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
