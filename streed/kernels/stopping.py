"""The words that the search and its caller share while it runs: how native code learns that it is to stop."""

from __future__ import annotations

from numba import int64

from streed.kernels.simd import load_atomic
from streed.kernels.views import inline, vector

STOP, NODES, LOWER, UPPER, SHARED_UPPER, ROW_PRICES = 0, 1, 2, 3, 4, 7
"""Words of `control`: set to stop the search; nodes visited so far; bounds of the root; the best value that any thread
has found; the address of the prices of rows, zero if there are none (bnb/row_prices.py)."""

ROWS_OF_CONTROL = 16

LONGEST = 62
"""Literals of a conjunction in conjunctions.py: no longer one is looked at, and an enumeration that meets one does not
end."""

EPOCH, SHIFT, DUE, HEAD = 0, 1, 2, 3
"""Words at the beginning of the array of row prices: which prices these are (1, 2, ...); units are 1 / 2^shift codes;
the due of a leaf in units; how many words these are. Then come the places that have a price, a bit each, and the prices
of all places."""


@inline
def stopped(e):  # type: ignore[no-untyped-def]
    """Whether the caller asked the search to stop."""
    return load_atomic(vector(e.control, ROWS_OF_CONTROL, int64), STOP) != 0
