"""The heaviest conjunctions of literals, exactly: by branch and bound.

A literal is 2 f + v: column f has the value v. A conjunction keeps the rows that satisfy all of its literals, and
weighs what they weigh together; weights have any sign. Branch and bound enumerates sets of literals, each literal
followed by those behind it only (in order of what positive weight they keep), with these rules:

- a literal that removes no row of negative weight is of no use, and one that keeps too little can be in no answer;
- a literal that all positive rows satisfy only helps, and is taken at once (not where literals are limited in number,
  or rows must remain);
- rows that no remaining literal parts are one row, of the sum of their weights, which cancels positive against negative
  ones (Eckstein and Goldberg, An improved branch-and-bound method for maximum monomial agreement, 2012);
- where every literal that removes one row removes another one, too, the first is kept whenever the other one is: what
  negative rows weigh is set against the positive rows that bring them along (a flow), and what is left bounds all.

Rows are the literals that remove them (removing_literals.py).
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.removing_literals import flow, merge, planes_of, repack, take, weigh_removed
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import LONGEST, STOP
from streed.kernels.views import copy_into, native

NOTHING = -(1 << 62)
"""What no conjunction weighs."""

_LOOK = 63
"""A look at whether to stop, every so many nodes (a mask)."""

_PAIRS = 30_000
"""A node with more pairs of a negative and a positive row has no such flow made: it would take too long."""


@native
def store(values, literals, lengths, stored, value, path, length):  # type: ignore[no-untyped-def]
    """How many conjunctions are stored once this one is, in the place of the lightest one if there is no room."""
    at = stored
    if stored == len(values):
        at = int64(0)
        for j in range(1, stored):
            if values[j] < values[at]:
                at = j
        if values[at] >= value:
            return stored
    else:
        stored += 1
    values[at] = value
    lengths[at] = length
    for j in range(length):
        literals[at, j] = path[j]
    return stored


@native
def _sort(bits, keeps, n):  # type: ignore[no-untyped-def]
    """Sorts the first n bits by what they keep: by insertion, as they stand in the order of the node above."""
    for i in range(1, n):
        bit = bits[i]
        kept = keeps[i]
        k = i
        while k > 0 and keeps[k - 1] > kept:
            keeps[k] = keeps[k - 1]
            bits[k] = bits[k - 1]
            k -= 1
        keeps[k] = kept
        bits[k] = bit


@entry
def heaviest_conjunctions(  # type: ignore[no-untyped-def]
    masks,
    literals_allowed,
    weights,
    counts,
    least_rows,
    threshold,
    most_literals,
    node_limit,
    control,
    values,
    found,
    lengths,
):
    """(the largest weight seen, nodes, whether it ended, conjunctions stored).

    If it ended, none weighs more than the first answer or the threshold, whichever is larger. Of those above the
    threshold, such are stored as weigh more than any larger set of rows that the rules lead to; once there is no room
    for more, the lightest one stored is the threshold.

    masks (N, m) int8 are -1 where a row has a column, literals_allowed (2 m,) uint8, weights (N,) int32 whose sums fit,
    counts (N,) int64 the rows that each stands for. Answers in values (cap,), found (cap, LONGEST) and lengths (cap,).
    """
    n, m = masks.shape
    limited = most_literals < m or least_rows > 1
    most_literals = min(most_literals, LONGEST)
    deep = min(most_literals, m) + 2
    literals = np.empty((deep, 2 * m), np.int32)
    bits = np.empty((deep, 2 * m), np.int32)
    n_bits = np.zeros(deep, np.int64)
    for literal in range(2 * m):
        if literals_allowed[literal] == 1:
            literals[0, n_bits[0]] = literal
            bits[0, n_bits[0]] = n_bits[0]
            n_bits[0] += 1
    most_planes = max(1, (n_bits[0] + 63) // 64)
    planes = np.zeros((deep, most_planes, n), np.uint64)
    spare = np.empty((most_planes, n), np.uint64)
    spare_literals = np.empty(2 * m, np.int32)
    n_planes = np.zeros(deep, np.int64)
    live = np.zeros((deep, most_planes), np.uint64)
    own = np.empty((deep, n), np.int64)
    many = np.empty((deep, n), np.int64)
    n_rows = np.zeros(deep, np.int64)
    settled = np.zeros(deep, np.int64)
    rows_settled = np.zeros(deep, np.int64)
    keeps = np.empty((deep, 2 * m), np.int64)
    following = np.zeros(deep, np.int64)
    path = np.zeros((deep, LONGEST + 1), np.int32)
    length = np.zeros(deep, np.int64)
    missing = np.empty(n, np.uint64)
    left = np.empty(n, np.int64)
    size = 64
    while size < 4 * n:
        size *= 2
    stamps = np.zeros(size, np.int64)
    keys = np.zeros(size, np.uint64)
    at = np.zeros(size, np.int32)
    now = int64(0)
    rows = np.flatnonzero((weights != 0) | (least_rows > 1))
    n_rows[0] = len(rows)
    copy_into(own[0], weights[rows])
    copy_into(many[0], counts[rows])
    n_planes[0] = most_planes
    live[0] = ~uint64(0)
    planes_of(masks, literals[0], rows, n_bits[0], planes[0])
    best = int64(NOTHING)
    nodes = int64(0)
    stored = int64(0)
    complete = True
    entering = True
    d = 0
    while d >= 0:
        if entering:
            nodes += 1
            if nodes > node_limit or (nodes & _LOOK == 0 and load_atomic(control, STOP) != 0):
                complete = False
                break
            grown = True
            c = 0
            while True:
                now += 1
                n_rows[d], weight, count = merge(
                    planes[d], n_planes[d], own[d], many[d], n_rows[d], stamps, keys, at, now, least_rows <= 1
                )
                settled[d] += weight
                rows_settled[d] += count
                gain = settled[d]
                total = settled[d]
                count = rows_settled[d]
                for t in range(n_rows[d]):
                    gain += max(own[d, t], int64(0))
                    total += own[d, t]
                    count += many[d, t]
                if grown and count >= max(least_rows, 1):
                    best = max(best, total)
                    if total > threshold:
                        stored = store(values, found, lengths, stored, total, path[d], length[d])
                        if stored == len(values):
                            threshold = max(threshold, int64(values.min()))
                grown = False
                c = 0
                if gain <= threshold or (gain == total and least_rows <= 1) or count < least_rows:
                    break
                if length[d] >= most_literals:
                    if not limited or most_literals == LONGEST:
                        complete = False
                    break
                if total <= threshold:
                    negative_rows = int64(0)
                    for t in range(n_rows[d]):
                        negative_rows += own[d, t] < 0
                    if negative_rows * (n_rows[d] - negative_rows) <= _PAIRS:
                        surplus = gain - threshold
                        if flow(planes[d], n_planes[d], own[d], n_rows[d], surplus, spare, missing, left) >= surplus:
                            break
                dropped = False
                free = int64(-1)
                for j in range(n_bits[d]):
                    bit = bits[d, j]
                    lost, removed = weigh_removed(planes[d, bit >> 6], uint64(bit & 63), own[d], n_rows[d])
                    if removed == 0 or gain - lost <= threshold:
                        live[d, bit >> 6] &= ~(uint64(1) << uint64(bit & 63))
                        dropped = True
                        continue
                    if lost == 0 and not limited:
                        free = bit
                    bits[d, c] = bit
                    keeps[d, c] = gain - lost
                    c += 1
                n_bits[d] = c
                if c == 0:
                    break
                if (c + 63) // 64 < n_planes[d]:
                    if free >= 0:
                        for j in range(c):
                            if bits[d, j] == free:
                                free = j
                                break
                    n_planes[d] = repack(planes[d], n_rows[d], bits[d], literals[d], c, spare, spare_literals)
                    live[d] = ~uint64(0)
                    dropped = True
                if free >= 0:
                    path[d, length[d]] = literals[d, free]
                    length[d] += 1
                    live[d, free >> 6] &= ~(uint64(1) << uint64(free & 63))
                    n_rows[d], _ = take(
                        planes[d], n_planes[d], own[d], many[d], n_rows[d], free, live[d], planes[d], own[d], many[d]
                    )
                    behind = c
                    c = 0
                    for j in range(behind):
                        if bits[d, j] != free:
                            bits[d, c] = bits[d, j]
                            c += 1
                    n_bits[d] = c
                    grown = True
                elif dropped:
                    for k in range(n_planes[d]):
                        for t in range(n_rows[d]):
                            planes[d, k, t] &= live[d, k]
                else:
                    break
            _sort(bits[d], keeps[d], c)
            n_bits[d] = c
            following[d] = 0
            entering = False
        if following[d] < n_bits[d]:
            j = following[d]
            following[d] += 1
            bit = bits[d, j]
            live[d, bit >> 6] &= ~(uint64(1) << uint64(bit & 63))
            if keeps[d, j] <= threshold:
                continue
            n_rows[d + 1], most = take(
                planes[d], n_planes[d], own[d], many[d], n_rows[d], bit, live[d], planes[d + 1], own[d + 1], many[d + 1]
            )
            if settled[d] + most <= threshold:
                continue
            settled[d + 1] = settled[d]
            rows_settled[d + 1] = rows_settled[d]
            n_planes[d + 1] = n_planes[d]
            live[d + 1] = live[d]
            c = 0
            for k in range(j + 1, n_bits[d]):
                bits[d + 1, c] = bits[d, k]
                c += 1
            n_bits[d + 1] = c
            for k in range(min(2 * m, 64 * n_planes[d])):
                literals[d + 1, k] = literals[d, k]
            for k in range(length[d]):
                path[d + 1, k] = path[d, k]
            path[d + 1, length[d]] = literals[d, bit]
            length[d + 1] = length[d] + 1
            d += 1
            entering = True
        else:
            d -= 1
    return best, nodes, complete, stored
