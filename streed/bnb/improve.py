"""The search procedure: branch and bound over shared subproblems, with targets; depth-first, or best-first (AO*).

    improve(node, target):          afterwards lower(node) >= target, or lower(node) == upper(node)
        solve it by a work unit if it is shallow; expand it if it is new
        while lower < min(target, upper):
            drop edges whose lower bound reaches upper; take the edge of least lower bound
            lower = that bound, or the least one of the edges that were not kept, which are made if it is that
            goal = min(target, upper), and best-first no more than the least lower bound of the other edges + 1,
              or, where splits cost nothing, halfway from there to upper (bounds.py)
            improve its sides, the one that can be settled most cheaply first, each up to what the others leave of goal
            keep the better of upper and the edge's upper; push similarity bounds to the sides of the other edges

A node stands for a set of rows with the depth and the branching nodes left, whatever the branch that leads there. It
keeps only edges of a lower bound below its target; most nodes are left at once, and never need the others. The node at
hand is path[level]. When the caches are full, the search returns to its caller, who makes room (node_store.py) and
calls it again: all that was learnt stands in the nodes and edges.
"""

from __future__ import annotations

from numba import int16, int64

from streed.bnb.bounds import bound_by_equal_rows, choose_apart, choose_edge, goal_of, next_side
from streed.bnb.branch_cache import extend_branch, literal
from streed.bnb.expand import ask, bound_by_row_prices, epoch_of, is_shallow, keep_tree, latest_prices, open_node
from streed.bnb.node_store import enter_node, look_up, write_node
from streed.bnb.nodes import (
    below,
    children_of,
    columns_of,
    edges_of,
    free_edges,
    has_plan,
    nodes_of,
    raise_node,
    rows_of,
    weigh,
    write_child_rows,
)
from streed.bnb.shared_store import go_in, go_out, is_alone, is_shared, lock_node, more_nodes, unlock_node
from streed.kernels.records import EMPTY, INFINITE, LOWEST, NO_COST, NO_TREE, NONE, UNLIMITED
from streed.kernels.scoring.children import join, join_cost, rest_of
from streed.kernels.simd import lower_atomic
from streed.kernels.stopping import LOWER, NODES, ROWS_OF_CONTROL, SHARED_UPPER, UPPER, stopped
from streed.kernels.views import inline, native, vector

_STEPS = 16
"""How often the bound of a side is pushed to the others on its way up, at most: that takes longer than to raise it."""

_MANY_SIDES = 62
"""From this side on, all share a bit."""


@native
def improve(e, level, target, high, low):  # type: ignore[no-untyped-def]
    """Improves the node path[level], reached by the branch (high, low), as the module's head says."""
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    e.visits += 1
    if e.visits > e.pause:
        e.crowded = 1
        e.level = level
        return
    if level > 0 and is_shallow(nodes[path[level]]):
        solve_shallow(e, level, target, high, low)
        return
    lock_node(e, path[level])
    renew(e, path[level])
    if level > 0 and is_bounded(nodes[path[level]], target):
        unlock_node(e, path[level])
        return
    if nodes[path[level]].n_edges == NONE:
        open_node(e, level, target, high, low)
    while not stopped(e) and e.crowded == 0:
        node = nodes[path[level]]
        if is_bounded(node, target):
            break
        edge, least, second = choose_edge(e, path[level])
        if level == 0:
            report(e)
        if is_bounded(node, target):
            break
        if node.rest < least:
            open_node(e, level, max(target, node.rest + (node.upper - node.rest) // 2 + 1), high, low)
            continue
        insists = True
        goal = goal_of(e, level, target, min(second, int64(node.rest)))
        if is_shared(e):
            edge, insists = choose_apart(e, level, edge, min(target, int64(node.upper)))
            # it may be worse than the second best one
            goal = max(goal, min(target, int64(node.upper), int64(edges_of(e)[node.edges + edge].lower) + 1))
        raised = int64(0)
        side = next_side(e, level, edge, goal)
        while side != NONE and enter(e, level, edge, side):
            if not insists and not is_alone(e, path[level + 1]):
                # to be seen only now: another edge is free
                leave(e, level, edge, side)
                break
            # calling itself only: two functions that call each other crash when numba loads them from its cache
            side_target, side_high, side_low = aim(e, level, edge, side, goal, high, low)
            unlock_node(e, path[level])
            improve(e, level + 1, side_target, side_high, side_low)
            lock_node(e, path[level])
            settled, bit = leave(e, level, edge, side)
            raised |= bit
            side = next_side(e, level, edge, goal) if settled else int64(NONE)
        use_edge(e, level, edge, raised)
    if level == 0:
        report(e)
    if nodes[path[level]].lower >= nodes[path[level]].upper and is_alone(e, path[level]):
        free_edges(e, nodes[path[level]])
    unlock_node(e, path[level])


@inline
def is_bounded(node, target):  # type: ignore[no-untyped-def]
    """Whether the lower bound of a node has reached the target, or the upper bound."""
    return node.lower >= min(target, node.upper)


@native
def improve_edge(e, edge, goal, high, low):  # type: ignore[no-untyped-def]
    """Improves an edge of the node that begins the path, reached by the branch (high, low), up to the goal."""
    raised = int64(0)
    side = next_side(e, int64(0), edge, goal)
    while side != NONE and enter(e, int64(0), edge, side):
        target, side_high, side_low = aim(e, int64(0), edge, side, goal, high, low)
        improve(e, int64(1), target, side_high, side_low)
        raised |= leave(e, int64(0), edge, side)[1]
        # bounds of others leave a side less to reach than it needs, so that it may be its turn again
        side = next_side(e, int64(0), edge, goal)
    if e.crowded == 0:
        use_edge(e, int64(0), edge, raised)


@native
def renew(e, v):  # type: ignore[no-untyped-def]
    """Raises the bounds of a node and its edges by the latest prices of rows, unless they were already."""
    if e.scored == 1:
        return
    prices = latest_prices(e)
    node = nodes_of(e)[v]
    if prices == 0 or node.n_edges <= 0 or node.priced == epoch_of(prices):
        return
    node.priced = int16(epoch_of(prices))
    rows = rows_of(e)[v]
    node.lower = max(int64(node.lower), min(bound_by_row_prices(e, rows), int64(node.upper)))
    edges = edges_of(e)
    children = children_of(e)
    for k in range(node.n_edges):
        at = edges[node.edges + k]
        for c in range(at.children, at.children + at.n_children):
            child = children[c]
            if is_empty_side(child):
                continue
            write_child_rows(e, rows, int64(child.column), int64(child.without))
            bound = bound_by_row_prices(e, rows_of(e)[e.node_count])
            child.lower = max(int64(child.lower), min(bound, int64(child.upper)))
        join_edge(e, at)


@native
def solve_shallow(e, level, target, high, low):  # type: ignore[no-untyped-def]
    """Has the work unit solve the node up to the target."""
    path = vector(e.path, e.path_space, int64)
    v = path[level]
    node = nodes_of(e)[v]
    if node.lower >= target or (node.lower >= node.upper and node.split != NO_TREE):
        return
    ask(e, rows_of(e)[v], int64(node.depth), target, int64(node.lower), (high, low))
    lock_node(e, v)
    if keep_tree(e, node):
        node.n_edges = 0
    if e.upper < target and e.lower >= e.upper and e.upper == node.upper:
        # of the splits of this value, none was left out for the target
        node.split = e.split
        node.rest = LOWEST
    node.lower = max(int64(node.lower), min(e.lower, int64(node.upper)))
    unlock_node(e, v)


@native
def aim(e, level, edge, side, goal, high, low):  # type: ignore[no-untyped-def]
    """(target, branch) for a side: what the other sides, at best, and the branching cost leave of the goal."""
    node = nodes_of(e)[vector(e.path, e.path_space, int64)[level]]
    at = edges_of(e)[node.edges + edge]
    child = children_of(e)[at.children + side]
    side_high, side_low = extend_branch(high, low, literal(int64(child.column), 1 - int64(child.without)))
    if e.combine == 0:
        target = rest_of(e, goal, at.lower - child.lower) if at.lower > LOWEST else int64(INFINITE)
    else:
        target = rest_of(e, goal, int64(at.cost)) if at.cost != NO_COST else goal
        for other in range(at.n_children):
            if other != side and not is_empty_side(children_of(e)[at.children + other]):
                target = rest_of(e, target, int64(children_of(e)[at.children + other].lower))
    # where the operator leaves too little to get on, the side is settled
    return target if target > child.lower else int64(child.upper), side_high, side_low


@native
def enter(e, level, edge, side):  # type: ignore[no-untyped-def]
    """Puts the node of a side on the path; False if there is no room for it.

    Of several threads, one that has the lock of the node at the level.
    """
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    at = edges_of(e)[nodes[path[level]].edges + edge]
    child = children_of(e)[at.children + side]
    if child.node == NONE:
        if e.node_count + 2 >= e.node_limit and not more_nodes(e):
            e.crowded = 1
            e.level = level
            return False
        v = path[level]
        depth = below(int64(nodes[v].depth))
        write_child_rows(e, rows_of(e)[v], int64(child.column), int64(child.without))
        u, slot = look_up(e, depth, int64(child.budget))
        if u == NONE:
            write_node(e, depth, int64(child.budget))
            new = nodes[e.node_count]
            new.upper = child.upper
            new.lower = bound_by_equal_rows(e, int64(new.lower), int64(child.upper))
            if e.scored == 0:
                charged = bound_by_row_prices(e, rows_of(e)[e.node_count])
                new.lower = max(int64(new.lower), min(charged, int64(child.upper)))
            u = enter_node(e, slot)
        child.node = u
    node = nodes[int64(child.node)]
    if child.lower > node.lower:
        raise_node(e, int64(child.node), min(int64(child.lower), int64(node.upper)))
    go_in(e, int64(child.node))
    path[level + 1] = child.node
    return True


@native
def leave(e, level, edge, side):  # type: ignore[no-untyped-def]
    """(whether the side is settled, its bit if its bound is to be pushed) by the bounds of the node path[level + 1]."""
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    node = nodes[path[level + 1]]
    go_out(e, path[level + 1])
    at = edges_of(e)[nodes[path[level]].edges + edge]
    child = children_of(e)[at.children + side]
    before = _step_of(child)
    child.lower = max(child.lower, node.lower)
    child.upper = min(child.upper, node.upper)
    join_edge(e, at)
    settled = child.lower >= child.upper
    pushes = settled or _step_of(child) != before
    return settled, int64(1) << min(side, _MANY_SIDES) if pushes else int64(0)


@inline
def _step_of(child):  # type: ignore[no-untyped-def]
    """Which of the few steps up to its upper bound the lower bound of a side, or of a node, has reached."""
    return child.lower // max(int64(1), child.upper // _STEPS)


@native
def join_edge(e, edge):  # type: ignore[no-untyped-def]
    """Sets the bounds of an edge by those of its sides."""
    children = children_of(e)
    sides = edge.n_children
    lower = int64(0)
    upper = int64(0)
    some = False
    for side in range(sides):
        child = children[edge.children + side]
        if is_empty_side(child):
            continue
        lower = join(e, lower, int64(child.lower)) if some else int64(child.lower)
        upper = join(e, upper, int64(child.upper)) if some else int64(child.upper)
        some = True
    cost = int64(edge.cost)
    edge.lower = max(int64(edge.lower), join_cost(e, lower, cost))
    edge.upper = min(int64(edge.upper), join_cost(e, upper, cost))


@inline
def is_empty_side(child):  # type: ignore[no-untyped-def]
    """Whether a side is a category without rows, which has no part in the value."""
    return child.node == EMPTY


@native
def use_edge(e, level, edge, raised):  # type: ignore[no-untyped-def]
    """Draws the conclusions of what was learnt about an edge: a better tree, a higher bound, bounds of siblings.

    `raised` has the bits of the sides whose bounds are pushed.
    """
    path = vector(e.path, e.path_space, int64)
    v = path[level]
    node = nodes_of(e)[v]
    children = children_of(e)
    at = edges_of(e)[node.edges + edge]
    if at.upper < node.upper:
        node.upper = at.upper
        node.split = at.split
        node.found = e.visits
        if node.budget != UNLIMITED and has_plan(e, node):
            for side in range(at.n_children):
                children[node.plan + side] = children[at.children + side]
    if e.restrictable == 0:
        return
    if node.depth == UNLIMITED and node.budget == UNLIMITED:
        # a tree for the node serves every subset of its rows at no higher cost
        for side in range(at.n_children):
            node.lower = max(int64(node.lower), min(int64(children[at.children + side].lower), int64(node.upper)))
    if node.lower < node.upper:
        for side in range(at.n_children):
            if (raised >> min(side, _MANY_SIDES)) & 1 == 1:
                _push(e, v, edge, children[at.children + side])


@native
def _push(e, v, edge, source):  # type: ignore[no-untyped-def]
    """Raises the lower bounds of the sides of all other edges by that of a solved side (see bnb/bounds.py)."""
    if source.lower <= 0:
        return
    node = nodes_of(e)[v]
    edges = edges_of(e)
    children = children_of(e)
    columns = columns_of(e)
    write_child_rows(e, rows_of(e)[v], int64(source.column), int64(source.without))
    inside = rows_of(e)[e.node_count]
    weight = weigh(e, inside, inside)
    last_column = int64(NONE)
    common = int64(0)
    for k in range(node.n_edges):
        if k == edge:
            continue
        at = edges[node.edges + k]
        raised = False
        for c in range(at.children, at.children + at.n_children):
            child = children[c]
            if child.lower >= min(source.lower, child.upper) or child.budget > source.budget:
                continue
            if child.column != last_column:
                last_column = int64(child.column)
                common = weigh(e, inside, columns[last_column])
            lost = common if child.without == 1 else weight - common
            bound = min(int64(source.lower) - lost, int64(child.upper))
            if bound > child.lower:
                child.lower = bound
                raised = True
        if raised:
            join_edge(e, at)


@native
def report(e):  # type: ignore[no-untyped-def]
    """Shows the bounds of the root to the caller's thread."""
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    root = nodes_of(e)[e.root]
    control[NODES] = e.visits
    control[LOWER] = root.lower
    control[UPPER] = root.upper
    lower_atomic(control, SHARED_UPPER, int64(root.upper))
