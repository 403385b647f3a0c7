"""Lower bounds between the children of one node's splits.

Similarity (STreeD, Appendix B; MurTree, Section 4.5): a tree for the rows A serves the rows B at the price of the worst
costs of the rows in B but not in A. Let A be a child of the node that is solved, B any other child; then
opt(B) >= opt(A) - worst(A without B), and worst(A without B) follows from the pair sums. On fewer rows a leaf may fall
below its minimum support, so these bounds need `restrictable`. The node's own bound applies a child's tree to more
rows: leaves grow, but a categorical column may gain a category with too few rows, so it needs `extensible`.
"""

from __future__ import annotations

from numba import int64

from streed.engine.joining import least_of
from streed.engine.values import LOWER0, LOWER1, ROWS_OF_VALUES, WEIGHT
from streed.engine.views import matrix, native


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
def push_bounds(e, lane):  # type: ignore[no-untyped-def]
    """Raises the bounds of all children by e.cost1 and e.cost0, those of the children of e.asked_column."""
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    pairs = matrix(e.pairs, (e.worst_pairs + 1) * e.stride, e.stride, lane)
    row = e.worst_pairs * e.stride + e.asked_column
    own = values[WEIGHT, e.asked_column]
    with_both = e.cost1 - own
    with_neither = e.cost0 - (e.weight - own)
    for k in range(e.n_active):
        both = int64(pairs[row, k]) * e.worst_unit
        other = values[WEIGHT, k] - both
        values[LOWER1, k] = max(values[LOWER1, k], with_both + both, with_neither + other)
        values[LOWER0, k] = max(values[LOWER0, k], e.cost1 - both, e.cost0 - other)
