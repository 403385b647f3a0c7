"""Categorical columns beside ordered ones: a split with a child for each value that the rows of a node have.

They follow the ordered columns of a node, in the order of their codes, so that the rows of a value stand together. As
the second level below a threshold they are scored beside the kernels' stumps; as the first level, each value is one of
the 32 splits of a kernel, whose left side are its rows. Deeper nodes solve every value in turn. A child without rows
costs nothing.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.kernels.ordered.pointers import ask
from streed.kernels.ordered.record import NEW, ROW, SPLITS
from streed.kernels.views import matrix, native, vector


@native
def count_ordered(e, names, columns):  # type: ignore[no-untyped-def]
    """How many of a node's columns are ordered."""
    found = columns
    while found > 0 and names[found - 1] >= e.ordered:
        found -= 1
    return found


@native
def ask_columns(e, orders, n, columns, ordered):  # type: ignore[no-untyped-def]
    """Asks about the rows and columns of a node, of which so many are ordered."""
    e.asked_orders = orders
    e.asked_rows = n
    e.asked_columns = ordered
    e.asked_categories = columns - ordered
    e.asked_fan = -1


@native
def improve_stump(e):  # type: ignore[no-untyped-def]
    """Takes the best categorical column in place of the best stump that was found, if it costs less."""
    n = e.asked_rows
    labels = e.labels
    columns = e.asked_columns + e.asked_categories
    orders = matrix(e.asked_orders, max(columns, 1), n + 1, uint32)
    costs = matrix(e.leaf_costs, e.rows, labels, int64)
    sums = np.zeros(labels, np.int64)
    for g in range(e.asked_columns, columns):
        total = int64(0)
        for r in range(n + 1):
            if r == n or orders[g, r] >= uint32(NEW):
                total += sums.min()
                sums[:] = 0
            if r < n:
                row = int64(orders[g, r] & uint32(ROW))
                for k in range(labels):
                    sums[k] += costs[row, k]
        if total < e.found_cost:
            e.found_cost = total
            e.found_column = g


@native
def improve_stumps(e):  # type: ignore[no-untyped-def]
    """Likewise for the stumps of both sides of the splits that were scored, whose masks are those of the score."""
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
def find_best_stump(e):  # type: ignore[no-untyped-def]
    """Finds the best single split of the asked rows, of ordered and categorical columns."""
    ask(e.stump, e)
    if e.asked_categories > 0:
        improve_stump(e)


@native
def count_values(orders, n, column):  # type: ignore[no-untyped-def]
    """How many values of a column the rows of a node have."""
    rows = matrix(orders, column + 1, n + 1, uint32)
    found = int64(1)
    for r in range(1, n):
        found += int64(rows[column, r] >> uint32(31))
    return found


@native
def end_of_value(orders, n, column, begin):  # type: ignore[no-untyped-def]
    """Behind which position the rows of the value end whose first is at `begin`."""
    rows = matrix(orders, column + 1, n + 1, uint32)
    end = begin + 1
    while end < n and rows[column, end] < uint32(NEW):
        end += 1
    return end


@native
def mark_value(e, orders, n, column, begin, end, side):  # type: ignore[no-untyped-def]
    """Writes 1 to `side` (N,) for the rows at these positions of a column, 0 for the others of the node."""
    rows = matrix(orders, column + 1, n + 1, uint32)
    for r in range(n):
        side[int64(rows[column, r] & uint32(ROW))] = 1 if begin <= r < end else 0
