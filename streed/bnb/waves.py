"""One wave of limited discrepancy search over nodes and edges (procedure.py).

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

from streed.bnb.choosing import choose_edge
from streed.bnb.expand import is_shallow, open_node
from streed.bnb.improve import aim, enter, improve, leave, solve_shallow, use_edge
from streed.bnb.nodes import children_of, edges_of, free_edges, nodes_of, sort_edges
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER
from streed.kernels.records import NONE
from streed.kernels.simd import lower_atomic
from streed.kernels.stopping import stopped
from streed.kernels.views import native, vector


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
