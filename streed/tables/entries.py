"""Entries: the sums by which trees are told apart, and the tables that keep one entry for every key.

An entry is (cost, value, key, ..., name): the cost is the weighted sum that a budget bounds, the value one of the sums,
the key, of one or more words, tells the other sums apart, and the name says which tree of depth two or less it is. All
of them add up. Of equal keys the least value is kept, over the semiring (min, +). They are handed on by rising cost.

Entries of two words are numbers of trees, over (+, x): (key, count), the key being the cost, and counts of equal keys
are added. Their tables may have a window with a place for each key of a range. `check[0]` collects how many trees there
may be at most, as a float, and a caller discards what was counted where that reached 2**62.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.views import copy_into, native, uncounted

COST, VALUE, KEY = 0, 1, 2
"""The columns of an entry; those from KEY on are the key, but for the last one, the name."""

USED, BITS, START, MOST = range(4)
"""In the state of a table: places used, the bits of their numbers, the first key of the window, and more entries than
this need not be found."""

_FIRST_BITS = 6
"""Of the places of a table as it begins."""

ANY = 2**62
"""No table has more entries."""

_GOLDEN = 0x9E3779B97F4A7C15


# -- tables --------------------------------------------------------------------------------------------------------


@uncounted
def _place(entries, used, bits, candidate):
    """Where an entry with the candidate's key is, or would be, among 2**bits places."""
    begin, end = (KEY, len(candidate) - 1) if len(candidate) > 2 else (COST, COST + 1)
    mixed = uint64(0)
    for c in range(begin, end):
        mixed = (mixed ^ uint64(candidate[c])) * uint64(_GOLDEN)
        mixed ^= mixed >> uint64(29)
    at = int64((mixed * uint64(_GOLDEN)) >> uint64(64 - bits))
    while used[at] == 1:
        same = True
        for c in range(begin, end):
            same = same and entries[at, c] == candidate[c]
        if same:
            break
        at = (at + 1) & ((1 << bits) - 1)
    return at


@native
def new_table(bits, width, start, window, most):
    """A table without entries: (entries (capacity, width), whether used (capacity,), state, window)."""
    state = np.array([0, bits, start, most], np.int64)
    return np.empty((1 << bits, width), np.int64), np.zeros(1 << bits, np.uint8), state, window


@uncounted
def _put(entries, used, state, candidate):
    """Whether a table is too full now that it has the candidate, whose key is not in the window."""
    at = _place(entries, used, state[BITS], candidate)
    if used[at] == 1:
        if len(candidate) == 2:
            entries[at, VALUE] += candidate[VALUE]
        elif candidate[VALUE] < entries[at, VALUE]:
            copy_into(entries[at], candidate)
        return False
    used[at] = 1
    copy_into(entries[at], candidate)
    state[USED] += 1
    return 2 * state[USED] > len(used)


@native
def _enlarged(table):
    """A larger table with the same entries."""
    entries, used, state, window = table
    larger = new_table(state[BITS] + 2, entries.shape[1], state[START], window, state[MOST])
    for i in range(len(used)):
        if used[i] == 1:
            _put(larger[0], larger[1], larger[2], entries[i])
    return larger


@native
def put_entries(table, source, size):
    """The table with the first `size` entries of the source."""
    entries, used, state, window = table
    for i in range(size):
        place = source[i, COST] - state[START]
        if 0 <= place < len(window):
            window[place] += source[i, VALUE]
        elif _put(entries, used, state, source[i]):
            entries, used, state, window = _enlarged((entries, used, state, window))
    return entries, used, state, window


@entry
def put_sums(table, a, b, add, budget, times, check):
    """The table with every sum of an entry of a, one of b and `add` whose cost is within the budget.

    b is by rising cost. Numbers of trees are multiplied, and by `times`.
    """
    if len(add) == 2:
        check[0] += total_of(a[:, VALUE]) * total_of(b[:, VALUE]) * times
        if check[0] >= 2.0**62:
            return table
    candidate = np.empty(len(add), np.int64)
    entries, used, state, window = table
    start = state[START]
    for i in range(len(a)):
        if state[USED] > state[MOST]:
            break
        room = budget - add[COST] - a[i, COST]
        for j in range(len(b)):
            if b[j, COST] > room:
                break
            for c in range(len(add)):
                candidate[c] = a[i, c] + b[j, c] + add[c]
            if len(add) == 2:
                candidate[VALUE] = a[i, VALUE] * b[j, VALUE] * times
                if 0 <= candidate[COST] - start < len(window):
                    window[candidate[COST] - start] += candidate[VALUE]
                    continue
            if _put(entries, used, state, candidate):
                entries, used, state, window = _enlarged((entries, used, state, window))
    return entries, used, state, window


@entry
def compact(table):
    """The entries of a table that have trees, (m, width), by rising cost."""
    entries, used, state, window = table
    found = np.empty((state[USED] + len(window), entries.shape[1]), np.int64)
    size = 0
    for i in range(len(used) if state[USED] > 0 else 0):
        if used[i] == 1 and (entries.shape[1] > 2 or entries[i, VALUE] != 0):
            copy_into(found[size], entries[i])
            size += 1
    for i in range(len(window)):
        if window[i] != 0:
            found[size, COST] = state[START] + i
            found[size, VALUE] = window[i]
            size += 1
    return found[np.argsort(found[:size, COST])]


# -- windows -------------------------------------------------------------------------------------------------------


@native
def total_of(counts):
    """How many trees there are, as a float."""
    total = 0.0
    for each in counts:
        total += float(each)
    return total


@native
def put_window(window, start, source, size):
    """Adds the first `size` entries of a list to a window that has all their keys."""
    for i in range(size):
        window[source[i, COST] - start] += source[i, VALUE]


@native
def join_windows(windows, slack, times, table, least, check):
    """Adds the products of two windows (2, .) to that of a table; first places meet at the key `least`.

    The last keys are the ones of slack + 1 places.
    """
    first, last, found, shift = windows[0], windows[1], table[3], least - table[2][START]
    check[0] += total_of(first[: slack + 1]) * total_of(last[: slack + 1]) * times
    if check[0] < 2.0**62:
        for i in range(slack + 1):
            count = first[i] * times
            if count != 0:
                for j in range(slack + 1 - i):
                    found[shift + i + j] += count * last[j]


# -- pairs of entries ----------------------------------------------------------------------------------------------


@entry
def as_table(found, size, most):
    """A table of the first `size` of the entries (m, width), without window; more than `most` need not be found."""
    table = new_table(int64(_FIRST_BITS), found.shape[1], int64(0), np.empty(0, np.int64), most)
    return put_entries(table, found, size)


@entry
def meet(a, b, sums_a, sums_b, least, most, below):
    """(value, i, j) of the pair of least a[i] + b[j] with all sums in their intervals; (below, -1, -1) if none is less.

    a (p, width), b (q, width); sums_a (p, m), sums_b (q, m), b sorted by the first of them; least, most (m,), m >= 1.
    """
    best = below
    best_i = best_j = int64(-1)
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
