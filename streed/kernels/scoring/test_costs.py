"""Prices of splits that depend on the columns tested above, of costs per row and label.

A column costs, for each row, the least of what it costs here and of what it costs given a column of the path.
`pair_test_costs[j, k]` is the price of column j where k was tested besides the path of the node.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.kernels import values as rows
from streed.kernels.records import INFINITE
from streed.kernels.simd import first_one
from streed.kernels.views import matrix, native, vector


@native
def find_prices(e, lane):  # type: ignore[no-untyped-def]
    """Writes the prices of the node's columns here (P,), and where each of them was tested too (P, P)."""
    full = vector(e.full_test_costs, e.columns, int64)
    given = matrix(e.discounted_test_costs, e.columns, e.columns, int64)
    here = vector(e.here_prices, e.width, int64)
    pairs = matrix(e.pair_test_costs, e.stride, e.stride, lane)
    active = vector(e.active, e.width, int64)
    path = vector(e.asked_rows + 8 * e.row_words, e.path_words, uint64)
    for j in range(e.n_active):
        here[j] = full[active[j]]
    for w in range(e.path_words):
        left = path[w]
        while left != uint64(0):
            f = w * 64 + first_one(left)
            left = left & (left - uint64(1))
            for j in range(e.n_active):
                here[j] = min(here[j], given[f, active[j]])
    for j in range(e.n_active):
        for k in range(e.n_active):
            pairs[j, k] = min(here[j], given[active[k], active[j]])
        for k in range(e.n_active, e.stride):
            pairs[j, k] = 0


@native
def bound_by_prices(e, lane, values):  # type: ignore[no-untyped-def]
    """Purification (Branches, Prop. 4.2) with prices: a side is a leaf, or pays for the cheapest column that splits it.

    That holds where costs are not negative: the base of every row was taken off.
    """
    stride = e.stride
    pairs = matrix(e.pairs, e.planes * stride, stride, lane)
    first = e.rows_plane * stride
    prices = matrix(e.pair_test_costs, stride, stride, lane)
    total = vector(e.totals, e.planes, int64)[e.rows_plane]
    for k in range(e.n_active):
        values[rows.LEAST1, k] = INFINITE
        values[rows.LEAST0, k] = INFINITE
    for j in range(e.n_active):
        with_j = int64(pairs[first + j, j])
        for k in range(e.n_active):
            with_k = int64(pairs[first + k, k])
            both = int64(pairs[first + j, k])
            asked = int64(prices[j, k])
            if 0 < both < with_k:
                values[rows.LEAST1, k] = min(values[rows.LEAST1, k], asked * with_k + e.split_cost)
            if 0 < with_j - both < total - with_k:
                values[rows.LEAST0, k] = min(values[rows.LEAST0, k], asked * (total - with_k) + e.split_cost)
    for k in range(e.n_active):
        values[rows.LEAST1, k] = min(values[rows.LEAST1, k], values[rows.LEAF1, k])
        values[rows.LEAST0, k] = min(values[rows.LEAST0, k], values[rows.LEAF0, k])
