"""Lists of trees: for a set of rows, every vector of sums that a tree of a bounded weighted cost can have.

An entry is (cost, value, key, ...): the cost is the weighted sum that a budget bounds, the value one of the sums, and
the key, of one or more words, tells the other sums apart. All of them add up; of equal keys the least value is kept,
and a list is sorted by cost. Lists of trees of depth two come from sums over pairs of columns (`shallow.py`), deeper
ones are combined from these.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.enumerate.shallow import (
    add_pairs,
    find_separating,
    put_leaf,
    signed_costs,
    signed_sides,
)
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE
from streed.kernels.views import native

COST, VALUE, KEY = 0, 1, 2
"""The columns of an entry; those from KEY on are the key."""

_FIRST_BITS = 10

_GOLDEN = 0x9E3779B97F4A7C15


@native
def _place(used, entries, bits, candidate):  # type: ignore[no-untyped-def]
    """Where an entry with the candidate's key is, or would be."""
    mixed = uint64(0)
    for c in range(KEY, len(candidate)):
        mixed = (mixed ^ uint64(candidate[c])) * uint64(_GOLDEN)
        mixed ^= mixed >> uint64(29)
    at = int64((mixed * uint64(_GOLDEN)) >> uint64(64 - bits))
    while used[at] == 1:
        same = True
        for c in range(KEY, len(candidate)):
            same = same and entries[at, c] == candidate[c]
        if same:
            break
        at = (at + 1) & ((1 << bits) - 1)
    return at


@native
def new_table(bits, width):  # type: ignore[no-untyped-def]
    """(entries (capacity, width), whether used (capacity,))."""
    return np.empty((1 << bits, width), np.int64), np.zeros(1 << bits, np.uint8)


@native
def put_entry(entries, used, bits, count, candidate):  # type: ignore[no-untyped-def]
    """The table (entries, used, bits, count) with the candidate, unless it knows one of its key and no more value."""
    at = _place(used, entries, bits, candidate)
    if used[at] == 0:
        used[at] = 1
        entries[at] = candidate
        count += 1
        if 2 * count > len(used):
            larger, taken = new_table(bits + 1, len(candidate))
            for i in range(len(used)):
                if used[i] == 1:
                    to = _place(taken, larger, bits + 1, entries[i])
                    taken[to] = 1
                    larger[to] = entries[i]
            return larger, taken, bits + 1, count
    elif candidate[VALUE] < entries[at, VALUE]:
        entries[at] = candidate
    return entries, used, bits, count


@native
def order_by(entries, count, column):  # type: ignore[no-untyped-def]
    """(count,) the first `count` entries by rising column, of equal ones the earlier first (merge sort)."""
    order = np.arange(count)
    other = np.empty(count, np.int64)
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle = min(begin + width, count)
            end = min(begin + 2 * width, count)
            i, j = begin, middle
            for at in range(begin, end):
                if j >= end or (i < middle and entries[order[i], column] <= entries[order[j], column]):
                    other[at] = order[i]
                    i += 1
                else:
                    other[at] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order


@native
def take(entries, order, count):  # type: ignore[no-untyped-def]
    """(count, width) the entries in an order."""
    taken = np.empty((count, entries.shape[1]), np.int64)
    for i in range(count):
        for c in range(entries.shape[1]):
            taken[i, c] = entries[order[i], c]
    return taken


@native
def compact(entries, used, count):  # type: ignore[no-untyped-def]
    """The entries of a table, (count, width), by rising cost."""
    listed = np.empty((count, entries.shape[1]), np.int64)
    at = 0
    for i in range(len(used)):
        if used[i] == 1:
            listed[at] = entries[i]
            at += 1
    return take(listed, order_by(listed, count, COST), count)


@entry
def combine(a, b, add, budget):  # type: ignore[no-untyped-def]
    """The list of every sum of an entry of a, one of b and `add` (width,) whose cost is at most `budget`."""
    bits = int64(_FIRST_BITS)
    entries, used = new_table(bits, len(add))
    count = int64(0)
    candidate = np.empty(len(add), np.int64)
    for i in range(len(a)):
        room = budget - add[COST] - a[i, COST]
        for j in range(len(b)):
            if b[j, COST] > room:
                break
            for c in range(len(add)):
                candidate[c] = a[i, c] + b[j, c] + add[c]
            entries, used, bits, count = put_entry(entries, used, bits, count, candidate)
    return compact(entries, used, count)


@entry
def unite(a, b):  # type: ignore[no-untyped-def]
    """The list of the entries of a and of b."""
    bits = int64(_FIRST_BITS)
    entries, used = new_table(bits, a.shape[1])
    count = int64(0)
    for source in (a, b):
        for i in range(len(source)):
            entries, used, bits, count = put_entry(entries, used, bits, count, source[i])
    return compact(entries, used, count)


@entry
def meet(a, b, sums_a, sums_b, least, most, below):  # type: ignore[no-untyped-def]
    """(value, i, j) of the pair of least a[i] + b[j] with all sums in their intervals; (below, -1, -1) if none is less.

    a (p, width), b (q, width); sums_a (p, m), sums_b (q, m), b sorted by the first of them; least, most (m,), m >= 1.
    """
    best = below
    best_i = int64(-1)
    best_j = int64(-1)
    first = np.ascontiguousarray(sums_b[:, 0])
    for i in range(len(a)):
        value = a[i, VALUE]
        j = np.searchsorted(first, least[0] - sums_a[i, 0])
        top = most[0] - sums_a[i, 0]
        while j < len(b) and first[j] <= top:
            if value + b[j, VALUE] < best:
                inside = True
                for c in range(1, len(least)):
                    z = sums_a[i, c] + sums_b[j, c]
                    inside = inside and least[c] <= z <= most[c]
                if inside:
                    best = value + b[j, VALUE]
                    best_i = int64(i)
                    best_j = int64(j)
            j += 1
    return best, best_i, best_j


@native
def put_stumps(pairs, total, place, inside, budget, split, least_rows, leaves, listed):  # type: ignore[no-untyped-def]
    """How many trees of depth at most 1 cost at most `budget` beyond the base; writes their entries to `listed`.

    The rows: all (place -1), or those that have (inside) or lack the column `place`. `leaves` (2, K, width) is room.
    """
    size, columns = len(pairs), len(total)
    width = len(split)
    whole = np.empty(columns, np.int64)
    part = np.empty(columns, np.int64)
    for c in range(columns):
        whole[c] = total[c]
        if place >= 0:
            whole[c] = pairs[place, place, c] if inside else total[c] - pairs[place, place, c]
    count = 0
    for i in range(put_leaf(whole, width, least_rows, leaves[0])):
        if leaves[0, i, COST] <= budget:
            listed[count] = leaves[0, i]
            count += 1
    for k in range(size):
        if k == place:
            continue
        for c in range(columns):
            part[c] = pairs[k, k, c]
            if place >= 0:
                common = pairs[min(place, k), max(place, k), c]
                part[c] = common if inside else part[c] - common
        if part[0] == 0 or part[0] == whole[0]:
            continue
        n_left = put_leaf(part, width, least_rows, leaves[0])
        for c in range(columns):
            part[c] = whole[c] - part[c]
        n_right = put_leaf(part, width, least_rows, leaves[1])
        for i in range(n_left):
            for j in range(n_right):
                if leaves[0, i, COST] + leaves[1, j, COST] + split[COST] <= budget:
                    for c in range(width):
                        listed[count, c] = leaves[0, i, c] + leaves[1, j, c] + split[c]
                    count += 1
    return count


@native
def _least_cost(listed, count):  # type: ignore[no-untyped-def]
    """The least cost of the first entries."""
    least = int64(INFINITE)
    for i in range(count):
        least = min(least, listed[i, COST])
    return least


@native
def _keep_cheap(listed, count, room):  # type: ignore[no-untyped-def]
    """How many of the entries cost at most `room`; moves them to the front."""
    kept = 0
    for i in range(count):
        if listed[i, COST] <= room:
            listed[kept] = listed[i]
            kept += 1
    return kept


@native
def list_pairs(pairs, total, split, depth, least_rows, room, most):  # type: ignore[no-untyped-def]
    """The list of the trees of depth at most 0, 1 or 2 that cost at most `room` beyond the base, without the base.

    pairs (F, F, L), of which the halves i <= j are read, and total (L,) are sums of profits as in `shallow.py`; there
    are no columns, F = 0, where the depth is 0. A list of more than `most` entries is not complete.
    """
    size, width = len(pairs), len(split)
    labels = (len(total) - 1) // width + 1
    left = np.empty((labels + size * labels * labels, width), np.int64)
    right = np.empty((labels + size * labels * labels, width), np.int64)
    leaves = np.empty((2, labels, width), np.int64)
    bits = int64(_FIRST_BITS)
    entries, used = new_table(bits, width)
    count = int64(0)
    candidate = np.empty(width, np.int64)
    for i in range(put_stumps(pairs, total, int64(-1), False, room, split, least_rows, leaves, left)):
        entries, used, bits, count = put_entry(entries, used, bits, count, left[i])
    is_signed = labels == 2 and least_rows <= 1
    costs, singles = signed_costs(pairs, size if is_signed else 0)
    for place in range(size if depth == 2 else 0):
        if count > most:
            break
        room_left, room_right = int64(INFINITE), int64(INFINITE)
        if is_signed:
            least_left, least_right = signed_sides(costs, singles, total[1], place, 1, split[COST])
            room_left, room_right = room - split[COST] - least_right, room - split[COST] - least_left
            if least_left > room_left:
                continue
        n_left = put_stumps(pairs, total, place, True, room_left, split, least_rows, leaves, left)
        n_right = put_stumps(pairs, total, place, False, room_right, split, least_rows, leaves, right)
        if n_left == 0 or n_right == 0:
            continue
        if not is_signed:
            cheapest = _least_cost(right, n_right)
            n_right = _keep_cheap(right, n_right, room - split[COST] - _least_cost(left, n_left))
            n_left = _keep_cheap(left, n_left, room - split[COST] - cheapest)
        order = order_by(right, n_right, COST)
        for i in range(n_left):
            for j in order:
                if left[i, COST] + right[j, COST] + split[COST] > room:
                    break
                for c in range(width):
                    candidate[c] = left[i, c] + right[j, c] + split[c]
                entries, used, bits, count = put_entry(entries, used, bits, count, candidate)
    return compact(entries, used, count)


@entry
def list_shallow(rows, starts, columns, profits, base, split, n_columns, depth, least_rows, budget):  # type: ignore[no-untyped-def]
    """The list of the trees of depth at most 1 or 2 over the rows whose cost is at most `budget`.

    The arrays are those of `shallow.py`.
    """
    local, chosen = find_separating(rows, starts, columns, n_columns)
    size, width = len(chosen), len(split)
    pairs = np.zeros((size, size, profits.shape[1]), np.int64)
    total = np.zeros(profits.shape[1], np.int64)
    add_pairs(pairs, total, rows, starts, columns, local, profits, np.arange(len(total)), int64(-1), int64(0))
    under = np.zeros(width, np.int64)
    for i in rows:
        for c in range(width):
            under[c] += base[i, c]
    room = budget - under[COST]
    listed = list_pairs(pairs, total, split, depth, least_rows, room, int64(INFINITE))
    for i in range(len(listed)):
        for c in range(width):
            listed[i, c] += under[c]
    return listed


@native
def _number_few(words, width, slots, member, first):  # type: ignore[no-untyped-def]
    """How many distinct rows of `width` words there are, -1 if they fill half the slots; writes the other arrays."""
    mask = uint64(len(slots) - 1)
    slots[:] = -1
    count = int64(0)
    for i in range(len(member)):
        begin = i * width
        mixed = uint64(0)
        for w in range(width):
            mixed = (mixed ^ uint64(words[begin + w])) * uint64(_GOLDEN)
            mixed ^= mixed >> uint64(29)
        at = int64(mixed * uint64(_GOLDEN) >> uint64(32) & mask)
        while slots[at] >= 0:
            other = first[slots[at]] * width
            differs = int64(0)
            for w in range(width):
                differs |= words[other + w] ^ words[begin + w]
            if differs == 0:
                break
            at = (at + 1) & int64(mask)
        if slots[at] < 0:
            if 2 * count >= len(slots):
                return int64(-1)
            slots[at] = count
            first[count] = i
            count += 1
        member[i] = slots[at]
    return count


@entry
def number_rows(words):  # type: ignore[no-untyped-def]
    """(which of the distinct rows each row of words (n, w) int64 is, the first row of each), in order of appearance."""
    n, width = words.shape
    flat = words.ravel()
    member = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    # few slots stay in the fastest cache, and mostly rows are of few kinds
    count = _number_few(flat, width, np.empty(1 << _FIRST_BITS, np.int64), member, first)
    if count < 0:
        size = 1 << _FIRST_BITS
        while size <= 2 * n:
            size *= 2
        count = _number_few(flat, width, np.empty(size, np.int64), member, first)
    return member, first[:count].copy()
