"""The sides of a column at depth two: their pair sums, of which those of the smaller one are counted or added up.

Those of the larger side are the node's minus these. What differs between kinds of tasks is how pair sums are scored.

And how the values of a split's sides and its branching cost make that of the whole. Values are int64 throughout the
search, the smaller the better: whole costs, or an order-preserving code of the task's own values (see `coding.py`).
Where the task adds them, so does this; any other operator is a generated kernel.

Where prices depend on the columns tested above, a column costs, for each row, the least of what it costs here and of
what it costs given a column of the path. `pair_test_costs[j, k]` is the price of column j where k was tested besides
the path of the node.
"""

from __future__ import annotations

from typing import Any

from numba import float64, int64, uint64

from streed.kernels import values as rows
from streed.kernels.counting.pair_counts import count_child
from streed.kernels.counting.pair_sums import block_end, sum_child
from streed.kernels.counting.rows import load_child
from streed.kernels.records import INFINITE, LOWEST, NO_COST
from streed.kernels.simd import first_one
from streed.kernels.views import call, inline, keep_apart, matrix, native, vector


@inline
def sum_columns(e, planes, pairs, sums):  # type: ignore[no-untyped-def]
    """Fills the sums of each column (planes, P): the diagonals of the pair sums."""
    for p in range(planes):
        for k in range(e.stride):
            sums[p, k] = pairs[p * e.stride + k, k] if k < e.n_active else 0


@inline
def count_side(e, lane, side):  # type: ignore[no-untyped-def]
    """Writes the pair sums of a side of e.asked_column by row groups."""
    load_child(e, e.asked_column, side)
    count_child(e, lane, matrix(e.profits, e.groups, e.planes, int64), e.planes)


@inline
def sum_side(e, lane, side):  # type: ignore[no-untyped-def]
    """As `count_side`, of real numbers by rows."""
    sum_child(e, float64, float64, e.planes, e.asked_column, side)


@inline
def count_or_sum_side(e, lane, side):  # type: ignore[no-untyped-def]
    """As `count_side`, or by rows, of whole numbers."""
    if e.wide == 1:
        sum_child(e, lane, int64, e.planes, e.asked_column, side)
    else:
        count_side(e, lane, side)


@inline
def _subtract_row(rest, all_, some, row, end):  # type: ignore[no-untyped-def]
    """The first `end` entries of a row of `rest` are those of `all_` less those of `some`."""
    keep_apart()
    for k in range(end):
        rest[row, k] = all_[row, k] - some[row, k]


def solving_children(optimum: Any, add_side: Any, total: Any = int64) -> Any:
    """What answers in e.cost1 and e.cost0: the optimal values at depth two of the rows with and without e.asked_column.

    optimum(e, lane, side, address of its pair sums) gives that of a side, whose other sums are in the record;
    add_side(e, lane, side) makes its pair sums; `total` is the type of totals. Of real numbers, pair sums are those up
    to the block of j.

    Of a literal, only the rows that have it are solved; the second value is zero.
    """
    ordered = total is float64

    @native
    def solve_side(e, lane, side, pairs_at):  # type: ignore[no-untyped-def]
        column = e.asked_column
        stride = e.stride
        pairs = matrix(e.pairs, e.planes * stride, stride, lane)
        sums = matrix(e.sums, e.planes, e.width, lane)
        child_sums = matrix(e.child_sums, e.planes, e.width, lane)
        totals = vector(e.totals, e.planes, total)
        child_totals = vector(e.child_totals, e.planes, total)
        for p in range(e.planes):
            child_totals[p] = sums[p, column] if side == 1 else totals[p] - sums[p, column]
            for k in range(stride):
                child_sums[p, k] = pairs[p * stride + column, k]
            if ordered:
                for k in range(column + 1, stride):
                    child_sums[p, k] = pairs[p * stride + k, column] if k < e.n_active else 0
            if side == 0:
                for k in range(stride):
                    child_sums[p, k] = sums[p, k] - child_sums[p, k]
        return optimum(e, lane, side, pairs_at)

    @native
    def solve_children(e, lane):  # type: ignore[no-untyped-def]
        column = e.asked_column
        small = int64(1 if 2 * vector(e.ones, e.width, int64)[column] <= e.n_rows or column >= e.n_binary else 0)
        add_side(e, lane, small)
        if column >= e.n_binary:
            e.cost1 = solve_side(e, lane, small, e.child_pairs)
            e.cost0 = 0
            return
        values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
        cost = values[rows.OPTIMUM0 if small == 1 else rows.OPTIMUM1, column]
        other = values[rows.OPTIMUM1 if small == 1 else rows.OPTIMUM0, column]
        if cost == rows.UNKNOWN:
            pairs = matrix(e.pairs, e.planes * e.stride, e.stride, lane)
            small_pairs = matrix(e.child_pairs, e.planes * e.stride, e.stride, lane)
            large_pairs = matrix(e.rest_pairs, e.planes * e.stride, e.stride, lane)
            for p in range(e.planes):
                for j in range(e.n_active):
                    end = block_end(e, j) if ordered else e.stride
                    _subtract_row(large_pairs, pairs, small_pairs, p * e.stride + j, end)
            cost = solve_side(e, lane, 1 - small, e.rest_pairs)
        if other == rows.UNKNOWN:
            other = solve_side(e, lane, small, e.child_pairs)
        e.cost1 = other if small == 1 else cost
        e.cost0 = cost if small == 1 else other

    return solve_children


_MOST = INFINITE // 2
_LEAST = LOWEST // 2

_ROUNDING = 4
"""Codes of real costs are rounded: so much a sum of two may be off, and more."""


@inline
def join(e, a, b):  # type: ignore[no-untyped-def]
    """a (+) b; INFINITE if one of them is, LOWEST if one is unknown."""
    if e.combine == 0:
        total = a + b
        if total >= _MOST:
            return int64(INFINITE)
        return total if total > _LEAST else int64(LOWEST)
    return _join_by_kernel(e, a, b)


@native
def _join_by_kernel(e, a, b):  # type: ignore[no-untyped-def]
    if a >= INFINITE or b >= INFINITE:
        return int64(INFINITE)
    if a <= LOWEST or b <= LOWEST:
        return int64(LOWEST)
    e.left = a
    e.right = b
    call(e.combine, e)
    return int64(e.combined)


@inline
def join_cost(e, value, cost):  # type: ignore[no-untyped-def]
    """value (+) the branching cost, if there is one."""
    return value if cost == NO_COST else join(e, value, cost)


@native
def rest_of(e, goal, other):  # type: ignore[no-untyped-def]
    """What `other` leaves of the goal: x (+) other is better than the goal only if x is better than this."""
    if e.combine == 0:
        return goal - other if goal < _MOST and other > _LEAST else int64(INFINITE)
    if goal >= INFINITE or other <= LOWEST or e.subtract == 0:
        return int64(INFINITE)
    e.left = goal
    e.right = other
    call(e.subtract, e)
    return int64(e.combined)


@inline
def cost_of_split(e, values, split):  # type: ignore[no-untyped-def]
    """The branching cost of a local split of the node at hand, or NO_COST."""
    return values[rows.COST, split] if e.scored == 1 or e.has_test_costs == 1 else e.split_cost


@inline
def least_of(e, values, column, without):  # type: ignore[no-untyped-def]
    """The least that the rows with a local column (without = 0), or without it, cost any tree, as far as is known."""
    return values[rows.LEAST1 + without, column] if e.scored == 1 or e.has_test_costs == 1 else int64(0)


@native
def least_cost(e, values):  # type: ignore[no-untyped-def]
    """What any split of the node at hand costs at least, less what the rounding of two codes may have added."""
    least = int64(INFINITE)
    for k in range(e.n_active + e.n_categorical):
        least = min(least, values[rows.COST, k])
    return max(least - _ROUNDING, int64(0))


# -- prices of splits that depend on the columns tested above, of costs per row and label -----------------------------


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
