"""Pair sums of statistics with many different values: float64 sums over rows, where counting by groups would not pay.

Every row has a place of its own and a number per plane. A row that has column j adds its numbers, in the lanes of all
columns that it has, to the pair sums of j.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int16, int32, int64, uint32

from streed.engine.rows import list_side
from streed.engine.simd import LANES, first_one
from streed.engine.views import inline, matrix, native, vector

_SPARSE = 3
"""Rows with fewer than this part of the columns add pair by pair, others lane by lane."""


@native
def sum_node(e):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) and totals (S,) of the node at hand."""
    rows = vector(e.rows, e.row_space + 64, int32)
    totals = vector(e.totals, e.planes, float64)
    values = matrix(e.row_values, e.planes, e.row_space, float64)
    for p in range(e.planes):
        total = 0.0
        for r in range(e.n_rows):
            total += values[p, rows[r]]
        totals[p] = total
    _clear(e, matrix(e.pairs, e.planes * e.stride, e.stride, float64))
    for r in range(e.n_rows):
        _add_row(e, matrix(e.pairs, e.planes * e.stride, e.stride, float64), int64(r))


@native
def sum_child(e, column, side):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) of the rows of the node on the side of the local column."""
    pairs = matrix(e.child_pairs, e.planes * e.stride, e.stride, float64)
    words = matrix(e.words, e.n_words, e.stride, int16)
    rows = vector(e.child_rows, e.row_space + 64, int32)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    n = int64(0)
    for g in range(e.groups):
        n += list_side(words, begins[g], group_rows[g + 1] - group_rows[g], column, side, rows, n, group_rows[g])
    _clear(e, pairs)
    for r in range(n):
        _add_row(e, pairs, int64(rows[r]))


@native
def sum_floors(e):  # type: ignore[no-untyped-def]
    """Writes floor_sums (P + 1): the floors of the node's rows that have each column; then of all its rows."""
    rows = vector(e.rows, e.row_space + 64, int32)
    blocks = e.stride // LANES
    bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    floors = vector(e.row_floors, e.row_space, float64)
    sums = vector(e.floor_sums, e.width + 1, float64)
    for k in range(e.width + 1):
        sums[k] = 0.0
    for r in range(e.n_rows):
        floor = floors[rows[r]]
        sums[e.width] += floor
        for block in range(blocks):
            left = np.uint64(np.uint32(bits[r, block]))
            while left != np.uint64(0):
                sums[block * LANES + first_one(left)] += floor
                left = left & (left - np.uint64(1))


@inline
def _clear(e, pairs):  # type: ignore[no-untyped-def]
    for p in range(e.planes):
        for j in range(e.n_active):
            for k in range(e.stride):
                pairs[p * e.stride + j, k] = 0.0


@inline
def _add_row(e, pairs, row):  # type: ignore[no-untyped-def]
    """Adds the numbers of the node's row of that number to the pairs of columns that it has."""
    stride = e.stride
    blocks = stride // LANES
    place = vector(e.rows, e.row_space + 64, int32)[row]
    bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    values = matrix(e.row_values, e.planes, e.row_space, float64)
    listed = vector(e.row_columns, e.width, int64)
    count = int64(0)
    for block in range(blocks):
        left = np.uint64(np.uint32(bits[row, block]))
        while left != np.uint64(0):
            listed[count] = block * LANES + first_one(left)
            count += 1
            left = left & (left - np.uint64(1))
    if count * _SPARSE < stride:
        for p in range(e.planes):
            value = values[p, place]
            for a in range(count):
                for b in range(count):
                    pairs[p * stride + listed[a], listed[b]] += value
        return
    lanes = vector(e.row_lanes, e.width, float64)
    for p in range(e.planes):
        value = values[p, place]
        for block in range(blocks):
            word = np.uint32(bits[row, block])
            for lane in range(LANES):
                lanes[block * LANES + lane] = value * float64((word >> uint32(lane)) & uint32(1))
        for a in range(count):
            j = p * stride + listed[a]
            for k in range(stride):
                pairs[j, k] += lanes[k]
