"""What a node improves next: an edge, how far, and which of its sides.

The edge of least lower bound comes first. Of several threads, each keeps away from the sides that others are in, as
long as there is something else to do below the goal: so they part at the root, and meet again in what is left of the
last edges. (Chess programs keep apart like this: Weill's ABDADA, ICCA Journal 1996.)
"""

from __future__ import annotations

from numba import int64

from streed.bnb.nodes import children_of, edges_of, nodes_of
from streed.bnb.shared_store import has_others, is_alone, is_shared
from streed.kernels.records import INFINITE, NONE
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

    Of equal ones it is that of least upper bound. Raises the node's lower bound, and drops edges that cannot improve,
    unless other threads are in the node.
    """
    node = nodes_of(e)[v]
    edges = edges_of(e)
    begin = int64(node.edges)
    best = int64(NONE)
    least = int64(INFINITE)
    second = int64(INFINITE)
    drops = is_alone(e, v)
    k = int64(0)
    while k < node.n_edges:
        edge = edges[begin + k]
        if edge.lower >= node.upper:
            if not drops:
                k += 1
                continue
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
    """(the edge to improve, whether it is to be improved even if other threads are at it), for one of several threads.

    It is the given one, unless another thread is in the side that comes next; else that of least lower bound below the
    goal of which this does not hold; where there is none, the given one.
    """
    if not _is_taken(e, level, edge, goal):
        return edge, False
    node = nodes_of(e)[vector(e.path, e.path_space, int64)[level]]
    best = int64(NONE)
    least = int64(INFINITE)
    for k in range(node.n_edges):
        lower = int64(edges_of(e)[node.edges + k].lower)
        if lower < min(least, goal) and not _is_taken(e, level, int64(k), goal):
            least = lower
            best = int64(k)
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
    return child.node >= 0 and has_others(e, int64(child.node))


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
            here = is_shared(e) and _has_others(e, child)
            if (
                best == NONE
                or (taken and not here)
                or (taken == here and (child.upper > children[at.children + best].upper) == (e.relaxed == 1))
            ):
                best = int64(side)
                taken = here
    return best
