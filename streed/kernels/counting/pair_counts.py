"""Pair counts: for every pair of columns, sums over the rows that have both.

Counting is the same for every task. Rows of one group count alike, so a sum is a popcount per group times the group's
multiplier; int16 popcounts are widened to the lane type of the sums before they could overflow.
"""

from __future__ import annotations

from typing import Any

from numba import int16, int64

from streed.kernels.counting.look_up import LOOKS_UP, look_up_tile, split_words
from streed.kernels.counting.rows import child_of, units_of
from streed.kernels.records import CHUNK_WORDS, LANES, MOST_ROWS, MOST_WORDS, UNIT_ROWS
from streed.kernels.simd import broadcast, fill, load, popcount, store, widen
from streed.kernels.views import inline, matrix, native, vector

MOST_UNITS = MOST_ROWS // UNIT_ROWS
"""Units whose counts add up within int16."""

TILE = 4
"""Columns counted together, so that a loaded word serves four of them."""


@inline
def count_tile(words, begin, end, j, k):  # type: ignore[no-untyped-def]
    """For columns j..j+3 (a vector each) and k..k+31 (its lanes), the rows in words[begin:end] that have both."""
    a0 = fill(words, 0)
    a1 = a0
    a2 = a0
    a3 = a0
    for w in range(begin, end):
        y = load(words, w, k)
        a0 = a0 + popcount(broadcast(words, w, j) & y)
        a1 = a1 + popcount(broadcast(words, w, j + 1) & y)
        a2 = a2 + popcount(broadcast(words, w, j + 2) & y)
        a3 = a3 + popcount(broadcast(words, w, j + 3) & y)
    return a0, a1, a2, a3


@inline
def add_times(total, sums, count, multiplier):  # type: ignore[no-untyped-def]
    """total + count * multiplier in the lane type of `sums`; most multipliers are 1 or -1."""
    if multiplier == 1:
        return total + widen(sums, count)
    if multiplier == -1:
        return total - widen(sums, count)
    return total + widen(sums, count) * multiplier


@inline
def _clear_tile(planes, pairs, stride, j, k):  # type: ignore[no-untyped-def]
    for p in range(planes):
        for row in range(TILE):
            store(pairs, p * stride + j + row, k, fill(pairs, 0))


@inline
def _add_tile(tile, multipliers, g, planes, pairs, stride, j, k):  # type: ignore[no-untyped-def]
    """Adds what was counted of a group to its pair sums."""
    a0, a1, a2, a3 = tile
    for p in range(planes):
        times = multipliers[g, p]
        if times != 0:
            row = p * stride + j
            store(pairs, row, k, add_times(load(pairs, row, k), pairs, a0, times))
            store(pairs, row + 1, k, add_times(load(pairs, row + 1, k), pairs, a1, times))
            store(pairs, row + 2, k, add_times(load(pairs, row + 2, k), pairs, a2, times))
            store(pairs, row + 3, k, add_times(load(pairs, row + 3, k), pairs, a3, times))


def _counting(count: Any, most: int) -> Any:
    """The kernel that counts tiles by a function, of so many words or units at once."""

    @native
    def count_pairs_of(words, begins, groups, columns, multipliers, planes, pairs):  # type: ignore[no-untyped-def]
        stride = pairs.shape[1]
        for k in range(0, stride, LANES):
            for j in range(0, columns, TILE):
                _clear_tile(planes, pairs, stride, j, k)
                for g in range(groups):
                    begin = begins[g]
                    while begin < begins[g + 1]:
                        end = min(begins[g + 1], begin + most)
                        tile = count(words, begin, end, j, k)
                        begin = end
                        _add_tile(tile, multipliers, g, planes, pairs, stride, j, k)

    return count_pairs_of


count_words = _counting(count_tile, MOST_WORDS)
"""Writes pairs[p * stride + j, k] = sum over groups of multipliers[group, p] * (rows with columns j and k).

The stride is the length of a row. Rows j are written up to a whole tile; what they hold beyond `columns` is zero.
"""

count_units = _counting(look_up_tile, MOST_UNITS)
"""As `count_words`, of units."""


@native
def count_split(words, begins, groups, columns, multipliers, planes, pairs, units):  # type: ignore[no-untyped-def]
    """As `count_words`, by `units`, room for CHUNK of them, to which words are split, so many at a time."""
    stride = pairs.shape[1]
    for k in range(0, stride, LANES):
        for j in range(0, columns, TILE):
            _clear_tile(planes, pairs, stride, j, k)
    for g in range(groups):
        begin = begins[g]
        while begin < begins[g + 1]:
            end = min(begins[g + 1], begin + CHUNK_WORDS)
            used = split_words(words, begin, end, stride, units)
            begin = end
            for k in range(0, stride, LANES):
                for j in range(0, columns, TILE):
                    tile = look_up_tile(units, int64(0), used, j, k)
                    _add_tile(tile, multipliers, g, planes, pairs, stride, j, k)


count_child_tile, count_child_pairs, MOST_OF_CHILD = (
    (look_up_tile, count_units, MOST_UNITS) if LOOKS_UP else (count_tile, count_words, MOST_WORDS)
)


@inline
def count_pairs(words, begins, groups, columns, multipliers, planes, pairs, units):  # type: ignore[no-untyped-def]
    """`count_words`, or `count_split` where the processor looks up."""
    if LOOKS_UP:
        count_split(words, begins, groups, columns, multipliers, planes, pairs, units)
    else:
        count_words(words, begins, groups, columns, multipliers, planes, pairs)


@native
def _count_diagonal(words, begins, groups, columns, multipliers, planes, pairs):  # type: ignore[no-untyped-def]
    """As `count_words`, where j is k."""
    stride = pairs.shape[1]
    for p in range(planes):
        for k in range(0, stride, LANES):
            total = fill(pairs, 0)
            for g in range(groups):
                for begin in range(begins[g], begins[g + 1], MOST_WORDS):
                    count = fill(words, 0)
                    for w in range(begin, min(begins[g + 1], begin + MOST_WORDS)):
                        count = count + popcount(load(words, w, k))
                    total = add_times(total, pairs, count, multipliers[g, p])
            store(pairs, p * stride, k, total)
        for k in range(columns - 1, 0, -1):
            pairs[p * stride + k, k] = pairs[p * stride, k]


@native
def count_node(e, lane, multipliers, planes, diagonal=False):  # type: ignore[no-untyped-def]
    """Pair sums and totals of the node at hand, for multipliers of shape (G, planes).

    `diagonal`: only those of columns with themselves, which are what trees of depth one need.
    """
    words = matrix(e.words, e.n_words, e.stride, int16)
    begins = vector(e.group_begins, e.groups + 1, int64)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    pairs = matrix(e.pairs, planes * e.stride, e.stride, lane)
    totals = vector(e.totals, planes, int64)
    if diagonal:
        _count_diagonal(words, begins, e.groups, e.n_active, multipliers, planes, pairs)
    else:
        count_pairs(words, begins, e.groups, e.n_active, multipliers, planes, pairs, units_of(e))
    for p in range(planes):
        totals[p] = 0
        for g in range(e.groups):
            totals[p] += multipliers[g, p] * (group_rows[g + 1] - group_rows[g])


@native
def count_child(e, lane, multipliers, planes):  # type: ignore[no-untyped-def]
    """Pair sums of the child that `load_child` compacted."""
    begins = vector(e.child_begins, e.groups + 1, int64)
    pairs = matrix(e.child_pairs, planes * e.stride, e.stride, lane)
    count_child_pairs(child_of(e), begins, e.groups, e.n_active, multipliers, planes, pairs)
