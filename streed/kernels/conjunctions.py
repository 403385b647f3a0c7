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
plane j / 64 is set where literal j does not hold, so rows of equal bits are alike for all that follows.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import LONGEST, STOP
from streed.kernels.views import copy_into, inline, uncounted

NOTHING = -(1 << 62)
"""What no conjunction weighs."""

_LOOK = 63
"""A look at whether to stop, every so many nodes (a mask)."""

_GOLDEN = 0x9E3779B97F4A7C15

_SEARCH = np.dtype(
    [
        ("least_rows", np.int64),
        ("most_literals", np.int64),
        ("limited", np.int64),  # 1: literals are limited in number, or rows must remain
        ("threshold", np.int64),
        ("best", np.int64),
        ("stored", np.int64),
        ("merges", np.int64),
        ("complete", np.int64),
    ]
)

_NODE = np.dtype(
    [
        ("length", np.int64),  # of its conjunction
        ("n_rows", np.int64),  # as they are merged,
        ("settled", np.int64),  # what the rows weigh that no literal removes,
        ("rows_settled", np.int64),  # and how many they are
        ("n_bits", np.int64),  # literals that may follow,
        ("children", np.int64),  # of which the first so many are tried,
        ("tried", np.int64),  # and so many were
    ]
)


@uncounted
def merge(rows, n, table, now):  # type: ignore[no-untyped-def]
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
        for k in range(1, len(planes)):
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
                for k in range(len(planes)):
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
            for k in range(len(planes)):
                planes[k, q] = planes[k, t]
            weights[q] = weights[t]
            counts[q] = counts[t]
            q += 1
    return q, settled, rows_settled


@uncounted
def weigh_removed(plane, shift, weights, n):  # type: ignore[no-untyped-def]
    """(positive weight, negative weight) of the rows that the literal of this bit removes."""
    positive = int64(0)
    negative = int64(0)
    for t in range(n):
        taken = weights[t] & -int64((plane[t] >> shift) & uint64(1))
        positive += max(taken, int64(0))
        negative += min(taken, int64(0))
    return positive, negative


@uncounted
def take(rows, n, bit, kept, into):  # type: ignore[no-untyped-def]
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
            for k in range(len(planes)):
                planes2[k, q] = planes[k, t] & kept[k]
                any_of |= planes2[k, q]
            weight = weights[t]
            weights2[q] = weight
            counts2[q] = counts[t]
            q += 1
            most += weight if any_of == uint64(0) else max(weight, int64(0))
    return q, most


@uncounted
def lightest(values):  # type: ignore[no-untyped-def]
    """Where the least of some values is."""
    least = 0
    for j in range(1, len(values)):
        if values[j] < values[least]:
            least = j
    return least


@uncounted
def note(search, answers, total, path, length):  # type: ignore[no-untyped-def]
    """Notes what a conjunction weighs, and stores it, in the place of the lightest one if there is no room."""
    values, found, lengths = answers
    search.best = max(search.best, total)
    if total <= search.threshold:
        return
    place = lightest(values) if search.stored == len(values) else search.stored
    if search.stored < len(values):
        search.stored += 1
    elif values[place] >= total:
        return
    values[place] = total
    lengths[place] = length
    for j in range(length):
        found[place, j] = path[j]
    if search.stored == len(values):
        search.threshold = max(search.threshold, values[lightest(values)])


@uncounted
def keep_useful(choices, n_bits, rows, n, gain, threshold):  # type: ignore[no-untyped-def]
    """How many literals are left without those that remove no negative weight, or keep too little."""
    literals, bits, keeps, _ = choices
    planes, weights, _ = rows
    q = 0
    for j in range(n_bits):
        bit = bits[j]
        lost, removed = weigh_removed(planes[bit >> 6], uint64(bit & 63), weights, n)
        if removed != 0 and gain - lost > threshold:
            literals[q] = literals[j]
            bits[q] = bit
            keeps[q] = gain - lost
            q += 1
    return q


@uncounted
def sort(choices, n):  # type: ignore[no-untyped-def]
    """Sorts the first n literals by what they keep: by insertion, as they stand in the order of the node above."""
    literals, bits, keeps, _ = choices
    for i in range(1, n):
        literal = literals[i]
        bit = bits[i]
        kept = keeps[i]
        k = i
        while k > 0 and keeps[k - 1] > kept:
            literals[k] = literals[k - 1]
            bits[k] = bits[k - 1]
            keeps[k] = keeps[k - 1]
            k -= 1
        literals[k] = literal
        bits[k] = bit
        keeps[k] = kept


@uncounted
def enter(search, node, here, table, answers, path):  # type: ignore[no-untyped-def]
    """Notes what a conjunction weighs and finds the literals that it may be longer by, the best one last.

    One that all positive rows satisfy is the only one to be tried, and comes first.
    """
    rows, choices = here
    planes, weights, counts = rows
    literals, bits, keeps, live = choices
    node.children = 0
    left = int64(-1)
    while left != node.n_bits:
        search.merges += 1
        node.n_rows, weight, count = merge(rows, node.n_rows, table, search.merges)
        node.settled += weight
        node.rows_settled += count
        gain = node.settled
        total = node.settled
        count = node.rows_settled
        for t in range(node.n_rows):
            gain += max(weights[t], int64(0))
            total += weights[t]
            count += counts[t]
        if left < 0 and count >= search.least_rows:
            note(search, answers, total, path, node.length)
        if gain <= search.threshold or (gain == total and search.least_rows <= 1) or count < search.least_rows:
            return
        if node.length >= search.most_literals:
            if not search.limited or search.most_literals == LONGEST:
                search.complete = 0
            return
        left = node.n_bits
        node.n_bits = keep_useful(choices, left, rows, node.n_rows, gain, search.threshold)
        if node.n_bits == 0:
            return
        live[:] = uint64(0)
        for j in range(node.n_bits):
            live[bits[j] >> 6] |= uint64(1) << uint64(bits[j] & 63)
        if node.n_bits < left:
            for k in range(len(planes)):
                for t in range(node.n_rows):
                    planes[k, t] &= live[k]
    sort(choices, node.n_bits)
    node.children = node.n_bits
    last = node.n_bits - 1
    if keeps[last] == gain and not search.limited:
        literals[0], literals[last] = literals[last], literals[0]
        bits[0], bits[last] = bits[last], bits[0]
        keeps[0], keeps[last] = keeps[last], keeps[0]
        node.children = 1


@uncounted
def descend(search, node, below, here, there, path):  # type: ignore[no-untyped-def]
    """Whether a node has one more child that may weigh enough, and writes it: its literals are those behind its own."""
    rows, (literals, bits, keeps, live) = here
    rows_below, (literals_below, bits_below, _, _) = there
    while node.tried < node.children:
        j = node.tried
        node.tried += 1
        live[bits[j] >> 6] &= ~(uint64(1) << uint64(bits[j] & 63))
        if keeps[j] <= search.threshold:
            continue
        below.n_rows, most = take(rows, node.n_rows, bits[j], live, rows_below)
        if node.settled + most <= search.threshold:
            continue
        path[node.length] = literals[j]
        below.length = node.length + 1
        below.settled = node.settled
        below.rows_settled = node.rows_settled
        below.n_bits = node.n_bits - j - 1
        copy_into(literals_below, literals[j + 1 : node.n_bits])
        copy_into(bits_below, bits[j + 1 : node.n_bits])
        below.tried = 0
        return True
    return False


@inline
def at(space, d):  # type: ignore[no-untyped-def]
    """The rows and the literals of the node of a depth."""
    (planes, weights, counts), (literals, bits, keeps, live) = space
    return (planes[d], weights[d], counts[d]), (literals[d], bits[d], keeps[d], live[d])


@entry
def heaviest_conjunctions(  # type: ignore[no-untyped-def]
    of_rows, allowed, least_rows, threshold, most_literals, node_limit, control, answers
):
    """(the largest weight seen, nodes, whether it ended, conjunctions stored).

    If it ended, none weighs more than the first answer or the threshold, whichever is larger. Of those above the
    threshold, such are stored as weigh more than any larger set of rows that the rules lead to; once there is no room
    for more, the lightest one stored is the threshold.

    of_rows: planes (P, n) uint64, weights (n,) int64 whose sums fit int32, and counts (n,) int64, the rows that each
    stands for. allowed (L,) int64: the literals of the first bits. Answers: what each weighs (cap,), its literals (cap,
    LONGEST) and how many they are (cap,).
    """
    n_planes, n = of_rows[0].shape
    searches = np.zeros(1, _SEARCH)
    search = searches[0]
    search.threshold = threshold
    search.best = NOTHING
    search.least_rows = max(least_rows, 1)
    search.limited = most_literals < len(allowed) or least_rows > 1
    search.most_literals = min(most_literals, LONGEST)
    search.complete = 1
    deep = min(search.most_literals, len(allowed)) + 2
    nodes = np.zeros(deep, _NODE)
    rows = np.empty((deep, n_planes, n), np.uint64), np.empty((deep, n), np.int64), np.empty((deep, n), np.int64)
    literals, bits = np.empty((deep, len(allowed)), np.int32), np.empty((deep, len(allowed)), np.int32)
    keeps, live = np.empty((deep, len(allowed)), np.int64), np.empty((deep, n_planes), np.uint64)
    space = rows, (literals, bits, keeps, live)
    path = np.zeros(LONGEST, np.int32)
    size = 64
    while size < 4 * n:
        size *= 2
    table = np.zeros(size, np.int64), np.zeros(size, np.uint64), np.zeros(size, np.int32)
    for k in range(n_planes):
        copy_into(rows[0][0, k], of_rows[0][k])
    copy_into(rows[1][0], of_rows[1])
    copy_into(rows[2][0], of_rows[2])
    copy_into(literals[0], allowed)
    copy_into(bits[0], np.arange(len(allowed)))
    nodes[0].n_rows = n
    nodes[0].n_bits = len(allowed)
    visited = int64(0)
    entering = True
    d = 0
    while d >= 0:
        here = at(space, d)
        if entering:
            visited += 1
            if visited > node_limit or (visited & _LOOK == 0 and load_atomic(control, STOP) != 0):
                search.complete = 0
                break
            enter(search, nodes[d], here, table, answers, path)
        entering = descend(search, nodes[d], nodes[d + 1], here, at(space, d + 1), path)
        d += 1 if entering else -1
    search = searches[0]  # named last by its array, which lives no longer than it is named
    return search.best, visited, search.complete != 0, search.stored
