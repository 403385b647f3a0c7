"""The search of a whole problem, by a thread that is alone or one of several.

A wave is one of limited discrepancy search over nodes and edges (native_search.py):

    follow(node, departures), up to a target as in improve.py:
        for its unsettled edges of rank 0 to departures, by rising upper bound:
            follow the sides of the edge with departures - rank; draw the conclusions as `improve` does

The upper bound of an edge is the heuristic, as pair lookahead or the depth-three work unit has it: to take the edge of
rank r is to depart from it r times. Nodes keep their bounds, so what was settled is not done again. Where
e.exact_levels is not zero, subtrees of at most so many levels are improved up to their target: with no departures,
those of the best tree.
"""

from __future__ import annotations

from numba import int32, int64

from streed.bnb.bounds import choose_edge
from streed.bnb.expand import is_shallow, open_node
from streed.bnb.extraction import settle_ties
from streed.bnb.improve import aim, enter, improve, improve_edge, leave, solve_shallow, use_edge
from streed.bnb.node_store import enter_node, look_up, write_node
from streed.bnb.nodes import children_of, edges_of, free_edges, nodes_of, sort_edges
from streed.bnb.shared_store import go_in, go_out
from streed.kernels.compiled import entry
from streed.kernels.records import ASKED, INFINITE, NONE
from streed.kernels.simd import lower_atomic
from streed.kernels.stopping import ROWS_OF_CONTROL, SHARED_UPPER, stopped
from streed.kernels.views import engine_at, native, vector


@entry
def search_root(engine, depth, budget, again):  # type: ignore[no-untyped-def]
    """Searches the problem whose rows stand behind the last node, or goes on with the last one; its node is e.root.

    It is none that the terminal solver answers at once (depth_three.py).

    Returns when it is solved or no tree costs less than e.root_target, when the search was stopped, or when there is no
    more room: e.crowded then is 1. Where e.root_edge names an edge, only this one is searched; processes that share no
    memory open the root alike, so that a number is the same split in all. If e.settled asks for it, the ties of a
    solved problem are settled instead (extraction.py); and if e.departures does, a wave is followed. Both are
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
    improve_edge(e, edge, min(int64(e.root_target), int64(nodes[e.root].upper)), e.root_high, e.root_low)


@entry
def place(engine, depth, budget):  # type: ignore[no-untyped-def]
    """Makes the rows behind the last node the root, which `search_root` goes on from."""
    place_root(engine_at(engine), depth, budget)


@native
def place_root(e, depth, budget):  # type: ignore[no-untyped-def]
    """Makes the node of the rows that stand behind the last one, or finds it, and lets the search begin there."""
    root, slot = look_up(e, depth, budget)
    if root == NONE:
        write_node(e, depth, budget)
        nodes_of(e)[e.node_count].upper = INFINITE
        root = enter_node(e, slot)
    e.root = root


@native
def follow_wave(e):  # type: ignore[no-untyped-def]
    """Whether the wave of e.departures left edges out of the tree below the root, was stopped or ran out of room."""
    vector(e.followed, e.node_space, int32)[e.followed_nodes : e.node_count] = 0
    return _follow(e, int64(0), e.root_target, e.departures, e.root_high, e.root_low)


@native
def _follow(e, level, target, departures, high, low):  # type: ignore[no-untyped-def]
    """Whether edges were left out of the node path[level], which is reached by the branch (high, low)."""
    v = vector(e.path, e.path_space, int64)[level]
    node = nodes_of(e)[v]
    followed = vector(e.followed, e.node_space, int32)
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    e.visits += 1
    if level > 0 and is_shallow(node):
        solve_shallow(e, level, target, high, low)
        return False
    if node.lower >= min(target, node.upper):
        return False
    if level > 0 and node.depth <= e.exact_levels:
        improve(e, level, target, high, low)
        return node.lower < min(target, node.upper)
    if node.n_edges != NONE and followed[v] > departures and e.exact_levels == 0:
        return True
    if node.n_edges == NONE or node.rest < min(target, node.upper):
        followed[v] = 0
        open_node(e, level, target, high, low)
        sort_edges(e, node)
    if stopped(e) or e.crowded == 1:
        return True
    choose_edge(e, v)
    sort_edges(e, node)
    rank = int64(0)
    left_out = False
    for k in range(int64(node.n_edges)):
        goal = min(target, int64(node.upper))
        if edges_of(e)[node.edges + k].lower >= goal:
            continue
        if rank > departures or stopped(e) or e.crowded == 1:
            left_out = True
            break
        rank += 1
        raised = int64(0)
        for side in range(int64(edges_of(e)[node.edges + k].n_children)):
            edge = edges_of(e)[node.edges + k]
            child = children_of(e)[edge.children + side]
            if edge.lower < goal and child.lower < child.upper and e.crowded == 0 and enter(e, level, k, side):
                aimed, side_high, side_low = aim(e, level, k, side, goal, high, low)
                left_out |= _follow(e, level + 1, aimed, departures - rank + 1, side_high, side_low)
                raised |= leave(e, level, k, side)[1]
        use_edge(e, level, k, raised)
        lower_atomic(control, SHARED_UPPER, int64(nodes_of(e)[e.root].upper))
    choose_edge(e, v)
    if left_out:
        followed[v] = max(int64(followed[v]), departures + 1)
    if node.lower >= node.upper:
        free_edges(e, node)
    return left_out and node.lower < min(target, node.upper)
