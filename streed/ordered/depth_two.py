"""Depth two: the best split of a node whose sides are stumps or leaves, best first over intervals of thresholds.

score some splits of every column
while the interval with the least bound may hold a better split:
    take intervals from the heap, and from each some thresholds that its bounds leave open, 32 in all
    score these splits at once                          (scores.py: one pass over the rows of each column)
    put what lies between them back, unless it is bounded out       (intervals.py)

What is known on the way is in the record: the heap's size, the best split and its cost (`two_upper`), and the least
bound of what was left out (`two_pruned`).
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.kernels.ordered import (
    BEGIN,
    BEGIN_LEFT,
    BEGIN_RIGHT,
    COLUMN,
    END,
    END_LEFT,
    END_RIGHT,
    INFEASIBLE,
    INTERVAL,
    KEY,
    NEW,
    SPLITS,
    nearest_position,
)
from streed.kernels.simd import add_atomic
from streed.kernels.stopping import NODES
from streed.kernels.views import call, inline, native, vector
from streed.ordered.cache import append_entry, asked, begin_plan, is_stopped, ordered_of, rank_of, rows_of, solve_by
from streed.ordered.intervals import (
    ask_columns,
    bound_between,
    count_values,
    find_best_stump,
    heap_of,
    improve_stumps,
    pop,
    push,
    sum_worst,
    trim,
    worst_before,
)

_PARTS = 6
"""Thresholds that are taken from one interval at most, unless little memory is left."""


@native
def score_splits(e):  # type: ignore[no-untyped-def]
    """Scores the asked splits."""
    call(e.score, e)
    if e.asked_categories > 0:
        improve_stumps(e)
    e.splits += e.asked_splits
    e.work += e.asked_rows * e.asked_columns
    add_atomic(vector(e.control, NODES + 1, int64), NODES, e.asked_splits)


@native
def score_both(e, depths, bounds):  # type: ignore[no-untyped-def]
    """Scores the asked splits, and writes what bounds others to int64 (2, SPLITS + 1): what sides of these depths cost.

    Behind them is what the right side of the first split would cost on the left. Where leaves need several rows, all
    that is written is of leaves of any size.
    """
    needed = e.min_leaf
    if e.relaxing == 1:
        e.min_leaf = 1
    score_splits(e)
    for l in range(e.asked_splits):
        bounds[0, l], bounds[1, l] = sides_of(e, l, depths)
    bounds[0, SPLITS] = sides_of(e, int64(0), (depths[1], depths[0]))[1]
    if e.relaxing == 1:
        e.min_leaf = needed
        score_splits(e)


@inline
def sides_of(e, l, depths):  # type: ignore[no-untyped-def]
    """What both sides of a scored split cost, at depths of 0 or 1."""
    left = vector(e.leaf_left, SPLITS, int64)[l]
    right = vector(e.leaf_right, SPLITS, int64)[l]
    if depths[0] > 0:
        left = min(left, vector(e.stump_left, SPLITS, int64)[l] + e.split_cost)
    if depths[1] > 0:
        right = min(right, vector(e.stump_right, SPLITS, int64)[l] + e.split_cost)
    return left, right


@native
def take_best(e, depths, first, bounds):  # type: ignore[no-untyped-def]
    """Takes the best of the scored splits, from a number on, if it is better than the best so far."""
    best = e.two_upper - e.split_cost
    found = int64(-1)
    for l in range(first, e.asked_splits):
        cost = bounds[0, l] + bounds[1, l]
        if e.relaxing == 1:
            left, right = sides_of(e, l, depths)
            cost = left + right
        if cost < best:
            best = cost
            found = l
    if found >= 0:
        e.two_upper = best + e.split_cost
        e.found_column = vector(e.split_columns, SPLITS, int64)[found]
        e.found_position = vector(e.split_positions, SPLITS, int64)[found]


@native
def score_fan(e, node, column):  # type: ignore[no-untyped-def]
    """What a categorical column of the asked node costs as the first split, without its price, above stumps."""
    values = count_values(node, column)
    total = int64(0)
    e.asked_fan = column
    for first in range(0, values, SPLITS):
        e.asked_first = first
        e.asked_splits = min(SPLITS, values - first)
        score_splits(e)
        for l in range(e.asked_splits):
            total += sides_of(e, l, (int64(1), int64(1)))[0]
    e.asked_fan = -1
    return total


@inline
def ask_split(e, column, position):  # type: ignore[no-untyped-def]
    """Asks for one more split, if there is a lane for it."""
    if e.asked_splits < SPLITS:
        vector(e.split_columns, SPLITS, int64)[e.asked_splits] = column
        vector(e.split_positions, SPLITS, int64)[e.asked_splits] = position
        e.asked_splits += 1


@native
def ask_within(e, node, column, ends, parts, crowded):  # type: ignore[no-untyped-def]
    """Asks for so many thresholds from one position to another, of all of them if `crowded`."""
    first, last = ends
    rows = rows_of(node, column + 1)
    if crowded:
        for at in range(first, last + 1):
            if rows[column, at] >= uint32(NEW):
                ask_split(e, column, at)
        return
    before = int64(0)
    for j in range(parts if first <= last else 0):
        near = first + (last - first) * (j + 1) // (parts + 1) if parts > 1 else (first + last) >> 1
        at = nearest_position(rows[column], near, first, last)
        if at > before:
            ask_split(e, column, at)
            before = at


@native
def keep_parts(e, prefix, interval, splits, bounds, limit, crowded):  # type: ignore[no-untyped-def]
    """Adds what lies between splits, from one to before another, of an interval, if it may cost less than the limit.

    If `crowded`, all thresholds between two splits were taken, too.
    """
    positions = vector(e.split_positions, SPLITS, int64)
    first, last = splits
    begin = interval[BEGIN]
    before = (interval[BEGIN_LEFT], interval[BEGIN_RIGHT])
    for l in range(first, last + 1):
        end = interval[END]
        behind = (interval[END_LEFT], interval[END_RIGHT])
        if l < last:
            end = positions[l]
            behind = (bounds[0, l], bounds[1, l])
        if (l == last or not crowded) and end - begin > 1:
            column, width = interval[COLUMN], int64(0)
            if e.bounded == 1:
                width = worst_before(e, prefix, column, end) - worst_before(e, prefix, column, begin)
            bound = bound_between(e, (before[0], before[1], behind[0], behind[1]), width)
            if bound >= limit:
                e.two_pruned = min(e.two_pruned, bound + e.split_cost)
            else:
                push(e, (bound, column, begin, end, before[0], before[1], behind[0], behind[1]))
        begin = end
        before = behind


@native
def keep_all(e, prefix, node, bounds, limit):  # type: ignore[no-untyped-def]
    """Adds what lies between the first splits of every column."""
    columns = vector(e.split_columns, SPLITS, int64)
    interval = np.zeros(INTERVAL, np.int64)
    interval[END] = node.n
    interval[BEGIN_LEFT] = interval[END_RIGHT] = e.least
    interval[BEGIN_RIGHT], interval[END_LEFT] = bounds[1, 0], bounds[0, SPLITS]
    first = int64(1)
    for f in range(node.columns):
        interval[COLUMN] = f
        last = first
        while last < e.asked_splits and columns[last] == f:
            last += 1
        keep_parts(e, prefix, interval, (first, last), bounds, limit, False)
        first = last


@native
def ask_best(e, node, prefix, limit, intervals, firsts, crowded):  # type: ignore[no-untyped-def]
    """Asks for thresholds of the best intervals, which leave the heap; how many of these have some.

    `intervals` int64 (SPLITS, INTERVAL) is what they were, `firsts` (SPLITS + 1,) where the splits of each begin.
    """
    heap = heap_of(e)
    parts = SPLITS if crowded else max(1, min(_PARTS, SPLITS // e.heap_size))
    taken = int64(0)
    e.asked_splits = 0
    firsts[0] = 0
    while e.heap_size > 0 and e.asked_splits + parts <= SPLITS and heap[0, KEY] < limit:
        interval = intervals[taken]
        pop(e, interval)
        e.two_pruned = min(e.two_pruned, limit + e.split_cost)
        ask_within(e, node, interval[COLUMN], trim(e, prefix, interval, limit), parts, crowded)
        taken += int64(e.asked_splits > firsts[taken])
        firsts[taken] = e.asked_splits
    return taken


@native
def search_intervals(e, node, prefix, depths, bounds, budget, lower):  # type: ignore[no-untyped-def]
    """Whether the search of all intervals was stopped."""
    heap = heap_of(e)
    price = e.split_cost
    firsts = np.empty(SPLITS + 1, np.int64)
    intervals = np.empty((SPLITS, INTERVAL), np.int64)
    while e.heap_size > 0:
        if is_stopped(e):
            return True
        limit = min(e.two_upper, budget) - price
        if heap[0, KEY] >= limit or e.two_upper <= lower:
            e.two_pruned = min(e.two_pruned, heap[0, KEY] + price)
            return False
        # with little memory left, an interval is searched to its end, threshold after threshold
        crowded = e.heap_size + 2 * SPLITS + _PARTS > e.heap_space
        taken = ask_best(e, node, prefix, limit, intervals, firsts, crowded)
        if e.asked_splits > 0:
            score_both(e, depths, bounds)
            take_best(e, depths, int64(0), bounds)
            limit = min(e.two_upper, budget) - price
            for i in range(taken):
                keep_parts(e, prefix, intervals[i], (firsts[i], firsts[i + 1]), bounds, limit, crowded)
    return False


@native
def solve_two(e, node, depths, budget, lower):  # type: ignore[no-untyped-def]
    """(lower, upper) of the node's trees with sides of these depths, 0 or 1, or without a split at the root.

    Exact if the optimum is below `budget`, and else `lower` is at least that; `lower` is a bound that is known. The
    best split is e.found_column and e.found_position; the column is -1 if the best tree is one of depth one or less.
    With categorical columns, both depths must be 1.
    """
    ordered = ordered_of(e, node)
    price = e.split_cost
    ask_columns(e, node, ordered.columns)
    prefix = sum_worst(e, ordered)
    # some thresholds of every column, behind a split that has all rows on the right
    e.asked_splits = 0
    ask_split(e, int64(0), int64(0))
    for f in range(min(ordered.columns, SPLITS - 1)):
        ask_within(e, ordered, f, (int64(1), node.n - 1), max(1, (SPLITS - 1) // ordered.columns), False)
    bounds = np.empty((2, SPLITS + 1), np.int64)
    score_both(e, depths, bounds)
    e.two_upper = sides_of(e, int64(0), (int64(1), int64(1)))[1]
    e.two_pruned = INFEASIBLE
    e.found_column = -1
    e.found_position = 0
    e.heap_size = 0
    take_best(e, depths, int64(1), bounds)
    asked = e.asked_splits
    for g in range(ordered.columns, node.columns):
        cost = score_fan(e, node, g) + price
        e.two_pruned = min(e.two_pruned, cost)
        if cost < e.two_upper:
            e.two_upper = cost
            e.found_column = g
            e.found_position = 0
    e.asked_splits = asked
    keep_all(e, prefix, ordered, bounds, min(e.two_upper, budget) - price)
    stopped = search_intervals(e, ordered, prefix, depths, bounds, budget, lower)
    upper = e.two_upper
    pruned = e.two_pruned
    if stopped:
        for i in range(e.heap_size):
            pruned = min(pruned, heap_of(e)[i, KEY] + price)
        return max(lower, min(upper, pruned)), upper
    if upper <= max(budget, lower):
        return upper, upper
    return max(lower, min(upper, max(budget, pruned))), upper


@native
def plan_two(e, node, depths, plan):  # type: ignore[no-untyped-def]
    """Writes the plan of the tree that `solve_two` found."""
    column = e.found_column
    if column < 0:
        begin_plan(plan, int64(-1), int64(1), int64(0))
    elif node.ids[column] >= e.ordered:
        values = count_values(node, column)
        begin_plan(plan, node.ids[column], int64(-1), values)
        for _ in range(values):
            append_entry(plan, int64(-1), int64(1), int64(0))
    else:
        begin_plan(plan, node.ids[column], rank_of(e, node, column, e.found_position), int64(0))
        append_entry(plan, int64(-1), depths[0], int64(0))
        append_entry(plan, int64(-1), depths[1], int64(0))


@inline
def solve_shallow(e, node, depth, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """`solve` (branch.py) for a depth of at most two, by a kernel of its own."""
    return solve_by(e, e.shallow, node, depth, splits, budget, lower, plan)


@native
def solve_asked(e):  # type: ignore[no-untyped-def]
    """Solves the node that `solve_shallow` asks about."""
    node, plan = asked(e)
    e.node_lower, e.node_upper = _solve(e, node, e.node_depth, e.node_splits, e.node_budget, e.node_lower, plan)


@native
def _solve(e, node, depth, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """(lower, upper) of the node's trees of a depth of at most two, of which it plans the best."""
    one = int64(1)
    none = int64(0)
    if depth <= 1 or node.columns == 0:
        find_best_stump(e, node, depth == 1)
        cost = min(e.found_leaf, e.found_cost + e.split_cost)
        begin_plan(plan, int64(-1), one if depth >= 1 else none, none)
        return cost, cost
    if splits >= 3:
        found = solve_two(e, node, (one, one), budget, lower)
        plan_two(e, node, (one, one), plan)
        return found
    low, upper = solve_two(e, node, (none, one), budget, lower)
    plan_two(e, node, (none, one), plan)
    if upper <= lower:
        return upper, upper
    other_low, other = solve_two(e, node, (one, none), min(budget, upper), lower)
    if other < upper:
        plan_two(e, node, (one, none), plan)
    return max(lower, min(low, other_low)), min(upper, other)
