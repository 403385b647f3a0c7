"""Pair sums of what takes many different values: sums over rows, where counting by groups would not pay.

Rows that are equal in every column are one row here, and each has a place of its own with a number per plane. Of
every column, the rows that have it are listed, and their numbers added in registers, four planes and a block of second
columns at a time. Sums of int64 numbers are exact; float64 numbers are those of a task's statistics.
"""

from __future__ import annotations

from numba import float64, int16, int32, int64, uint64

from streed.kernels.counting.fours import sum_eight, sum_sixteen
from streed.kernels.counting.set_bits import store_set_bits
from streed.kernels.records import FOUR, LANES, NONE, WORD_ROWS
from streed.kernels.simd import count_ones
from streed.kernels.views import inline, matrix, native, vector

BLOCK = 8
"""Pair sums for scored tasks end with the block of columns that holds the diagonal."""


@inline
def padded(planes):  # type: ignore[no-untyped-def]
    """The planes, padded."""
    return (planes + FOUR - 1) // FOUR * FOUR


@native
def sum_node(e, lane, number, planes):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) and totals (S,) of the node at hand.

    `number` is the type of the numbers, int64 or float64, and `lane` that of the pair sums.
    """
    width = padded(planes)
    rows = vector(e.rows, e.row_space + 64, int32)
    totals = vector(e.totals, planes, number)
    values = vector(e.row_values, e.row_space * width, number)
    for p in range(planes):
        totals[p] = 0
    for r in range(e.n_rows):
        for p in range(planes):
            totals[p] += values[rows[r] * width + p]
    pairs = matrix(e.pairs, planes * e.stride, e.stride, lane)
    _sum_blocks(e, values, width, pairs, planes, int64(NONE), int64(1))


@native
def sum_child(e, lane, number, planes, column, side):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) of the rows of the node on the side of the local column."""
    width = padded(planes)
    child_pairs = matrix(e.child_pairs, planes * e.stride, e.stride, lane)
    _sum_blocks(e, vector(e.row_values, e.row_space * width, number), width, child_pairs, planes, column, side)


@native
def sum_floors(e):  # type: ignore[no-untyped-def]
    """Writes floor_sums (P + 1): the floors of the node's rows that have each column; then of all its rows."""
    rows = vector(e.rows, e.row_space + 64, int32)
    floors = vector(e.row_floors, e.row_space, float64)
    sums = vector(e.floor_sums, e.width + 1, float64)
    by_column = matrix(e.floor_sums, 1, e.width, float64)
    bits = matrix(e.local_bits, e.row_space + 64, e.stride // LANES, int32)
    listed = vector(e.rows_with, e.row_space + 64, int32)
    sums[e.width] = 0.0
    for r in range(e.n_rows):
        listed[r] = r
        sums[e.width] += floors[rows[r]]
    for column in range(0, e.n_active, 2 * BLOCK):
        sum_sixteen(floors, 1, 0, 1, rows, listed, e.n_rows, bits, column, by_column, 0, e.width)


@native
def _sum_blocks(e, values, width, pairs, planes, column, side):  # type: ignore[no-untyped-def]
    """Writes the pair sums of the node's rows on the side of the local column (all if it is NONE).

    For scored tasks, only those up to the block of j.
    """
    stride = e.stride
    bits = matrix(e.local_bits, e.row_space + 64, stride // LANES, int32)
    names = vector(e.rows, e.row_space + 64, int32)
    listed = vector(e.rows_with, e.row_space + 64, int32)
    for j in range(e.n_active):
        count = _list_common(e, j, column, side, listed)
        end = block_end(e, j)
        for p in range(0, planes, FOUR):
            row = p * stride + j
            for k in range(0, end - BLOCK, 2 * BLOCK):
                sum_sixteen(values, width, p, planes - p, names, listed, count, bits, k, pairs, row, stride)
            if end // BLOCK % 2 == 1:
                last = end - BLOCK
                sum_eight(values, width, p, planes - p, names, listed, count, bits, last, pairs, row, stride)
    if e.scored == 0:
        _mirror(e, pairs, planes)


@inline
def _list_common(e, j, column, side, listed):  # type: ignore[no-untyped-def]
    """How many of the node's rows have column j and lie on the side of `column` (if it is not NONE); lists them."""
    words = matrix(e.words, e.n_words, e.stride, int16)
    begins = vector(e.group_begins, e.groups + 1, int64)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    count = int64(0)
    for g in range(e.groups):
        first = group_rows[g]
        for word in range(begins[g], begins[g + 1]):
            common = int64(words[word, j]) & 0xFFFF
            if column != NONE:
                other = int64(words[word, column])
                common = common & (other if side == 1 else ~other)
            store_set_bits(listed, count, first, common)
            count += count_ones(uint64(common))
            first += WORD_ROWS
    return count


@native
def _mirror(e, pairs, planes):  # type: ignore[no-untyped-def]
    """Completes the pair sums behind the block of j."""
    stride = e.stride
    for p in range(planes):
        for j in range(e.n_active):
            row = p * stride + j
            for k in range(block_end(e, j), e.n_active):
                pairs[row, k] = pairs[p * stride + k, j]
            for k in range(max(block_end(e, j), e.n_active), stride):
                pairs[row, k] = 0


@inline
def block_end(e, j):  # type: ignore[no-untyped-def]
    """The first column behind the block of j."""
    return min(e.stride, (j + BLOCK) // BLOCK * BLOCK)
