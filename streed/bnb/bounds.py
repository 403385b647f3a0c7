"""Lower bounds between the children of one node's splits.

Similarity (STreeD, Appendix B; MurTree, Section 4.5): a tree for the rows A serves the rows B at the price of the worst
costs of the rows in B but not in A. Let A be a child of the node that is solved, B any other child; then
opt(B) >= opt(A) - worst(A without B), and worst(A without B) follows from the pair sums. On fewer rows a leaf may fall
below its minimum support, so these bounds need `restrictable`. The node's own bound applies a child's tree to more
rows: leaves grow, but a categorical column may gain a category with too few rows, so it needs `extensible`.
"""

from __future__ import annotations

from numba import int64

from streed.kernels.records import LOWEST
from streed.kernels.scoring.operators import least_cost, least_of
from streed.kernels.values import (
    BARE1,
    LEAF1,
    LEAST1,
    LOWER0,
    LOWER1,
    OPTIMUM1,
    ROWS_OF_VALUES,
    SPLIT1,
    UNKNOWN,
    WEIGHT,
)
from streed.kernels.views import matrix, native


@native
def bound_by_node(e, values, value):  # type: ignore[no-untyped-def]
    """Sets the bounds of all children: opt(child) >= opt(node) - worst costs of the other children.

    `value` is the optimum of the node at the depth of its children.
    """
    for k in range(e.n_active):
        weight = values[WEIGHT, k]
        values[LOWER1, k] = least_of(e, values, k, 0)
        values[LOWER0, k] = least_of(e, values, k, 1)
        if e.extensible == 1:
            values[LOWER1, k] = max(values[LOWER1, k], value - (e.weight - weight))
            values[LOWER0, k] = max(values[LOWER0, k], value - weight)


@native
def count_splits(e, values):  # type: ignore[no-untyped-def]
    """Raises the least costs of all sides: a side is a leaf, has one split, or pays for two at least.

    The first two are known exactly from the pair sums; needs values that are added up.
    """
    cost = least_cost(e, values)
    for k in range(e.n_active):
        for without in range(2):
            bare = values[LEAST1 + without, k]
            values[BARE1 + without, k] = bare
            if bare <= LOWEST:
                continue
            few = min(values[LEAF1 + without, k], values[SPLIT1 + without, k])
            values[LEAST1 + without, k] = max(bare, min(few, bare + 2 * cost))


@native
def count_more_splits(e, values):  # type: ignore[no-untyped-def]
    """Raises the bounds of sides whose optima at depth two are known: any other tree has three splits at least."""
    cost = least_cost(e, values)
    for k in range(e.n_active):
        for without in range(2):
            if values[BARE1 + without, k] <= LOWEST or values[OPTIMUM1 + without, k] == UNKNOWN:
                continue
            bound = min(values[OPTIMUM1 + without, k], values[BARE1 + without, k] + 3 * cost)
            values[LOWER1 + without, k] = max(values[LOWER1 + without, k], bound)


@native
def push_bounds(e, lane):  # type: ignore[no-untyped-def]
    """Raises the bounds of all children by those of the children of e.asked_column, which may be known exactly."""
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    pairs = matrix(e.pairs, (e.worst_pairs + 1) * e.stride, e.stride, lane)
    row = e.worst_pairs * e.stride + e.asked_column
    own = values[WEIGHT, e.asked_column]
    least1 = values[LOWER1, e.asked_column]
    least0 = values[LOWER0, e.asked_column]
    with_both = least1 - own
    with_neither = least0 - (e.weight - own)
    for k in range(e.n_active):
        both = int64(pairs[row, k]) * e.worst_unit
        other = values[WEIGHT, k] - both
        values[LOWER1, k] = max(values[LOWER1, k], with_both + both, with_neither + other)
        values[LOWER0, k] = max(values[LOWER0, k], least1 - both, least0 - other)
