"""Open intervals of thresholds of a node, the one with the least bound first, and what bounds the costs inside them.

D_t: the rows left of threshold t; L(t), R(t): the least costs of a side, at whatever depth; C(t) = L(t) + R(t); w: sums
of the rows' worst costs. For a < t < b (1: a tree for more rows serves fewer; 2: a tree for fewer rows serves more at
the price of the worst costs of the others):

    L(t) >= L(a)  and  R(t) >= R(b)                                (1)
    L(t) >= L(b) - w(t, b]  and  R(t) >= R(a) - w(a, t]            (2)

so that C(t) is at least L(a) + R(b), C(a) - w(a, t], C(b) - w(t, b], L(b) + R(a) - w(a, b], and, as the mean of all
four, (C(a) + C(b) - w(a, b]) / 2. Without worst costs, only L(a) + R(b) remains. Where leaves
need several rows, (1) fails; so L and R at the ends are the costs with leaves of any size, which are no larger, and for
which both hold. All of it holds for lower bounds in place of least costs, so for costs that were rounded down, if the
mean is as well.

Categorical columns have a split with a child for each value that the rows of a node have. They follow the ordered
columns of a node, in the order of their codes, so that the rows of a value stand together. As the second level below a
threshold they are scored beside the kernels' stumps; as the first level, each value is one of the 32 splits of a
kernel, whose left side are its rows. Deeper nodes solve every value in turn. A child without rows costs nothing.
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
    ROW,
    SPLITS,
)
from streed.kernels.views import call, copy_into, inline, matrix, native, vector
from streed.ordered.cache import Node, ordered_of, rows_of


@inline
def heap_of(e):  # type: ignore[no-untyped-def]
    """The heap of the record, (space, INTERVAL)."""
    return matrix(e.heap, e.heap_space, INTERVAL, int64)


@inline
def bound_between(e, costs, worst):  # type: ignore[no-untyped-def]
    """The least that both sides cost together for a threshold between two others; `costs`: L(a), R(a), L(b), R(b)."""
    begin_left, begin_right, end_left, end_right = costs
    bound = e.least + e.least
    shrinks = e.restrictable == 1 or e.relaxing == 1
    if shrinks:
        bound = max(bound, begin_left + end_right)
    if e.bounded == 1:
        bound = max(bound, end_left + begin_right - worst)
        if shrinks:
            bound = max(bound, (begin_left + begin_right + end_left + end_right - worst + e.whole) >> 1)
    return bound


@inline
def is_before(a, b):  # type: ignore[no-untyped-def]
    """Whether an interval is looked at before another: of equal bounds the longer one is."""
    return a[KEY] < b[KEY] or (a[KEY] == b[KEY] and a[END] - a[BEGIN] > b[END] - b[BEGIN])


@native
def push(e, interval):  # type: ignore[no-untyped-def]
    """Adds an interval, a tuple, to the heap, which has a place for it."""
    heap = heap_of(e)
    at = e.heap_size
    e.heap_size += 1
    while at > 0 and is_before(interval, heap[(at - 1) >> 1]):
        copy_into(heap[at], heap[(at - 1) >> 1])
        at = (at - 1) >> 1
    copy_into(heap[at], interval)


@native
def pop(e, taken):  # type: ignore[no-untyped-def]
    """Takes the first interval from the heap, and writes it."""
    heap = heap_of(e)
    copy_into(taken, heap[0])
    last = e.heap_size - 1
    e.heap_size = last
    at = int64(0)
    below = int64(1)
    while below < last:
        if below + 1 < last and is_before(heap[below + 1], heap[below]):
            below += 1
        if not is_before(heap[below], heap[last]):
            break
        copy_into(heap[at], heap[below])
        at = below
        below = 2 * at + 1
    copy_into(heap[at], heap[last])


@native
def sum_worst(e, node):  # type: ignore[no-untyped-def]
    """The worst costs before each position of each column, int64 (columns, n + 1), if they are not uniform."""
    prefix = matrix(e.prefix, max(node.columns, int64(1)), node.n + 1, int64)
    if e.uniform > 0 or e.bounded == 0:
        return prefix
    worst = vector(e.worst, e.rows, int64)
    rows = rows_of(node, node.columns)
    for f in range(node.columns):
        total = int64(0)
        prefix[f, 0] = 0
        for r in range(node.n):
            total += worst[int64(rows[f, r] & uint32(ROW))]
            prefix[f, r + 1] = total
    return prefix


@inline
def worst_before(e, prefix, column, position):  # type: ignore[no-untyped-def]
    """The worst costs of the first rows of a column's order."""
    return e.uniform * position if e.uniform > 0 else prefix[column, position]


@inline
def first_beyond(e, prefix, column, low, high, most):  # type: ignore[no-untyped-def]
    """The first position from `low` on before which worst costs are more than `most`; `high` if there is none."""
    while low < high:
        middle = (low + high) >> 1
        if worst_before(e, prefix, column, middle) > most:
            high = middle
        else:
            low = middle + 1
    return low


@native
def trim(e, prefix, interval, limit):  # type: ignore[no-untyped-def]
    """(first, last) positions of an interval whose sides may cost less than `limit` together, by C at its ends."""
    column = interval[COLUMN]
    begin = interval[BEGIN]
    end = interval[END]
    if e.bounded == 0 or (e.restrictable == 0 and e.relaxing == 0):
        return begin + 1, end - 1
    # C(a) - w(a, t] < limit and C(b) - w(t, b] < limit
    least = interval[BEGIN_LEFT] + interval[BEGIN_RIGHT] - limit + worst_before(e, prefix, column, begin)
    most = worst_before(e, prefix, column, end) - (interval[END_LEFT] + interval[END_RIGHT] - limit)
    first = first_beyond(e, prefix, column, begin + 1, end, least)
    return first, first_beyond(e, prefix, column, begin + 1, end, most - 1) - 1


@native
def ask_columns(e, node, ordered):  # type: ignore[no-untyped-def]
    """Asks about the rows and columns of a node, of which so many are ordered."""
    e.asked_orders = node.orders
    e.asked_rows = node.n
    e.asked_columns = ordered
    e.asked_categories = node.columns - ordered
    e.asked_fan = -1


@native
def sum_costs(e, node):  # type: ignore[no-untyped-def]
    """(K,) what the rows of a node cost together under each label."""
    rows = rows_of(node, int64(1))
    costs = matrix(e.leaf_costs, e.rows, e.labels, int64)
    found = np.zeros(e.labels, np.int64)
    for r in range(node.n):
        row = int64(rows[0, r] & uint32(ROW))
        for k in range(e.labels):
            found[k] += costs[row, k]
    return found


@native
def find_stump(e):  # type: ignore[no-untyped-def]
    """Finds the best leaf for the asked rows, and their best single split, by what rows cost under each label."""
    n = e.asked_rows
    labels = e.labels
    columns = e.asked_columns + e.asked_categories
    orders = matrix(e.asked_orders, max(columns, 1), n + 1, uint32)
    costs = matrix(e.leaf_costs, e.rows, labels, int64)
    copies = vector(e.copies, e.rows, int64)
    counts = e.min_leaf > 1
    totals = np.zeros(labels, np.int64)
    passed = np.zeros(labels, np.int64)
    size = int64(0)
    for r in range(n):
        row = int64(orders[0, r] & uint32(ROW))
        size += copies[row] if counts else int64(1)
        for k in range(labels):
            totals[k] += costs[row, k]
    e.found_leaf = totals.min() if size >= e.min_leaf else int64(INFEASIBLE)
    e.found_cost = INFEASIBLE
    e.found_column = -1
    for f in range(e.asked_columns):
        passed[:] = 0
        rows = int64(0)
        for r in range(n):
            entry = orders[f, r]
            row = int64(entry & uint32(ROW))
            if entry >= uint32(NEW) and (not counts or min(rows, size - rows) >= e.min_leaf):
                before = passed[0]
                behind = totals[0] - passed[0]
                for k in range(1, labels):
                    before = min(before, passed[k])
                    behind = min(behind, totals[k] - passed[k])
                if before + behind < e.found_cost:
                    e.found_cost = before + behind
                    e.found_column = f
                    e.found_position = r
            for k in range(labels):
                passed[k] += costs[row, k]
            rows += copies[row] if counts else int64(1)
    for g in range(e.asked_columns, columns):
        total = int64(0)
        passed[:] = 0
        for r in range(n + 1):
            if r == n or orders[g, r] >= uint32(NEW):
                total += passed.min()
                passed[:] = 0
            if r < n:
                row = int64(orders[g, r] & uint32(ROW))
                for k in range(labels):
                    passed[k] += costs[row, k]
        if total < e.found_cost:
            e.found_cost = total
            e.found_column = g


@native
def improve_stumps(e):  # type: ignore[no-untyped-def]
    """Takes the best categorical column in place of the best stumps of the sides of the scored splits, if it is better.

    The rows of the sides are told by the masks of the score.
    """
    n = e.asked_rows
    labels = e.labels
    columns = e.asked_columns + e.asked_categories
    orders = matrix(e.asked_orders, max(columns, 1), n + 1, uint32)
    mask = vector(e.mask, e.rows, uint32)
    costs = matrix(e.leaf_costs, e.rows, labels, int64)
    on_left = np.zeros((labels, SPLITS), np.int64)
    everything = np.zeros(labels, np.int64)
    totals = np.empty((2, SPLITS), np.int64)
    stump_left = vector(e.stump_left, SPLITS, int64)
    stump_right = vector(e.stump_right, SPLITS, int64)
    for g in range(e.asked_columns, columns):
        totals[:] = 0
        for r in range(n + 1):
            if r == n or orders[g, r] >= uint32(NEW):
                for l in range(SPLITS):
                    left = on_left[0, l]
                    right = everything[0] - left
                    for k in range(1, labels):
                        left = min(left, on_left[k, l])
                        right = min(right, everything[k] - on_left[k, l])
                    totals[0, l] += left
                    totals[1, l] += right
                on_left[:] = 0
                everything[:] = 0
            if r < n:
                row = int64(orders[g, r] & uint32(ROW))
                word = mask[row]
                for k in range(labels):
                    cost = costs[row, k]
                    everything[k] += cost
                    for l in range(SPLITS):
                        on_left[k, l] += cost * int64((word >> uint32(l)) & uint32(1))
        for l in range(e.asked_splits):
            stump_left[l] = min(stump_left[l], totals[0, l])
            stump_right[l] = min(stump_right[l], totals[1, l])


@native
def find_best_stump(e, node, splits):  # type: ignore[no-untyped-def]
    """Finds the best leaf of a node and, if it may be split, its best single split."""
    asked = node if splits else Node(node.orders, node.n, int64(0), node.ids)
    ask_columns(e, asked, ordered_of(e, asked).columns)
    if e.stump != 0:
        call(e.stump, e)
    else:
        find_stump(e)


@native
def count_values(node, column):  # type: ignore[no-untyped-def]
    """How many values of a column the rows of a node have."""
    rows = rows_of(node, column + 1)
    found = int64(1)
    for r in range(1, node.n):
        found += int64(rows[column, r] >> uint32(31))
    return found


@native
def end_of_value(node, column, begin):  # type: ignore[no-untyped-def]
    """Behind which position the rows of the value end whose first is at `begin`."""
    rows = rows_of(node, column + 1)
    end = begin + 1
    while end < node.n and rows[column, end] < uint32(NEW):
        end += 1
    return end
