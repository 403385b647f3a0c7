"""Depth-two scoring for any number of labels, categorical columns and minimum support.

A leaf costs the worst costs of its rows minus the profit of its best label. For every column k (a lane) the node is
split on k and each side split once more, on any column j; the four quadrants of j and k follow from the pair sums, the
sums of each column and the totals. A categorical column j splits a side into all its categories at once.

Where splits are *priced* by the columns tested above (children.py), a side that is split pays, beside the cost of any
split, for each of its rows the price of the second column. Two labels are *classes* where every row profits under one
label only, as in weighted or plain errors: then no plane is needed for worst costs, which are the sum of both, and 16
bits often suffice, as all is counted in the units of which every weight is a multiple.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from streed.kernels import values as rows
from streed.kernels.counting.pair_counts import count_node
from streed.kernels.counting.pair_sums import sum_node
from streed.kernels.records import INFINITE, LANES, NONE
from streed.kernels.scoring.children import (
    bound_by_prices,
    count_or_sum_side,
    find_prices,
    solving_children,
    sum_columns,
)
from streed.kernels.simd import broadcast, fill, forbid, infeasible_of, load, maximum, minimum, store
from streed.kernels.views import inline, matrix, native, vector

LEAF1, LEAF0, SPLIT1, SPLIT0, TWO1, TWO0, ONE1, ONE0 = range(8)
"""Rows of `scores`, by column: the cost of the rows with the column (1) and without (0) as a leaf, split once, a lower
bound on their cost split twice, and their least cost with one split at most; `infeasible` where no tree is feasible."""

ROWS_OF_SCORES = 8


CLASSES = 2
"""Planes of classes: what the rows of each weigh."""


@inline
def _quarters(pairs, sums, totals, plane, j, k, stride):  # type: ignore[no-untyped-def]
    """The sums of a plane over the quadrants (k and j, k only, j only, neither)."""
    both = load(pairs, plane * stride + j, k)
    with_k = load(sums, plane, k)
    only_j = broadcast(sums, plane, j) - both
    return both, with_k - both, only_j, fill(sums, totals[plane]) - with_k - only_j


@inline
def _quadrants(e, classes, pairs, sums, totals, j, k, stride):  # type: ignore[no-untyped-def]
    """Leaf costs of the quadrants, then their worst costs."""
    best11, best10, best01, best00 = _quarters(pairs, sums, totals, 0, j, k, stride)
    worst11, worst10, worst01, worst00 = best11, best10, best01, best00
    for label in range(1, CLASSES if classes else e.labels):
        x11, x10, x01, x00 = _quarters(pairs, sums, totals, label, j, k, stride)
        best11 = maximum(best11, x11)
        best10 = maximum(best10, x10)
        best01 = maximum(best01, x01)
        best00 = maximum(best00, x00)
        worst11, worst10, worst01, worst00 = worst11 + x11, worst10 + x10, worst01 + x01, worst00 + x00
    if not classes:
        worst11, worst10, worst01, worst00 = _quarters(pairs, sums, totals, e.labels, j, k, stride)
    return worst11 - best11, worst10 - best10, worst01 - best01, worst00 - best00, worst11, worst10, worst01, worst00


@inline
def _too_small(e, costs, pairs, sums, totals, j, k, both):  # type: ignore[no-untyped-def]
    """The two costs, `infeasible` where a quadrant has fewer rows than a leaf needs; `both`: also those without j."""
    cost1, cost0 = costs
    infeasible = infeasible_of(sums)
    rows11, rows10, rows01, rows00 = _quarters(pairs, sums, totals, e.rows_plane, j, k, e.stride)
    cost1 = forbid(cost1, rows11, e.min_leaf, infeasible)
    cost0 = forbid(cost0, rows01, e.min_leaf, infeasible)
    if both:
        cost1 = forbid(cost1, rows10, e.min_leaf, infeasible)
        cost0 = forbid(cost0, rows00, e.min_leaf, infeasible)
    return cost1, cost0


@inline
def _store_leaves(e, classes, scores, sums, totals, k):  # type: ignore[no-untyped-def]
    """Writes what the sides of column k (a lane) cost as one leaf each."""
    best1 = load(sums, 0, k)
    best0 = fill(sums, totals[0]) - best1
    worst1, worst0 = best1, best0
    for label in range(1, CLASSES if classes else e.labels):
        x = load(sums, label, k)
        rest = fill(sums, totals[label]) - x
        best1 = maximum(best1, x)
        best0 = maximum(best0, rest)
        worst1, worst0 = worst1 + x, worst0 + rest
    if not classes:
        worst1 = load(sums, e.labels, k)
        worst0 = fill(sums, totals[e.labels]) - worst1
    leaf1 = worst1 - best1
    leaf0 = worst0 - best0
    if e.min_leaf > 1:
        rows1 = load(sums, e.rows_plane, k)
        leaf1 = forbid(leaf1, rows1, e.min_leaf, infeasible_of(sums))
        leaf0 = forbid(leaf0, fill(sums, totals[e.rows_plane]) - rows1, e.min_leaf, infeasible_of(sums))
    store(scores, LEAF1, k, leaf1)
    store(scores, LEAF0, k, leaf0)


def _scoring(*, priced: bool = False, classes: bool = False) -> Any:
    """The native function that fills the rows LEAF1 to SPLIT0 of `scores` from pair sums (S * P, P), column sums (S, P)
    and totals (S,).

    `column` is tested besides the path of a priced node, or NONE.
    """

    @native
    def score(e, lane, pairs, sums, totals, column):  # type: ignore[no-untyped-def]
        stride = e.stride
        scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
        prices = matrix(e.pair_test_costs, stride, stride, lane)
        for k in range(0, stride, LANES):
            split1 = fill(sums, infeasible_of(sums))
            split0 = split1
            for j in range(e.n_binary):
                c11, c10, c01, c00, _, _, _, _ = _quadrants(e, classes, pairs, sums, totals, j, k, stride)
                cost1 = c11 + c10
                cost0 = c01 + c00
                if priced:
                    asked = load(prices, j, k)
                    if column != NONE:
                        asked = minimum(asked, broadcast(prices, j, column))
                    rows1 = load(sums, e.rows_plane, k)
                    cost1 = cost1 + rows1 * asked
                    cost0 = cost0 + (fill(sums, totals[e.rows_plane]) - rows1) * asked
                if not classes and e.min_leaf > 1:
                    cost1, cost0 = _too_small(e, (cost1, cost0), pairs, sums, totals, j, k, True)
                split1 = minimum(split1, cost1)
                split0 = minimum(split0, cost0)
            if not priced and not classes:
                split1, split0 = _by_categories(e, pairs, sums, totals, k, split1, split0)
            _store_leaves(e, classes, scores, sums, totals, k)
            store(scores, SPLIT1, k, split1)
            store(scores, SPLIT0, k, split0)

    return score


@inline
def _by_categories(e, pairs, sums, totals, k, split1, split0):  # type: ignore[no-untyped-def]
    """What the sides of column k (a lane) cost split once, which may be by a categorical column."""
    stride = e.stride
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    for c in range(e.n_categorical):
        cost1 = fill(sums, 0)
        cost0 = cost1
        bad1 = cost1
        bad0 = cost1
        for j in range(literals[0, c], literals[1, c]):
            c11, _, c01, _, _, _, _, _ = _quadrants(e, False, pairs, sums, totals, j, k, stride)
            cost1 = cost1 + c11
            cost0 = cost0 + c01
            if e.min_leaf > 1:
                bad1, bad0 = _too_small(e, (bad1, bad0), pairs, sums, totals, j, k, False)
        split1 = minimum(split1, maximum(cost1, bad1))
        split0 = minimum(split0, maximum(cost0, bad0))
    return split1, split0


def _bounding(*, classes: bool = False) -> Any:
    """The native function that fills the rows TWO1 and TWO0 of `scores`, once sides are scored; for `e.extensible`.

    They are lower bounds on the costs of a side that is split exactly twice: at the top, and below one of its sides,
    the others being leaves. That one's best one-split tree serves any more rows at the price of their worst costs, so
    it costs at least what these cost with one split, minus the worst costs of the others (`_below`). Where both columns
    are binary it is a quadrant of them, and lies in a side of either.
    """

    @native
    def bound_two_splits(e, lane, pairs, sums, totals):  # type: ignore[no-untyped-def]
        stride = e.stride
        infeasible = infeasible_of(sums)
        scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
        for k in range(0, stride, LANES):
            store(scores, ONE1, k, minimum(load(scores, LEAF1, k), load(scores, SPLIT1, k)))
            store(scores, ONE0, k, minimum(load(scores, LEAF0, k), load(scores, SPLIT0, k)))
        for k in range(0, stride, LANES):
            one1 = load(scores, ONE1, k)
            one0 = load(scores, ONE0, k)
            two1 = fill(sums, infeasible)
            two0 = two1
            for j in range(e.n_binary):
                c11, c10, c01, c00, w11, w10, w01, w00 = _quadrants(e, classes, pairs, sums, totals, j, k, stride)
                with_j = broadcast(scores, ONE1, j)
                without_j = broadcast(scores, ONE0, j)
                below11 = maximum(_below(one1, w10), with_j - w01)
                below10 = maximum(_below(one1, w11), without_j - w00)
                below01 = maximum(_below(one0, w00), with_j - w11)
                below00 = maximum(_below(one0, w01), without_j - w10)
                two1 = minimum(two1, minimum(c11 + below10, c10 + below11))
                two0 = minimum(two0, minimum(c01 + below00, c00 + below01))
            if not classes:
                two1, two0 = _bound_by_categories(e, scores, pairs, sums, totals, k, two1, two0)
            store(scores, TWO1, k, two1)
            store(scores, TWO0, k, two0)

    return bound_two_splits


@inline
def _bound_by_categories(e, scores, pairs, sums, totals, k, two1, two0):  # type: ignore[no-untyped-def]
    """The bounds of the sides of column k (a lane), whose first split may be by a categorical column."""
    stride = e.stride
    one1 = load(scores, ONE1, k)
    one0 = load(scores, ONE0, k)
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    worst1 = load(sums, e.labels, k)
    worst0 = fill(sums, totals[e.labels]) - worst1
    for c in range(e.n_categorical):
        leaves1 = fill(sums, 0)
        leaves0 = leaves1
        for j in range(literals[0, c], literals[1, c]):
            c11, _, c01, _, _, _, _, _ = _quadrants(e, False, pairs, sums, totals, j, k, stride)
            leaves1 = leaves1 + c11
            leaves0 = leaves0 + c01
        for j in range(literals[0, c], literals[1, c]):
            c11, _, c01, _, w11, _, w01, _ = _quadrants(e, False, pairs, sums, totals, j, k, stride)
            two1 = minimum(two1, leaves1 - c11 + _below(one1, worst1 - w11))
            two0 = minimum(two0, leaves0 - c01 + _below(one0, worst0 - w01))
    return two1, two0


@inline
def _below(one, worst):  # type: ignore[no-untyped-def]
    """max(0, one - worst): at least this much the rest of a side costs with one split."""
    return maximum(one - worst, worst - worst)


@inline
def cost_in(scores, row, column, unit=1):  # type: ignore[no-untyped-def]
    """A score in such units as a value: INFINITE where it is the price of what is infeasible."""
    cost = int64(scores[row, column])
    return int64(INFINITE) if cost >= infeasible_of(scores) else cost * unit


@inline
def _cost_of_side(e, scores, without, column):  # type: ignore[no-untyped-def]
    """The optimal cost at depth one of one side of a column, from the scores."""
    leaf = cost_in(scores, LEAF1 + without, column)
    split = cost_in(scores, SPLIT1 + without, column)
    return min(leaf, e.split_cost + split) if split < INFINITE else leaf


@native
def _leaf_cost(e, totals):  # type: ignore[no-untyped-def]
    """The cost of a state with these totals as one leaf; INFINITE where it has too few rows."""
    best = totals[0]
    for label in range(1, e.labels):
        best = max(best, totals[label])
    if e.min_leaf > 1 and 0 < totals[e.rows_plane] < e.min_leaf:
        return int64(INFINITE)
    return totals[e.labels] - best


@native
def _categorical_cost(e, lane, c):  # type: ignore[no-untyped-def]
    """The optimal cost at depth two that begins with a categorical column, from the scores."""
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    total = e.split_cost
    for k in range(literals[0, c], literals[1, c]):
        total = min(total + _cost_of_side(e, scores, 0, k), INFINITE)
    return total


def _preparing(priced: bool, score: Any) -> Any:
    """What fills sums and `values` of the loaded node, and answers in e.upper with its cost as a leaf."""

    @native
    def prepare(e, lane):  # type: ignore[no-untyped-def]
        if e.wide == 1:
            sum_node(e, lane, int64, e.planes)
        else:
            count_node(e, lane, matrix(e.profits, e.groups, e.planes, int64), e.planes)
        pairs = matrix(e.pairs, e.planes * e.stride, e.stride, lane)
        sums = matrix(e.sums, e.planes, e.width, lane)
        totals = vector(e.totals, e.planes, int64)
        scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
        values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
        prices = vector(e.here_prices, e.width, int64)
        sum_columns(e, e.planes, pairs, sums)
        e.weight = totals[e.labels]
        e.worst_pairs = e.labels
        e.upper = _leaf_cost(e, totals)
        if priced:
            find_prices(e, lane)
        score(e, lane, pairs, sums, totals, int64(NONE))
        for k in range(e.n_active):
            values[rows.WEIGHT, k] = int64(sums[e.labels, k])
            values[rows.LEAF1, k] = cost_in(scores, LEAF1, k)
            values[rows.LEAF0, k] = cost_in(scores, LEAF0, k)
            cost = e.split_cost
            if priced:
                cost += totals[e.rows_plane] * prices[k]
                values[rows.COST, k] = cost
            sides = _cost_of_side(e, scores, 0, k) + _cost_of_side(e, scores, 1, k)
            values[rows.KEY, k] = min(cost + sides, INFINITE)
        for c in range(e.n_categorical):
            values[rows.KEY, e.n_active + c] = _categorical_cost(e, lane, c)
        if priced:
            bound_by_prices(e, lane, values)

    return prepare


def _solving(priced: bool, score: Any) -> Any:
    """What solves the sides of a column at depth two."""

    @native
    def optimum(e, lane, side, pairs_at):  # type: ignore[no-untyped-def]
        pairs = matrix(pairs_at, e.planes * e.stride, e.stride, lane)
        sums = matrix(e.child_sums, e.planes, e.width, lane)
        totals = vector(e.child_totals, e.planes, int64)
        scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
        prices = matrix(e.pair_test_costs, e.stride, e.stride, lane)
        score(e, lane, pairs, sums, totals, e.asked_column)
        best = _leaf_cost(e, totals)
        for k in range(e.n_binary):
            cost = e.split_cost
            if priced:
                # a test that does not part its rows might make the next one cheaper, but is no node of a tree
                if not 0 < int64(sums[e.rows_plane, k]) < totals[e.rows_plane]:
                    continue
                cost += totals[e.rows_plane] * int64(prices[k, e.asked_column])
            best = min(best, cost + _cost_of_side(e, scores, 0, k) + _cost_of_side(e, scores, 1, k))
        for c in range(e.n_categorical):
            best = min(best, _categorical_cost(e, lane, c))
        return best

    return solving_children(optimum, count_or_sum_side)


_score_pairs, _score_priced, _score_classes = _scoring(), _scoring(priced=True), _scoring(classes=True)
bound_two_splits, bound_classes = _bounding(), _bounding(classes=True)
prepare_labelled, prepare_priced = _preparing(False, _score_pairs), _preparing(True, _score_priced)
solve_labelled_children, solve_priced_children = _solving(False, _score_pairs), _solving(True, _score_priced)


@native
def prepare_classes(e, lane):  # type: ignore[no-untyped-def]
    """Fills sums and scores of the loaded node, and answers in e.upper with its cost as a leaf."""
    count_node(e, lane, matrix(e.class_weights, e.groups, CLASSES, int64), CLASSES)
    pairs = matrix(e.pairs, CLASSES * e.stride, e.stride, lane)
    sums = matrix(e.sums, CLASSES, e.width, lane)
    totals = vector(e.totals, CLASSES, int64)
    sum_columns(e, CLASSES, pairs, sums)
    _score_classes(e, lane, pairs, sums, totals, int64(NONE))
    e.upper = min(totals[0], totals[1]) * e.class_unit
