"""The heaviest conjunctions of literals, exactly: by branch and bound.

A literal is 2 f + v: column f has the value v. A conjunction keeps the rows that satisfy all of its literals, and
weighs what they weigh together; weights have any sign. Branch and bound enumerates sets of literals, each literal
followed by those behind it only (in order of what positive weight they keep), with these rules:

- a literal that removes no row of negative weight is of no use, and one that keeps too little can be in no answer;
- a literal that all positive rows satisfy only helps, and is taken at once (not where literals are limited in number,
  or rows must remain);
- rows that no remaining literal parts are one row, of the sum of their weights, which cancels positive against negative
  ones (Eckstein and Goldberg, An improved branch-and-bound method for maximum monomial agreement, 2012).

Rows are the literals that remove them: a row has a bit for each literal of a node, in planes of words. Bit j % 64 of
plane j / 64 is set where literal j does not hold, so rows of equal bits are alike for all that follows. Literals go
from node to node; once those left fit fewer planes, rows are written anew.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import LONGEST, STOP
from streed.kernels.views import copy_into, native

NOTHING = -(1 << 62)
"""What no conjunction weighs."""

_LOOK = 63
"""A look at whether to stop, every so many nodes (a mask)."""

_GOLDEN = 0x9E3779B97F4A7C15


@native
def planes_of(masks, literals, rows, n_literals, planes):  # type: ignore[no-untyped-def]
    """Writes, for each of the rows, which of the literals remove it: bit j % 64 of plane j / 64 is literal j."""
    n = len(rows)
    planes[: (n_literals + 63) // 64, :n] = uint64(0)
    for j in range(n_literals):
        f = literals[j] >> 1
        want = -(literals[j] & 1)
        bit = uint64(1) << uint64(j & 63)
        plane = planes[j >> 6]
        for t in range(n):
            if masks[rows[t], f] != want:
                plane[t] |= bit


@native
def repack(planes, n, bits, literals, n_bits, spare, literals2):  # type: ignore[no-untyped-def]
    """How many planes the first bits need: bit j of a row becomes what bit `bits[j]` was, and so do literals."""
    needed = (n_bits + 63) // 64
    spare[:needed, :n] = uint64(0)
    for j in range(n_bits):
        source = planes[bits[j] >> 6]
        shift = uint64(bits[j] & 63)
        target = spare[j >> 6]
        to = uint64(j & 63)
        for t in range(n):
            target[t] |= ((source[t] >> shift) & uint64(1)) << to
        literals2[j] = literals[bits[j]]
    planes[:needed, :n] = spare[:needed, :n]
    for j in range(n_bits):
        literals[j] = literals2[j]
        bits[j] = j
    return needed


@native
def merge(rows, n_planes, n, table, now):  # type: ignore[no-untyped-def]
    """(rows that remain, what the others weigh, how many they are): rows that the same literals remove become one.

    The others are those that no literal removes. `rows` are (planes, weights, counts); a place of the table (stamps,
    keys, at) is taken if its stamp is `now`.
    """
    planes, weights, counts = rows
    stamps, keys, at = table
    size = int64(64)
    while size < 4 * n:
        size *= 2
    q = 0
    settled = int64(0)
    rows_settled = int64(0)
    for t in range(n):
        any_of = planes[0, t]
        h = any_of * uint64(_GOLDEN)
        for k in range(1, n_planes):
            any_of |= planes[k, t]
            h = ((h << uint64(23)) ^ (h >> uint64(41)) ^ planes[k, t]) * uint64(_GOLDEN)
        if any_of == uint64(0):
            settled += weights[t]
            rows_settled += counts[t]
            continue
        s = int64(h >> uint64(32)) & (size - 1)
        while stamps[s] == now:
            if keys[s] == h:
                same = True
                for k in range(n_planes):
                    same = same and planes[k, at[s]] == planes[k, t]
                if same:
                    break
            s = (s + 1) & (size - 1)
        if stamps[s] == now:
            weights[at[s]] += weights[t]
            counts[at[s]] += counts[t]
        else:
            stamps[s] = now
            keys[s] = h
            at[s] = q
            for k in range(n_planes):
                planes[k, q] = planes[k, t]
            weights[q] = weights[t]
            counts[q] = counts[t]
            q += 1
    return q, settled, rows_settled


@native
def weigh_removed(plane, shift, weights, n):  # type: ignore[no-untyped-def]
    """(positive weight, negative weight) of the rows that the literal of this bit removes."""
    positive = int64(0)
    negative = int64(0)
    for t in range(n):
        taken = weights[t] & -int64((plane[t] >> shift) & uint64(1))
        positive += max(taken, int64(0))
        negative += min(taken, int64(0))
    return positive, negative


@native
def take(rows, n_planes, n, bit, kept, into):  # type: ignore[no-untyped-def]
    """(rows that the literal of a bit keeps, the most that conjunctions of them weigh, by rows that stay in any case).

    Writes the rows (planes, weights, counts) with the bits `kept` only, in place if `into` is the same.
    """
    planes, weights, counts = rows
    planes2, weights2, counts2 = into
    plane = planes[bit >> 6]
    mask = uint64(1) << uint64(bit & 63)
    q = 0
    most = int64(0)
    for t in range(n):
        if plane[t] & mask == uint64(0):
            any_of = uint64(0)
            for k in range(n_planes):
                planes2[k, q] = planes[k, t] & kept[k]
                any_of |= planes2[k, q]
            weight = weights[t]
            weights2[q] = weight
            counts2[q] = counts[t]
            q += 1
            most += weight if any_of == uint64(0) else max(weight, int64(0))
    return q, most


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
    of_rows, literals_allowed, least_rows, threshold, most_literals, node_limit, control, answers
):
    """(the largest weight seen, nodes, whether it ended, conjunctions stored).

    If it ended, none weighs more than the first answer or the threshold, whichever is larger. Of those above the
    threshold, such are stored as weigh more than any larger set of rows that the rules lead to; once there is no room
    for more, the lightest one stored is the threshold.

    of_rows: masks (N, m) int8, -1 where a row has a column, weights (N,) int32 whose sums fit, and counts (N,) int64,
    the rows that each stands for. literals_allowed (2 m,) uint8. Answers: what each weighs (cap,), its literals (cap,
    LONGEST) and how many they are (cap,).
    """
    masks, weights, counts = of_rows
    values, found, lengths = answers
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
    size = 64
    while size < 4 * n:
        size *= 2
    table = np.zeros(size, np.int64), np.zeros(size, np.uint64), np.zeros(size, np.int32)
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
                n_rows[d], weight, count = merge((planes[d], own[d], many[d]), n_planes[d], n_rows[d], table, now)
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
                    here = planes[d], own[d], many[d]
                    n_rows[d], _ = take(here, n_planes[d], n_rows[d], free, live[d], here)
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
            here = planes[d], own[d], many[d]
            below = planes[d + 1], own[d + 1], many[d + 1]
            n_rows[d + 1], most = take(here, n_planes[d], n_rows[d], bit, live[d], below)
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
