"""Depth two: the best split of a node whose sides are stumps or leaves, best first over intervals of thresholds.

score some splits of every column
while the interval with the least bound may hold a better split:
    take intervals from the heap, and from each some thresholds that its bounds leave open, 32 in all
    score these splits at once                          (kernels/ordered: one pass over the rows of each column)
    put what lies between them back, unless it is bounded out       (intervals.py)
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.kernels.control import NODES, STOP
from streed.kernels.ordered.orders import nearest_position
from streed.kernels.ordered.pointers import ask
from streed.kernels.ordered.record import INFEASIBLE, NEW, ROW, SPLITS
from streed.kernels.simd import add_atomic, load_atomic
from streed.kernels.views import matrix, native, vector
from streed.ordered.categories import ask_columns, count_values, improve_stumps
from streed.ordered.intervals import bound_between, clear, heap_of, pop, push, trim, worst_before
from streed.ordered.layout import BEGIN, BEGIN_LEFT, BEGIN_RIGHT, COLUMN, END, END_LEFT, END_RIGHT, KEY

_PARTS = 6
"""Thresholds that are taken from one interval at most, unless little memory is left."""


@native
def is_stopped(e):  # type: ignore[no-untyped-def]
    """Whether the caller asked the search to stop."""
    return load_atomic(vector(e.control, STOP + 1, int64), STOP) != 0


@native
def side_cost(e, leaf, stump, depth):  # type: ignore[no-untyped-def]
    """What a side costs, at depth 0 or 1."""
    return leaf if depth == 0 else min(leaf, stump + e.split_cost)


@native
def score_splits(e):  # type: ignore[no-untyped-def]
    """Scores the asked splits."""
    ask(e.score, e)
    if e.asked_categories > 0:
        improve_stumps(e)
    e.batches += 1
    e.splits += e.asked_splits
    add_atomic(vector(e.control, NODES + 1, int64), NODES, e.asked_splits)


@native
def score_both(e, known):  # type: ignore[no-untyped-def]
    """Scores the asked splits, and writes what bounds others to `known` int64 (4, SPLITS): leaves, then stumps.

    That is what they cost, or, where leaves need several rows, what they would with leaves of any size.
    """
    if e.relaxing == 1:
        needed = e.min_leaf
        e.min_leaf = 1
        score_splits(e)
        copy_costs(e, known)
        e.min_leaf = needed
        score_splits(e)
    else:
        score_splits(e)
        copy_costs(e, known)


@native
def copy_costs(e, known):  # type: ignore[no-untyped-def]
    """Writes what leaves and stumps left and right of the scored splits cost to (4, SPLITS)."""
    leaf_left = vector(e.leaf_left, SPLITS, int64)
    leaf_right = vector(e.leaf_right, SPLITS, int64)
    stump_left = vector(e.stump_left, SPLITS, int64)
    stump_right = vector(e.stump_right, SPLITS, int64)
    for l in range(SPLITS):
        known[0, l], known[1, l] = leaf_left[l], leaf_right[l]
        known[2, l], known[3, l] = stump_left[l], stump_right[l]


@native
def score_fan(e, column):  # type: ignore[no-untyped-def]
    """What a categorical column of the asked node costs as the first split, without its price, above stumps."""
    leaf_left = vector(e.leaf_left, SPLITS, int64)
    stump_left = vector(e.stump_left, SPLITS, int64)
    values = count_values(e.asked_orders, e.asked_rows, column)
    total = int64(0)
    e.asked_fan = column
    for first in range(0, values, SPLITS):
        e.asked_first = first
        e.asked_splits = min(SPLITS, values - first)
        score_splits(e)
        for l in range(e.asked_splits):
            total += side_cost(e, leaf_left[l], stump_left[l], int64(1))
    e.asked_fan = -1
    return total


@native
def solve_two(e, orders, n, columns, ordered, left_depth, right_depth, budget, lower):  # type: ignore[no-untyped-def]
    """(lower, upper) of the node's trees with sides of these depths, 0 or 1, or without a split at the root.

    Exact if the optimum is below `budget`, and else `lower` is at least that; `lower` is a bound that is known. The
    best split is e.found_column and e.found_position; the column is -1 if the best tree is one of depth one or less.
    Of the columns the first `ordered` ones have thresholds; with others, both depths must be 1.
    """
    split_columns = vector(e.split_columns, SPLITS, int64)
    positions = vector(e.split_positions, SPLITS, int64)
    leaf_left = vector(e.leaf_left, SPLITS, int64)
    leaf_right = vector(e.leaf_right, SPLITS, int64)
    stump_left = vector(e.stump_left, SPLITS, int64)
    stump_right = vector(e.stump_right, SPLITS, int64)
    ask_columns(e, orders, n, columns, ordered)
    categories = columns - ordered
    columns = ordered
    rows = matrix(orders, max(columns, 1), n + 1, uint32)
    prefix = matrix(e.prefix, max(columns, 1), n + 1, int64)
    if e.uniform == 0 and e.bounded == 1:
        worst = vector(e.worst, e.rows, int64)
        for f in range(columns):
            total = int64(0)
            prefix[f, 0] = 0
            for r in range(n):
                total += worst[int64(rows[f, r] & uint32(ROW))]
                prefix[f, r + 1] = total
    # the first lane has all rows on the right, the others quantiles
    split_columns[0] = 0
    positions[0] = 0
    splits = int64(1)
    each = max(1, (SPLITS - 1) // max(columns, 1))
    for f in range(columns):
        before = int64(0)
        for j in range(each):
            if splits < SPLITS:
                at = nearest_position(rows[f], max(1, n * (j + 1) // (each + 1)), int64(1), n - 1)
                if at > before:
                    split_columns[splits] = f
                    positions[splits] = at
                    splits += 1
                    before = at
    e.asked_splits = splits
    known = np.empty((4, SPLITS), np.int64)
    score_both(e, known)
    price = e.split_cost
    whole_left = side_cost(e, known[1, 0], known[3, 0], left_depth)
    whole_right = side_cost(e, known[1, 0], known[3, 0], right_depth)
    upper = min(leaf_right[0], stump_right[0] + price)
    column = int64(-1)
    position = int64(0)
    heap = heap_of(e)
    space = e.heap_space
    size = int64(0)
    for l in range(1, splits):
        cost = side_cost(e, leaf_left[l], stump_left[l], left_depth)
        cost += side_cost(e, leaf_right[l], stump_right[l], right_depth) + price
        if cost < upper:
            upper = cost
            column = split_columns[l]
            position = positions[l]
    pruned = int64(INFEASIBLE)
    if categories > 0:
        for g in range(columns, columns + categories):
            cost = score_fan(e, g) + price
            pruned = min(pruned, cost)
            if cost < upper:
                upper = cost
                column = g
                position = int64(0)
    l = int64(1)
    for f in range(columns):
        begin = int64(0)
        begin_left = e.least
        begin_right = whole_right
        while begin < n:
            is_split = l < splits and split_columns[l] == f
            end = positions[l] if is_split else n
            end_left = side_cost(e, known[0, l], known[2, l], left_depth) if is_split else whole_left
            end_right = side_cost(e, known[1, l], known[3, l], right_depth) if is_split else e.least
            l += 1 if is_split else 0
            if end - begin > 1:
                width = int64(0)
                if e.bounded == 1:
                    width = worst_before(e, prefix, f, end) - worst_before(e, prefix, f, begin)
                bound = bound_between(e, begin_left, begin_right, end_left, end_right, width)
                if bound + price >= min(upper, budget):
                    pruned = min(pruned, bound + price)
                else:
                    push(heap, size, space, bound, f, begin, end, begin_left, begin_right, end_left, end_right)
                    size += 1
            begin = end
            begin_left = end_left
            begin_right = end_right
    places = np.empty(SPLITS, np.int64)
    intervals = np.empty((SPLITS, END_RIGHT + 1), np.int64)
    stopped = False
    while size > 0:
        if is_stopped(e):
            stopped = True
            break
        limit = min(upper, budget) - price
        if heap[KEY, 0] >= limit or upper <= lower:
            pruned = min(pruned, heap[KEY, 0] + price)
            break
        # with little memory left, an interval is searched to its end, threshold after threshold
        crowded = size + 2 * SPLITS + _PARTS > space
        parts = SPLITS if crowded else max(1, min(_PARTS, SPLITS // size))
        splits = 0
        taken = 0
        while size > 0 and splits + parts <= SPLITS and heap[KEY, 0] < limit:
            slot = pop(heap, size, space)
            size -= 1
            f = heap[COLUMN, slot]
            first, last = trim(e, prefix, heap, slot, limit)
            pruned = min(pruned, limit + price)
            for word in range(COLUMN, END_RIGHT + 1):
                intervals[taken, word] = heap[word, slot]
            count = splits
            if crowded:
                at = first
                while at <= last and splits < SPLITS:
                    if rows[f, at] >= uint32(NEW):
                        split_columns[splits] = f
                        positions[splits] = at
                        places[splits] = taken
                        splits += 1
                    at += 1
            elif first <= last:
                before = int64(0)
                for j in range(parts):
                    near = first + (last - first) * (j + 1) // (parts + 1) if parts > 1 else (first + last) >> 1
                    at = nearest_position(rows[f], near, first, last)
                    if at > before:
                        split_columns[splits] = f
                        positions[splits] = at
                        places[splits] = taken
                        splits += 1
                        before = at
            taken += 1 if splits > count else 0
        if splits == 0:
            continue
        e.asked_splits = splits
        score_both(e, known)
        for l in range(splits):
            cost = side_cost(e, leaf_left[l], stump_left[l], left_depth)
            cost += side_cost(e, leaf_right[l], stump_right[l], right_depth) + price
            if cost < upper:
                upper = cost
                column = split_columns[l]
                position = positions[l]
        limit = min(upper, budget) - price
        l = int64(0)
        for i in range(taken):
            f = intervals[i, COLUMN]
            begin = intervals[i, BEGIN]
            begin_left = intervals[i, BEGIN_LEFT]
            begin_right = intervals[i, BEGIN_RIGHT]
            while begin < intervals[i, END]:
                is_split = l < splits and places[l] == i
                end = positions[l] if is_split else intervals[i, END]
                end_left = intervals[i, END_LEFT]
                end_right = intervals[i, END_RIGHT]
                if is_split:
                    end_left = side_cost(e, known[0, l], known[2, l], left_depth)
                    end_right = side_cost(e, known[1, l], known[3, l], right_depth)
                    l += 1
                # all thresholds between two that were taken one after another are taken
                if end - begin > 1 and not (crowded and is_split):
                    width = int64(0)
                    if e.bounded == 1:
                        width = worst_before(e, prefix, f, end) - worst_before(e, prefix, f, begin)
                    bound = bound_between(e, begin_left, begin_right, end_left, end_right, width)
                    if bound >= limit:
                        pruned = min(pruned, bound + price)
                    else:
                        push(heap, size, space, bound, f, begin, end, begin_left, begin_right, end_left, end_right)
                        size += 1
                begin = end
                begin_left = end_left
                begin_right = end_right
    e.found_column = column
    e.found_position = position
    clear(heap, size, space)
    if stopped:
        for i in range(size):
            pruned = min(pruned, heap[KEY, i] + price)
        return max(lower, min(upper, pruned)), upper
    if upper <= max(budget, lower):
        return upper, upper
    return max(lower, min(upper, max(budget, pruned))), upper
