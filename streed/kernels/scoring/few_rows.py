"""Depth-two scoring of two labels where the smaller child has few rows, each of cost one: counted by tables, in bytes.

Rows that count for label 0 and rows that count for label 1 fill units together (`counting/look_up.py`): tables of the
latter say 4 less the rows that they share. So a sum of look-ups is the signed sum and a constant, `against`, and with
at most 252 rows a byte holds it. What the smaller child's sums range over stays in bytes.
"""

from __future__ import annotations

from numba import int16, int32, int64

from streed.kernels.counting.look_up import AGAINST, MOST_UNITS, build_nibbles, fill_up, look_up_bytes
from streed.kernels.counting.rows import list_side, units_of
from streed.kernels.records import LANES, NIBBLE, UNIT_ROWS
from streed.kernels.scoring.signed import LARGE, PLANES, ROWS_OF_SUMS, SIGNED, SMALL, gains, sum_children
from streed.kernels.simd import (
    broadcast,
    fill,
    infeasible_of,
    largest,
    load,
    maximum,
    maximum_unsigned,
    minimum,
    minimum_unsigned,
    narrow,
    store,
    widen_unsigned,
)
from streed.kernels.views import inline, matrix, native, vector

TILE = 4
"""Columns that are counted together."""


@native
def are_few(e, lane, column, side):  # type: ignore[no-untyped-def]
    """Whether the rows on that side of a local column cost one each, or nothing, and are few enough for bytes.

    Lanes must have room for what is added to sums, too.
    """
    ones = vector(e.ones, e.width, int64)
    count = ones[column] if side == 1 else e.n_rows - ones[column]
    most_added = MOST_UNITS * UNIT_ROWS
    sums = matrix(e.sums, ROWS_OF_SUMS, e.width, lane)
    if count + NIBBLE * e.groups > most_added or e.weight + most_added > infeasible_of(sums):
        return False
    signed_costs = matrix(e.signed_costs, e.groups, PLANES, int64)
    most = int64(0)
    for g in range(e.groups):
        most = max(most, abs(signed_costs[g, SIGNED]))
    return most <= 1


@native
def _load_few(e, column, side):  # type: ignore[no-untyped-def]
    """(units of the rows on that side of a local column, what is added to their signed sums)."""
    blocks = e.stride // LANES
    words = matrix(e.words, e.n_words, e.stride, int16)
    local_bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    rows = vector(e.child_rows, e.row_space + 64, int32)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    signed_costs = matrix(e.signed_costs, e.groups, PLANES, int64)
    units = units_of(e)
    used = int64(0)
    against = int64(0)
    for g in range(e.groups):
        cost = signed_costs[g, SIGNED]
        if cost != 0:
            size = group_rows[g + 1] - group_rows[g]
            count = list_side(words, begins[g], size, column, side, rows, int64(0), group_rows[g])
            table = int64(AGAINST) if cost < 0 else int64(0)
            nibbles = build_nibbles(rows, int64(0), count, local_bits, blocks, units, used, table)
            used += nibbles
            if cost < 0:
                against += NIBBLE * nibbles
    return fill_up(units, used, blocks), against


@inline
def _stretch_few(ranges, x, units, pairs, sums, used, j, k):  # type: ignore[no-untyped-def]
    """Ranges of the signed sums of quadrants, stretched by column j; `two_labels.py` has the same for any rows.

    Of the smaller child in bytes, and of the larger one in lanes, x among them: the smaller child's sums of rows with
    both columns, and `against`.
    """
    most_sa, least_sa, most_sb, least_sb, most_la, least_la, most_lb, least_lb = ranges
    u = broadcast(units, used, j) - x
    z = load(pairs, j, k) - widen_unsigned(sums, x)
    v = broadcast(sums, LARGE, j) - z
    return (
        maximum_unsigned(most_sa, x),
        minimum_unsigned(least_sa, x),
        maximum_unsigned(most_sb, u),
        minimum_unsigned(least_sb, u),
        maximum(most_la, z),
        minimum(least_la, z),
        maximum(most_lb, v),
        minimum(least_lb, v),
    )


@native
def score_few(e, lane, column, small_side):  # type: ignore[no-untyped-def]
    """As `two_labels.score_children`, of children whose smaller one `are_few`, and which are loaded here."""
    stride = e.stride
    pairs = matrix(e.pairs, PLANES * stride, stride, lane)
    sums = matrix(e.sums, ROWS_OF_SUMS, e.width, lane)
    totals = vector(e.totals, PLANES, int64)
    units = units_of(e)
    small_total, large_total = sum_children(pairs, sums, totals, column, small_side, stride)
    used, against = _load_few(e, column, small_side)
    for k in range(0, stride, LANES):
        # so that x + against is subtracted from it, and against is left
        store(units, used, k, narrow(units, load(sums, SMALL, k) + 2 * against))
        store(sums, LARGE, k, load(sums, LARGE, k) - against)
    penalty = 2 * e.split_cost
    best_small = fill(sums, abs(small_total))
    best_large = fill(sums, abs(large_total))
    for k in range(0, stride, LANES):
        no = fill(units, against)
        of_larger = fill(sums, -against)
        zero = fill(sums, 0)
        ranges = (no, no, no, no, of_larger, of_larger, zero, zero)
        for j in range(0, e.n_active, TILE):
            x0, x1, x2, x3 = look_up_bytes(units, int64(0), used, j, k)
            ranges = _stretch_few(ranges, x0, units, pairs, sums, used, j, k)
            ranges = _stretch_few(ranges, x1, units, pairs, sums, used, j + 1, k)
            ranges = _stretch_few(ranges, x2, units, pairs, sums, used, j + 2, k)
            ranges = _stretch_few(ranges, x3, units, pairs, sums, used, j + 3, k)
        most_sa, least_sa, most_sb, least_sb, most_la, least_la, most_lb, least_lb = ranges
        in_lanes = (
            widen_unsigned(sums, most_sa) - against,
            widen_unsigned(sums, least_sa) - against,
            widen_unsigned(sums, most_sb) - against,
            widen_unsigned(sums, least_sb) - against,
            most_la + against,
            least_la + against,
            most_lb,
            least_lb,
        )
        gain_small, gain_large = gains(
            in_lanes, load(sums, SMALL, k), load(sums, LARGE, k) + against, small_total, large_total, penalty
        )
        best_small = maximum(best_small, gain_small - penalty)
        best_large = maximum(best_large, gain_large - penalty)
    return largest(best_small), largest(best_large)
