"""The search of a whole problem, by a thread that is alone or one of several."""

from __future__ import annotations

from numba import int64

from streed.bnb.expand import is_shallow
from streed.bnb.improve import improve, report, solve_shallow
from streed.bnb.node_index import find_node
from streed.bnb.nodes import nodes_of
from streed.bnb.shared_store import go_in, go_out
from streed.bnb.ties import settle_ties
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import ASKED, INFINITE
from streed.kernels.views import native, vector


@entry
def search_root(engine, depth, budget, again):  # type: ignore[no-untyped-def]
    """Searches the problem whose rows stand behind the last node, or goes on with the last one; its node is e.root.

    Returns when it is solved or no tree costs less than e.root_target, when the search was stopped, or when there is no
    more room: e.crowded then is 1. If e.settled asks for it, the ties of a solved problem are settled instead (ties.py;
    here, as an entry of its own would compile the search once more).
    """
    e = engine_at(engine)
    if e.settled == ASKED:
        e.settled = int64(settle_ties(e))
        return
    if not again:
        place_root(e, depth, budget)
    e.crowded = 0
    vector(e.path, e.path_space, int64)[0] = e.root
    if is_shallow(nodes_of(e)[e.root]):
        solve_shallow(e, int64(0), e.root_target, e.root_high, e.root_low)
        report(e)
    else:
        go_in(e, e.root)
        improve(e, int64(0), e.root_target, e.root_high, e.root_low)
        go_out(e, e.root)


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
