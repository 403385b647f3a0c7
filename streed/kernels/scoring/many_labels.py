"""Depth-two scoring for any number of labels, categorical columns and minimum support.

A leaf costs the worst costs of its rows minus the profit of its best label. For every column k (a lane) the node is
split on k and each side split once more, on any column j; the four quadrants of j and k follow from the pair sums, the
sums of each column and the totals. A categorical column j splits a side into all its categories at once.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from streed.kernels import values as rows
from streed.kernels.counting.pair_counts import count_or_sum_node
from streed.kernels.records import INFINITE, LANES, NONE
from streed.kernels.scoring.children import count_or_sum_side, solving_children, sum_columns
from streed.kernels.simd import broadcast, fill, forbid, infeasible_of, load, maximum, minimum, store
from streed.kernels.views import inline, matrix, native, vector

LEAF1, LEAF0, SPLIT1, SPLIT0, TWO1, TWO0, ONE1, ONE0 = range(8)
"""Rows of `scores`, by column: the cost of the rows with the column (1) and without (0) as a leaf, split once, a lower
bound on their cost split twice, and their least cost with one split at most; `infeasible` where no tree is feasible."""

ROWS_OF_SCORES = 8


@inline
def quadrants(e, pairs, sums, totals, j, k, stride):  # type: ignore[no-untyped-def]
    """Leaf costs of the quadrants (k and j, k only, j only, neither), then their worst costs."""
    labels = e.labels
    first = load(pairs, j, k)
    with_k = load(sums, 0, k)
    with_j = broadcast(sums, 0, j)
    best11 = first
    best10 = with_k - first
    best01 = with_j - first
    best00 = fill(sums, totals[0]) - with_k - best01
    for label in range(1, labels):
        x = load(pairs, label * stride + j, k)
        with_k = load(sums, label, k)
        only_j = broadcast(sums, label, j) - x
        best11 = maximum(best11, x)
        best10 = maximum(best10, with_k - x)
        best01 = maximum(best01, only_j)
        best00 = maximum(best00, fill(sums, totals[label]) - with_k - only_j)
    worst11 = load(pairs, labels * stride + j, k)
    with_k = load(sums, labels, k)
    worst10 = with_k - worst11
    worst01 = broadcast(sums, labels, j) - worst11
    worst00 = fill(sums, totals[labels]) - with_k - worst01
    return worst11 - best11, worst10 - best10, worst01 - best01, worst00 - best00, worst11, worst10, worst01, worst00


@inline
def too_small(cost1, cost0, e, pairs, sums, totals, j, k, stride, infeasible, both):  # type: ignore[no-untyped-def]
    """The two costs, `infeasible` where a quadrant has fewer rows than a leaf needs; `both`: also those without j."""
    plane = e.rows_plane
    rows11 = load(pairs, plane * stride + j, k)
    with_k = load(sums, plane, k)
    rows01 = broadcast(sums, plane, j) - rows11
    cost1 = forbid(cost1, rows11, e.min_leaf, infeasible)
    cost0 = forbid(cost0, rows01, e.min_leaf, infeasible)
    if both:
        cost1 = forbid(cost1, with_k - rows11, e.min_leaf, infeasible)
        cost0 = forbid(cost0, fill(sums, totals[plane]) - with_k - rows01, e.min_leaf, infeasible)
    return cost1, cost0


@inline
def store_scores(e, scores, sums, totals, k, split1, split0):  # type: ignore[no-untyped-def]
    """Writes the scores of column k (a lane): what its sides cost as one leaf each, and these costs split once."""
    best1 = load(sums, 0, k)
    best0 = fill(sums, totals[0]) - best1
    for label in range(1, e.labels):
        x = load(sums, label, k)
        best1 = maximum(best1, x)
        best0 = maximum(best0, fill(sums, totals[label]) - x)
    worst1 = load(sums, e.labels, k)
    leaf1 = worst1 - best1
    leaf0 = fill(sums, totals[e.labels]) - worst1 - best0
    if e.min_leaf > 1:
        rows1 = load(sums, e.rows_plane, k)
        leaf1 = forbid(leaf1, rows1, e.min_leaf, infeasible_of(sums))
        leaf0 = forbid(leaf0, fill(sums, totals[e.rows_plane]) - rows1, e.min_leaf, infeasible_of(sums))
    store(scores, LEAF1, k, leaf1)
    store(scores, LEAF0, k, leaf0)
    store(scores, SPLIT1, k, split1)
    store(scores, SPLIT0, k, split0)


def scoring(priced: bool) -> Any:
    """The native function that fills the rows LEAF1 to SPLIT0 of `scores` from sums (see `score_pairs`).

    `priced`: splits have prices (test_costs.py), and `column` is tested besides the path of the node, or NONE.
    """

    @native
    def score(e, lane, pairs, sums, totals, column):  # type: ignore[no-untyped-def]
        stride = e.stride
        infeasible = infeasible_of(sums)
        scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
        prices = matrix(e.pair_test_costs, stride, stride, lane)
        for k in range(0, stride, LANES):
            split1 = fill(sums, infeasible)
            split0 = split1
            for j in range(e.n_binary):
                c11, c10, c01, c00, _, _, _, _ = quadrants(e, pairs, sums, totals, j, k, stride)
                cost1 = c11 + c10
                cost0 = c01 + c00
                if priced:
                    asked = load(prices, j, k)
                    if column != NONE:
                        asked = minimum(asked, broadcast(prices, j, column))
                    rows1 = load(sums, e.rows_plane, k)
                    cost1 = cost1 + rows1 * asked + e.split_cost
                    cost0 = cost0 + (fill(sums, totals[e.rows_plane]) - rows1) * asked + e.split_cost
                if e.min_leaf > 1:
                    cost1, cost0 = too_small(cost1, cost0, e, pairs, sums, totals, j, k, stride, infeasible, True)
                split1 = minimum(split1, cost1)
                split0 = minimum(split0, cost0)
            if not priced:
                split1, split0 = _by_categories(e, pairs, sums, totals, k, split1, split0)
            store_scores(e, scores, sums, totals, k, split1, split0)

    return score


@inline
def _by_categories(e, pairs, sums, totals, k, split1, split0):  # type: ignore[no-untyped-def]
    """What the sides of column k (a lane) cost split once, which may be by a categorical column."""
    stride = e.stride
    infeasible = infeasible_of(sums)
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    for c in range(e.n_categorical):
        cost1 = fill(sums, 0)
        cost0 = cost1
        bad1 = cost1
        bad0 = cost1
        for j in range(literals[0, c], literals[1, c]):
            c11, _, c01, _, _, _, _, _ = quadrants(e, pairs, sums, totals, j, k, stride)
            cost1 = cost1 + c11
            cost0 = cost0 + c01
            if e.min_leaf > 1:
                bad1, bad0 = too_small(bad1, bad0, e, pairs, sums, totals, j, k, stride, infeasible, False)
        split1 = minimum(split1, maximum(cost1, bad1))
        split0 = minimum(split0, maximum(cost0, bad0))
    return split1, split0


score_pairs = scoring(False)
"""Of pair sums (S * P, P), column sums (S, P) and totals (S,)."""


@native
def bound_two_splits(e, lane, pairs, sums, totals):  # type: ignore[no-untyped-def]
    """Fills the rows TWO1 and TWO0 of `scores`: lower bounds on the costs of a side that is split exactly twice.

    Of two splits, one is at the top and the other below one of its sides; the other sides stay leaves. That one side's
    best one-split tree serves any more rows at the price of their worst costs, so it costs at least what these cost
    with one split, minus the worst costs of the others (`_below`). Where both columns are binary that side is a
    quadrant of them, and lies in a side of either. Needs `score_pairs`; holds where `e.extensible`.
    """
    stride = e.stride
    infeasible = infeasible_of(sums)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    for k in range(0, stride, LANES):
        store(scores, ONE1, k, minimum(load(scores, LEAF1, k), load(scores, SPLIT1, k)))
        store(scores, ONE0, k, minimum(load(scores, LEAF0, k), load(scores, SPLIT0, k)))
    for k in range(0, stride, LANES):
        one1 = load(scores, ONE1, k)
        one0 = load(scores, ONE0, k)
        worst1 = load(sums, e.labels, k)
        worst0 = fill(sums, totals[e.labels]) - worst1
        two1 = fill(sums, infeasible)
        two0 = two1
        for j in range(e.n_binary):
            c11, c10, c01, c00, w11, w10, w01, w00 = quadrants(e, pairs, sums, totals, j, k, stride)
            with_j = broadcast(scores, ONE1, j)
            without_j = broadcast(scores, ONE0, j)
            below11 = maximum(_below(one1, w10), with_j - w01)
            below10 = maximum(_below(one1, w11), without_j - w00)
            below01 = maximum(_below(one0, w00), with_j - w11)
            below00 = maximum(_below(one0, w01), without_j - w10)
            two1 = minimum(two1, minimum(c11 + below10, c10 + below11))
            two0 = minimum(two0, minimum(c01 + below00, c00 + below01))
        for c in range(e.n_categorical):
            leaves1 = fill(sums, 0)
            leaves0 = leaves1
            for j in range(literals[0, c], literals[1, c]):
                c11, _, c01, _, _, _, _, _ = quadrants(e, pairs, sums, totals, j, k, stride)
                leaves1 = leaves1 + c11
                leaves0 = leaves0 + c01
            for j in range(literals[0, c], literals[1, c]):
                c11, _, c01, _, w11, _, w01, _ = quadrants(e, pairs, sums, totals, j, k, stride)
                two1 = minimum(two1, leaves1 - c11 + _below(one1, worst1 - w11))
                two0 = minimum(two0, leaves0 - c01 + _below(one0, worst0 - w01))
        store(scores, TWO1, k, two1)
        store(scores, TWO0, k, two0)


@inline
def _below(one, worst):  # type: ignore[no-untyped-def]
    """max(0, one - worst): at least this much the rest of a side costs with one split."""
    return maximum(one - worst, worst - worst)


@inline
def cost_in(scores, row, column):  # type: ignore[no-untyped-def]
    """A score as a value: INFINITE where it is the price of what is infeasible."""
    cost = int64(scores[row, column])
    return int64(INFINITE) if cost >= infeasible_of(scores) else cost


@inline
def cost_of_side(scores, side, column, split_cost):  # type: ignore[no-untyped-def]
    """The optimal cost at depth one of one side of a column, from the scores."""
    leaf = cost_in(scores, LEAF1 if side == 1 else LEAF0, column)
    split = cost_in(scores, SPLIT1 if side == 1 else SPLIT0, column)
    return min(leaf, split_cost + split) if split < INFINITE else leaf


@inline
def cost_of_sides(scores, column, split_cost):  # type: ignore[no-untyped-def]
    """As `cost_of_side`, of both sides together."""
    return cost_of_side(scores, 1, column, split_cost) + cost_of_side(scores, 0, column, split_cost)


@native
def leaf_cost(e, totals):  # type: ignore[no-untyped-def]
    """The cost of a state with these totals as one leaf; INFINITE where it has too few rows."""
    best = totals[0]
    for label in range(1, e.labels):
        best = max(best, totals[label])
    if e.min_leaf > 1 and 0 < totals[e.rows_plane] < e.min_leaf:
        return int64(INFINITE)
    return totals[e.labels] - best


@inline
def begin_node(e, lane):  # type: ignore[no-untyped-def]
    """Fills pair sums, column sums and totals of the loaded node; answers in e.upper with its cost as a leaf."""
    count_or_sum_node(e, lane)
    pairs = matrix(e.pairs, e.planes * e.stride, e.stride, lane)
    totals = vector(e.totals, e.planes, int64)
    sum_columns(e, e.planes, pairs, matrix(e.sums, e.planes, e.width, lane))
    e.weight = totals[e.labels]
    e.worst_pairs = e.labels
    e.upper = leaf_cost(e, totals)


@native
def prepare_labelled(e, lane):  # type: ignore[no-untyped-def]
    """As `begin_node`, and fills `values`."""
    begin_node(e, lane)
    pairs = matrix(e.pairs, e.planes * e.stride, e.stride, lane)
    sums = matrix(e.sums, e.planes, e.width, lane)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    score_pairs(e, lane, pairs, sums, vector(e.totals, e.planes, int64), int64(NONE))
    for k in range(e.n_active):
        values[rows.WEIGHT, k] = int64(sums[e.labels, k])
        values[rows.LEAF1, k] = cost_in(scores, LEAF1, k)
        values[rows.LEAF0, k] = cost_in(scores, LEAF0, k)
        values[rows.KEY, k] = min(e.split_cost + cost_of_sides(scores, k, e.split_cost), INFINITE)
    for c in range(e.n_categorical):
        values[rows.KEY, e.n_active + c] = _categorical_cost(e, lane, c)


@native
def _categorical_cost(e, lane, c):  # type: ignore[no-untyped-def]
    """The optimal cost at depth two that begins with a categorical column, from the scores."""
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    total = e.split_cost
    for k in range(literals[0, c], literals[1, c]):
        total = min(total + cost_of_side(scores, 1, k, e.split_cost), INFINITE)
    return total


@native
def _depth_two_optimum(e, lane, side, pairs_at):  # type: ignore[no-untyped-def]
    """The optimal cost at depth two of a side of e.asked_column whose sums are in the record."""
    pairs = matrix(pairs_at, e.planes * e.stride, e.stride, lane)
    sums = matrix(e.child_sums, e.planes, e.width, lane)
    totals = vector(e.child_totals, e.planes, int64)
    score_pairs(e, lane, pairs, sums, totals, e.asked_column)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    best = leaf_cost(e, totals)
    for k in range(e.n_binary):
        best = min(best, e.split_cost + cost_of_sides(scores, k, e.split_cost))
    for c in range(e.n_categorical):
        best = min(best, _categorical_cost(e, lane, c))
    return best


solve_labelled_children = solving_children(_depth_two_optimum, count_or_sum_side)
