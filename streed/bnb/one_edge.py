"""One split of the root at a time, by whoever is asked for it: what machines that share no memory search.

Every process expands the root alike and sorts its edges alike, so a number names the same split everywhere. What one of
them learnt stands in its own store, and serves the next split that it is asked for.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.bnb.choosing import next_side
from streed.bnb.expand import open_node
from streed.bnb.improve import aim, enter, improve, leave, use_edge
from streed.bnb.nodes import nodes_of, sort_edges
from streed.bnb.root import place_root
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, NONE
from streed.kernels.views import vector


@entry
def search_edge(engine, depth, budget, again, edge, goal):  # type: ignore[no-untyped-def]
    """Opens the root, whose rows stand behind the last node, unless `again`; then improves an edge of it, if >= 0.

    The edge is left once no tree with this split costs less than `goal`, or less than the best one known here, when the
    search is stopped, or when there is no more room: e.crowded then is 1.
    """
    e = engine_at(engine)
    nodes = nodes_of(e)
    if not again:
        place_root(e, depth, budget)
    e.crowded = 0
    vector(e.path, e.path_space, int64)[0] = e.root
    if nodes[e.root].n_edges == NONE:
        open_node(e, int64(0), int64(INFINITE), uint64(0), uint64(0))
        if e.crowded == 1:
            return
        sort_edges(e, nodes[e.root])
    if edge < 0 or edge >= nodes[e.root].n_edges:
        return
    goal = min(goal, int64(nodes[e.root].upper))
    raised = int64(0)
    side = next_side(e, int64(0), edge, goal)
    while side != NONE and enter(e, int64(0), edge, side):
        target, high, low = aim(e, int64(0), edge, side, goal, uint64(0), uint64(0))
        improve(e, int64(1), target, high, low)
        raised |= leave(e, int64(0), edge, side)[1]
        # bounds of others leave a side less to reach than it needs, so that it may be its turn again
        side = next_side(e, int64(0), edge, goal)
    if e.crowded == 0:
        use_edge(e, int64(0), edge, raised)
