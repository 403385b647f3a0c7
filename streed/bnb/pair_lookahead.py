"""The expansion of a node by pair lookahead: what each side of each split costs with few splits, and can cost at best.

From the node's own pair sums come, for every side, its exact cost as a leaf and with one split, and lower bounds on its
cost with exactly two splits and with three or more. The search turns them into bounds for whatever depth and number of
nodes a side may use.
"""

from __future__ import annotations

from numba import int64

from streed.bnb.nodes import most_sides
from streed.kernels import values as rows
from streed.kernels.records import INFINITE, LANES
from streed.kernels.scoring import many_labels
from streed.kernels.scoring.many_labels import bound_two_splits, cost_in, prepare_labelled
from streed.kernels.scoring.two_classes import expand_two_classes
from streed.kernels.simd import fill, load, maximum, minimum, store
from streed.kernels.views import call, inline, matrix, native, vector


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
    ranked = matrix(e.ranked_profits, 2 * e.labels, e.width, lane)
    if e.class_bound == 1:
        _rank_labels(e, ranked, sums, totals)
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
                worst = int64(sums[e.labels, k])
                if side == 0:
                    worst = totals[e.labels] - worst
                with_two, more = _with_few_labels(e, ranked, without, k, worst, spread)
                two = max(two, with_two)
            values[rows.TWO1 + without, k] = min(2 * e.split_cost + two, INFINITE)
            values[rows.MORE1 + without, k] = more


@native
def expand_classes(e, lane):  # type: ignore[no-untyped-def]
    """As `expand_labelled`, of two labels where every row costs something under one only."""
    e.expansions += 1
    call(e.load, e)
    expand_two_classes(e, lane)


@native
def _rank_labels(e, ranked, sums, totals):  # type: ignore[no-untyped-def]
    """Fills `ranked` (2 * labels, width): the labels' profits on both sides of each column, the greatest first.

    The rows with a column come first, then those without.
    """
    labels = e.labels
    for k in range(0, e.stride, LANES):
        for label in range(labels):
            with_column = load(sums, label, k)
            store(ranked, label, k, with_column)
            store(ranked, labels + label, k, fill(sums, totals[label]) - with_column)
        for begin in range(0, 2 * labels, labels):
            for i in range(begin, begin + labels - 1):
                greatest = load(ranked, i, k)
                for j in range(i + 1, begin + labels):
                    other = load(ranked, j, k)
                    store(ranked, j, k, minimum(greatest, other))
                    greatest = maximum(greatest, other)
                store(ranked, i, k, greatest)


@native
def _with_few_labels(e, ranked, without, column, worst, spread):  # type: ignore[no-untyped-def]
    """What a side costs at least with two splits, without their price, and with three or more, with their price.

    R_j is what j leaves cost at least, since they show at most j labels: R_{1 + 2 * spread}, and the least over s >= 3
    of s * split_cost + R_{1 + s * spread}.
    """
    two = int64(worst)
    more = int64(INFINITE)
    rest = int64(worst)
    shown = int64(0)
    for splits in range(2, max(4, e.labels)):
        while shown < min(1 + splits * spread, e.labels):
            rest -= int64(ranked[without * e.labels + shown, column])
            shown += 1
        if splits == 2:
            two = rest
        else:
            more = min(more, splits * e.split_cost + rest)
    return two, more


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
