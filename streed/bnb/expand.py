"""The expansion of a node: bounds for both sides of every split, and the edges that may still be optimal.

Two ways, one result. By pair lookahead (`bnb/expand.py`) every side is known exactly with up to one split. By
relaxation, where splits cost nothing and a depth is given, every side is solved exactly at depth two, which gives
better incumbents and a better order.

A limited number of branching nodes (STreeD, Eq. 51) makes one edge for every way in which the sides can share it.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import int64, uint8

from streed.bnb.nodes import (
    below,
    block_size,
    children_of,
    edges_of,
    free_edges,
    give_edges,
    has_plan,
    most_sides,
    nodes_of,
    rows_of,
    take_children,
    take_edges,
    trees_of,
)
from streed.bnb.pair_lookahead import side_bounds
from streed.kernels.compiled import unit
from streed.kernels.control import stopped
from streed.kernels.pointers import KERNEL, call, engine_at
from streed.kernels.records import EMPTY, INFINITE, LEAF, LOWEST, NO_TREE, NONE, SHALLOW, UNLIMITED
from streed.kernels.scoring.operators import cost_of_split, join, join_cost, least_of
from streed.kernels.values import EDGE_LOWER, EDGE_UPPER, LOWER0, LOWER1, OPTIMUM0, OPTIMUM1, ROWS_OF_VALUES
from streed.kernels.views import inline, matrix, native, vector


@inline
def is_shallow(node):  # type: ignore[no-untyped-def]
    """Whether a work unit solves the node at once."""
    return node.depth <= SHALLOW and node.budget == UNLIMITED


@inline
def normal_budget(e, depth, budget):  # type: ignore[no-untyped-def]
    """UNLIMITED for a budget that no tree of the depth can exceed."""
    if e.categorical == 0 and budget >= trees_of(depth):
        return int64(UNLIMITED)
    return int64(budget)


@inline
def ask_like(e, rows, target, lower, entry, high, low):  # type: ignore[no-untyped-def]
    """As `ask` at depth three, with the bounds of an entry of the similarity cache."""
    e.asked_rows = rows.ctypes.data
    e.asked_depth = SHALLOW
    e.asked_target = target
    e.asked_lower = lower
    e.asked_all = 0
    e.asked_similar = entry
    e.asked_high = high
    e.asked_low = low
    call(e.solve_shallow, e)


@inline
def ask(e, rows, depth, target, lower, high, low):  # type: ignore[no-untyped-def]
    """Has the work unit solve the rows (W,) to the depth (at most three)."""
    e.asked_rows = rows.ctypes.data
    e.asked_depth = depth
    e.asked_target = target
    e.asked_lower = lower
    e.asked_all = 0
    e.asked_similar = NONE
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


@functools.cache
def opening() -> Any:
    """What `open_node` calls, compiled."""

    @unit(KERNEL)
    def expand_node(address):  # type: ignore[no-untyped-def]
        _expand(engine_at(address))

    return expand_node


@native
def _expand(e):  # type: ignore[no-untyped-def]
    """Expands the node on the path at e.level."""
    level = e.level
    path = vector(e.path, e.path_space, int64)
    node = nodes_of(e)[path[level]]
    relaxed = e.relaxed == 1 and node.budget == UNLIMITED and node.depth != UNLIMITED
    rows = rows_of(e)[path[level]]
    e.asked_rows = rows.ctypes.data
    again = node.n_edges != NONE
    e.repeats += again
    if relaxed:
        # to solve all sides once more would take longer than it saves
        e.asked_edges = INFINITE
        e.asked_depth = SHALLOW
        e.asked_target = INFINITE
        e.asked_lower = 0
        e.asked_all = 1
        e.asked_similar = NONE
        call(e.solve_shallow, e)
    else:
        e.asked_depth = 0
        call(e.expand, e)
        e.split = LEAF
    if node.split == NO_TREE or e.upper < node.upper:
        node.upper = e.upper
        node.split = e.split
    since = int64(LOWEST)
    if again:
        since = int64(node.rest)
    else:
        node.n_edges = 0
    if e.scored == 1:
        node.lower = max(int64(node.lower), min(e.least, int64(node.upper)))
    if relaxed and stopped(e):
        # not all columns were solved: the tree found counts, the bounds of edges would not
        return
    if (node.upper <= min(e.split_cost, INFINITE - 1) and e.scored == 0) or e.n_active == 0:
        node.lower = node.upper
        return
    n_edges, n_children, rest = _find_best(e, node, relaxed, since)
    if stopped(e):
        # not all ways to share the budget were looked at
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
    _write_edges(e, node, relaxed, since)


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


@inline
def _local_splits(e):  # type: ignore[no-untyped-def]
    """How many local splits there are: active columns, of which literals are none, then categorical columns."""
    return e.n_active + e.n_categorical


@inline
def _sides(e, split):  # type: ignore[no-untyped-def]
    """(first, number) of the sides of a local split: 2 of a binary column, the literals of a categorical one."""
    if split < e.n_active:
        ones = vector(e.ones, e.width, int64)
        return split, int64(2) if split < e.n_binary and 0 < ones[split] < e.n_rows else int64(0)
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    c = split - e.n_active
    return literals[0, c], literals[1, c] - literals[0, c]


@inline
def _side(e, split, first, side):  # type: ignore[no-untyped-def]
    """(local column, without) of a side in the caller's order: 0 and then 1 of a binary column; each literal."""
    if split < e.n_active:
        flipped = int64(vector(e.flipped, e.columns, uint8)[vector(e.active, e.width, int64)[split]])
        return first, 1 - side if flipped == 0 else side
    return first + side, int64(0)


@inline
def _bounds_of_side(e, values, relaxed, column, without, depth, budget):  # type: ignore[no-untyped-def]
    """(lower, upper) of a side at the depth and the budget that are left to it; an empty category costs nothing."""
    if relaxed:
        upper = values[OPTIMUM0 if without == 1 else OPTIMUM1, column]
        if depth == SHALLOW:
            lower = values[LOWER0 if without == 1 else LOWER1, column]
        else:
            lower = least_of(e, values, column, without)
        return min(lower, upper), upper
    return side_bounds(values, column, without, depth, budget)


@inline
def _shares(e):  # type: ignore[no-untyped-def]
    """How the sides of the split at hand share the budget, (most sides,)."""
    return vector(e.shares, most_sides(e), int64)


@inline
def _first_share(budgets, sides, total):  # type: ignore[no-untyped-def]
    """The first way to share `total` nodes: all to the last side."""
    for side in range(sides):
        budgets[side] = UNLIMITED if total == UNLIMITED else 0
    if total != UNLIMITED:
        budgets[sides - 1] = total


@native
def _next_share(budgets, sides, most):  # type: ignore[no-untyped-def]
    """Whether there is a further way to share the nodes, no side more than `most` of them; makes it that one."""
    if budgets[0] == UNLIMITED:
        return False
    while True:
        rest = budgets[sides - 1]
        at = sides - 2
        while at >= 0 and rest == 0:
            rest += budgets[at]
            budgets[at] = 0
            at -= 1
        if at < 0:
            return False
        budgets[at] += 1
        for side in range(at + 1, sides - 1):
            budgets[side] = 0
        budgets[sides - 1] = rest - 1
        if _fits(budgets, sides, most):
            return True


@inline
def _fits(budgets, sides, most):  # type: ignore[no-untyped-def]
    fits = True
    for side in range(sides):
        fits = fits and (budgets[side] <= most or budgets[side] == UNLIMITED)
    return fits


@inline
def _most_below(e, node):  # type: ignore[no-untyped-def]
    """The most branching nodes that a side can use."""
    return trees_of(int64(node.depth) - 1) if e.categorical == 0 else int64(UNLIMITED)


@native
def _sum_bounds(e, values, relaxed, node, split):  # type: ignore[no-untyped-def]
    """(lower, upper) of a local split with the sides sharing the budget as they do now."""
    budgets = _shares(e)
    first, sides = _sides(e, split)
    depth = below(int64(node.depth))
    lower = int64(NONE)
    upper = int64(NONE)
    some = False
    for side in range(sides):
        column, without = _side(e, split, first, side)
        if _is_empty(e, column, without):
            continue
        budget = normal_budget(e, depth, budgets[side])
        low, high = _bounds_of_side(e, values, relaxed, column, without, depth, budget)
        lower = join(e, lower, low) if some else low
        upper = join(e, upper, high) if some else high
        some = True
    cost = cost_of_split(e, values, split)
    return join_cost(e, lower, cost), join_cost(e, upper, cost)


@inline
def _is_empty(e, column, without):  # type: ignore[no-untyped-def]
    """Whether a side is a category without rows."""
    return vector(e.ones, e.width, int64)[column] == 0 and without == 0


@native
def _find_best(e, node, relaxed, since):  # type: ignore[no-untyped-def]
    """(edges to keep, their children, the least lower bound of edges not kept); makes the best split the node's.

    Edges of a lower bound below `since` were kept before.
    """
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    budgets = _shares(e)
    total = below(int64(node.budget))
    most = _most_below(e, node)
    n_edges = int64(0)
    n_children = int64(0)
    rest = int64(INFINITE)
    for split in range(_local_splits(e)):
        _, sides = _sides(e, split)
        if sides == 0:
            values[EDGE_LOWER, split] = INFINITE
            continue
        _first_share(budgets, sides, total)
        more = _fits(budgets, sides, most) or _next_share(budgets, sides, most)
        while more:
            lower, upper = _sum_bounds(e, values, relaxed, node, split)
            values[EDGE_LOWER, split] = lower
            values[EDGE_UPPER, split] = upper
            if upper < node.upper:
                node.upper = upper
                node.split = _global_split(e, split)
                if total != UNLIMITED:
                    _write_plan(e, node, split)
            more = total != UNLIMITED and _next_share(budgets, sides, most) and not stopped(e)
    for split in range(_local_splits(e)):
        _, sides = _sides(e, split)
        if sides == 0:
            continue
        _first_share(budgets, sides, total)
        more = _fits(budgets, sides, most) or _next_share(budgets, sides, most)
        while more:
            lower = values[EDGE_LOWER, split]
            if total != UNLIMITED:
                lower, _ = _sum_bounds(e, values, relaxed, node, split)
            if since <= lower < node.upper:
                if lower < e.asked_edges:
                    n_edges += 1
                    n_children += sides
                else:
                    rest = min(rest, lower)
            more = total != UNLIMITED and _next_share(budgets, sides, most) and not stopped(e)
    return n_edges, n_children, rest


@inline
def _global_split(e, split):  # type: ignore[no-untyped-def]
    if split < e.n_active:
        return vector(e.active, e.width, int64)[split]
    return e.binary_columns + matrix(e.local_literals, 3, max(e.categorical, 1), int64)[2, split - e.n_active]


@native
def _write_plan(e, node, split):  # type: ignore[no-untyped-def]
    """Notes how the sides of the node's best split share its budget."""
    if not has_plan(e, node):
        return
    budgets = _shares(e)
    children = children_of(e)
    first, sides = _sides(e, split)
    active = vector(e.active, e.width, int64)
    for side in range(sides):
        column, without = _side(e, split, first, side)
        child = children[node.plan + side]
        child.column = active[column]
        child.without = without
        child.budget = normal_budget(e, below(int64(node.depth)), budgets[side])


@native
def _write_edges(e, node, relaxed, since):  # type: ignore[no-untyped-def]
    """Writes edges of lower bounds from `since` on, and their children from e.child_at on, behind those it has."""
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    edges = edges_of(e)
    budgets = _shares(e)
    total = below(int64(node.budget))
    most = _most_below(e, node)
    at = int64(node.edges + node.n_edges)
    limit = min(e.asked_edges, int64(node.upper))
    for split in range(_local_splits(e)):
        _, sides = _sides(e, split)
        if sides == 0 or (total == UNLIMITED and not since <= values[EDGE_LOWER, split] < limit):
            continue
        _first_share(budgets, sides, total)
        more = _fits(budgets, sides, most) or _next_share(budgets, sides, most)
        while more:
            lower = values[EDGE_LOWER, split]
            upper = values[EDGE_UPPER, split]
            if total != UNLIMITED:
                lower, upper = _sum_bounds(e, values, relaxed, node, split)
            if since <= lower < limit:
                edge = edges[at]
                edge.lower = lower
                edge.upper = upper
                edge.split = _global_split(e, split)
                edge.cost = cost_of_split(e, values, split)
                edge.children = e.child_at
                edge.n_children = sides
                at += 1
                _write_children(e, values, relaxed, node, split)
            more = total != UNLIMITED and _next_share(budgets, sides, most)
    node.n_edges = at - int64(node.edges)


@native
def _write_children(e, values, relaxed, node, split):  # type: ignore[no-untyped-def]
    """Writes the sides of a local split, sharing the budget as they do now, from e.child_at on."""
    active = vector(e.active, e.width, int64)
    children = children_of(e)
    budgets = _shares(e)
    depth = below(int64(node.depth))
    first, sides = _sides(e, split)
    for side in range(sides):
        column, without = _side(e, split, first, side)
        budget = normal_budget(e, depth, budgets[side])
        low, high = int64(0), int64(0)
        if not _is_empty(e, column, without):
            low, high = _bounds_of_side(e, values, relaxed, column, without, depth, budget)
        child = children[e.child_at]
        child.lower = low
        child.upper = high
        child.node = EMPTY if _is_empty(e, column, without) else NONE
        child.budget = budget
        child.column = active[column]
        child.without = without
        e.child_at += 1
