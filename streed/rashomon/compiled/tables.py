"""Tables of keys and counts, native: open addressing that grows, and lists of their entries by rising key.

Counts are int64; `check[0]` collects how many trees there may be at most, as a float, and a caller discards what was
counted where that reached 2**62.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.views import native

INFINITE = 2**61
"""The key of what there is not; two of them and a price fit int64."""

_HASH = np.uint64(0x9E3779B97F4A7C15)


@native
def new_table(bits):
    """(keys, counts, [slots used, how many bits number a slot]); a key of -1 is an empty slot."""
    return np.full(1 << bits, -1, np.int64), np.zeros(1 << bits, np.int64), np.array([0, bits])


@native
def slot_of(keys, bits, low, key):
    """The slot of a key >= low, or the empty one where it belongs; keys of a narrow range lie side by side."""
    mask = len(keys) - 1
    at = key - low
    if at > mask:
        at = int64((uint64(at) * _HASH) >> uint64(64 - bits))
    while keys[at] != key and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@native
def put(table, low, key, count):
    """The table, maybe a larger one, with so many more trees of the key."""
    keys, counts, state = table
    at = slot_of(keys, state[1], low, key)
    if keys[at] < 0:
        keys[at] = key
        state[0] += 1
        counts[at] += count
        if 2 * state[0] > len(keys):
            larger = new_table(state[1] + 2)
            for i in range(len(keys)):
                if keys[i] >= 0:
                    to = slot_of(larger[0], larger[2][1], low, keys[i])
                    larger[0][to] = keys[i]
                    larger[1][to] = counts[i]
            larger[2][0] = state[0]
            return larger
        return table
    counts[at] += count
    return table


@native
def listed(table):
    """(keys, counts): the entries of a table that have trees, by rising key."""
    keys, counts, state = table
    found = np.empty(state[0], np.int64)
    numbers = np.empty(state[0], np.int64)
    size = 0
    for i in range(len(keys)):
        if keys[i] >= 0 and counts[i] != 0:
            found[size] = keys[i]
            numbers[size] = counts[i]
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
def put_sums(table, low, first, last, add, budget, times, check):
    """The table with every sum of a key of each list and `add` that is <= budget; counts are multiplied."""
    check[0] += total_of(first[1]) * total_of(last[1]) * times
    if check[0] >= 2.0**62:
        return table
    for i in range(len(first[0])):
        room = budget - add - first[0][i]
        for j in range(len(last[0])):
            if last[0][j] > room:
                break
            table = put(table, low, first[0][i] + last[0][j] + add, first[1][i] * last[1][j] * times)
    return table
