"""Depth-two scoring of costs per row and label where splits have prices that depend on the columns tested above.

As in `many_labels.py`, and a side that is split pays, beside the cost of any split, for each of its rows the price of
the second column: the least of what it costs here and of what it costs given the first. `pair_test_costs[j, k]` is
the price of column j where k was tested besides the path of the node.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.kernels import values as rows
from streed.kernels.records import INFINITE, NONE
from streed.kernels.scoring.children import count_or_sum_side, solving_children
from streed.kernels.scoring.many_labels import (
    LEAF0,
    LEAF1,
    ROWS_OF_SCORES,
    SPLIT1,
    begin_node,
    cost_in,
    cost_of_sides,
    leaf_cost,
    scoring,
)
from streed.kernels.simd import first_one
from streed.kernels.views import matrix, native, vector


@native
def _find_prices(e, lane):  # type: ignore[no-untyped-def]
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


_score = scoring(True)


@native
def prepare_priced(e, lane):  # type: ignore[no-untyped-def]
    """As `begin_node`, and fills `values`."""
    begin_node(e, lane)
    pairs = matrix(e.pairs, e.planes * e.stride, e.stride, lane)
    sums = matrix(e.sums, e.planes, e.width, lane)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    totals = vector(e.totals, e.planes, int64)
    here = vector(e.here_prices, e.width, int64)
    _find_prices(e, lane)
    _score(e, lane, pairs, sums, totals, int64(NONE))
    for k in range(e.n_active):
        values[rows.WEIGHT, k] = 0
        values[rows.LEAF1, k] = cost_in(scores, LEAF1, k)
        values[rows.LEAF0, k] = cost_in(scores, LEAF0, k)
        cost = totals[e.rows_plane] * here[k] + e.split_cost
        values[rows.COST, k] = cost
        values[rows.KEY, k] = min(cost + cost_of_sides(scores, k, 0), int64(INFINITE))
    _find_least(e, lane, values)


@native
def _find_least(e, lane, values):  # type: ignore[no-untyped-def]
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


@native
def _depth_two_optimum(e, lane, side, pairs_at):  # type: ignore[no-untyped-def]
    """The optimal cost at depth two of a side of e.asked_column whose sums are in the record.

    Its first test must part its rows: one that does not might make the second one cheaper, but is no node of a tree.
    """
    sums = matrix(e.child_sums, e.planes, e.width, lane)
    totals = vector(e.child_totals, e.planes, int64)
    _score(e, lane, matrix(pairs_at, e.planes * e.stride, e.stride, lane), sums, totals, e.asked_column)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    prices = matrix(e.pair_test_costs, e.stride, e.stride, lane)
    best = leaf_cost(e, totals)
    for k in range(e.n_active):
        if not 0 < int64(sums[e.rows_plane, k]) < totals[e.rows_plane]:
            continue
        cost = totals[e.rows_plane] * int64(prices[k, e.asked_column]) + e.split_cost
        best = min(best, cost + cost_of_sides(scores, k, 0))
    return best


solve_priced_children = solving_children(_depth_two_optimum, count_or_sum_side)


@native
def expand_priced(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the loaded node as one leaf, and in `values` for every active column."""
    prepare_priced(e, lane)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    for k in range(e.n_active):
        for without in range(2):
            values[rows.SPLIT1 + without, k] = cost_in(scores, SPLIT1 + without, k)
            values[rows.TWO1 + without, k] = values[rows.LEAST1 + without, k]
            values[rows.MORE1 + without, k] = values[rows.LEAST1 + without, k]
