"""Lower bounds on subproblems: each is a function, with its lemma, the fact that it needs, and its switch.

The fact is a field of the record (`FACTS` in records.py), asked for in the function. To clear it switches the bound
off: the search then gives the same value by more work. The proofs are in docs/explanation/search.md.

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
    LEAF0,
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

    `value` is the optimum of the node at the depth of its children. Needs `extensible`.
    """
    for k in range(e.n_active):
        weight = values[WEIGHT, k]
        values[LOWER1, k] = least_of(e, values, k, int64(0))
        values[LOWER0, k] = least_of(e, values, k, int64(1))
        if e.extensible == 1:
            values[LOWER1, k] = max(values[LOWER1, k], value - (e.weight - weight))
            values[LOWER0, k] = max(values[LOWER0, k], value - weight)


@native
def count_splits(e):  # type: ignore[no-untyped-def]
    """Raises the least costs of all sides: a side is a leaf, has one split, or pays for two at least.

    The first two are known exactly from the pair sums. Needs `fixed_costs`, without which this unit is not called, and
    values that are added up.
    """
    if e.combine != 0:
        return
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
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
def count_more_splits(e):  # type: ignore[no-untyped-def]
    """Raises the bounds of sides whose optima at depth two are known: any other tree has three splits at least.

    Needs `fixed_costs`, without which this unit is not called, and values that are added up.
    """
    if e.combine != 0:
        return
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    cost = least_cost(e, values)
    for k in range(e.n_active):
        for without in range(2):
            if values[BARE1 + without, k] <= LOWEST or values[OPTIMUM1 + without, k] == UNKNOWN:
                continue
            bound = min(values[OPTIMUM1 + without, k], values[BARE1 + without, k] + 3 * cost)
            values[LOWER1 + without, k] = max(values[LOWER1 + without, k], bound)


@native
def bound_by_purity(e, values):  # type: ignore[no-untyped-def]
    """Purification (Branches, Prop. 4.2): a side is a leaf, or is split at least once and errs nowhere at best.

    Needs a `split_cost`; of a scored problem, `count_splits` says more.
    """
    if e.split_cost == 0 or e.scored == 1:
        return
    for k in range(e.n_active):
        values[LOWER1, k] = max(values[LOWER1, k], min(values[LEAF1, k], e.split_cost))
        values[LOWER0, k] = max(values[LOWER0, k], min(values[LEAF0, k], e.split_cost))


@native
def bound_by_equal_rows(e, floor, upper):  # type: ignore[no-untyped-def]
    """A lower bound of a node whose best tree with one split or none costs `upper` or more.

    Lemma: its equal rows pay the `floor` in any tree, and a tree with two splits or more pays for these beside; so
    opt >= min(upper, floor + 2 split_cost). Needs costs that are added up, and says more than the other bounds where
    there are `floors`.
    """
    if e.scored == 1:
        return floor
    return min(upper, floor + 2 * e.split_cost)


@native
def push_bounds(e, lane):  # type: ignore[no-untyped-def]
    """Raises the bounds of all children by those of the children of e.asked_column, which may be known exactly.

    Needs `restrictable`, without which this unit is not called.
    """
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
