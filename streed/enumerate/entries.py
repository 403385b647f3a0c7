"""Entries: the sums by which trees are told apart, and the tables that keep one entry for every key.

An entry is (cost, value, key, ...): the cost is the weighted sum that a budget bounds, the value one of the sums, and
the key, of one or more words, tells the other sums apart. All of them add up, so that a tree's entry is the sum of its
children's and what its branching node adds. Of equal keys the least value is kept: entries are a map from keys to
values over the semiring (min, +). They are handed on by rising cost.

`limits` (5,) int64: MOST_KEY and MOST_VALUE of entries that are ever needed, whether only those are that no other one
dominates by first key and value (STAIRCASE), and how many entries there may be at once (SPACE); FULL is set once there
are more.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.enumerate.layout import COST, KEY, MOST_KEY, MOST_VALUE, STAIRCASE, VALUE
from streed.kernels.compiled import entry
from streed.kernels.views import copy_into, native

FIRST_BITS = 10
"""Of the places of a table as it begins."""

_GOLDEN = 0x9E3779B97F4A7C15


# -- tables --------------------------------------------------------------------------------------------------------


@native
def _home(candidate, bits):  # type: ignore[no-untyped-def]
    """Where to look first for the candidate's key, among 2**bits places."""
    mixed = uint64(0)
    for c in range(KEY, len(candidate)):
        mixed = (mixed ^ uint64(candidate[c])) * uint64(_GOLDEN)
        mixed ^= mixed >> uint64(29)
    return int64((mixed * uint64(_GOLDEN)) >> uint64(64 - bits))


@native
def _place(used, entries, bits, candidate):  # type: ignore[no-untyped-def]
    """Where an entry with the candidate's key is, or would be."""
    at = _home(candidate, bits)
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
        copy_into(entries[at], candidate)
        count += 1
        if 2 * count > len(used):
            larger, taken = new_table(bits + 1, len(candidate))
            for i in range(len(used)):
                if used[i] == 1:
                    to = _place(taken, larger, bits + 1, entries[i])
                    taken[to] = 1
                    copy_into(larger[to], entries[i])
            return larger, taken, bits + 1, count
    elif candidate[VALUE] < entries[at, VALUE]:
        copy_into(entries[at], candidate)
    return entries, used, bits, count


@native
def put_entries(entries, used, bits, count, source, size):  # type: ignore[no-untyped-def]
    """The table with the first `size` entries of the source."""
    for i in range(size):
        entries, used, bits, count = put_entry(entries, used, bits, count, source[i])
    return entries, used, bits, count


@native
def put_sums(entries, used, bits, count, a, n_a, b, n_b, add, budget, most):  # type: ignore[no-untyped-def]
    """The table with every sum of one of n_a entries of a, one of n_b of b and `add` whose cost is within the budget.

    b is by rising cost. With more than `most` entries the table is left as it is.
    """
    candidate = np.empty(len(add), np.int64)
    for i in range(n_a):
        if count > most:
            break
        room = budget - add[COST] - a[i, COST]
        for j in range(n_b):
            if b[j, COST] > room:
                break
            for c in range(len(add)):
                candidate[c] = a[i, c] + b[j, c] + add[c]
            entries, used, bits, count = put_entry(entries, used, bits, count, candidate)
    return entries, used, bits, count


@native
def compact(entries, used, count):  # type: ignore[no-untyped-def]
    """The entries of a table, (count, width), by rising cost."""
    found = np.empty((count, entries.shape[1]), np.int64)
    at = 0
    for i in range(len(used)):
        if used[i] == 1:
            copy_into(found[at], entries[i])
            at += 1
    return take(found, order_by(found, count, COST), count)


@native
def new_index(size):  # type: ignore[no-untyped-def]
    """Room (2**bits,) for `merge_equal` of at most so many entries."""
    bits = 4
    while (1 << bits) < 2 * size:
        bits += 1
    return np.zeros(1 << bits, np.int64)


@native
def merge_equal(entries, count, index):  # type: ignore[no-untyped-def]
    """How many of the first `count` entries are left, in front, without those that another one makes superfluous.

    That one has the same key, and neither its value nor its cost is more. `index` is all zero, before and after.
    """
    bits = 4
    while (1 << bits) < len(index):
        bits += 1
    kept = 0
    for i in range(count):
        at = _home(entries[i], bits)
        while index[at] != 0:
            same = True
            for c in range(KEY, entries.shape[1]):
                same = same and entries[index[at] - 1, c] == entries[i, c]
            if same:
                break
            at = (at + 1) & (len(index) - 1)
        to = kept
        if index[at] == 0:
            index[at] = kept + 1
        else:
            known = index[at] - 1
            if entries[known, VALUE] <= entries[i, VALUE] and entries[known, COST] <= entries[i, COST]:
                continue
            if entries[i, VALUE] <= entries[known, VALUE] and entries[i, COST] <= entries[known, COST]:
                to = known
        for c in range(entries.shape[1]):
            entries[to, c] = entries[i, c]
        kept = max(kept, to + 1)
    index[:] = 0
    return kept


# -- orders and choices --------------------------------------------------------------------------------------------


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
def keep_needed(entries, limits):  # type: ignore[no-untyped-def]
    """The entries, which are by rising cost, without those that the limits say are not needed."""
    kept = np.empty(len(entries), np.int64)
    count = 0
    if limits[STAIRCASE] == 1:
        least = limits[MOST_VALUE] + 1
        for i in order_by(entries, len(entries), KEY):
            if entries[i, KEY] <= limits[MOST_KEY] and entries[i, VALUE] < least:
                least = entries[i, VALUE]
                kept[count] = i
                count += 1
    else:
        for i in range(len(entries)):
            if entries[i, KEY] <= limits[MOST_KEY] and entries[i, VALUE] <= limits[MOST_VALUE]:
                kept[count] = i
                count += 1
        if count == len(entries):
            return entries
    found = take(entries, kept, count)
    return found if limits[STAIRCASE] == 0 else take(found, order_by(found, count, COST), count)


# -- pairs of entries ----------------------------------------------------------------------------------------------


@entry
def start_table(found):  # type: ignore[no-untyped-def]
    """A table (entries, whether used, bits, count) of the entries (m, width)."""
    entries, used = new_table(int64(FIRST_BITS), found.shape[1])
    return put_entries(entries, used, int64(FIRST_BITS), int64(0), found, len(found))


@entry
def add_sums(table, a, b, add, budget, most):  # type: ignore[no-untyped-def]
    """The table with every sum of an entry of a, one of b and `add` whose cost is within the budget.

    All of them are (m, width), b by rising cost. What is more than `most` entries is not complete.
    """
    entries, used, bits, count = table
    return put_sums(entries, used, bits, count, a, len(a), b, len(b), add, budget, most)


@entry
def finish(table, limits):  # type: ignore[no-untyped-def]
    """The entries of a table that are needed, by rising cost."""
    entries, used, _, count = table
    return keep_needed(compact(entries, used, count), limits)


@entry
def meet(a, b, sums_a, sums_b, least, most, below):  # type: ignore[no-untyped-def]
    """(value, i, j) of the pair of least a[i] + b[j] with all sums in their intervals; (below, -1, -1) if none is less.

    a (p, width), b (q, width); sums_a (p, m), sums_b (q, m), b sorted by the first of them; least, most (m,), m >= 1.
    """
    best = below
    best_i = int64(-1)
    best_j = int64(-1)
    first = np.empty(len(b), sums_b.dtype)
    copy_into(first, sums_b[:, 0])
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
def adds_up(a, i, b, j, total):  # type: ignore[no-untyped-def]
    """Whether the i-th entry of a and the j-th of b are the total."""
    same = True
    for c in range(len(total)):
        same = same and a[i, c] + b[j, c] == total[c]
    return same


@native
def find_addends(a, n_a, b, n_b, total):  # type: ignore[no-untyped-def]
    """(i, j) of the first n_a entries of a and n_b of b that add up to the total; (-1, -1) if there are none."""
    order = order_by(b, n_b, KEY)
    for i in range(n_a):
        wanted = total[KEY] - a[i, KEY]
        low, high = 0, n_b
        while low < high:
            middle = (low + high) // 2
            if b[order[middle], KEY] < wanted:
                low = middle + 1
            else:
                high = middle
        while low < n_b and b[order[low], KEY] == wanted:
            if adds_up(a, i, b, order[low], total):
                return int64(i), int64(order[low])
            low += 1
    return int64(-1), int64(-1)


@entry
def addends(a, b, total):  # type: ignore[no-untyped-def]
    """(i, j) of entries of a and b that add up to the total; (-1, -1) if there are none."""
    return find_addends(a, len(a), b, len(b), total)
