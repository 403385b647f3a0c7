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
from streed.kernels.ordered.record import INFEASIBLE, NEW, ROW, SPLITS
from streed.kernels.views import matrix, native, vector
from streed.ordered.nodes import Node, ordered_of, rows_of


@native
def ask_columns(e, node, ordered):  # type: ignore[no-untyped-def]
    """Asks about the rows and columns of a node, of which so many are ordered."""
    e.asked_orders = node.orders
    e.asked_rows = node.n
    e.asked_columns = ordered
    e.asked_categories = node.columns - ordered
    e.asked_fan = -1


@native
def find_stump(e):  # type: ignore[no-untyped-def]
    """Finds the best leaf for the asked rows, and their best single split, by what rows cost under each label."""
    n = e.asked_rows
    labels = e.labels
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
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
def find_best_stump(e, node, splits):  # type: ignore[no-untyped-def]
    """Finds the best leaf of a node and, if it may be split, its best single split."""
    if splits:
        ask_columns(e, node, ordered_of(e, node).columns)
    else:
        ask_columns(e, Node(node.orders, node.n, int64(0), node.ids), int64(0))
    if e.stump != 0:
        ask(e.stump, e)
    else:
        find_stump(e)
    if e.asked_categories > 0:
        improve_stump(e)


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
