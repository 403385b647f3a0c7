"""The store of nodes: distinct subproblems, each a set of rows with the depth and the branching nodes left.

Nodes are found by their whole key (node_store.py). Edges and their children lie in blocks of a few sizes; the blocks of
a node that is solved are used again. When the store is full, `evict` keeps the nodes on the path from the root and
those of their best trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int32, int64, uint64

from streed.bnb.shared_store import is_shared, more_children, more_edges
from streed.kernels.records import EDGE, NODE, NONE, UNLIMITED
from streed.kernels.simd import count_ones, raise_atomic
from streed.kernels.views import CHILD_TYPE, EDGE_TYPE, NODE_TYPE, inline, matrix, native, records, vector

_BLOCK = 8
"""Edges and children come in blocks of up to so many, or of a multiple of it."""

_NODE, _EDGE_WORDS = NODE.itemsize, EDGE.itemsize // 4

_CLASSES = 64
"""Sizes of which blocks are kept for others."""

_nodes = records(NODE_TYPE)
_edges = records(EDGE_TYPE)
_children = records(CHILD_TYPE)


@inline
def nodes_of(e):  # type: ignore[no-untyped-def]
    """All nodes, (node_space,) of NODE."""
    return _nodes(e.nodes, e.node_space)


@inline
def edges_of(e):  # type: ignore[no-untyped-def]
    """All edges, (edge_space,) of EDGE."""
    return _edges(e.edges, e.edge_space)


@inline
def children_of(e):  # type: ignore[no-untyped-def]
    """All children, (child_space,) of CHILD."""
    return _children(e.children, e.child_space)


@inline
def rows_of(e):  # type: ignore[no-untyped-def]
    """The row sets of all nodes, uint64 (node_space, key_words): W words, then the columns tested above, if kept."""
    return matrix(e.node_rows, e.node_space, e.key_words, uint64)


@inline
def columns_of(e):  # type: ignore[no-untyped-def]
    """The row sets of all columns, uint64 (F, W)."""
    return matrix(e.column_rows, e.columns, e.row_words, uint64)


@inline
def below(limit):  # type: ignore[no-untyped-def]
    """One less of a depth or a budget, unless it is unlimited."""
    return limit if limit == UNLIMITED else limit - 1


@inline
def trees_of(depth):  # type: ignore[no-untyped-def]
    """The branching nodes of a full binary tree of the depth; more of them are of no use where splits are binary."""
    return UNLIMITED if depth >= 30 else (1 << depth) - 1


@native
def weigh(e, a, b):  # type: ignore[no-untyped-def]
    """The worst costs of the rows that are in both sets, (W,) each.

    Where rows have costs of their own, each counts as the one of largest worst costs.
    """
    begins = vector(e.group_words, e.groups + 1, int64)
    profits = matrix(e.profits, e.groups, e.planes, int64)
    total = int64(0)
    for g in range(e.groups):
        count = int64(0)
        for w in range(begins[g], begins[g + 1]):
            count += count_ones(a[w] & b[w])
        total += count * profits[g, e.worst_plane]
    return total * e.worst_unit


@native
def raise_node(e, v, lower):  # type: ignore[no-untyped-def]
    """Raises the lower bound of a node, of which this thread may not have the lock."""
    if is_shared(e):
        raise_atomic(vector(e.nodes + v * _NODE, 1, int64), 0, lower)
    else:
        node = nodes_of(e)[v]
        node.lower = max(int64(node.lower), lower)


@inline
def write_child_rows(e, rows, column, without):  # type: ignore[no-untyped-def]
    """Writes the key of the rows with the column, or without it, behind the last node; `rows` is their node's key."""
    write_side(e, rows, column, without, rows_of(e)[e.node_count])


@native
def write_side(e, rows, column, without, into):  # type: ignore[no-untyped-def]
    """Writes the key of the rows of a node with the column, or without it: its rows and the columns tested above."""
    bits = vector(e.column_rows + column * e.row_words * 8, e.row_words, uint64)
    flip = uint64(0) - uint64(without)
    for w in range(e.row_words):
        into[w] = rows[w] & (bits[w] ^ flip)
    if e.path_words > 0:
        tested = vector(e.caller_columns, e.columns, int64)[column]
        for w in range(e.row_words, e.key_words):
            into[w] = rows[w]
        into[e.row_words + tested // 64] |= uint64(1) << uint64(tested % 64)


@inline
def global_split(e, split):  # type: ignore[no-untyped-def]
    """The split of the problem that a local split is: a binary column, or binary_columns + a categorical column."""
    if split < e.n_active:
        return vector(e.active, e.width, int64)[split]
    return e.binary_columns + matrix(e.local_literals, 3, max(e.categorical, 1), int64)[2, split - e.n_active]


@inline
def split_columns(e, split):  # type: ignore[no-untyped-def]
    """(first, number, categorical) of the columns behind a split: the sides of a binary column, or literals."""
    if split < e.binary_columns:
        return split, int64(2), False
    literals = vector(e.literals, e.categorical + 1, int64)
    c = split - e.binary_columns
    return literals[c], literals[c + 1] - literals[c], True


@native
def most_sides(e):  # type: ignore[no-untyped-def]
    """The most sides that a split has."""
    literals = vector(e.literals, e.categorical + 1, int64)
    most = int64(2)
    for c in range(e.categorical):
        most = max(most, literals[c + 1] - literals[c])
    return most


@native
def planned_budget(e, node, column, without):  # type: ignore[no-untyped-def]
    """The branching nodes that the best tree known of a node gives to one side of its split; 0 for an empty side."""
    if node.budget == UNLIMITED:
        return int64(UNLIMITED)
    children = children_of(e)
    if node.plan != NONE:
        for k in range(node.plan, node.plan + most_sides(e)):
            if children[k].column == column and children[k].without == without:
                return int64(children[k].budget)
    return int64(0)


@native
def sort_by_key(order, keys):  # type: ignore[no-untyped-def]
    """Sorts numbers by rising keys[number], equal ones by themselves (Shell sort: short, and quick on a hundred)."""
    gap = int64(1)
    while gap < len(order) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(order)):
            number = order[i]
            key = keys[number]
            at = i
            while at >= gap:
                before = order[at - gap]
                if keys[before] < key or (keys[before] == key and before < number):
                    break
                order[at] = before
                at -= gap
            order[at] = number
        gap //= 3


@native
def sort_edges(e, node):  # type: ignore[no-untyped-def]
    """Puts the edges of a node in order of their upper bounds; equal ones stay as they are."""
    edges, begin, n = edges_of(e), int64(node.edges), max(int64(node.n_edges), int64(0))
    order, uppers = np.arange(n), np.empty(n, np.int64)
    for k in range(n):
        uppers[k] = edges[begin + k].upper
    sort_by_key(order, uppers)
    words = matrix(e.edges, e.edge_space, _EDGE_WORDS, int32)[begin : begin + n]
    held = words.copy()
    for k in range(n):
        for w in range(_EDGE_WORDS):
            words[k, w] = held[order[k], w]


# -- blocks --------------------------------------------------------------------------------------------------------


@inline
def block_size(count):  # type: ignore[no-untyped-def]
    """The size of the block that holds `count` entries."""
    return count if count <= _BLOCK else (count + _BLOCK - 1) // _BLOCK * _BLOCK


@inline
def _class_of(size):  # type: ignore[no-untyped-def]
    """The number of a block's size; those from _CLASSES on are not kept."""
    return size if size <= _BLOCK else _BLOCK - 1 + size // _BLOCK


@native
def empty_blocks(e):  # type: ignore[no-untyped-def]
    """Forgets all blocks that were given back."""
    for group in range(_CLASSES):
        e.free_edges[group] = NONE
        e.free_children[group] = NONE


def _blocks(kind: str, entries: Any, link: str, free: str, more: Any) -> tuple[Any, Any]:
    """(take, give) blocks of edges or of children; `link` is the field that leads from one to the next free one."""
    filled, limit = f"{kind}_count", f"{kind}_limit"

    @native
    def take(e, count):  # type: ignore[no-untyped-def]
        size = block_size(count)
        group = _class_of(size)
        if group < _CLASSES and e[free][group] != NONE:
            at = e[free][group]
            e[free][group] = entries(e)[at][link]
            return at
        if e[filled] + size > e[limit] and not more(e, size):
            return int64(NONE)
        e[filled] += size
        return e[filled] - size

    @native
    def give(e, at, size):  # type: ignore[no-untyped-def]
        group = _class_of(size)
        if 0 < group < _CLASSES:
            entries(e)[at][link] = e[free][group]
            e[free][group] = at

    return take, give


take_edges, give_edges = _blocks("edge", edges_of, "children", "free_edges", more_edges)
"""Where a block for `count` edges begins, or NONE if there is no room; and a block of a size that is given back."""

take_children, give_children = _blocks("child", children_of, "lower", "free_children", more_children)


@native
def has_plan(e, node):  # type: ignore[no-untyped-def]
    """Whether the node has a plan, an empty one if it had none; False, and e.crowded, if there is no room for it."""
    if node.plan == NONE:
        at = take_children(e, most_sides(e))
        if at == NONE:
            e.crowded = 1
            return False
        node.plan = int32(at)
    children = children_of(e)
    for k in range(node.plan, node.plan + most_sides(e)):
        children[k].column = NONE
    return True


@native
def free_edges(e, node):  # type: ignore[no-untyped-def]
    """Gives the blocks of a node back, which is solved or has others; it has no edges any more."""
    give_edges(e, int64(node.edges), int64(node.edge_space))
    give_children(e, int64(node.children), int64(node.child_space))
    node.edge_space = 0
    node.child_space = 0
    node.n_edges = 0
