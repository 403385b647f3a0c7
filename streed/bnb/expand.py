"""The expansion of a node: bounds for both sides of every split, and room for the edges that may still be optimal.

Two ways, one result. By pair lookahead (edges.py) every side is known exactly with up to one split. By
relaxation, where splits cost nothing and a depth is given, every side is solved exactly at depth two, which gives
better incumbents and a better order. The edges are then chosen and written by edges.py.
"""

from __future__ import annotations

from numba import int32, int64

from streed.bnb.edges import find_best, write_edges
from streed.bnb.nodes import (
    block_size,
    children_of,
    edges_of,
    free_edges,
    give_edges,
    nodes_of,
    rows_of,
    take_children,
    take_edges,
)
from streed.bnb.row_prices import bound_by_row_prices, raise_sides
from streed.kernels.records import ALL, BEST, INFINITE, LEAF, LOWEST, NO_TREE, NONE, SHALLOW, UNLIMITED
from streed.kernels.stopping import stopped
from streed.kernels.views import call, inline, native, vector


@inline
def is_shallow(node):  # type: ignore[no-untyped-def]
    """Whether a work unit solves the node at once."""
    return node.depth <= SHALLOW and node.budget == UNLIMITED


@inline
def ask(e, rows, depth, target, lower, high, low, entry=NONE, which=BEST):  # type: ignore[no-untyped-def]
    """Has the work unit solve the rows (W,) to the depth (at most three), given an entry of the similarity cache.

    `which` says whose children are solved to depth two: see BEST, ALL and BELOW.
    """
    e.asked_rows = rows.ctypes.data
    e.asked_depth = depth
    e.asked_target = target
    e.asked_lower = lower
    e.asked_all = which
    e.asked_similar = entry
    e.asked_high = high
    e.asked_low = low
    call(e.solve_shallow, e)


@inline
def open_node(e, level, target, high, low):  # type: ignore[no-untyped-def]
    """Expands the node on the path at `level`, reached by the branch (high, low): its bounds, best split and edges.

    Only edges of a lower bound below the target are kept; if the node was expanded before, those that were not kept
    then are added.
    """
    e.level = level
    e.asked_edges = target
    e.asked_high = high
    e.asked_low = low
    call(e.open_node, e)


@native
def expand_node(e):  # type: ignore[no-untyped-def]
    """Expands the node on the path at e.level."""
    level = e.level
    path = vector(e.path, e.path_space, int64)
    node = nodes_of(e)[path[level]]
    relaxed = e.relaxed == 1 and node.budget == UNLIMITED and node.depth != UNLIMITED
    rows = rows_of(e)[path[level]]
    again = node.n_edges != NONE
    e.repeats += again
    if relaxed:
        # to solve all sides once more would take longer than it saves
        e.asked_edges = INFINITE
        infinite = int64(INFINITE)
        ask(e, rows, int64(SHALLOW), infinite, int64(0), e.asked_high, e.asked_low, which=ALL)
    else:
        e.asked_rows = rows.ctypes.data
        e.asked_depth = 0
        e.expansions += 1
        call(e.load, e)
        call(e.expand, e)
        e.split = LEAF
        if e.scored == 0:
            node.priced = int32(raise_sides(e))
            node.lower = max(int64(node.lower), min(bound_by_row_prices(e, rows), e.upper))
    if node.split == NO_TREE or e.upper < node.upper:
        node.upper = e.upper
        node.split = e.split
        node.found = e.visits
    since = int64(LOWEST)
    if again:
        since = int64(node.rest)
    else:
        node.n_edges = 0
    if e.scored == 1:
        node.lower = max(int64(node.lower), min(e.least, int64(node.upper)))
    if relaxed and stopped(e):
        # not all columns were solved: the tree found counts, the bounds of edges would not
        if not again:
            node.n_edges = NONE  # a search that is taken up again opens it anew: without edges it would seem settled
        return
    if (node.upper <= min(e.split_cost, INFINITE - 1) and e.scored == 0) or e.n_active == 0:
        node.lower = node.upper
        return
    n_edges, n_children, rest = find_best(e, node, relaxed, since)
    if stopped(e):
        # not all ways to share the budget were looked at
        if not again:
            node.n_edges = NONE
        return
    if node.lower >= node.upper:
        return
    if n_edges == 0:
        node.rest = rest
        return
    if not _make_room(e, node, n_edges, n_children):
        e.crowded = 1
        if not again:
            node.n_edges = NONE
        return
    node.rest = rest
    write_edges(e, node, relaxed, since)


@native
def _make_room(e, node, n_edges, n_children):  # type: ignore[no-untyped-def]
    """Whether the node has blocks with room for so many further edges and children, and e.child_at behind its own."""
    edges = edges_of(e)
    children = children_of(e)
    kept = int64(0)
    for k in range(node.n_edges):
        kept += edges[node.edges + k].n_children
    at = take_edges(e, node.n_edges + n_edges)
    if at == NONE:
        return False
    children_at = take_children(e, kept + n_children)
    if children_at == NONE:
        give_edges(e, at, block_size(node.n_edges + n_edges))
        return False
    count = int64(node.n_edges)
    e.child_at = children_at
    for k in range(count):
        edges[at + k] = edges[node.edges + k]
        edge = edges[at + k]
        for c in range(edge.n_children):
            children[e.child_at + c] = children[edge.children + c]
        edge.children = e.child_at
        e.child_at += edge.n_children
    free_edges(e, node)
    node.n_edges = count
    node.edges = at
    node.children = children_at
    node.edge_space = block_size(count + n_edges)
    node.child_space = block_size(kept + n_children)
    return True
