"""Which of several best trees is returned: a rule that does not depend on how the search went.

At every node of the tree, the first split in the order of expansion that leads to the node's optimum: splits come by
rising cost of what the expansion knows of both sides (with one more split each, or of depth two), equal ones in the
order of the columns. A leaf comes before all splits, and where splits cost nothing, a tree of depth three. So the tree
depends on the data, the task and the limits alone: not on the driver, the number of threads, prices of rows, or what
the search met first.

Bounds that meet prove the optimum, but not which splits have it: an edge is left once its lower bound has reached the
optimum. Here the nodes of the tree are opened once more, from the root down, and their edges improved in the order of
the rule until the lower bound of each is above the node's optimum, up to the first that has it. What the search learnt
stands in the nodes below, so this is a small part of it (docs/explanation/search.md has figures).

Nodes that a work unit solves have their split by the unit, which breaks ties by an order of its own; sides that the
expansion knew exactly are asked for when the tree is extracted.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.bnb.branch_cache import extend_branch, literal
from streed.bnb.choosing import next_side
from streed.bnb.expand import is_shallow, open_node
from streed.bnb.improve import aim, enter, improve, is_empty_side, leave, use_edge
from streed.bnb.nodes import children_of, edges_of, free_edges, most_sides, nodes_of
from streed.kernels.records import INFINITE, NO_TREE, NONE, SETTLED, SETTLED_AT_ONCE
from streed.kernels.stopping import stopped
from streed.kernels.views import native, vector

_AT_ONCE, _LEFT = -1, -2
"""In place of the number of an edge: the expansion knew the tree; the search was stopped, or had no more room."""


@native
def settle_ties(e):  # type: ignore[no-untyped-def]
    """Whether the ties of all nodes of the best tree were settled: of a solved search, whose values are added.

    If not, as the search was stopped or there was no room, the tree known is as it was, or another of the same value.
    """
    path = vector(e.path, e.path_space, int64)
    sides = most_sides(e)
    nodes_left = np.empty(e.path_space * sides, np.int64)
    values = np.empty(e.path_space * sides, np.int64)
    branches = np.empty((e.path_space * sides, 2), np.uint64)
    known = np.empty(sides, np.int64)
    e.crowded = 0
    nodes_left[0] = e.root
    values[0] = nodes_of(e)[e.root].upper
    branches[0, 0] = e.root_high
    branches[0, 1] = e.root_low
    size = 1
    while size > 0:
        size -= 1
        v = nodes_left[size]
        if is_shallow(nodes_of(e)[v]):
            continue
        high = branches[size, 0]
        low = branches[size, 1]
        edge = _settle(e, v, values[size], known, high, low)
        if edge == _LEFT:
            return False
        path[0] = v
        at = edges_of(e)[nodes_of(e)[v].edges + max(edge, int64(0))]
        for side in range(at.n_children if edge >= 0 else int64(0)):
            child = children_of(e)[at.children + side]
            if is_empty_side(child) or child.budget == 0 or child.upper >= known[side]:
                continue
            if not enter(e, int64(0), edge, int64(side)):
                return False
            number = literal(int64(child.column), 1 - int64(child.without))
            branches[size, 0], branches[size, 1] = extend_branch(high, low, number)
            leave(e, int64(0), edge, int64(side))
            nodes_left[size] = child.node
            # the best tree's sides have their best trees, whether that is proved or not
            values[size] = child.upper
            size += 1
        free_edges(e, nodes_of(e)[v])
    return True


@native
def _settle(e, v, value, known, high, low):  # type: ignore[no-untyped-def]
    """The edge of the node, reached by the branch (high, low), that the rule chooses for this optimum of it.

    Writes to `known` what the expansion knew of the sides of the edge. _AT_ONCE or _LEFT where there is none.
    """
    vector(e.path, e.path_space, int64)[0] = v
    node = nodes_of(e)[v]
    before = int64(node.split)
    found = int64(node.found)
    plan = int64(node.plan)
    free_edges(e, node)
    node.n_edges = NONE
    node.plan = NONE
    node.split = NO_TREE
    node.rest = INFINITE
    node.lower = value
    node.upper = INFINITE
    open_node(e, int64(0), value + 1, high, low)
    edge = int64(_AT_ONCE)
    if node.upper > value:
        edge = _first_of(e, v, value, known, high, low) if node.n_edges > 0 and e.crowded == 0 else int64(_LEFT)
    node.lower = value
    if edge == _LEFT:
        free_edges(e, node)
        node.upper = value
        node.split = before
        node.plan = plan
        node.found = found
        return edge
    node.found = SETTLED if edge >= 0 else SETTLED_AT_ONCE
    return edge


@native
def _first_of(e, v, value, known, high, low):  # type: ignore[no-untyped-def]
    """The first edge of the node at the beginning of the path, in the order of the rule, that has this value."""
    node = nodes_of(e)[v]
    count = int64(node.n_edges)
    uppers = np.empty(count, np.int64)
    for k in range(count):
        uppers[k] = edges_of(e)[node.edges + k].upper
    for _ in range(count):
        edge = int64(0)
        for k in range(count):
            if uppers[k] < uppers[edge]:
                edge = int64(k)
        uppers[edge] = INFINITE
        at = edges_of(e)[node.edges + edge]
        for side in range(at.n_children):
            known[side] = children_of(e)[at.children + side].upper
        while at.lower <= value and at.upper > value:
            side = next_side(e, int64(0), edge, value + 1)
            if side == NONE or not enter(e, int64(0), edge, side):
                return int64(_LEFT)
            target, side_high, side_low = aim(e, int64(0), edge, side, value + 1, high, low)
            improve(e, int64(1), target, side_high, side_low)
            _, raised = leave(e, int64(0), edge, side)
            if stopped(e) or e.crowded == 1:
                return int64(_LEFT)
            use_edge(e, int64(0), edge, raised)
        if at.upper <= value:
            return edge
    return int64(_LEFT)
