"""Tables of keys and counts, native: a window with a place for each key of a range, and open addressing for the others.

Counts are int64; `check[0]` collects how many trees there may be at most, as a float, and a caller discards what was
counted where that reached 2**62.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.views import native

_FIRST_BITS = 6
"""New tables have 2**6 slots."""

_HASH = np.uint64(0x9E3779B97F4A7C15)

USED, BITS, LOW, START = range(4)
"""In the state of a table: slots used, how many bits number a slot, a least key, and the first key of the window."""


@native
def new_table(low, start, window):
    """(keys, counts, state, window) without entries; a key of -1 is an empty slot."""
    keys, counts = np.full(1 << _FIRST_BITS, -1, np.int64), np.zeros(1 << _FIRST_BITS, np.int64)
    return keys, counts, np.array([0, _FIRST_BITS, low, start]), window


@native
def slot_of(keys, state, key):
    """The slot of a key, or the empty one where it belongs; keys of a narrow range lie side by side."""
    mask = len(keys) - 1
    at = key - state[LOW]
    if at > mask:
        at = int64((uint64(at) * _HASH) >> uint64(64 - state[BITS]))
    while keys[at] != key and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@native
def put(table, key, count):
    """The table, maybe a larger one, with so many more trees of a key that is not in the window."""
    keys, counts, state, window = table
    at = slot_of(keys, state, key)
    if keys[at] < 0:
        keys[at] = key
        state[USED] += 1
        counts[at] += count
        if 2 * state[USED] > len(keys):
            state[BITS] += 2
            more, numbers = np.full(1 << state[BITS], -1, np.int64), np.zeros(1 << state[BITS], np.int64)
            for i in range(len(keys)):
                if keys[i] >= 0:
                    to = slot_of(more, state, keys[i])
                    more[to] = keys[i]
                    numbers[to] = counts[i]
            return more, numbers, state, window
        return table
    counts[at] += count
    return table


@native
def put_list(table, keys, counts, size):
    """The table with the first `size` entries of a list."""
    window, start = table[3], table[2][START]
    for i in range(size):
        if 0 <= keys[i] - start < len(window):
            window[keys[i] - start] += counts[i]
        else:
            table = put(table, keys[i], counts[i])
    return table


@native
def put_window(window, start, keys, counts, size):
    """Adds the first `size` entries of a list to a window that has all their keys."""
    for i in range(size):
        window[keys[i] - start] += counts[i]


@native
def listed(table):
    """(keys, counts): the entries of a table that have trees, by rising key."""
    keys, counts, state, window = table
    found = np.empty(state[USED] + len(window), np.int64)
    numbers = np.empty(len(found), np.int64)
    size = 0
    for i in range(len(keys) if state[USED] > 0 else 0):
        if keys[i] >= 0 and counts[i] != 0:
            found[size] = keys[i]
            numbers[size] = counts[i]
            size += 1
    for i in range(len(window)):
        if window[i] != 0:
            found[size] = state[START] + i
            numbers[size] = window[i]
            size += 1
    order = np.argsort(found[:size])
    return found[order], numbers[order]


@native
def total_of(counts):
    """How many trees there are, as a float."""
    total = 0.0
    for each in counts:
        total += float(each)
    return total


@native
def put_sums(table, first, last, add, budget, times, check):
    """The table with every sum of a key of each list and `add` that is <= budget; counts are multiplied."""
    check[0] += total_of(first[1]) * total_of(last[1]) * times
    if check[0] >= 2.0**62:
        return table
    window, start = table[3], table[2][START]
    for i in range(len(first[0])):
        for j in range(len(last[0])):
            key = first[0][i] + last[0][j] + add
            if key > budget:
                break
            count = first[1][i] * last[1][j] * times
            if 0 <= key - start < len(window):
                window[key - start] += count
            else:
                table = put(table, key, count)
    return table


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
