"""Lower bounds between the children of one node's splits.

Similarity (STreeD, Appendix B; MurTree, Section 4.5): a tree for the rows A serves the rows B at the price of the worst
costs of the rows in B but not in A. Let A be a child of the node that is solved, B any other child; then
opt(B) >= opt(A) - worst(A without B), and worst(A without B) follows from the pair sums. On fewer rows a leaf may fall
below its minimum support, so these bounds need `restrictable`; the node's own bound does not.
"""

from __future__ import annotations

from numba import int64

from streed.engine.simd import LANES, fill, load, maximum, store
from streed.engine.views import native

LOWER1, LOWER0, WEIGHT = 0, 1, 2
"""Rows of the lane matrix `bounds`: lower bounds of the children with and without the column, and the worst costs of
the rows that have it."""

ROWS_OF_BOUNDS = 3


@native
def bound_by_node(bounds, stride, value, weight):  # type: ignore[no-untyped-def]
    """Raises the bounds of all children: opt(child) >= opt(node) - worst costs of the other children.

    `value` is the optimum of the node at the depth of its children, `weight` the worst costs of its rows.
    """
    zero = fill(bounds, 0)
    for k in range(0, stride, LANES):
        ones = load(bounds, WEIGHT, k)
        store(bounds, LOWER1, k, maximum(zero, fill(bounds, value - weight) + ones))
        store(bounds, LOWER0, k, maximum(zero, fill(bounds, value) - ones))


@native
def bound_by_sibling(bounds, pairs, row, column, stride, weight, cost1, cost0):  # type: ignore[no-untyped-def]
    """Raises the bounds of all children by the costs of the children of one column; pairs[row] are its worst sums."""
    own = int64(bounds[WEIGHT, column])
    with_both = fill(bounds, cost1 - own)
    with_neither = fill(bounds, cost0 - (weight - own))
    only_column = fill(bounds, cost1)
    only_other = fill(bounds, cost0)
    for k in range(0, stride, LANES):
        both = load(pairs, row, k)
        other = load(bounds, WEIGHT, k) - both
        store(bounds, LOWER1, k, maximum(load(bounds, LOWER1, k), maximum(with_both + both, with_neither + other)))
        store(bounds, LOWER0, k, maximum(load(bounds, LOWER0, k), maximum(only_column - both, only_other - other)))
