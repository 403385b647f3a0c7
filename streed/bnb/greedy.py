"""A first tree: below every node, the split that pair lookahead finds best.

Branch and bound prunes by what it has, so a good tree is worth having before anything is searched. This one takes as
many expansions as it has branching nodes.
"""

from __future__ import annotations

from numba import int64

from streed.bnb.expand import is_shallow, open_node
from streed.bnb.improve import aim, enter, leave, solve_shallow, use_edge
from streed.bnb.nodes import children_of, edges_of, nodes_of
from streed.bnb.root import place_root
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, NONE, UNLIMITED
from streed.kernels.stopping import stopped
from streed.kernels.views import native, vector


@entry
def grow_first(engine, depth, budget):  # type: ignore[no-untyped-def]
    """Gives the problem whose rows stand behind the last node a first tree; `search_root` goes on from there."""
    e = engine_at(engine)
    place_root(e, depth, budget)
    e.crowded = 0
    vector(e.path, e.path_space, int64)[0] = e.root
    if nodes_of(e)[e.root].depth == UNLIMITED:
        split_greedily(e, int64(0), e.root_high, e.root_low)


@native
def split_greedily(e, level, high, low):  # type: ignore[no-untyped-def]
    """Gives the node path[level], reached by the branch (high, low), a tree by its edge of least upper bound."""
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    if level > 0 and is_shallow(nodes[path[level]]):
        solve_shallow(e, level, int64(INFINITE), high, low)
        return
    if nodes[path[level]].n_edges == NONE:
        open_node(e, level, int64(INFINITE), high, low)
    edge = _promising(e, path[level])
    if edge == NONE:
        return
    sides = int64(edges_of(e)[nodes[path[level]].edges + edge].n_children)
    for side in range(sides):
        child = children_of(e)[edges_of(e)[nodes[path[level]].edges + edge].children + side]
        if child.lower >= child.upper or stopped(e) or e.crowded == 1:
            continue
        if enter(e, level, edge, side):
            _, side_high, side_low = aim(e, level, edge, side, int64(INFINITE), high, low)
            split_greedily(e, level + 1, side_high, side_low)
            leave(e, level, edge, side)
    use_edge(e, level, edge, int64(0))


@native
def _promising(e, v):  # type: ignore[no-untyped-def]
    """The edge of least upper bound (of these, of least lower bound) of an unsolved node, or NONE."""
    node = nodes_of(e)[v]
    best = int64(NONE)
    if node.lower >= node.upper or stopped(e) or e.crowded == 1:
        return best
    edges = edges_of(e)
    begin = int64(node.edges)
    for k in range(node.n_edges):
        edge = edges[begin + k]
        if edge.lower >= node.upper:
            continue
        if best == NONE:
            best = int64(k)
        else:
            least = edges[begin + best]
            if edge.upper < least.upper or (edge.upper == least.upper and edge.lower < least.lower):
                best = int64(k)
    return best
