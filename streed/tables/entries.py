"""Entries: the sums by which trees are told apart, and the tables that keep one entry for every key.

An entry is (cost, value, key, ..., name): the cost is the weighted sum that a budget bounds, the value one of the sums,
the key, of one or more words, tells the other sums apart, and the name says which tree of depth two or less it is. All
of them add up, so that a tree's entry is the sum of its children's and what its branching node adds. Of equal keys the
least value is kept: entries are a map from keys to values over the semiring (min, +); of equal keys, less value costs
no more. They are handed on by rising cost.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.views import copy_into, native

COST, VALUE, KEY = 0, 1, 2
"""The columns of an entry; those from KEY on are the key, but for the last one, the name."""

FIRST_BITS = 10
"""Of the places of a table as it begins."""

_GOLDEN = 0x9E3779B97F4A7C15


# -- tables --------------------------------------------------------------------------------------------------------


@native
def _home(candidate, bits):  # type: ignore[no-untyped-def]
    """Where to look first for the candidate's key, among 2**bits places."""
    mixed = uint64(0)
    for c in range(KEY, len(candidate) - 1):
        mixed = (mixed ^ uint64(candidate[c])) * uint64(_GOLDEN)
        mixed ^= mixed >> uint64(29)
    return int64((mixed * uint64(_GOLDEN)) >> uint64(64 - bits))


@native
def _place(used, entries, bits, candidate):  # type: ignore[no-untyped-def]
    """Where an entry with the candidate's key is, or would be."""
    at = _home(candidate, bits)
    while used[at] == 1:
        same = True
        for c in range(KEY, len(candidate) - 1):
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


@entry
def compact(entries, used, count):  # type: ignore[no-untyped-def]
    """The entries of a table, (count, width), by rising cost."""
    found = np.empty((count, entries.shape[1]), np.int64)
    at = 0
    for i in range(len(used)):
        if used[i] == 1:
            copy_into(found[at], entries[i])
            at += 1
    return found[np.argsort(found[:, COST])]


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


def addends(a: Array, b: Array, total: Array) -> tuple[int, int] | None:
    """(i, j) of entries of a and b that add up to the total but for the name; None if there are none."""
    order, wanted = np.argsort(b[:, KEY]), total - a
    keys = b[order, KEY]
    begins, ends = (np.searchsorted(keys, wanted[:, KEY], side) for side in ("left", "right"))
    for i in np.flatnonzero(begins < ends).tolist():
        among = order[begins[i] : ends[i]]
        hits = among[(b[among, :-1] == wanted[i, :-1]).all(axis=1)]
        if len(hits):
            return i, int(hits[0])
    return None
