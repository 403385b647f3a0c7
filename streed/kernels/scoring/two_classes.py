"""The pair lookahead of two labels where every row costs something under one label only: weighted or plain errors.

The rows of each class then stand in a plane of their own; x0 and x1 being what the rows of a leaf weigh by class, it
costs min(x0, x1). All is counted in the units of which every weight is a multiple, for which 16 bits often suffice.
Scores are those of many_labels.py, with a sharper bound of two splits.
"""

from __future__ import annotations

from numba import int64

from streed.kernels import values as rows
from streed.kernels.counting.pair_counts import count_node
from streed.kernels.records import INFINITE, LANES
from streed.kernels.scoring.children import sum_columns
from streed.kernels.scoring.many_labels import LEAF0, LEAF1, ROWS_OF_SCORES, SPLIT0, SPLIT1, TWO0, TWO1
from streed.kernels.simd import broadcast, fill, load, maximum, minimum, store
from streed.kernels.views import inline, matrix, native, vector

PLANES = 2
"""The classes."""


@native
def expand_two_classes(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the loaded node as one leaf, and in `values` for every active column."""
    count_node(e, lane, matrix(e.class_weights, e.groups, PLANES, int64), PLANES)
    pairs = matrix(e.pairs, PLANES * e.stride, e.stride, lane)
    sums = matrix(e.sums, PLANES, e.width, lane)
    sum_columns(e, PLANES, pairs, sums)
    totals = vector(e.totals, PLANES, int64)
    _score_one_split(e, lane, totals)
    _bound_two_splits(e, lane, totals)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    unit = e.class_unit
    e.upper = min(totals[0], totals[1]) * unit
    for k in range(e.n_active):
        values[rows.LEAF1, k] = int64(scores[LEAF1, k]) * unit
        values[rows.LEAF0, k] = int64(scores[LEAF0, k]) * unit
        for without in range(2):
            two = int64(scores[TWO1 + without, k]) * unit if e.extensible == 1 else int64(0)
            values[rows.SPLIT1 + without, k] = min(e.split_cost + int64(scores[SPLIT1 + without, k]) * unit, INFINITE)
            values[rows.TWO1 + without, k] = min(2 * e.split_cost + two, INFINITE)
            values[rows.MORE1 + without, k] = 3 * e.split_cost


@inline
def _sides(sums, totals, k):  # type: ignore[no-untyped-def]
    """What the rows of either class weigh with column k (a lane), and without it."""
    with0 = load(sums, 0, k)
    with1 = load(sums, 1, k)
    return with0, with1, fill(sums, totals[0]) - with0, fill(sums, totals[1]) - with1


@inline
def _quadrants(sums, j, x0, x1, with0, with1, rest0, rest1):  # type: ignore[no-untyped-def]
    """Costs as leaves: rows with k and j (x), with k only, with j only, with neither; then what those with j weigh.

    with and rest are the sums of the sides of column k (a lane).
    """
    only0 = broadcast(sums, 0, j) - x0
    only1 = broadcast(sums, 1, j) - x1
    return (
        minimum(x0, x1),
        minimum(with0 - x0, with1 - x1),
        minimum(only0, only1),
        minimum(rest0 - only0, rest1 - only1),
        x0 + x1,
        only0 + only1,
    )


@native
def _score_one_split(e, lane, totals):  # type: ignore[no-untyped-def]
    """Fills the rows LEAF1 to SPLIT0 of `scores`: the sides of every column as leaves and split once."""
    stride = e.stride
    pairs = matrix(e.pairs, PLANES * stride, stride, lane)
    sums = matrix(e.sums, PLANES, e.width, lane)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    for k in range(0, stride, LANES):
        with0, with1, rest0, rest1 = _sides(sums, totals, k)
        best1 = minimum(with0, with1)
        best0 = minimum(rest0, rest1)
        store(scores, LEAF1, k, best1)
        store(scores, LEAF0, k, best0)
        for j in range(e.n_active):
            x0 = load(pairs, j, k)
            x1 = load(pairs, stride + j, k)
            c11, c10, c01, c00, _, _ = _quadrants(sums, j, x0, x1, with0, with1, rest0, rest1)
            best1 = minimum(best1, c11 + c10)
            best0 = minimum(best0, c01 + c00)
        store(scores, SPLIT1, k, best1)
        store(scores, SPLIT0, k, best0)


@inline
def _at_least(one, others, second, others_of_second):  # type: ignore[no-untyped-def]
    """What a quadrant costs with one split, at least.

    It lies in a side of column k and in one of column j. A tree for the quadrant serves the whole side at the price of
    the worst costs of the side's other rows, so it costs no less than the side with one split, minus these.
    """
    zero = one - one
    return maximum(maximum(one - others, second - others_of_second), zero)


@native
def _bound_two_splits(e, lane, totals):  # type: ignore[no-untyped-def]
    """Fills the rows TWO1 and TWO0 of `scores`: lower bounds on the costs of a side that is split exactly twice.

    Of two splits, one is at the top and the other below one of its sides; the other side stays a leaf.
    """
    stride = e.stride
    pairs = matrix(e.pairs, PLANES * stride, stride, lane)
    sums = matrix(e.sums, PLANES, e.width, lane)
    scores = matrix(e.scores, ROWS_OF_SCORES, e.width, lane)
    for k in range(0, stride, LANES):
        with0, with1, rest0, rest1 = _sides(sums, totals, k)
        with_k = with0 + with1
        without_k = rest0 + rest1
        one1 = load(scores, SPLIT1, k)
        one0 = load(scores, SPLIT0, k)
        two1 = one1
        two0 = one0
        for j in range(e.n_active):
            x0 = load(pairs, j, k)
            x1 = load(pairs, stride + j, k)
            c11, c10, c01, c00, w11, w01 = _quadrants(sums, j, x0, x1, with0, with1, rest0, rest1)
            w10 = with_k - w11
            w00 = without_k - w01
            with_j = broadcast(scores, SPLIT1, j)
            without_j = broadcast(scores, SPLIT0, j)
            b11 = _at_least(one1, w10, with_j, w01)
            b10 = _at_least(one1, w11, without_j, w00)
            b01 = _at_least(one0, w00, with_j, w11)
            b00 = _at_least(one0, w01, without_j, w10)
            two1 = minimum(two1, minimum(c11 + b10, c10 + b11))
            two0 = minimum(two0, minimum(c01 + b00, c00 + b01))
        store(scores, TWO1, k, two1)
        store(scores, TWO0, k, two0)
