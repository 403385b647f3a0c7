"""Lower bounds of both sides of every threshold of a node, by what is known of other row sets.

They are kept in two arrays (F, n + 1), of the left and of the right sides, by position. Let a threshold be solved, so
that its sides A and B are known to cost at least vA and vB. For a side D of any other threshold of any column

    opt(D) >= opt(D and A) >= opt(A) - w(A without D)

and likewise with B: running sums of worst costs along each column's order bound every side in one pass. The first step
needs that a tree stays feasible on fewer rows; where it does not, D must be a subset of A. Without worst costs, D must
be a superset of A. The node itself is the case where A is all of it.

Where the number of splits is limited and the sides have different shares of it, vA bounds trees of A's share, and says
nothing of sides that have a larger one: `cross_left` is vB if it bounds left sides, `cross_right` is vA if it bounds
right sides, and UNKNOWN otherwise.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.kernels.ordered.record import INFEASIBLE, NEW, ROW
from streed.kernels.views import matrix, native, vector

UNKNOWN = -(2**60)
"""Below every bound."""


@native
def bound_by_node(e, orders, n, columns, value, total, left, right):  # type: ignore[no-untyped-def]
    """Sets the bounds of all sides: opt(side) >= value - worst costs of the other side, `value` <= opt(node).

    A tree for fewer rows serves more, so this needs worst costs (whose sum is `total`), and nothing else.
    """
    rows = matrix(orders, columns, n + 1, uint32)
    worst = vector(e.worst, e.rows, int64)
    for f in range(columns):
        passed = int64(0)
        for r in range(n):
            bound_left = e.least
            bound_right = e.least
            if e.bounded == 1:
                bound_left = max(bound_left, value - (total - passed))
                bound_right = max(bound_right, value - passed)
                passed += worst[int64(rows[f, r] & uint32(ROW))]
            left[f, r] = bound_left
            right[f, r] = bound_right


@native
def costs_by_label(e, orders, n):  # type: ignore[no-untyped-def]
    """(labels,) int64: what a leaf of each label costs for the rows of a node."""
    rows = matrix(orders, 1, n + 1, uint32)
    costs = matrix(e.leaf_costs, e.rows, e.labels, int64)
    found = np.zeros(e.labels, np.int64)
    for r in range(n):
        row = int64(rows[0, r] & uint32(ROW))
        for k in range(e.labels):
            found[k] += costs[row, k]
    return found


@native
def bound_by_leaves(e, orders, n, columns, total, left, right):  # type: ignore[no-untyped-def]
    """Raises the bounds of sides to what they cost as leaves, or to the price of a split, whichever is less.

    A side A that saves no more than the price of the split, opt(A) >= w(A) - price, is not worth it: the tree of the
    other side serves all rows for no more. Such splits, of which an optimum has no need, cost INFEASIBLE here.
    """
    rows = matrix(orders, columns, n + 1, uint32)
    worst = vector(e.worst, e.rows, int64)
    costs = matrix(e.leaf_costs, e.rows, e.labels, int64)
    everything = costs_by_label(e, orders, n)
    passed = np.zeros(e.labels, np.int64)
    price = e.split_cost
    for f in range(columns):
        passed[:] = 0
        served = int64(0)
        for r in range(n):
            entry = rows[f, r]
            if entry >= uint32(NEW):
                on_left = passed[0]
                on_right = everything[0] - passed[0]
                for k in range(1, e.labels):
                    on_left = min(on_left, passed[k])
                    on_right = min(on_right, everything[k] - passed[k])
                left[f, r] = max(left[f, r], min(on_left, e.least + price))
                right[f, r] = max(right[f, r], min(on_right, e.least + price))
                if served - left[f, r] <= price:
                    left[f, r] = INFEASIBLE
                if total - served - right[f, r] <= price:
                    right[f, r] = INFEASIBLE
            row = int64(entry & uint32(ROW))
            served += worst[row]
            for k in range(e.labels):
                passed[k] += costs[row, k]


@native
def push(  # type: ignore[no-untyped-def]
    e, orders, n, columns, side, value_a, value_b, cross_left, cross_right, worst_a, worst_b, left, right
):
    """Raises the bounds by those of the sides of one threshold; `side` (N,) is 1 for the rows of A, else 0."""
    rows = matrix(orders, columns, n + 1, uint32)
    worst = vector(e.worst, e.rows, int64)
    without_a = value_a - worst_a
    without_b = cross_left - worst_b
    for f in range(columns):
        a = int64(0)
        b = int64(0)
        for r in range(n):
            left[f, r] = max(left[f, r], without_a + a, without_b + b)
            right[f, r] = max(right[f, r], cross_right - a, value_b - b)
            row = int64(rows[f, r] & uint32(ROW))
            amount = worst[row]
            mine = amount & -int64(side[row])
            a += mine
            b += amount - mine


@native
def push_within(  # type: ignore[no-untyped-def]
    e, orders, n, columns, side, value_a, value_b, cross_left, cross_right, rows_a, worst_a, worst_b, left, right
):
    """As `push`, where trees do not serve fewer rows or worst costs are not known; A has `rows_a` rows."""
    rows = matrix(orders, columns, n + 1, uint32)
    worst = vector(e.worst, e.rows, int64)
    for f in range(columns):
        a = int64(0)
        b = int64(0)
        n_a = int64(0)
        for r in range(n):
            n_b = r - n_a
            if e.bounded == 1:
                if n_b == 0:
                    left[f, r] = max(left[f, r], value_a - (worst_a - a))
                if n_a == 0:
                    left[f, r] = max(left[f, r], cross_left - (worst_b - b))
                if n_b == n - rows_a:
                    right[f, r] = max(right[f, r], cross_right - a)
                if n_a == rows_a:
                    right[f, r] = max(right[f, r], value_b - b)
            if e.restrictable == 1:
                if n_a == rows_a:
                    left[f, r] = max(left[f, r], value_a)
                if n_b == n - rows_a:
                    left[f, r] = max(left[f, r], cross_left)
                if n_a == 0:
                    right[f, r] = max(right[f, r], cross_right)
                if n_b == 0:
                    right[f, r] = max(right[f, r], value_b)
            row = int64(rows[f, r] & uint32(ROW))
            if e.bounded == 1:
                a += worst[row] * int64(side[row])
                b += worst[row] * (1 - int64(side[row]))
            n_a += int64(side[row])


@native
def push_solved(  # type: ignore[no-untyped-def]
    e, orders, n, columns, side, f, t, bound_left, bound_right, left_splits, right_splits, total, left, right
):
    """Raises the bounds by those of both sides of a threshold, of which `side` (N,) is 1 for the rows left of it."""
    cross_left = bound_right if left_splits <= right_splits else int64(UNKNOWN)
    cross_right = bound_left if right_splits <= left_splits else int64(UNKNOWN)
    part = worst_of(e, orders, n, f, int64(0), t)
    rest = total - part
    if e.bounded == 1 and e.restrictable == 1:
        push(e, orders, n, columns, side, bound_left, bound_right, cross_left, cross_right, part, rest, left, right)
    else:
        push_within(
            e, orders, n, columns, side, bound_left, bound_right, cross_left, cross_right, t, part, rest, left, right
        )
    left[f, t] = max(left[f, t], bound_left)
    right[f, t] = max(right[f, t], bound_right)


@native
def lowest_run(orders, n, columns, left, right, limit, found):  # type: ignore[no-untyped-def]
    """The least bound of a threshold below `limit` (else `limit`); found: its run's column (-1: none), first and last.

    A run is a sequence of neighbouring thresholds, all of bounds below `limit`; of several the longest is found.
    """
    rows = matrix(orders, columns, n + 1, uint32)
    found[0] = -1
    best = int64(4 * INFEASIBLE)
    best_size = int64(0)
    for f in range(columns):
        first = int64(-1)
        last = int64(-1)
        least = int64(4 * INFEASIBLE)
        size = int64(0)
        for r in range(1, n + 1):
            bound = int64(4 * INFEASIBLE)
            if r < n:
                if rows[f, r] < uint32(NEW):
                    continue
                bound = left[f, r] + right[f, r]
            if bound < limit:
                first = r if first < 0 else first
                last = r
                size += 1
                least = min(least, bound)
            elif first >= 0:
                if least < best or (least == best and size > best_size):
                    best = least
                    best_size = size
                    found[0] = f
                    found[1] = first
                    found[2] = last
                first = int64(-1)
                size = int64(0)
                least = int64(4 * INFEASIBLE)
    return min(best, limit)


@native
def worst_of(e, orders, n, column, begin, end):  # type: ignore[no-untyped-def]
    """The worst costs of the rows at positions begin..end-1 of a column's order."""
    if e.bounded == 0:
        return int64(0)
    if e.uniform > 0:
        return e.uniform * (end - begin)
    rows = matrix(orders, column + 1, n + 1, uint32)
    worst = vector(e.worst, e.rows, int64)
    total = int64(0)
    for r in range(begin, end):
        total += worst[int64(rows[column, r] & uint32(ROW))]
    return total
