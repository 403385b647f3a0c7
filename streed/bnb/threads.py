"""Several threads over the splits of the root.

Every thread has a store of its own, expands the root alike and sorts its edges alike. They take edges from a shared
counter, one after the other, and prune by the best value that any of them has found. When no edge is left to take, that
value is the optimum. What a thread learnt about an edge stands in its own copy of it.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.bnb.expand import is_shallow, open_node
from streed.bnb.improve import aim, enter, improve, leave, next_side, solve_shallow, use_edge
from streed.bnb.nodes import find_node, nodes_of, sort_edges
from streed.kernels.compiled import entry
from streed.kernels.control import NEXT_EDGE, ROWS_OF_CONTROL, SHARED_UPPER
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, NONE
from streed.kernels.simd import add_atomic, load_atomic, lower_atomic
from streed.kernels.stopping import stopped
from streed.kernels.views import native, vector


@entry
def search_share(engine, depth, budget, again):  # type: ignore[no-untyped-def]
    """Searches edges of the root e.root until none is left to take, the search is stopped, or there is no more room."""
    e = engine_at(engine)
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    if not again:
        e.root = find_node(e, depth, budget, True)
        nodes[e.root].upper = INFINITE
        e.taken = NONE
    e.crowded = 0
    path[0] = e.root
    if is_shallow(nodes[e.root]):
        solve_shallow(e, int64(0), int64(INFINITE), uint64(0), uint64(0))
        return
    if nodes[e.root].n_edges == NONE:
        open_node(e, int64(0), int64(INFINITE), uint64(0), uint64(0))
        if e.crowded == 1:
            return
        sort_edges(e, nodes[e.root])
        lower_atomic(control, SHARED_UPPER, int64(nodes[e.root].upper))
    while not stopped(e):
        if e.taken == NONE:
            e.taken = add_atomic(control, NEXT_EDGE, int64(1))
        if e.taken >= nodes[e.root].n_edges:
            return
        goal = min(int64(nodes[e.root].upper), load_atomic(control, SHARED_UPPER))
        raised = improve_edge(e, e.taken, goal)
        if e.crowded == 1:
            return
        use_edge(e, int64(0), e.taken, raised)
        lower_atomic(control, SHARED_UPPER, int64(nodes[e.root].upper))
        e.taken = NONE


@native
def improve_edge(e, edge, goal):  # type: ignore[no-untyped-def]
    """The bits of the sides whose bounds are to be pushed, of an edge of the root.

    Its sides are improved until its lower bound reaches the goal or all are settled.
    """
    raised = int64(0)
    side = next_side(e, int64(0), edge, goal)
    while side != NONE and enter(e, int64(0), edge, side):
        target, high, low = aim(e, int64(0), edge, side, goal, uint64(0), uint64(0))
        improve(e, int64(1), target, high, low)
        settled, bit = leave(e, int64(0), edge, side)
        raised |= bit
        side = next_side(e, int64(0), edge, goal) if settled else int64(NONE)
    return raised
