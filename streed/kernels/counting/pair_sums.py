"""Pair sums of what takes many different values: sums over rows, where counting by groups would not pay.

Rows that are equal in every column are one row here, and each has a place of its own with a number per plane. A row
adds its numbers, four planes at a time, to every pair of columns that it has; few columns are on, so few pairs are met.
Sums of int64 numbers are exact; float64 numbers are those of a task's statistics.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int16, int32, int64, uint64

from streed.kernels.counting.columns import store_set_bits
from streed.kernels.counting.fours import add_four, clear_four, spread_fours, sum_sixteen
from streed.kernels.counting.rows import list_side
from streed.kernels.records import FOUR, LANES, NONE, WORD_ROWS
from streed.kernels.simd import count_ones, first_one
from streed.kernels.views import inline, matrix, native, vector

_FEW_BLOCKS = 8
"""Of so many blocks of columns, sums are made in registers, over the rows that have a column; of more, row by row,
unless rows have many columns."""

_DENSE = 4
"""Rows have many columns if they have one for so many of them."""

BLOCK = 8
"""Pair sums for scored tasks end with the block of columns that holds the diagonal."""


@inline
def padded(planes):  # type: ignore[no-untyped-def]
    """The planes, padded."""
    return (planes + FOUR - 1) // FOUR * FOUR


@native
def sum_node(e, lane, number, planes):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) and totals (S,) of the node at hand; lists the columns of its rows for its children.

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
    ones = vector(e.ones, e.width, int64)
    together = int64(0)
    for k in range(e.n_active):
        together += ones[k]
    e.dense = int64(_DENSE * together > e.n_rows * e.stride)
    if has_few_blocks(e):
        _sum_blocks(e, values, width, pairs, planes, int64(NONE), int64(1))
        if e.scored == 0:
            _mirror(e, pairs, planes)
        return
    _list_columns(e)
    table = vector(e.table, e.width * e.width * width, number)
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    _clear(e, table, width)
    for r in range(e.n_rows):
        _add_row(e, table, values, columns, starts[r], starts[r + 1], int64(rows[r]), width)
    _spread(e, table, width, pairs, planes, e.scored == 0)


@native
def sum_child(e, lane, number, planes, column, side):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) of the rows of the node on the side of the local column."""
    width = padded(planes)
    child_pairs = matrix(e.child_pairs, planes * e.stride, e.stride, lane)
    if has_few_blocks(e):
        _sum_blocks(e, vector(e.row_values, e.row_space * width, number), width, child_pairs, planes, column, side)
        if e.scored == 0:
            _mirror(e, child_pairs, planes)
        return
    words = matrix(e.words, e.n_words, e.stride, int16)
    node_rows = vector(e.rows, e.row_space + 64, int32)
    rows = vector(e.child_rows, e.row_space + 64, int32)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    values = vector(e.row_values, e.row_space * width, number)
    table = vector(e.table, e.width * e.width * width, number)
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    n = int64(0)
    for g in range(e.groups):
        n += list_side(words, begins[g], group_rows[g + 1] - group_rows[g], column, side, rows, n, group_rows[g])
    _clear(e, table, width)
    for i in range(n):
        r = int64(rows[i])
        _add_row(e, table, values, columns, starts[r], starts[r + 1], int64(node_rows[r]), width)
    _spread(e, table, width, child_pairs, planes, e.scored == 0)


@native
def sum_floors(e):  # type: ignore[no-untyped-def]
    """Writes floor_sums (P + 1): the floors of the node's rows that have each column; then of all its rows.

    Needs the columns that `sum_node` lists where there are many.
    """
    rows = vector(e.rows, e.row_space + 64, int32)
    floors = vector(e.row_floors, e.row_space, float64)
    sums = vector(e.floor_sums, e.width + 1, float64)
    if has_few_blocks(e):
        by_column = matrix(e.floor_sums, 1, e.width, float64)
        bits = matrix(e.local_bits, e.row_space + 64, e.stride // LANES, int32)
        listed = vector(e.rows_with, e.row_space + 64, int32)
        sums[e.width] = 0.0
        for r in range(e.n_rows):
            listed[r] = r
            sums[e.width] += floors[rows[r]]
        for column in range(0, e.n_active, 2 * BLOCK):
            sum_sixteen(floors, 1, 0, 1, rows, listed, e.n_rows, bits, column, by_column, 0, e.width)
        return
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    for k in range(e.width + 1):
        sums[k] = 0.0
    for r in range(e.n_rows):
        floor = floors[rows[r]]
        sums[e.width] += floor
        for a in range(starts[r], starts[r + 1]):
            sums[columns[a]] += floor


@native
def _list_columns(e):  # type: ignore[no-untyped-def]
    """Lists the local columns that every row of the node has, ascending, from the bits that `spread_rows` wrote."""
    blocks = e.stride // LANES
    bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    count = int64(0)
    for r in range(e.n_rows):
        starts[r] = count
        for block in range(blocks):
            left = np.uint64(np.uint32(bits[r, block]))
            while left != np.uint64(0):
                columns[count] = block * LANES + first_one(left)
                count += 1
                left = left & (left - np.uint64(1))
    starts[e.n_rows] = count


@inline
def has_few_blocks(e):  # type: ignore[no-untyped-def]
    """Whether to pass over blocks of columns in which a row has none takes little time: few blocks, or many columns."""
    return e.stride <= _FEW_BLOCKS * BLOCK or e.dense == 1


@native
def _sum_blocks(e, values, width, pairs, planes, column, side):  # type: ignore[no-untyped-def]
    """Writes the pair sums of the node's rows on the side of the local column (all if it is NONE) up to j's block."""
    stride = e.stride
    bits = matrix(e.local_bits, e.row_space + 64, stride // LANES, int32)
    names = vector(e.rows, e.row_space + 64, int32)
    listed = vector(e.rows_with, e.row_space + 64, int32)
    for j in range(e.n_active):
        count = _list_common(e, j, column, side, listed)
        for p in range(0, planes, FOUR):
            for k in range(0, block_end(e, j), 2 * BLOCK):
                sum_sixteen(values, width, p, planes - p, names, listed, count, bits, k, pairs, p * stride + j, stride)


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


@inline
def _clear(e, table, width):  # type: ignore[no-untyped-def]
    """Empties what `_spread` reads of the table."""
    parts = width // FOUR
    for j in range(e.n_active):
        for at in range(j * e.stride * parts, (j * e.stride + j + 1) * parts):
            clear_four(table, at)


@inline
def _add_row(e, table, values, columns, begin, end, place, width):  # type: ignore[no-untyped-def]
    """Adds the numbers of a place to the pairs j >= k of the listed columns."""
    stride = e.stride
    if width == FOUR:
        for a in range(begin, end):
            line = int64(columns[a]) * stride
            for b in range(begin, a + 1):
                add_four(table, line + int64(columns[b]), values, place)
        return
    parts = width // FOUR
    for a in range(begin, end):
        line = int64(columns[a]) * stride
        for b in range(begin, a + 1):
            at = (line + int64(columns[b])) * parts
            for part in range(parts):
                add_four(table, at + part, values, place * parts + part)


@inline
def _spread(e, table, width, pairs, planes, mirrored):  # type: ignore[no-untyped-def]
    """Writes pairs[p * P + j, k] from table[j, k, p], but, unless `mirrored`, only for k up to the block of j.

    Numba's loops are vectorised if they begin at 0, so the lower triangle is the one that is kept.
    """
    stride = e.stride
    if width == FOUR:
        for j in range(e.n_active):
            for k in range(0, j + 1, BLOCK):
                spread_fours(table, j * stride + k, pairs, j, stride, planes, k)
    for p in range(planes):
        for j in range(e.n_active):
            row = p * stride + j
            at = j * stride * width + p
            if width != FOUR:
                for k in range(j + 1):
                    pairs[row, k] = table[at + k * width]
            end = stride if mirrored else block_end(e, j)
            for k in range(j + 1, min(end, e.n_active)):
                pairs[row, k] = table[(k * stride + j) * width + p]
            for k in range(e.n_active, end):
                pairs[row, k] = 0
