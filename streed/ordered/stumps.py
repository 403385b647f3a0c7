"""Bounds of the sides of a node's thresholds by the best stumps for them, where splits have a price.

A side costs what its best stump or leaf does, or two prices at least. Only some thresholds are scored: what lies
between two scored ones is bounded by both (`intervals.py`), and the search goes on where one of them can be closed and
the other cannot, up to where they meet.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.kernels.ordered.orders import nearest_position
from streed.kernels.ordered.record import NEW, ROW, SPLITS
from streed.kernels.views import matrix, native, vector
from streed.ordered.categories import ask_columns
from streed.ordered.depth_two import is_stopped, score_splits, side_cost

_WORDS = 5

_ROUNDS = 10
"""Times that the splits between those of before are scored at most."""


@native
def bound_by_stumps(e, orders, n, every, columns, limit, left, right):  # type: ignore[no-untyped-def]
    """Raises the bounds; `limit`: what both sides together may cost less than. Needs worst costs, and single rows.

    The first `columns` of the node's columns are ordered.
    """
    split_columns = vector(e.split_columns, SPLITS, int64)
    positions = vector(e.split_positions, SPLITS, int64)
    rows = matrix(orders, columns, n + 1, uint32)
    # intervals that may have thresholds to close: column, both ends, and 1 for an end that is closed
    space = 4 * columns + 4 * SPLITS
    now = np.zeros((space, _WORDS), np.int64)
    later = np.empty((space, _WORDS), np.int64)
    size = columns
    for f in range(columns):
        now[f, 0] = f
        now[f, 2] = n
    cap = e.least + 2 * e.split_cost
    leaf_left = vector(e.leaf_left, SPLITS, int64)
    leaf_right = vector(e.leaf_right, SPLITS, int64)
    stump_left = vector(e.stump_left, SPLITS, int64)
    stump_right = vector(e.stump_right, SPLITS, int64)
    ask_columns(e, orders, n, every, columns)
    taken = np.empty(SPLITS, np.int64)
    for _ in range(_ROUNDS):
        found = int64(0)
        at = int64(0)
        while at < size:
            splits = int64(0)
            while at < size and splits < SPLITS:
                f = now[at, 0]
                # what the interval leaves open
                first = int64(0)
                last = int64(0)
                for t in range(now[at, 1] + 1, now[at, 2]):
                    if rows[f, t] >= uint32(NEW) and left[f, t] + right[f, t] < limit:
                        last = t
                        first = t if first == 0 else first
                if first > 0:
                    split_columns[splits] = f
                    positions[splits] = nearest_position(rows[f], (first + last) >> 1, first, last)
                    taken[splits] = at
                    splits += 1
                at += 1
            if splits == 0:
                continue
            if is_stopped(e):
                return
            e.asked_splits = splits
            score_splits(e)
            for l in range(splits):
                i = taken[l]
                f = now[i, 0]
                t = positions[l]
                a = min(cap, side_cost(e, leaf_left[l], stump_left[l], int64(1)))
                b = min(cap, side_cost(e, leaf_right[l], stump_right[l], int64(1)))
                spread(e, orders, n, columns, f, now[i, 1], t, now[i, 2], a, b, left, right)
                is_open = left[f, t] + right[f, t] < limit
                for part in range(2):
                    begin = now[i, 1] if part == 0 else t
                    end = t if part == 0 else now[i, 2]
                    beyond = now[i, 3 + part]
                    # an open threshold beside the end of an interval, or two open ones, have nothing to tell
                    if (is_open and beyond == 0) or found >= space or end - begin < 3:
                        continue
                    later[found, 0] = f
                    later[found, 1] = begin
                    later[found, 2] = end
                    later[found, 3] = beyond if part == 0 else (0 if is_open else 1)
                    later[found, 4] = beyond if part == 1 else (0 if is_open else 1)
                    found += 1
        now, later = later, now
        size = found
        if size == 0:
            break


@native
def spread(e, orders, n, columns, f, begin, t, end, a, b, left, right):  # type: ignore[no-untyped-def]
    """Raises the bounds of a column's thresholds between begin and end: at t, the sides cost at least a and b."""
    rows = matrix(orders, columns, n + 1, uint32)
    worst = vector(e.worst, e.rows, int64)
    for r in range(t, end):
        left[f, r] = max(left[f, r], a)
    for r in range(begin, t + 1):
        right[f, r] = max(right[f, r], b)
    here = a
    for r in range(t - 1, begin, -1):
        here -= worst[int64(rows[f, r] & uint32(ROW))]
        if here <= e.least:
            break
        left[f, r] = max(left[f, r], here)
    here = b
    for r in range(t + 1, end):
        here -= worst[int64(rows[f, r - 1] & uint32(ROW))]
        if here <= e.least:
            break
        right[f, r] = max(right[f, r], here)
