"""Depth-two scoring for two labels: nodes, and children of any number of rows; `signed.py` says how that goes."""

from __future__ import annotations

from numba import int64

from streed.kernels.counting.look_up import LOOKS_UP
from streed.kernels.counting.pair_counts import MOST_OF_CHILD, TILE, add_times, count_child_tile, count_node
from streed.kernels.counting.rows import child_of, load_child
from streed.kernels.records import LANES
from streed.kernels.scoring.few_rows import are_few, score_few
from streed.kernels.scoring.signed import (
    DIAGONAL,
    LARGE,
    PLANES,
    ROWS_OF_SUMS,
    SIGNED,
    SMALL,
    WORST,
    best_gain,
    gains,
    sum_children,
)
from streed.kernels.simd import broadcast, fill, largest, load, maximum, minimum, store
from streed.kernels.values import KEY, LEAF0, LEAF1, ROWS_OF_VALUES, WEIGHT
from streed.kernels.views import inline, matrix, native, vector


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
def solve_signed_children(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.cost1 and e.cost0: the optimal costs at depth two of the rows with and without e.asked_column."""
    ones = vector(e.ones, e.width, int64)
    small = 1 if 2 * ones[e.asked_column] <= e.n_rows else 0
    gain_small, gain_large = _load_and_score(e, lane, e.asked_column, small)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    weight = values[WEIGHT, e.asked_column]
    e.cost1 = (weight - (gain_small if small == 1 else gain_large)) // 2
    e.cost0 = (e.weight - weight - (gain_large if small == 1 else gain_small)) // 2


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


if LOOKS_UP:

    @native
    def _load_and_score(e, lane, column, small_side):  # type: ignore[no-untyped-def]
        """`score_children`, of children that are loaded here; in bytes, where few rows make that possible."""
        if are_few(e, lane, column, small_side):
            return score_few(e, lane, column, small_side)
        load_child(e, column, small_side)
        return score_children(e, lane, column, small_side)

else:

    @inline
    def _load_and_score(e, lane, column, small_side):  # type: ignore[no-untyped-def]
        """`score_children`, of children that are loaded here."""
        load_child(e, column, small_side)
        return score_children(e, lane, column, small_side)
