"""The edges of a node: its splits, the bounds of their sides, and how the sides may share a budget.

By pair lookahead, from the node's own pair sums come, for every side, its exact cost as a leaf and with one split, and
lower bounds on its cost with exactly two splits and with three or more. The search turns them into bounds for whatever
depth and number of nodes a side may use.

What a side can cost stands in `values` once the node was counted (expand.py). A limited number of branching nodes
(STreeD, Eq. 51) makes one edge for every way in which the sides can share it.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint8

from streed.bnb.nodes import below, children_of, edges_of, global_split, has_plan, most_sides, trees_of
from streed.kernels import values as rows
from streed.kernels.records import EMPTY, INFINITE, LANES, NONE, SHALLOW, UNLIMITED
from streed.kernels.scoring import many_labels
from streed.kernels.scoring.children import cost_of_split, join, join_cost, least_of
from streed.kernels.scoring.many_labels import (
    CLASSES,
    bound_classes,
    bound_two_splits,
    cost_in,
    prepare_classes,
    prepare_labelled,
    prepare_priced,
)
from streed.kernels.simd import fill, load, maximum, minimum, store
from streed.kernels.stopping import stopped
from streed.kernels.values import EDGE_LOWER, EDGE_UPPER, LOWER0, LOWER1, OPTIMUM0, OPTIMUM1, ROWS_OF_VALUES
from streed.kernels.views import inline, matrix, native, vector


def _expanding(prepare: Any, bound: Any = None, *, classes: bool = False) -> Any:
    """What answers in e.upper with the cost of the loaded node as one leaf, and in `values` for every active column.

    Without `bound`, splits are priced by the columns tested above.
    """
    priced = bound is None

    @native
    def expand(e, lane):  # type: ignore[no-untyped-def]
        prepare(e, lane)
        planes, unit = e.planes, int64(1)
        if classes:
            planes, unit = int64(CLASSES), e.class_unit
        sums = matrix(e.sums, planes, e.width, lane)
        totals = vector(e.totals, planes, int64)
        scores = matrix(e.scores, many_labels.ROWS_OF_SCORES, e.width, lane)
        values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
        ranked = matrix(e.ranked_profits, 2 * e.labels, e.width, lane)
        if not priced:
            bound(e, lane, matrix(e.pairs, planes * e.stride, e.stride, lane), sums, totals)
        # conditions that numba leaves out stand in the branch itself
        if not classes and not priced and e.class_bound == 1:
            _rank_labels(e, ranked, sums, totals)
        # a split makes this many leaves more than there were
        spread = most_sides(e) - 1
        for k in range(e.n_active):
            for without in range(2):
                values[rows.LEAF1 + without, k] = cost_in(scores, many_labels.LEAF1 + without, k, unit)
                split = cost_in(scores, many_labels.SPLIT1 + without, k, unit)
                values[rows.SPLIT1 + without, k] = min(e.split_cost + split, INFINITE)
                if priced:
                    values[rows.TWO1 + without, k] = values[rows.LEAST1 + without, k]
                    values[rows.MORE1 + without, k] = values[rows.LEAST1 + without, k]
                    continue
                two = cost_in(scores, many_labels.TWO1 + without, k, unit) if e.extensible == 1 else int64(0)
                more = 3 * e.split_cost
                if not classes and e.class_bound == 1:
                    worst = int64(sums[e.labels, k])
                    if without == 1:
                        worst = totals[e.labels] - worst
                    with_two, more = _with_few_labels(e, ranked, without, k, worst, spread)
                    two = max(two, with_two)
                values[rows.TWO1 + without, k] = min(2 * e.split_cost + two, INFINITE)
                values[rows.MORE1 + without, k] = more

    return expand


expand_labelled = _expanding(prepare_labelled, bound_two_splits)
expand_classes = _expanding(prepare_classes, bound_classes, classes=True)
expand_priced = _expanding(prepare_priced)


@native
def _rank_labels(e, ranked, sums, totals):  # type: ignore[no-untyped-def]
    """Fills `ranked` (2 * labels, width): the labels' profits on both sides of each column, the greatest first.

    The rows with a column come first, then those without.
    """
    labels = e.labels
    for k in range(0, e.stride, LANES):
        for label in range(labels):
            with_column = load(sums, label, k)
            store(ranked, label, k, with_column)
            store(ranked, labels + label, k, fill(sums, totals[label]) - with_column)
        for begin in range(0, 2 * labels, labels):
            for i in range(begin, begin + labels - 1):
                greatest = load(ranked, i, k)
                for j in range(i + 1, begin + labels):
                    other = load(ranked, j, k)
                    store(ranked, j, k, minimum(greatest, other))
                    greatest = maximum(greatest, other)
                store(ranked, i, k, greatest)


@native
def _with_few_labels(e, ranked, without, column, worst, spread):  # type: ignore[no-untyped-def]
    """What a side costs at least with two splits, without their price, and with three or more, with their price.

    R_j is what j leaves cost at least, since they show at most j labels: R_{1 + 2 * spread}, and the least over s >= 3
    of s * split_cost + R_{1 + s * spread}.
    """
    two = int64(worst)
    more = int64(INFINITE)
    rest = int64(worst)
    shown = int64(0)
    for splits in range(2, max(4, e.labels)):
        while shown < min(1 + splits * spread, e.labels):
            rest -= int64(ranked[without * e.labels + shown, column])
            shown += 1
        if splits == 2:
            two = rest
        else:
            more = min(more, splits * e.split_cost + rest)
    return two, more


@inline
def side_bounds(values, column, without, depth, budget):  # type: ignore[no-untyped-def]
    """(lower, upper) of a side that may use `depth` levels and `budget` branching nodes."""
    leaf = values[rows.LEAF1 + without, column]
    if depth == 0 or budget == 0:
        return leaf, leaf
    upper = min(leaf, values[rows.SPLIT1 + without, column])
    if depth == 1 or budget == 1:
        return upper, upper
    lower = min(upper, values[rows.TWO1 + without, column])
    if budget > 2:
        lower = min(lower, values[rows.MORE1 + without, column])
    return lower, upper


@inline
def _normal_budget(e, depth, budget):  # type: ignore[no-untyped-def]
    """UNLIMITED for a budget that no tree of the depth can exceed."""
    if e.categorical == 0 and budget >= trees_of(depth):
        return int64(UNLIMITED)
    return int64(budget)


@inline
def _sides(e, split):  # type: ignore[no-untyped-def]
    """(first, number) of the sides of a local split: 2 of a binary column, the literals of a categorical one."""
    if split < e.n_active:
        ones = vector(e.ones, e.width, int64)
        return split, int64(2) if split < e.n_binary and 0 < ones[split] < e.n_rows else int64(0)
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    c = split - e.n_active
    return literals[0, c], literals[1, c] - literals[0, c]


@inline
def _side(e, split, first, side):  # type: ignore[no-untyped-def]
    """(local column, without) of a side in the caller's order: 0 and then 1 of a binary column; each literal."""
    if split < e.n_active:
        flipped = int64(vector(e.flipped, e.columns, uint8)[vector(e.active, e.width, int64)[split]])
        return first, 1 - side if flipped == 0 else side
    return first + side, int64(0)


@inline
def _bounds_of_side(e, values, relaxed, column, without, depth, budget):  # type: ignore[no-untyped-def]
    """(lower, upper) of a side at the depth and the budget that are left to it; an empty category costs nothing."""
    if relaxed:
        upper = values[OPTIMUM0 if without == 1 else OPTIMUM1, column]
        if depth == SHALLOW:
            lower = values[LOWER0 if without == 1 else LOWER1, column]
        else:
            lower = least_of(e, values, column, without)
        return min(lower, upper), upper
    return side_bounds(values, column, without, depth, budget)


@inline
def _shares(e):  # type: ignore[no-untyped-def]
    """How the sides of the split at hand share the budget, (most sides,)."""
    return vector(e.shares, most_sides(e), int64)


@native
def _next_share(budgets, sides, most):  # type: ignore[no-untyped-def]
    """Whether there is a further way to share the nodes, no side more than `most` of them; makes it that one."""
    if budgets[0] == UNLIMITED:
        return False
    while True:
        rest = budgets[sides - 1]
        at = sides - 2
        while at >= 0 and rest == 0:
            rest += budgets[at]
            budgets[at] = 0
            at -= 1
        if at < 0:
            return False
        budgets[at] += 1
        for side in range(at + 1, sides - 1):
            budgets[side] = 0
        budgets[sides - 1] = rest - 1
        if _fits(budgets, sides, most):
            return True


@inline
def _fits(budgets, sides, most):  # type: ignore[no-untyped-def]
    fits = True
    for side in range(sides):
        fits = fits and (budgets[side] <= most or budgets[side] == UNLIMITED)
    return fits


@inline
def _first_share(budgets, sides, total, most):  # type: ignore[no-untyped-def]
    """Whether there is a way to share `total` nodes, no side more than `most` of them; makes it the first one."""
    for side in range(sides):
        budgets[side] = UNLIMITED if total == UNLIMITED else 0
    if total != UNLIMITED:
        budgets[sides - 1] = total
    return _fits(budgets, sides, most) or _next_share(budgets, sides, most)


@inline
def _most_below(e, node):  # type: ignore[no-untyped-def]
    """The most branching nodes that a side can use."""
    return trees_of(int64(node.depth) - 1) if e.categorical == 0 else int64(UNLIMITED)


@native
def _sum_bounds(e, values, relaxed, node, split):  # type: ignore[no-untyped-def]
    """(lower, upper) of a local split with the sides sharing the budget as they do now."""
    budgets = _shares(e)
    first, sides = _sides(e, split)
    depth = below(int64(node.depth))
    lower = int64(NONE)
    upper = int64(NONE)
    some = False
    for side in range(sides):
        column, without = _side(e, split, first, side)
        if _is_empty(e, column, without):
            continue
        budget = _normal_budget(e, depth, budgets[side])
        low, high = _bounds_of_side(e, values, relaxed, column, without, depth, budget)
        lower = join(e, lower, low) if some else low
        upper = join(e, upper, high) if some else high
        some = True
    cost = cost_of_split(e, values, split)
    return join_cost(e, lower, cost), join_cost(e, upper, cost)


@inline
def _is_empty(e, column, without):  # type: ignore[no-untyped-def]
    """Whether a side is a category without rows."""
    return vector(e.ones, e.width, int64)[column] == 0 and without == 0


@native
def find_best(e, node, relaxed):  # type: ignore[no-untyped-def]
    """Makes the best split the node's, and notes the bounds of all where there is no budget to share."""
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    budgets = _shares(e)
    total = below(int64(node.budget))
    most = _most_below(e, node)
    for split in range(e.n_active + e.n_categorical):
        _, sides = _sides(e, split)
        if sides == 0:
            values[EDGE_LOWER, split] = INFINITE
            continue
        more = _first_share(budgets, sides, total, most)
        while more:
            lower, upper = _sum_bounds(e, values, relaxed, node, split)
            values[EDGE_LOWER, split] = lower
            values[EDGE_UPPER, split] = upper
            if upper < node.upper:
                node.upper = upper
                node.split = global_split(e, split)
                node.found = e.visits
                if total != UNLIMITED:
                    _write_plan(e, node, split)
            more = _next_share(budgets, sides, most) and not stopped(e)


@native
def _write_plan(e, node, split):  # type: ignore[no-untyped-def]
    """Notes how the sides of the node's best split share its budget."""
    if not has_plan(e, node):
        return
    budgets = _shares(e)
    children = children_of(e)
    first, sides = _sides(e, split)
    active = vector(e.active, e.width, int64)
    for side in range(sides):
        column, without = _side(e, split, first, side)
        child = children[node.plan + side]
        child.column = active[column]
        child.without = without
        child.budget = _normal_budget(e, below(int64(node.depth)), budgets[side])


@native
def list_edges(e, node, relaxed, since, writes):  # type: ignore[no-untyped-def]
    """(edges to keep, their children, the least lower bound of edges not kept), of lower bounds from `since` on.

    Edges of a lower bound below `since` were kept before. `writes`: those to keep are written behind them, and their
    children from e.child_at on; without, it ends early where the search is to stop.
    """
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    budgets = _shares(e)
    total = below(int64(node.budget))
    most = _most_below(e, node)
    n_edges = int64(0)
    n_children = int64(0)
    rest = int64(INFINITE)
    for split in range(e.n_active + e.n_categorical):
        _, sides = _sides(e, split)
        more = sides > 0 and _first_share(budgets, sides, total, most)
        while more:
            lower = values[EDGE_LOWER, split]
            upper = values[EDGE_UPPER, split]
            if total != UNLIMITED:
                lower, upper = _sum_bounds(e, values, relaxed, node, split)
            if since <= lower < node.upper:
                if lower >= e.asked_edges:
                    rest = min(rest, lower)
                else:
                    if writes:
                        edge = edges_of(e)[node.edges + node.n_edges + n_edges]
                        edge.lower = lower
                        edge.upper = upper
                        edge.split = global_split(e, split)
                        edge.cost = cost_of_split(e, values, split)
                        edge.children = e.child_at
                        edge.n_children = sides
                        _write_children(e, values, relaxed, node, split)
                    n_edges += 1
                    n_children += sides
            more = _next_share(budgets, sides, most) and (writes or not stopped(e))
    return n_edges, n_children, rest


@native
def _write_children(e, values, relaxed, node, split):  # type: ignore[no-untyped-def]
    """Writes the sides of a local split, sharing the budget as they do now, from e.child_at on."""
    active = vector(e.active, e.width, int64)
    children = children_of(e)
    budgets = _shares(e)
    depth = below(int64(node.depth))
    first, sides = _sides(e, split)
    for side in range(sides):
        column, without = _side(e, split, first, side)
        budget = _normal_budget(e, depth, budgets[side])
        low, high = int64(0), int64(0)
        if not _is_empty(e, column, without):
            low, high = _bounds_of_side(e, values, relaxed, column, without, depth, budget)
        child = children[e.child_at]
        child.lower = low
        child.upper = high
        child.node = EMPTY if _is_empty(e, column, without) else NONE
        child.budget = budget
        child.column = active[column]
        child.without = without
        e.child_at += 1
