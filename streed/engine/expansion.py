"""The expansion of a node by pair lookahead: what each side of each split costs with few splits, and can cost at best.

From the node's own pair sums come, for every side, its exact cost as a leaf and with one split, and lower bounds on its
cost with exactly two splits and with three or more. The search turns them into bounds for whatever depth and number of
nodes a side may use.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.engine.labels import (
    LEAF0,
    LEAF1,
    ROWS_OF_SCORES,
    SPLIT0,
    SPLIT1,
    TWO0,
    TWO1,
    bound_two_splits,
    cost_in,
    prepare_labelled,
)
from streed.engine.records import INFINITE
from streed.engine.rows import load_node
from streed.engine.views import inline, matrix, native, vector

SIDE_LEAF, SIDE_SPLIT, SIDE_TWO, SIDE_MORE = 0, 2, 4, 6
"""Rows of `values` by column, each followed by the same for the side without the column: the cost as a leaf, with one
split, lower bounds with two splits and with more; costs of the splits themselves are included."""

ROWS_OF_VALUES = 8


@native
def expand_labelled(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the rows asked for as one leaf, and in `values` for every active column."""
    e.expansions += 1
    load_node(e, vector(e.asked_rows, e.row_words, uint64))
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    e.upper = prepare_labelled(e, lane, values[0])
    sums = matrix(e.sums, e.planes, e.width, lane)
    totals = vector(e.totals, e.planes, int64)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    bound_two_splits(e, lane, matrix(e.pairs, e.planes * e.stride, e.stride, lane), sums, totals)
    profits = np.empty(e.labels, np.int64)
    for k in range(e.n_active):
        for side in range(2):
            without = 1 - side
            values[SIDE_LEAF + without, k] = cost_in(scores, LEAF1 if side == 1 else LEAF0, k)
            split = cost_in(scores, SPLIT1 if side == 1 else SPLIT0, k)
            values[SIDE_SPLIT + without, k] = min(e.split_cost + split, INFINITE)
            two = cost_in(scores, TWO1 if side == 1 else TWO0, k)
            more = int64(0)
            if e.class_bound == 1:
                for label in range(e.labels):
                    with_column = int64(sums[label, k])
                    profits[label] = with_column if side == 1 else totals[label] - with_column
                worst = int64(sums[e.labels, k])
                if side == 0:
                    worst = totals[e.labels] - worst
                two = max(two, _without_best(profits, 3, worst))
                more = _three_splits_or_more(profits, worst, e.split_cost)
            else:
                more = 3 * e.split_cost
            values[SIDE_TWO + without, k] = min(2 * e.split_cost + two, INFINITE)
            values[SIDE_MORE + without, k] = more


@native
def _without_best(profits, leaves, worst):  # type: ignore[no-untyped-def]
    """R_j: what `leaves` leaves cost at least, since they show at most as many labels; sorts the profits."""
    best = int64(0)
    for i in range(min(leaves, len(profits))):
        for j in range(i + 1, len(profits)):
            if profits[j] > profits[i]:
                profits[i], profits[j] = profits[j], profits[i]
        best += profits[i]
    return worst - best


@native
def _three_splits_or_more(profits, worst, split_cost):  # type: ignore[no-untyped-def]
    """The least over s >= 3 of s * split_cost + R_{s + 1}."""
    best = int64(INFINITE)
    for splits in range(3, max(4, len(profits))):
        best = min(best, splits * split_cost + _without_best(profits, splits + 1, worst))
    return best


@inline
def side_bounds(values, column, without, depth, budget):  # type: ignore[no-untyped-def]
    """(lower, upper) of a side that may use `depth` levels and `budget` branching nodes."""
    leaf = values[SIDE_LEAF + without, column]
    if depth == 0 or budget == 0:
        return leaf, leaf
    upper = min(leaf, values[SIDE_SPLIT + without, column])
    if depth == 1 or budget == 1:
        return upper, upper
    lower = min(upper, values[SIDE_TWO + without, column])
    if budget > 2:
        lower = min(lower, values[SIDE_MORE + without, column])
    return lower, upper
