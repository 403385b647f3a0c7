"""Lower bounds of both sides of every threshold of a node, by what is known of other row sets.

They are kept in two arrays (F, n), of the left and of the right sides, by position. Let a threshold be solved, so that
its sides A and B are known to cost at least vA and vB. For a side D of any other threshold of any column

    opt(D) >= opt(D and A) >= opt(A) - w(A without D)

and likewise with B: running sums of worst costs along each column's order bound every side in one pass. The first step
needs that a tree stays feasible on fewer rows; where it does not, only the threshold itself is bounded. Without worst
costs, D must be a superset of A. The node itself is the case where A is all of it.

Where the number of splits is limited and the sides have different shares of it, vA bounds trees of A's share, and says
nothing of sides that have a larger one.

Where splits have a price, sides are bounded by the best stumps for them, too: a side costs what its best stump or leaf
does, or two prices at least. Only some thresholds are scored: what lies between two scored ones is bounded by both
(`intervals.py`), and the search goes on where one of them can be closed and the other cannot, up to where they meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint32

from streed.kernels.ordered import INFEASIBLE, NEW, ROW, SPLITS, nearest_position
from streed.kernels.views import matrix, native, vector
from streed.ordered.cache import is_stopped, ordered_of, rows_of
from streed.ordered.depth_two import score_splits, sides_of
from streed.ordered.intervals import ask_columns, sum_costs

UNKNOWN = -(2**60)
"""Below every bound."""


class Part(NamedTuple):
    """A side of a threshold whose sides were solved."""

    value: Any
    """What it costs at least."""
    cross: Any
    """Likewise, if that bounds sides on the other side of their thresholds; else UNKNOWN."""
    worst: Any
    """Its worst costs."""
    n: Any


@native
def bound_by_node(e, node, value, total, room):  # type: ignore[no-untyped-def]
    """Sets the bounds of all sides: opt(side) >= value - worst costs of the other side, `value` <= opt(node).

    A tree for fewer rows serves more, so this needs worst costs (whose sum is `total`), and nothing else.
    """
    rows = rows_of(node, node.columns)
    worst = vector(e.worst, e.rows, int64)
    for f in range(node.columns):
        passed = int64(0)
        for r in range(node.n):
            bound_left = bound_right = e.least
            if e.bounded == 1:
                bound_left = max(bound_left, value - (total - passed))
                bound_right = max(bound_right, value - passed)
                passed += worst[int64(rows[f, r] & uint32(ROW))]
            room.left[f, r] = bound_left
            room.right[f, r] = bound_right


@native
def bound_by_leaves(e, node, total, room):  # type: ignore[no-untyped-def]
    """Raises the bounds of sides to what they cost as leaves, or to the price of a split, whichever is less.

    A side A that saves no more than the price of the split, opt(A) >= w(A) - price, is not worth it: the tree of the
    other side serves all rows for no more. Such splits, of which an optimum has no need, cost INFEASIBLE here.
    """
    rows = rows_of(node, node.columns)
    worst = vector(e.worst, e.rows, int64)
    costs = matrix(e.leaf_costs, e.rows, e.labels, int64)
    everything = sum_costs(e, node)
    passed = np.zeros(e.labels, np.int64)
    price = e.split_cost
    left = room.left
    right = room.right
    for f in range(node.columns):
        passed[:] = 0
        served = int64(0)
        for r in range(node.n):
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
def push(e, node, a, b, room):  # type: ignore[no-untyped-def]
    """Raises the bounds by those of the sides of one threshold; room.side is 1 for the rows of A, else 0."""
    rows = rows_of(node, node.columns)
    worst = vector(e.worst, e.rows, int64)
    left = room.left
    right = room.right
    side = room.side
    without_a = a.value - a.worst
    without_b = b.cross - b.worst
    for f in range(node.columns):
        in_a = in_b = int64(0)
        for r in range(node.n):
            left[f, r] = max(left[f, r], without_a + in_a, without_b + in_b)
            right[f, r] = max(right[f, r], a.cross - in_a, b.value - in_b)
            row = int64(rows[f, r] & uint32(ROW))
            amount = worst[row]
            mine = amount & -int64(side[row])
            in_a += mine
            in_b += amount - mine


@native
def push_within(e, node, a, b, room):  # type: ignore[no-untyped-def]
    """As `push`, where worst costs are not known: only of sides that have all rows of A, or of B."""
    rows = rows_of(node, node.columns)
    left = room.left
    right = room.right
    for f in range(node.columns):
        n_a = int64(0)
        for r in range(node.n):
            n_b = r - n_a
            if n_a == a.n:
                left[f, r] = max(left[f, r], a.value)
            if n_b == b.n:
                left[f, r] = max(left[f, r], b.cross)
            if n_a == 0:
                right[f, r] = max(right[f, r], a.cross)
            if n_b == 0:
                right[f, r] = max(right[f, r], b.value)
            n_a += int64(room.side[int64(rows[f, r] & uint32(ROW))])


@native
def push_solved(e, node, f, t, shares, values, room):  # type: ignore[no-untyped-def]
    """Raises the bounds by those of both sides of a threshold, of which room.side is 1 for the rows left of it.

    `shares`: splits of the left and the right side; `values`: what they cost at least.
    """
    cross = values[0] if shares[1] <= shares[0] else int64(UNKNOWN)
    a = Part(values[0], cross, worst_of(e, node, f, int64(0), t), t)
    cross = values[1] if shares[0] <= shares[1] else int64(UNKNOWN)
    b = Part(values[1], cross, worst_of(e, node, f, t, node.n), node.n - t)
    if e.restrictable == 1 and e.bounded == 1:
        push(e, node, a, b, room)
    elif e.restrictable == 1:
        push_within(e, node, a, b, room)
    room.left[f, t] = max(room.left[f, t], values[0])
    room.right[f, t] = max(room.right[f, t], values[1])


@native
def lowest_run(node, room, limit, found):  # type: ignore[no-untyped-def]
    """The least bound of a threshold below `limit` (else `limit`); found: its run's column (-1: none), first and last.

    A run is a sequence of neighbouring thresholds, all of bounds below `limit`; of several the longest is found.
    """
    rows = rows_of(node, node.columns)
    n = node.n
    found[0] = -1
    best = int64(4 * INFEASIBLE)
    best_size = int64(0)
    for f in range(node.columns):
        first = last = int64(-1)
        least = int64(4 * INFEASIBLE)
        size = int64(0)
        for r in range(1, n + 1):
            bound = int64(4 * INFEASIBLE)
            if r < n:
                if rows[f, r] < uint32(NEW):
                    continue
                bound = room.left[f, r] + room.right[f, r]
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
def end_of_leaf(e, node, run, middle, room):  # type: ignore[no-untyped-def]
    """Which threshold of a run to solve: where its best one has a leaf on one side, the last of as cheap a leaf.

    The other side costs least there, so what it costs closes all of them. `run`: its column, first and last.
    """
    f, first, last = run
    rows = rows_of(node, f + 1)
    left = room.left[f]
    right = room.right[f]
    best = middle
    for r in range(first, last + 1):
        if rows[f, r] >= uint32(NEW) and left[r] + right[r] < left[best] + right[best]:
            best = r
    most = e.least + e.split_cost
    on_left = left[best] < most and left[best] <= right[best]
    if not on_left and right[best] >= most:
        return middle
    found = best
    leaf = left if on_left else right
    step = 1 if on_left else -1
    r = best
    while first <= r <= last and leaf[r] <= leaf[best]:
        found = r if rows[f, r] >= uint32(NEW) else found
        r += step
    return found


@native
def worst_of(e, node, column, begin, end):  # type: ignore[no-untyped-def]
    """The worst costs of the rows at positions begin..end-1 of a column's order."""
    if e.bounded == 0:
        return int64(0)
    if e.uniform > 0:
        return e.uniform * (end - begin)
    rows = rows_of(node, column + 1)
    worst = vector(e.worst, e.rows, int64)
    total = int64(0)
    for r in range(begin, end):
        total += worst[int64(rows[column, r] & uint32(ROW))]
    return total


_WORDS = 5

_ROUNDS = 10
"""Times that the splits between those of before are scored at most."""


@native
def bound_by_stumps(e, node, limit, room):  # type: ignore[no-untyped-def]
    """Raises the bounds by the best stumps; `limit`: what both sides together may cost less than.

    Needs worst costs, and leaves of single rows.
    """
    ordered = ordered_of(e, node)
    columns = ordered.columns
    # intervals that may have thresholds to close: column, both ends, and 1 for an end that is closed
    space = 4 * columns + 4 * SPLITS
    now = np.zeros((space, _WORDS), np.int64)
    later = np.empty((space, _WORDS), np.int64)
    taken = np.empty(SPLITS, np.int64)
    for f in range(columns):
        now[f, 0] = f
        now[f, 2] = node.n
    size = columns
    ask_columns(e, node, columns)
    for _ in range(_ROUNDS):
        found = at = int64(0)
        while at < size:
            at = ask_open(e, ordered, now, (at, size), limit, room, taken)
            if e.asked_splits == 0:
                continue
            if is_stopped(e):
                return
            score_splits(e)
            found = spread_scored(e, ordered, now, taken, limit, room, later, found)
        now, later = later, now
        size = found
        if size == 0:
            break


@native
def ask_open(e, node, intervals, part, limit, room, taken):  # type: ignore[no-untyped-def]
    """Asks for the middle of what some intervals leave open, which are `taken`; the number of the first of the rest."""
    columns = vector(e.split_columns, SPLITS, int64)
    positions = vector(e.split_positions, SPLITS, int64)
    rows = rows_of(node, node.columns)
    at, size = part
    splits = int64(0)
    while at < size and splits < SPLITS:
        f = intervals[at, 0]
        first = last = int64(0)
        for t in range(intervals[at, 1] + 1, intervals[at, 2]):
            if rows[f, t] >= uint32(NEW) and room.left[f, t] + room.right[f, t] < limit:
                last = t
                first = t if first == 0 else first
        if first > 0:
            columns[splits] = f
            positions[splits] = nearest_position(rows[f], (first + last) >> 1, first, last)
            taken[splits] = at
            splits += 1
        at += 1
    e.asked_splits = splits
    return at


@native
def spread_scored(e, node, intervals, taken, limit, room, later, found):  # type: ignore[no-untyped-def]
    """Raises the bounds by the scored splits; how many intervals are to be looked at later, of which some are new."""
    positions = vector(e.split_positions, SPLITS, int64)
    most = e.least + 2 * e.split_cost
    for l in range(e.asked_splits):
        interval = intervals[taken[l]]
        f = interval[0]
        t = positions[l]
        a, b = sides_of(e, l, (int64(1), int64(1)))
        spread(e, node, interval, t, (min(most, a), min(most, b)), room)
        is_open = room.left[f, t] + room.right[f, t] < limit
        for part in range(2):
            begin = interval[1] if part == 0 else t
            end = t if part == 0 else interval[2]
            beyond = interval[3 + part]
            # an open threshold beside the end of an interval, or two open ones, have nothing to tell
            if (is_open and beyond == 0) or found >= len(later) or end - begin < 3:
                continue
            later[found, 0] = f
            later[found, 1] = begin
            later[found, 2] = end
            later[found, 3 + part] = beyond
            later[found, 4 - part] = 0 if is_open else 1
            found += 1
    return found


@native
def spread(e, node, interval, t, values, room):  # type: ignore[no-untyped-def]
    """Raises the bounds of the thresholds of an interval, where the sides of t cost at least so much."""
    f = interval[0]
    left = room.left
    right = room.right
    rows = rows_of(node, f + 1)
    worst = vector(e.worst, e.rows, int64)
    for r in range(t, interval[2]):
        left[f, r] = max(left[f, r], values[0])
    for r in range(interval[1], t + 1):
        right[f, r] = max(right[f, r], values[1])
    here = values[0]
    for r in range(t - 1, interval[1], -1):
        here -= worst[int64(rows[f, r] & uint32(ROW))]
        if here <= e.least:
            break
        left[f, r] = max(left[f, r], here)
    here = values[1]
    for r in range(t + 1, interval[2]):
        here -= worst[int64(rows[f, r - 1] & uint32(ROW))]
        if here <= e.least:
            break
        right[f, r] = max(right[f, r], here)
