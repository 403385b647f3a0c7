"""What a node improves next: an edge, how far, and which of its sides.

The edge of least lower bound comes first. Threads that help another begin at the other end, where that one comes last,
in every node that others are in too; and they keep away from the sides that others are in, as long as there is
something else to do below the goal.
"""

from __future__ import annotations

from numba import int64

from streed.bnb.nodes import children_of, edges_of, nodes_of
from streed.bnb.shared_bounds import helps, threads_in
from streed.kernels.records import INFINITE, LOWEST, NONE
from streed.kernels.stopping import stopped
from streed.kernels.views import inline, native, vector


@inline
def goal_of(e, level, target, second):  # type: ignore[no-untyped-def]
    """The lower bound up to which the node's best edge is improved before the next one is looked at.

    `second` is the least lower bound of the others. Best-first search turns to them as soon as they are better. Where
    splits cost nothing, it does so once this one's is halfway from there to the node's upper bound: each return costs a
    descent from the root, and takes longer than to search a little too far below the edge.
    """
    upper = int64(nodes_of(e)[vector(e.path, e.path_space, int64)[level]].upper)
    if e.best_first == 0 or level > e.frontier:
        return min(target, upper)
    if level == e.frontier:
        # what is found below may be forgotten, so it is searched to the end
        return upper
    beyond = max(int64(0), (upper - second) // 2) if e.relaxed == 1 else int64(0)
    return min(target, upper, second + 1 + beyond)


@native
def choose_edge(e, v):  # type: ignore[no-untyped-def]
    """(the edge of least lower bound or NONE, this bound, the next larger or equal one); INFINITE where there is none.

    Of equal ones it is that of least upper bound. Drops edges that cannot improve, and raises the node's lower bound.
    """
    node = nodes_of(e)[v]
    edges = edges_of(e)
    begin = int64(node.edges)
    best = int64(NONE)
    least = int64(INFINITE)
    second = int64(INFINITE)
    k = int64(0)
    while k < node.n_edges:
        edge = edges[begin + k]
        if edge.lower >= node.upper:
            node.n_edges -= 1
            edges[begin + k] = edges[begin + node.n_edges]
            continue
        lower = int64(edge.lower)
        if best == NONE or lower < least or (lower == least and edge.upper < edges[begin + best].upper):
            second = least
            least = lower
            best = k
        else:
            second = min(second, lower)
        k += 1
    node.lower = max(int64(node.lower), min(least, int64(node.rest), int64(node.upper)))
    return best, least, second


@native
def choose_apart(e, level, edge, goal):  # type: ignore[no-untyped-def]
    """(the edge to improve, whether it is to be improved even if other threads are at it), for a thread that helps.

    In a node where it is alone it is the given one, unless another thread is in the side that comes next; else that of
    largest lower bound below the goal of which this does not hold; where there is none, the given one.
    """
    v = vector(e.path, e.path_space, int64)[level]
    if level > 0 and threads_in(e, v) <= 1 and not _is_taken(e, level, edge, goal):
        return edge, False
    node = nodes_of(e)[v]
    best = int64(NONE)
    most = int64(LOWEST)
    for k in range(node.n_edges):
        lower = int64(edges_of(e)[node.edges + k].lower)
        if (best == NONE or lower > most) and lower < goal and not _is_taken(e, level, k, goal):
            most = lower
            best = k
    return (edge, True) if best == NONE else (best, False)


@native
def _is_taken(e, level, edge, goal):  # type: ignore[no-untyped-def]
    """Whether another thread is in the side of an edge that comes next."""
    side = next_side(e, level, edge, goal)
    if side == NONE:
        return False
    at = edges_of(e)[nodes_of(e)[vector(e.path, e.path_space, int64)[level]].edges + edge]
    return _has_others(e, children_of(e)[at.children + side])


@native
def _has_others(e, child):  # type: ignore[no-untyped-def]
    """Whether another thread is in the node of a side."""
    return child.node >= 0 and threads_in(e, int64(child.node)) > 0


@native
def next_side(e, level, edge, goal):  # type: ignore[no-untyped-def]
    """The unsettled side to improve next.

    Where splits cost something, the side of least upper bound is settled most cheaply; where they cost nothing, the
    side of largest upper bound most often raises the edge to the goal by itself (docs/explanation/search.md).
    One in which no other thread is comes first. NONE if all are settled, if the edge's lower bound has reached the
    goal, or if the search is to stop.
    """
    node = nodes_of(e)[vector(e.path, e.path_space, int64)[level]]
    at = edges_of(e)[node.edges + edge]
    best = int64(NONE)
    if at.lower >= goal or stopped(e) or e.crowded == 1:
        return best
    children = children_of(e)
    taken = False
    for side in range(at.n_children):
        child = children[at.children + side]
        if child.lower < child.upper:
            here = helps(e) and _has_others(e, child)
            if (
                best == NONE
                or (taken and not here)
                or (taken == here and (child.upper > children[at.children + best].upper) == (e.relaxed == 1))
            ):
                best = int64(side)
                taken = here
    return best
