"""Counts of trees of depth two or less, native: in a window with a place for each key, or in a table of keys.

Of a least key L and a slack s below WIDEST, place i of a window counts trees of key L + i, for i = 0 to s. Where keys
are further apart the window has no places, and the table is filled. Rows, columns, keys and options are as in
`counts.py`; matrices of columns are those of `pair_sums.py`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.records import LANES
from streed.kernels.simd import fill, first_one, lanes_with
from streed.kernels.views import copy_into, inline, native
from streed.rashomon.compiled.pair_sums import TRIVIAL, allow, stump_keys
from streed.rashomon.compiled.tables import INFINITE, put, put_sums, total_of

WIDEST = 1024
"""Slacks below this have windows."""

_SIGN = -(2**63)


# -- lists of trees ------------------------------------------------------------------------------------------------


@inline
def list_leaves(leaf, budget, keys, counts, size):
    """Appends the leaves of keys <= budget."""
    for k in range(len(leaf)):
        if leaf[k] <= budget:
            keys[size] = leaf[k]
            counts[size] = 1
            size += 1
    return size


@inline
def list_stumps(first, last, price, budget, times, options, keys, counts, size):
    """Appends the trees of one split into these leaves of keys <= budget."""
    for i in range(len(first)):
        for j in range(len(last)):
            key = first[i] + last[j] + price
            if key <= budget and (i != j or options[TRIVIAL]):
                keys[size] = key
                counts[size] = times
                size += 1
    return size


@native
def list_sides(both, sums, alone, size, whole, price, f, multiple, options, rooms, leaf, keys, counts):
    """How many trees of depth one have keys <= rooms[0] over the rows with column f, and <= rooms[1] over the others.

    Writes them to `keys` and `counts` (2, .). `leaf` (2, k) has the keys of the sides by label, and after only those
    that are allowed.
    """
    m, labels = len(both), len(whole)
    part = np.empty((2, labels), np.int64)
    sign = fill(sums, int64(_SIGN))
    on, n_in, n_out = both[f, f], 0, 0
    for begin in range(0, both.shape[1], LANES):
        first, last = stump_keys(sums, alone, whole, m, labels, f, begin)
        inside = lanes_with(first - (rooms[0] + 1 - price), sign)
        while inside != 0:
            g = begin + first_one(np.uint64(inside))
            inside &= inside - 1
            count = both[f, g]
            if 0 < count < on:
                for k in range(labels):
                    part[0, k] = sums[k * m + f, g]
                    part[1, k] = leaf[0, k] - part[0, k]
                allow(part[0], count, options)
                allow(part[1], on - count, options)
                n_in = list_stumps(part[0], part[1], price, rooms[0], multiple[g], options, keys[0], counts[0], n_in)
        beside = lanes_with(last - (rooms[1] + 1 - price), sign)
        while beside != 0:
            g = begin + first_one(np.uint64(beside))
            beside &= beside - 1
            count = alone[0, g] - both[f, g]
            if 0 < count < size - on:
                for k in range(labels):
                    part[0, k] = alone[1 + k, g] - sums[k * m + f, g]
                    part[1, k] = leaf[1, k] - part[0, k]
                allow(part[0], count, options)
                allow(part[1], size - on - count, options)
                n_out = list_stumps(part[0], part[1], price, rooms[1], multiple[g], options, keys[1], counts[1], n_out)
    allow(leaf[0], on, options)
    allow(leaf[1], size - on, options)
    n_in = list_leaves(leaf[0], rooms[0], keys[0], counts[0], n_in)
    n_out = list_leaves(leaf[1], rooms[1], keys[1], counts[1], n_out)
    return n_in, n_out


@native
def gathered(found, numbers, size):
    """(keys, counts): the first `size` entries by rising key, those of one key together."""
    order = np.argsort(found[:size])
    keys = np.empty(size, np.int64)
    counts = np.empty(size, np.int64)
    at = -1
    for i in order:
        if at >= 0 and keys[at] == found[i]:
            counts[at] += numbers[i]
        else:
            at += 1
            keys[at] = found[i]
            counts[at] = numbers[i]
    return keys[: at + 1], counts[: at + 1]


# -- windows and tables --------------------------------------------------------------------------------------------


@native
def put_list(table, window, low, keys, counts, size):
    """The table with the first `size` entries of a list, or as it is, if the window of the keys from `low` has them."""
    for i in range(size):
        if len(window) > 0:
            window[keys[i] - low] += counts[i]
        else:
            table = put(table, low, keys[i], counts[i])
    return table


@native
def drop_one_label(table, window, low, first, last, price, budget, times):
    """The table, and the window, without the splits into leaves of one label."""
    for k in range(len(first)):
        key = first[k] + last[k] + price
        if key <= budget:
            if len(window) > 0:
                window[key - low] -= times
            else:
                table = put(table, low, key, -times)
    return table


@native
def join_windows(first, last, slack, times, found, shift):
    """Counts trees by those of their sides: a place of `first` and one of `last`, and `shift`, are one of `found`."""
    for i in range(slack + 1):
        count = first[i] * times
        if count != 0:
            for j in range(slack + 1 - i):
                found[shift + i + j] += count * last[j]


@native
def put_shallow(
    table, window, low, both, sums, alone, size, whole, price, depth, multiple, options, left, right, budget, check
):
    """The table with the trees of depth at most 0, 1 or 2 of keys <= budget, or the window of keys from `low` on.

    `left`, `right` (m,): the least keys of both sides of every split, of depth - 1.
    """
    m, labels = len(both), len(whole)
    most = labels + m * labels * labels
    keys, counts = np.empty((2, most), np.int64), np.empty((2, most), np.int64)
    leaf, rooms = np.empty((2, labels), np.int64), np.empty(2, np.int64)
    sides = np.empty((2, len(window)), np.int64)
    copy_into(leaf[0], whole)
    allow(leaf[0], size, options)
    n_in = list_leaves(leaf[0], budget, keys[0], counts[0], 0)
    table = put_list(table, window, low, keys[0], counts[0], n_in)
    for f in range(m if depth > 0 else 0):
        if left[f] >= INFINITE or right[f] >= INFINITE or left[f] + right[f] + price > budget:
            continue
        for k in range(labels):
            leaf[0, k] = sums[k * m + f, f]
            leaf[1, k] = whole[k] - leaf[0, k]
        if depth == 1:
            allow(leaf[0], both[f, f], options)
            allow(leaf[1], size - both[f, f], options)
            n_in = list_stumps(leaf[0], leaf[1], price, budget, multiple[f], options, keys[0], counts[0], 0)
            table = put_list(table, window, low, keys[0], counts[0], n_in)
            continue
        rooms[0] = budget - price - right[f]
        rooms[1] = budget - price - left[f]
        n_in, n_out = list_sides(
            both, sums, alone, size, whole, price, f, multiple, options, rooms, leaf, keys, counts
        )  # fmt: skip
        if len(window) > 0:
            room = rooms[0] - left[f]
            sides[:, : room + 1] = 0
            table = put_list(table, sides[0], left[f], keys[0], counts[0], n_in)
            table = put_list(table, sides[1], right[f], keys[1], counts[1], n_out)
            check[0] += total_of(sides[0, : room + 1]) * total_of(sides[1, : room + 1]) * multiple[f]
            if check[0] < 2.0**62:
                join_windows(sides[0], sides[1], room, multiple[f], window, left[f] + right[f] + price - low)
        else:
            first, last = gathered(keys[0], counts[0], n_in), gathered(keys[1], counts[1], n_out)
            table = put_sums(table, low, first, last, price, budget, multiple[f], check)
        if check[0] >= 2.0**62:
            return table
        if not options[TRIVIAL]:
            table = drop_one_label(table, window, low, leaf[0], leaf[1], price, budget, multiple[f])
    return table
