"""Lower bounds on subproblems, and which of them is to be improved next.

Each bound is a function, with its lemma, the fact that it needs, and its switch.
The fact is a field of the record (`FACTS` in records.py), asked for in the function. To clear it switches the bound
off: the search then gives the same value by more work. The proofs are in docs/explanation/search.md.

Similarity (STreeD, Appendix B; MurTree, Section 4.5): a tree for the rows A serves the rows B at the price of the worst
costs of the rows in B but not in A. Let A be a child of the node that is solved, B any other child; then
opt(B) >= opt(A) - worst(A without B), and worst(A without B) follows from the pair sums. On fewer rows a leaf may fall
below its minimum support, so these bounds need `restrictable`. The node's own bound applies a child's tree to more
rows: leaves grow, but a categorical column may gain a category with too few rows, so it needs `extensible`.

Of a node's edges, that of least lower bound is improved first. Of several threads, each keeps away from the sides that
others are in, as long as there is something else to do below the goal: so they part at the root, and meet again in what
is left of the last edges. (Chess programs keep apart like this: Weill's ABDADA, ICCA Journal 1996.)
"""

from __future__ import annotations

from numba import int64

from streed.bnb.nodes import children_of, edges_of, nodes_of
from streed.bnb.shared_store import has_others, is_alone
from streed.kernels.records import INFINITE, LOWEST, NONE
from streed.kernels.scoring.children import least_cost, least_of
from streed.kernels.stopping import stopped
from streed.kernels.values import (
    BARE1,
    LEAF0,
    LEAF1,
    LEAST1,
    LOWER0,
    LOWER1,
    OPTIMUM1,
    ROWS_OF_VALUES,
    SPLIT1,
    UNKNOWN,
    WEIGHT,
)
from streed.kernels.views import inline, matrix, native, vector


@native
def bound_by_node(e, values, value):  # type: ignore[no-untyped-def]
    """Sets the bounds of all children: opt(child) >= opt(node) - worst costs of the other children.

    `value` is the optimum of the node at the depth of its children. Needs `extensible`.
    """
    for k in range(e.n_active):
        weight = values[WEIGHT, k]
        values[LOWER1, k] = least_of(e, values, k, int64(0))
        values[LOWER0, k] = least_of(e, values, k, int64(1))
        if e.extensible == 1:
            values[LOWER1, k] = max(values[LOWER1, k], value - (e.weight - weight))
            values[LOWER0, k] = max(values[LOWER0, k], value - weight)


@native
def count_splits(e):  # type: ignore[no-untyped-def]
    """Raises the least costs of all sides: a side is a leaf, has one split, or pays for two at least.

    The first two are known exactly from the pair sums. Needs `fixed_costs`, without which this unit is not called, and
    values that are added up.
    """
    if e.combine != 0:
        return
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    cost = least_cost(e, values)
    for k in range(e.n_active):
        for without in range(2):
            bare = values[LEAST1 + without, k]
            values[BARE1 + without, k] = bare
            if bare <= LOWEST:
                continue
            few = min(values[LEAF1 + without, k], values[SPLIT1 + without, k])
            values[LEAST1 + without, k] = max(bare, min(few, bare + 2 * cost))


@native
def count_more_splits(e):  # type: ignore[no-untyped-def]
    """Raises the bounds of sides whose optima at depth two are known: any other tree has three splits at least.

    Needs `fixed_costs`, without which this unit is not called, and values that are added up.
    """
    if e.combine != 0:
        return
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    cost = least_cost(e, values)
    for k in range(e.n_active):
        for without in range(2):
            if values[BARE1 + without, k] <= LOWEST or values[OPTIMUM1 + without, k] == UNKNOWN:
                continue
            bound = min(values[OPTIMUM1 + without, k], values[BARE1 + without, k] + 3 * cost)
            values[LOWER1 + without, k] = max(values[LOWER1 + without, k], bound)


@native
def bound_by_purity(e, values):  # type: ignore[no-untyped-def]
    """Purification (Branches, Prop. 4.2): a side is a leaf, or is split at least once and errs nowhere at best.

    Needs a `split_cost`; of a scored problem, `count_splits` says more.
    """
    if e.split_cost == 0 or e.scored == 1:
        return
    for k in range(e.n_active):
        values[LOWER1, k] = max(values[LOWER1, k], min(values[LEAF1, k], e.split_cost))
        values[LOWER0, k] = max(values[LOWER0, k], min(values[LEAF0, k], e.split_cost))


@native
def bound_by_equal_rows(e, floor, upper):  # type: ignore[no-untyped-def]
    """A lower bound of a node whose best tree with one split or none costs `upper` or more.

    Lemma: its equal rows pay the `floor` in any tree, and a tree with two splits or more pays for these beside; so
    opt >= min(upper, floor + 2 split_cost). Needs costs that are added up, and says more than the other bounds where
    there are `floors`.
    """
    if e.scored == 1:
        return floor
    return min(upper, floor + 2 * e.split_cost)


@native
def push_bounds(e, lane):  # type: ignore[no-untyped-def]
    """Raises the bounds of all children by those of the children of e.asked_column, which may be known exactly.

    Needs `restrictable`, without which this unit is not called.
    """
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    pairs = matrix(e.pairs, (e.worst_pairs + 1) * e.stride, e.stride, lane)
    row = e.worst_pairs * e.stride + e.asked_column
    own = values[WEIGHT, e.asked_column]
    least1 = values[LOWER1, e.asked_column]
    least0 = values[LOWER0, e.asked_column]
    with_both = least1 - own
    with_neither = least0 - (e.weight - own)
    for k in range(e.n_active):
        both = int64(pairs[row, k]) * e.worst_unit
        other = values[WEIGHT, k] - both
        values[LOWER1, k] = max(values[LOWER1, k], with_both + both, with_neither + other)
        values[LOWER0, k] = max(values[LOWER0, k], least1 - both, least0 - other)


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
    child = children_of(e)[at.children + side]
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
            here = child.node >= 0 and has_others(e, int64(child.node))
            if (
                best == NONE
                or (taken and not here)
                or (taken == here and (child.upper > children[at.children + best].upper) == (e.relaxed == 1))
            ):
                best = int64(side)
                taken = here
    return best
