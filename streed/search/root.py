"""The search of a whole problem by one thread."""

from __future__ import annotations

from numba import int64

from streed.engine.compiled import entry
from streed.engine.nodes import find_node, nodes_of
from streed.engine.records import INFINITE, UNLIMITED
from streed.engine.views import vector
from streed.search.dive import dive
from streed.search.expand import is_shallow
from streed.search.improve import improve, report, solve_shallow


@entry
def search_root(e, depth, budget, again):  # type: ignore[no-untyped-def]
    """Searches the problem whose rows stand behind the last node, or goes on with the last one; its node is e.root.

    Returns when it is solved or no tree costs less than e.root_target, when the search was stopped, or when there is no
    more room: e.crowded then is 1.
    """
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    if not again:
        count = e.node_count
        e.root = find_node(e, depth, budget, True)
        if e.root == count:
            nodes[e.root].upper = INFINITE
    e.crowded = 0
    path[0] = e.root
    if is_shallow(nodes[e.root]):
        solve_shallow(e, int64(0), e.root_target, e.root_high, e.root_low)
        report(e)
    else:
        if not again and nodes[e.root].depth == UNLIMITED:
            dive(e, int64(0), e.root_high, e.root_low)
        improve(e, int64(0), e.root_target, e.root_high, e.root_low)
