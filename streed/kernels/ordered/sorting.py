"""The orders of all rows of a problem, by column (see `record.py`)."""

from __future__ import annotations

import numpy as np

from streed.exact import Array
from streed.kernels.ordered.record import NEW


def sort_rows(ranks: Array) -> Array:
    """uint32 (F, n + 1): the orders of all rows, by their ranks (F, n) int32."""
    columns, n = ranks.shape
    orders = np.zeros((columns, n + 1), np.uint32)
    if ranks.max(initial=0) < 2**16:
        # numbers of 16 bits are sorted digit by digit, which is quicker
        short = ranks.astype(np.uint16)
        for column in range(columns):
            order = np.argsort(short[column], kind="stable")
            sorted_ranks = ranks[column][order]
            orders[column, :n] = order
            orders[column, 1:n] |= np.where(sorted_ranks[1:] != sorted_ranks[:-1], np.uint32(NEW), np.uint32(0))
        return orders
    # numbers are sorted quicker than their places: a rank and a row are one of 64 bits
    rows = np.arange(n, dtype=np.int64)
    for column in range(columns):
        both = (ranks[column].astype(np.int64) << 32) | rows
        both.sort()
        orders[column, :n] = both & (2**32 - 1)
        both >>= 32
        orders[column, 1:n] |= np.where(both[1:] != both[:-1], np.uint32(NEW), np.uint32(0))
    return orders
