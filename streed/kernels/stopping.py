"""How native code learns that it is to stop."""

from __future__ import annotations

from numba import int64

from streed.kernels.control import ROWS_OF_CONTROL, STOP
from streed.kernels.simd import load_atomic
from streed.kernels.views import inline, vector


@inline
def stopped(e):  # type: ignore[no-untyped-def]
    """Whether the caller asked the search to stop."""
    return load_atomic(vector(e.control, ROWS_OF_CONTROL, int64), STOP) != 0
