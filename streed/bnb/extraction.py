"""From a searched problem to its best tree: the splits in preorder, in the caller's columns.

Which of several best trees is returned is a rule that does not depend on how the search went.

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

A node that the store knows names its split; the others were settled while their parent was expanded, by a work unit or
by pair lookahead, and the unit is asked again. If eviction forgot a node, e.missing says so, and e.missing_depth; the
caller searches the rows that then stand behind the last node once more, and extracts again.

Where ties were settled, only nodes count that were part of that, and units are asked for all others alike.
Else, where the root is solved and costs are added, the tree is that of the moment at which the root's value was found:
what nodes found later is not looked at. So it does not depend on how the search went on to its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint8, uint64

from streed.bnb.branch_cache import extend_branch, literal
from streed.bnb.expand import ask, is_shallow, open_node
from streed.bnb.improve import enter, improve_edge, is_empty_side, leave
from streed.bnb.node_store import look_up
from streed.bnb.nodes import (
    below,
    children_of,
    edges_of,
    free_edges,
    most_sides,
    nodes_of,
    planned_budget,
    rows_of,
    sort_edges,
    split_columns,
    write_side,
)
from streed.bnb.workspace import Workspace
from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE, LEAF, LOWEST, NO_TREE, NONE, SETTLED, SETTLED_AT_ONCE, SHALLOW, UNLIMITED
from streed.kernels.stopping import stopped
from streed.kernels.views import copy_into, engine_at, matrix, native, vector

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
        if edge == _AT_ONCE:
            free_edges(e, nodes_of(e)[v])
            continue
        path[0] = v
        at = edges_of(e)[nodes_of(e)[v].edges + edge]
        for side in range(at.n_children):
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
    sort_edges(e, node)
    for edge in range(node.n_edges):
        at = edges_of(e)[node.edges + edge]
        for side in range(at.n_children):
            known[side] = children_of(e)[at.children + side].upper
        improve_edge(e, int64(edge), value + 1, high, low)
        if at.upper <= value:
            return int64(edge)
        if at.lower <= value:
            break
    return int64(_LEFT)


def listing(split_of: Any) -> Any:
    """What lists the best tree known for some rows, as `extract` asks, by what gives the split of each node.

    split_of(e, rows, depth, budget, high, low, count of nodes so far) gives the split, LEAF for a leaf, the node that
    knows it, or NONE, and the depth of its sides. It writes e.missing if some nodes were forgotten.
    """

    @entry
    def list_nodes(engine, columns, nodes, space, room, depth, budget):  # type: ignore[no-untyped-def]
        e = engine_at(engine)
        at = nodes.ctypes.data
        preorder = vector(at, space, int64)
        stack = matrix(at + 8 * space, room, _OF_NODE, int64)
        rows = matrix(at + 8 * (space + _OF_NODE * room), room, e.key_words, uint64)
        flipped = vector(e.flipped, e.columns, uint8)
        here = rows[room - 1]
        stack[0, _DEPTH] = depth
        stack[0, _BUDGET] = budget
        size = int64(1)
        count = int64(0)
        e.missing = 0
        while size > 0:
            size -= 1
            copy_into(here, rows[size])
            high = uint64(stack[size, _HIGH])
            low = uint64(stack[size, _LOW])
            split, v, depth = split_of(e, here, stack[size, _DEPTH], stack[size, _BUDGET], high, low, count)
            if e.missing == 1:
                break
            if split == LEAF:
                preorder[count] = LEAF
                count += 1
                continue
            first, sides, categorical = split_columns(e, split)
            preorder[count] = columns[first]
            count += 1
            for position in range(sides):
                # the last one comes first
                side = sides - 1 - position
                side_column = first + side if categorical else first
                without = int64(0) if categorical or (side == 1) != (flipped[first] == 1) else int64(1)
                write_side(e, here, side_column, without, rows[size])
                stack[size, _DEPTH] = depth
                stack[size, _BUDGET] = UNLIMITED
                if v != NONE:
                    stack[size, _BUDGET] = planned_budget(e, nodes_of(e)[v], side_column, without)
                side_high, side_low = extend_branch(high, low, literal(side_column, 1 - without))
                stack[size, _HIGH] = int64(side_high)
                stack[size, _LOW] = int64(side_low)
                size += 1
        return count

    return list_nodes


_DEPTH, _BUDGET, _HIGH, _LOW, _OF_NODE = range(5)
"""What is known of a node that is to come, beside its rows: what is left to it, and the branch that leads to it."""


def extract(workspace: Workspace, list_nodes: Any) -> Array:
    """The best tree known for all rows, by such a function: the caller's column of every node in preorder, or LEAF.

    Children follow in the caller's order: of a binary column 0 before 1, of a categorical column its categories, empty
    ones as leaves.
    """
    packed, (depth, budget) = workspace.problem, workspace.limits
    sides = packed.most_sides
    # every split separates rows, so a tree has fewer splits than rows
    space = 1 + sides * len(packed.row_bits)
    if depth < _DEEP:
        space = min(space, (sides ** (depth + 1) - 1) // (sides - 1))
    room = workspace.space.path * sides
    nodes = np.zeros(space + room * (_OF_NODE + workspace.engine["key_words"]), np.int64)
    begin = space + room * _OF_NODE
    nodes[begin : begin + len(workspace.rows)] = workspace.rows.view(np.int64)
    count = list_nodes(workspace.engine.address, packed.column, nodes, space, room, depth, budget)
    return nodes[:count]


EXTRACT = "(int64, int64[::1], int64[::1], int64, int64, int64, int64)"
"""The signature of such functions as Python calls them."""

_DEEP = 30
"""Trees of fewer levels may have fewer nodes than there are rows."""


@native
def has_rows(e, rows):  # type: ignore[no-untyped-def]
    """Whether there are any in a set (W,)."""
    found = uint64(0)
    for w in range(e.row_words):
        found |= rows[w]
    return found != uint64(0)


@native
def _split_of(e, rows, depth, budget, high, low, count):  # type: ignore[no-untyped-def]
    """As `listing` asks; the node is NONE if a work unit gave the split."""
    latest = _latest(e)
    if not has_rows(e, rows) or depth == 0 or budget == 0:
        return int64(LEAF), int64(NONE), int64(0)
    copy_into(rows_of(e)[e.node_count], rows)
    v, _ = look_up(e, depth, budget)
    if e.settled == 1:
        return _settled_split(e, v, rows, depth, budget, high, low)
    if v != NONE and nodes_of(e)[v].split != NO_TREE and nodes_of(e)[v].found <= latest:
        node = nodes_of(e)[v]
        if e.evictions == 0 or node.lower >= node.upper or stopped(e):
            return int64(node.split), v, below(depth)
    if e.evictions > 0 and not stopped(e) and (depth > SHALLOW or budget != UNLIMITED):
        e.missing = 1
        e.missing_depth = depth
        e.missing_budget = budget
        e.missing_high = high
        e.missing_low = low
        return int64(LEAF), int64(NONE), int64(0)
    shallow = depth
    if budget != UNLIMITED:
        shallow = int64(1)
    elif depth > 2 and not (depth == SHALLOW and e.evictions > 0):
        shallow = int64(2) if e.relaxed == 1 else int64(1)
    ask(e, rows, shallow, int64(INFINITE), int64(0), (high, low))
    return e.split, int64(NONE), shallow - 1


@native
def _settled_split(e, v, rows, depth, budget, high, low):  # type: ignore[no-untyped-def]
    """As `_split_of`, where ties were settled; `v` is the node of the rows, or NONE."""
    is_unit = depth <= SHALLOW and budget == UNLIMITED
    if v != NONE:
        node = nodes_of(e)[v]
        if node.found == SETTLED or (is_unit and node.rest == LOWEST and node.lower >= node.upper):
            return int64(node.split), v, below(depth)
        if node.found == SETTLED_AT_ONCE:
            if e.relaxed == 1:
                return int64(node.split), int64(NONE), int64(SHALLOW - 1)
            return int64(node.split), v, below(depth)
    shallow = depth if is_unit else int64(2) if e.relaxed == 1 else int64(1)
    ask(e, rows, shallow, int64(INFINITE), int64(0), (high, low))
    return e.split, int64(NONE), shallow - 1


@native
def _latest(e):  # type: ignore[no-untyped-def]
    """The visits up to which trees of nodes are looked at."""
    root = nodes_of(e)[e.root]
    if root.lower < root.upper or e.evictions > 0 or e.combine != 0 or root.found < 0:
        # where values are joined in another way, sides of the best tree may become better without the tree; and where
        # the ties of the root were settled, but not all below, the sides of its split were found at any time
        return int64(INFINITE)
    return int64(root.found)


extract_tree = listing(_split_of)
