"""The search of a whole problem, by a thread that is alone or one of several."""

from __future__ import annotations

from numba import int64

from streed.bnb.choosing import next_side
from streed.bnb.expand import open_node
from streed.bnb.improve import aim, enter, improve, leave, use_edge
from streed.bnb.node_index import find_node
from streed.bnb.nodes import nodes_of, sort_edges
from streed.bnb.shared_store import go_in, go_out
from streed.bnb.ties import settle_ties
from streed.bnb.waves import follow_wave
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import ASKED, INFINITE, NONE
from streed.kernels.views import native, vector


@entry
def search_root(engine, depth, budget, again):  # type: ignore[no-untyped-def]
    """Searches the problem whose rows stand behind the last node, or goes on with the last one; its node is e.root.

    It is none that the terminal solver answers at once (terminal.py).

    Returns when it is solved or no tree costs less than e.root_target, when the search was stopped, or when there is no
    more room: e.crowded then is 1. Where e.root_edge names an edge, only this one is searched; processes that share no
    memory open the root alike, so that a number is the same split in all. If e.settled asks for it, the ties of a
    solved problem are settled instead (ties.py); and if e.departures does, a wave is followed (waves.py). Both are
    here as entries of their own would compile the search once more.
    """
    e = engine_at(engine)
    if e.settled == ASKED:
        e.settled = int64(settle_ties(e))
        return
    if not again:
        place_root(e, depth, budget)
    e.crowded = 0
    vector(e.path, e.path_space, int64)[0] = e.root
    if e.departures != NONE:
        e.left_out = int64(follow_wave(e))
    elif e.root_edge != NONE:
        _search_edge(e, e.root_edge)
    else:
        go_in(e, e.root)
        improve(e, int64(0), e.root_target, e.root_high, e.root_low)
        go_out(e, e.root)


@native
def _search_edge(e, edge):  # type: ignore[no-untyped-def]
    """Opens the root if it is new, and improves an edge of it, if there is one of this number."""
    nodes = nodes_of(e)
    if nodes[e.root].n_edges == NONE:
        open_node(e, int64(0), int64(INFINITE), e.root_high, e.root_low)
        if e.crowded == 1:
            return
        sort_edges(e, nodes[e.root])
    if edge >= nodes[e.root].n_edges:
        return
    goal = min(int64(e.root_target), int64(nodes[e.root].upper))
    raised = int64(0)
    side = next_side(e, int64(0), edge, goal)
    while side != NONE and enter(e, int64(0), edge, side):
        target, high, low = aim(e, int64(0), edge, side, goal, e.root_high, e.root_low)
        improve(e, int64(1), target, high, low)
        raised |= leave(e, int64(0), edge, side)[1]
        # bounds of others leave a side less to reach than it needs, so that it may be its turn again
        side = next_side(e, int64(0), edge, goal)
    if e.crowded == 0:
        use_edge(e, int64(0), edge, raised)


@entry
def place(engine, depth, budget):  # type: ignore[no-untyped-def]
    """Makes the rows behind the last node the root, which `search_root` goes on from."""
    place_root(engine_at(engine), depth, budget)


@native
def place_root(e, depth, budget):  # type: ignore[no-untyped-def]
    """Makes the node of the rows that stand behind the last one, or finds it, and lets the search begin there."""
    count = e.node_count
    e.root = find_node(e, depth, budget, True)
    if e.root == count:
        nodes_of(e)[e.root].upper = INFINITE
