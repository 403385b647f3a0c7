"""Bounds from similar subproblems that were solved elsewhere in the search.

The cache holds the last subproblems of depth three with their lower bounds, and those of all their children at depth
two. A tree for the rows D serves the rows E at the price of the worst costs of the rows in E but not in D (bounds.py),
so opt(D) >= lower(E) - worst(E without D), and likewise, column by column, for the children.
"""

from __future__ import annotations

from numba import int32, int64, uint64

from streed.bnb.nodes import nodes_of, rows_of, weigh
from streed.kernels.counting.pair_sums import padded
from streed.kernels.records import NONE
from streed.kernels.simd import first_one
from streed.kernels.values import LOWER0, LOWER1, ROWS_OF_VALUES
from streed.kernels.views import matrix, native, vector

ENTRIES = 256

NODE_OF, LOWER_OF, WEIGHT_OF = 0, 1, 2
"""Rows of `cache`: the node, its lower bound and the worst costs of its rows, by entry."""

ROWS_OF_SIMILARITY_CACHE = 3


@native
def find_similar(e, v, lower):  # type: ignore[no-untyped-def]
    """(bound, entry): the best lower bound of node v that the cache gives above `lower`, else (lower, NONE)."""
    cache = matrix(e.similarity_cache, ROWS_OF_SIMILARITY_CACHE, ENTRIES, int64)
    rows = rows_of(e)
    weight = int64(nodes_of(e)[v].weight)
    best = lower
    entry = int64(NONE)
    for i in range(min(e.archive_count, ENTRIES)):
        bound = cache[LOWER_OF, i]
        if bound - max(int64(0), cache[WEIGHT_OF, i] - weight) > best:
            bound -= cache[WEIGHT_OF, i] - weigh(e, rows[cache[NODE_OF, i]], rows[v])
            if bound > best:
                best = bound
                entry = int64(i)
    return best, entry


@native
def remember(e, v):  # type: ignore[no-untyped-def]
    """Enters node v, which the work unit has just solved, with the lower bounds of its children in `values`."""
    node = nodes_of(e)[v]
    if node.lower <= e.split_cost and e.scored == 0:
        return
    cache = matrix(e.similarity_cache, ROWS_OF_SIMILARITY_CACHE, ENTRIES, int64)
    children = matrix(e.archive_children, ENTRIES, 2 * e.width, int32)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    active = vector(e.active, e.width, int64)
    i = e.archive_count % ENTRIES
    cache[NODE_OF, i] = v
    cache[LOWER_OF, i] = node.lower
    cache[WEIGHT_OF, i] = node.weight
    for k in range(2 * e.width):
        children[i, k] = 0
    for k in range(e.n_active):
        children[i, 2 * active[k]] = min(values[LOWER0, k], int64(2**31 - 1))
        children[i, 2 * active[k] + 1] = min(values[LOWER1, k], int64(2**31 - 1))
    e.archive_count += 1


@native
def inherit_bounds(e):  # type: ignore[no-untyped-def]
    """Raises the lower bounds of the children of the loaded node by those of the entry e.asked_similar of the cache."""
    entry = e.asked_similar
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    cache = matrix(e.similarity_cache, ROWS_OF_SIMILARITY_CACHE, ENTRIES, int64)
    children = matrix(e.archive_children, ENTRIES, 2 * e.width, int32)
    active = vector(e.active, e.width, int64)
    lost = vector(e.lost, e.width, int64)
    begins = vector(e.group_words, e.groups + 1, int64)
    profits = matrix(e.profits, e.groups, e.planes, int64)
    row_bits = matrix(e.row_bits, e.row_space, e.width // 32, int32)
    other = rows_of(e)[cache[NODE_OF, entry]]
    here = vector(e.asked_rows, e.row_words, uint64)
    for k in range(e.width):
        lost[k] = 0
    planes = padded(e.planes)
    values_of = vector(e.row_values, e.row_space * planes, int64)
    total = int64(0)
    for g in range(e.groups):
        cost = profits[g, e.worst_plane] * e.worst_unit
        for w in range(begins[g], begins[g + 1]):
            rows = other[w] & ~here[w]
            while rows != uint64(0):
                row = w * 64 + first_one(rows)
                rows = rows & (rows - uint64(1))
                if e.wide == 1:
                    cost = values_of[row * planes + e.worst_plane]
                total += cost
                for block in range(e.width // 32):
                    bits = uint64(row_bits[row, block]) & uint64(0xFFFFFFFF)
                    while bits != uint64(0):
                        lost[block * 32 + first_one(bits)] += cost
                        bits = bits & (bits - uint64(1))
    for k in range(e.n_active):
        f = active[k]
        values[LOWER1, k] = max(values[LOWER1, k], int64(children[entry, 2 * f + 1]) - lost[f])
        values[LOWER0, k] = max(values[LOWER0, k], int64(children[entry, 2 * f]) - (total - lost[f]))
