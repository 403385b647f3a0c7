"""One split of the root at a time, by whoever is asked for it: what machines that share no memory search.

Every process expands the root alike and sorts its edges alike, so a number names the same split everywhere. What one of
them learnt stands in its own store, and serves the next split that it is asked for. Where there are more processes than
splits, several may be at the same one, each at its part of the splits below: what they prove of these is told to
whoever settles the split of the root (told_bounds.py).
"""

from __future__ import annotations

from numba import int64, uint64

from streed.bnb.choosing import choose_edge, next_side
from streed.bnb.expand import is_shallow, open_node
from streed.bnb.improve import aim, enter, improve, is_empty_side, leave, use_edge
from streed.bnb.node_index import find_node
from streed.bnb.nodes import children_of, edges_of, nodes_of, sort_edges
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, NONE
from streed.kernels.stopping import stopped
from streed.kernels.views import native, vector


@entry
def search_edge(engine, depth, budget, again, edge, goal, part, parts):  # type: ignore[no-untyped-def]
    """Opens the root, whose rows stand behind the last node, unless `again`; then improves an edge of it, if >= 0.

    The edge is left once no tree with this split costs less than `goal`, or less than the best one known here, when the
    search is stopped, or when there is no more room: e.crowded then is 1. Of several `parts`, only the edges of its
    sides are improved whose splits are those of the `part`, so that the edge need not be settled.
    """
    e = engine_at(engine)
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    if not again:
        e.root = find_node(e, depth, budget, True)
        nodes[e.root].upper = INFINITE
    e.crowded = 0
    path[0] = e.root
    if nodes[e.root].n_edges == NONE:
        open_node(e, int64(0), int64(INFINITE), uint64(0), uint64(0))
        if e.crowded == 1:
            return
        sort_edges(e, nodes[e.root])
    if edge < 0 or edge >= nodes[e.root].n_edges:
        return
    goal = min(goal, int64(nodes[e.root].upper))
    if parts > 1:
        raised = improve_part(e, edge, goal, part, parts)
    else:
        raised = improve_edge(e, int64(0), edge, goal, uint64(0), uint64(0))
    if e.crowded == 1:
        return
    use_edge(e, int64(0), edge, raised)


@native
def improve_edge(e, level, edge, goal, high, low):  # type: ignore[no-untyped-def]
    """The bits of the sides whose bounds are to be pushed, of an edge of the node path[level].

    Its sides are improved until its lower bound reaches the goal or all are settled.
    """
    raised = int64(0)
    side = next_side(e, level, edge, goal)
    while side != NONE and enter(e, level, edge, side):
        target, side_high, side_low = aim(e, level, edge, side, goal, high, low)
        improve(e, level + 1, target, side_high, side_low)
        raised |= leave(e, level, edge, side)[1]
        # told bounds of the edge leave a side less to reach than it needs, so that it may be its turn again
        side = next_side(e, level, edge, goal)
    return raised


@native
def improve_part(e, edge, goal, part, parts):  # type: ignore[no-untyped-def]
    """As `improve_edge`, of an edge of the root: the part of the edges of its sides."""
    raised = int64(0)
    for side in range(edges_of(e)[nodes_of(e)[e.root].edges + edge].n_children):
        at = edges_of(e)[nodes_of(e)[e.root].edges + edge]
        child = children_of(e)[at.children + side]
        if is_empty_side(child) or child.lower >= child.upper or at.lower >= goal or stopped(e):
            continue
        if not enter(e, int64(0), edge, int64(side)):
            return raised
        target, high, low = aim(e, int64(0), edge, int64(side), goal, uint64(0), uint64(0))
        improve_some(e, target, high, low, part, parts)
        raised |= leave(e, int64(0), edge, int64(side))[1]
        if e.crowded == 1:
            return raised
    return raised


@native
def improve_some(e, target, high, low, part, parts):  # type: ignore[no-untyped-def]
    """Improves those edges of the node path[1], reached by the branch (high, low), whose splits are of the part."""
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    if is_shallow(nodes[path[1]]):
        return
    if nodes[path[1]].n_edges == NONE and nodes[path[1]].lower < min(target, nodes[path[1]].upper):
        open_node(e, int64(1), target, high, low)
    while not stopped(e) and e.crowded == 0 and nodes[path[1]].lower < min(target, nodes[path[1]].upper):
        choose_edge(e, path[1])
        node = nodes[path[1]]
        least = min(target, int64(node.upper))
        best = int64(NONE)
        for k in range(node.n_edges):
            at = edges_of(e)[node.edges + k]
            if at.split % parts == part and at.lower < least:
                least = int64(at.lower)
                best = int64(k)
        if best == NONE:
            return
        raised = improve_edge(e, int64(1), best, min(target, int64(node.upper)), high, low)
        if e.crowded == 1:
            return
        use_edge(e, int64(1), best, raised)
