"""Depth-two scoring for two labels: nodes, and children of any number of rows.

Let a row cost s > 0 more under label 0 than under label 1, or -s. A leaf whose rows have signed sum x and worst costs
t costs (t - |x|) / 2, so the best split of rows with signed sum y is the one with the largest |x| + |y - x|. As
|x| + |y - x| = max(|y|, 2x - y, y - 2x), only the largest and the smallest x over all second columns matter, and a
vector of first columns is scored without any horizontal operation. A gain is t - 2 * cost: the larger the better.

Where the smaller child has few rows, each of cost one, they are counted by tables, in bytes. Rows that count for label
0 and rows that count for label 1 fill units together (`counting/look_up.py`): tables of the latter say 4 less the rows
that they share. So a sum of look-ups is the signed sum and a constant, `against`, and with at most 252 rows a byte
holds it. What the smaller child's sums range over stays in bytes.
"""

from __future__ import annotations

from numba import int16, int32, int64

from streed.kernels.counting.look_up import AGAINST, LOOKS_UP, MOST_UNITS, build_nibbles, fill_up, look_up_bytes
from streed.kernels.counting.pair_counts import MOST_OF_CHILD, TILE, add_times, count_child_tile, count_node
from streed.kernels.counting.rows import child_of, list_side, load_child, units_of
from streed.kernels.records import LANES, NIBBLE, UNIT_ROWS
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
from streed.kernels.values import KEY, LEAF0, LEAF1, ROWS_OF_VALUES, WEIGHT
from streed.kernels.views import inline, matrix, native, vector

SIGNED, WORST = 0, 1
"""Planes of the pair sums."""

PLANES = 2

SMALL, LARGE, DIAGONAL = 0, 1, 2
"""Rows of the node's `sums`: signed sums of the smaller child, of the larger child, of the node itself, by column."""


ROWS_OF_SUMS = 3


@inline
def best_gain(most, least, total, penalty):  # type: ignore[no-untyped-def]
    """The gain of rows with signed sum `total` as a leaf or split once, x ranging from `least` to `most`."""
    split = maximum(most + most - total, total - least - least) - penalty
    return maximum(split, maximum(total, total - total - total))


@inline
def gains(ranges, small, large, small_total, large_total, penalty):  # type: ignore[no-untyped-def]
    """(gains in the smaller child, gains in the larger one) of depth-two trees, by their first column: the lanes.

    ranges: the largest and the smallest signed sums over second columns, of the smaller child's rows with both columns
    and with the second one only, then of the larger child's; `small` and `large`: those of the rows with the first.
    """
    most_sa, least_sa, most_sb, least_sb, most_la, least_la, most_lb, least_lb = ranges
    no = small - small
    gain_small = best_gain(most_sa, least_sa, small, penalty)
    gain_small = gain_small + best_gain(most_sb, least_sb, no + small_total - small, penalty)
    gain_large = best_gain(most_la, least_la, large, penalty)
    gain_large = gain_large + best_gain(most_lb, least_lb, no + large_total - large, penalty)
    return gain_small, gain_large


@inline
def sum_children(pairs, sums, totals, column, small_side, stride):  # type: ignore[no-untyped-def]
    """(signed sum of the smaller child, of the larger one); fills those of their rows with each column."""
    small_total = int64(sums[DIAGONAL, column])
    if small_side == 0:
        small_total = totals[SIGNED] - small_total
    for k in range(0, stride, LANES):
        x = load(pairs, column, k)
        rest = load(sums, DIAGONAL, k) - x
        store(sums, SMALL if small_side == 1 else LARGE, k, x)
        store(sums, LARGE if small_side == 1 else SMALL, k, rest)
    return small_total, totals[SIGNED] - small_total


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
    """Ranges of the signed sums of quadrants, stretched by column j; `_stretch` has the same for any rows.

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
    """As `score_children`, of children whose smaller one `are_few`, and which are loaded here."""
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


@native
def prepare_signed(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the loaded node as a leaf; fills pair sums, column sums and `values`."""
    stride = e.stride
    signed_costs = matrix(e.signed_costs, e.groups, PLANES, int64)
    count_node(e, lane, signed_costs, PLANES, e.asked_depth == 1)
    pairs = matrix(e.pairs, PLANES * stride, stride, lane)
    sums = matrix(e.sums, ROWS_OF_SUMS, e.width, lane)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    totals = vector(e.totals, PLANES, int64)
    for k in range(stride):
        sums[DIAGONAL, k] = pairs[k, k] if k < e.n_active else 0
    for k in range(e.n_active):
        weight = int64(pairs[stride + k, k])
        signed = int64(pairs[k, k])
        values[WEIGHT, k] = weight
        values[LEAF1, k] = (weight - abs(signed)) // 2
        values[LEAF0, k] = (totals[WORST] - weight - abs(totals[SIGNED] - signed)) // 2
    e.upper = (totals[WORST] - abs(totals[SIGNED])) // 2
    e.weight = totals[WORST]
    e.worst_pairs = WORST
    if e.asked_depth == 1:
        return
    penalty = 2 * e.split_cost
    for k in range(0, stride, LANES):
        y1 = load(sums, DIAGONAL, k)
        y0 = fill(sums, totals[SIGNED]) - y1
        most1 = fill(sums, 0)
        least1 = most1
        most0 = most1
        least0 = most1
        for j in range(e.n_active):
            x = load(pairs, j, k)
            rest = broadcast(sums, DIAGONAL, j) - x
            most1 = maximum(most1, x)
            least1 = minimum(least1, x)
            most0 = maximum(most0, rest)
            least0 = minimum(least0, rest)
        gain = best_gain(most1, least1, y1, penalty) + best_gain(most0, least0, y0, penalty)
        store(sums, SMALL, k, gain)
    for k in range(e.n_active):
        values[KEY, k] = e.split_cost + (totals[WORST] - int64(sums[SMALL, k])) // 2


@inline
def _stretch(ranges, x, pairs, sums, j, k):  # type: ignore[no-untyped-def]
    """Ranges of the signed sums of quadrants, stretched by column j.

    Largest and smallest: smaller child (s) and larger child (l), rows with column j and the lane's column (a), rows
    with column j only (b). x holds the smaller child's sums of rows with both.
    """
    most_sa, least_sa, most_sb, least_sb, most_la, least_la, most_lb, least_lb = ranges
    u = broadcast(sums, SMALL, j) - x
    z = load(pairs, j, k) - x
    v = broadcast(sums, LARGE, j) - z
    return (
        maximum(most_sa, x),
        minimum(least_sa, x),
        maximum(most_sb, u),
        minimum(least_sb, u),
        maximum(most_la, z),
        minimum(least_la, z),
        maximum(most_lb, v),
        minimum(least_lb, v),
    )


@native
def score_children(e, lane, column, small_side):  # type: ignore[no-untyped-def]
    """Gains of the best trees of depth at most two of both children of a column, (smaller, larger).

    One pass over the smaller child, which `load_child` compacted: its pair sums are counted and used at once, and
    those of the larger child are the node's minus them.
    """
    stride = e.stride
    pairs = matrix(e.pairs, PLANES * stride, stride, lane)
    sums = matrix(e.sums, ROWS_OF_SUMS, e.width, lane)
    totals = vector(e.totals, PLANES, int64)
    child = child_of(e)
    begins = vector(e.child_begins, e.groups + 1, int64)
    signed_costs = matrix(e.signed_costs, e.groups, PLANES, int64)
    small_total, large_total = sum_children(pairs, sums, totals, column, small_side, stride)
    penalty = 2 * e.split_cost
    best_small = fill(sums, abs(small_total))
    best_large = fill(sums, abs(large_total))
    for k in range(0, stride, LANES):
        zero = fill(sums, 0)
        ranges = (zero, zero, zero, zero, zero, zero, zero, zero)
        for j in range(0, e.n_active, TILE):
            x0 = zero
            x1 = zero
            x2 = zero
            x3 = zero
            for g in range(e.groups):
                times = signed_costs[g, SIGNED]
                begin = begins[g]
                while begin < begins[g + 1]:
                    end = min(begins[g + 1], begin + MOST_OF_CHILD)
                    a0, a1, a2, a3 = count_child_tile(child, begin, end, j, k)
                    begin = end
                    x0 = add_times(x0, sums, a0, times)
                    x1 = add_times(x1, sums, a1, times)
                    x2 = add_times(x2, sums, a2, times)
                    x3 = add_times(x3, sums, a3, times)
            ranges = _stretch(ranges, x0, pairs, sums, j, k)
            ranges = _stretch(ranges, x1, pairs, sums, j + 1, k)
            ranges = _stretch(ranges, x2, pairs, sums, j + 2, k)
            ranges = _stretch(ranges, x3, pairs, sums, j + 3, k)
        gain_small, gain_large = gains(
            ranges, load(sums, SMALL, k), load(sums, LARGE, k), small_total, large_total, penalty
        )
        best_small = maximum(best_small, gain_small - penalty)
        best_large = maximum(best_large, gain_large - penalty)
    return largest(best_small), largest(best_large)


@native
def solve_signed_children(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.cost1 and e.cost0: the optimal costs at depth two of the rows with and without e.asked_column."""
    ones = vector(e.ones, e.width, int64)
    small = 1 if 2 * ones[e.asked_column] <= e.n_rows else 0
    if LOOKS_UP and are_few(e, lane, e.asked_column, small):
        gain_small, gain_large = score_few(e, lane, e.asked_column, small)
    else:
        load_child(e, e.asked_column, small)
        gain_small, gain_large = score_children(e, lane, e.asked_column, small)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    weight = values[WEIGHT, e.asked_column]
    e.cost1 = (weight - (gain_small if small == 1 else gain_large)) // 2
    e.cost0 = (e.weight - weight - (gain_large if small == 1 else gain_small)) // 2
