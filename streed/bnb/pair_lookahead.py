"""The expansion of a node by pair lookahead: what each side of each split costs with few splits, and can cost at best.

From the node's own pair sums come, for every side, its exact cost as a leaf and with one split, and lower bounds on its
cost with exactly two splits and with three or more. The search turns them into bounds for whatever depth and number of
nodes a side may use.
"""

from __future__ import annotations

from numba import int64

from streed.bnb.nodes import most_sides
from streed.kernels import values as rows
from streed.kernels.pointers import call
from streed.kernels.records import INFINITE
from streed.kernels.scoring import many_labels
from streed.kernels.scoring.many_labels import bound_two_splits, cost_in, prepare_labelled
from streed.kernels.scoring.two_classes import expand_two_classes
from streed.kernels.views import inline, matrix, native, vector


@native
def expand_labelled(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the rows asked for as one leaf, and in `values` for every active column."""
    e.expansions += 1
    call(e.load, e)
    prepare_labelled(e, lane)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    sums = matrix(e.sums, e.planes, e.width, lane)
    totals = vector(e.totals, e.planes, int64)
    scores = matrix(e.scores, many_labels.ROWS_OF_SCORES, e.width, lane)
    bound_two_splits(e, lane, matrix(e.pairs, e.planes * e.stride, e.stride, lane), sums, totals)
    # an array that numba counts references to would cost more than what is done with it
    profits = vector(e.label_profits, e.labels, int64)
    # a split makes this many leaves more than there were
    spread = most_sides(e) - 1
    for k in range(e.n_active):
        for side in range(2):
            without = 1 - side
            split = cost_in(scores, many_labels.SPLIT1 + without, k)
            values[rows.SPLIT1 + without, k] = min(e.split_cost + split, INFINITE)
            two = cost_in(scores, many_labels.TWO1 + without, k) if e.extensible == 1 else int64(0)
            more = 3 * e.split_cost
            if e.class_bound == 1:
                for label in range(e.labels):
                    with_column = int64(sums[label, k])
                    profits[label] = with_column if side == 1 else totals[label] - with_column
                worst = int64(sums[e.labels, k])
                if side == 0:
                    worst = totals[e.labels] - worst
                two = max(two, _without_best(profits, 1 + 2 * spread, worst))
                more = _three_splits_or_more(profits, worst, e.split_cost, spread)
            values[rows.TWO1 + without, k] = min(2 * e.split_cost + two, INFINITE)
            values[rows.MORE1 + without, k] = more


@native
def expand_classes(e, lane):  # type: ignore[no-untyped-def]
    """As `expand_labelled`, of two labels where every row costs something under one only."""
    e.expansions += 1
    call(e.load, e)
    expand_two_classes(e, lane)


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
def _three_splits_or_more(profits, worst, split_cost, spread):  # type: ignore[no-untyped-def]
    """The least over s >= 3 of s * split_cost + R_{1 + s * spread}."""
    best = int64(INFINITE)
    for splits in range(3, max(4, len(profits))):
        best = min(best, splits * split_cost + _without_best(profits, 1 + splits * spread, worst))
    return best


@inline
def side_bounds(values, column, without, depth, budget):  # type: ignore[no-untyped-def]
    """(lower, upper) of a side that may use `depth` levels and `budget` branching nodes."""
    leaf = values[rows.LEAF1 + without, column]
    if depth == 0 or budget == 0:
        return leaf, leaf
    upper = min(leaf, values[rows.SPLIT1 + without, column])
    if depth == 1 or budget == 1:
        return upper, upper
    lower = min(upper, values[rows.TWO1 + without, column])
    if budget > 2:
        lower = min(lower, values[rows.MORE1 + without, column])
    return lower, upper
