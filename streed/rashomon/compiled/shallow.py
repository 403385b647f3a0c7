"""Counts of trees of depth two or less, native.

Of a least key L and a slack s below WIDEST, tables have a window with a place for each key from L to L + s. Pair sums
are as in `enumerate/pair_bounds.py`: plane 0 counts rows by copies, and plane 1 + k is the key of a leaf of label k.

`options`: least copies in a leaf, the radix under which a key is its cost, whether leaves have their best label only,
whether splits into leaves of one label count, and the key of a split.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.enumerate.pair_bounds import diagonals, least_sides, stump_costs
from streed.kernels.records import INFINITE, LANES
from streed.kernels.simd import fill, first_one, lanes_with
from streed.kernels.views import inline, native
from streed.rashomon.compiled.tables import join_windows, listed, new_table, put_list, put_sums, put_window

LEAST_ROWS, RADIX, BEST, TRIVIAL, PRICE = range(5)
"""Places in `options`."""

WIDEST = 1024
"""Slacks below this have windows."""

_SIGN = -(2**63)


@native
def look(pairs, total, m, deep, options):
    """(least key, node): a node is (pairs, alone, total, left, right), with the least keys of its sides."""
    alone = diagonals(pairs, m, len(total))
    picks = np.arange(1, len(total))
    best, left, right = least_sides(pairs, alone, total, picks, m, options[PRICE], deep, options[LEAST_ROWS])
    return best, (pairs, alone, total, left, right)


@native
def allow(leaf, size, options):
    """Makes the keys of a leaf of so many rows INFINITE for labels that it may not have."""
    if size < options[LEAST_ROWS]:
        leaf[:] = INFINITE
    elif options[BEST]:
        chosen = 0
        for k in range(1, len(leaf)):
            if leaf[k] // options[RADIX] < leaf[chosen] // options[RADIX]:
                chosen = k
        for k in range(len(leaf)):
            if k != chosen:
                leaf[k] = INFINITE


@native
def put_leaves(node, f, options, leaf):
    """Writes (2, k) the keys of leaves of the rows with column f, and without it, by label; those that are allowed."""
    pairs, _, total, _, _ = node
    for k in range(leaf.shape[1]):
        leaf[0, k] = pairs[(1 + k) * pairs.shape[1] + f, f]
        leaf[1, k] = total[1 + k] - leaf[0, k]
    allow(leaf[0], pairs[f, f], options)
    allow(leaf[1], total[0] - pairs[f, f], options)


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
def list_stumps(leaf, alike, budget, times, options, keys, counts, size):
    """Appends the trees of keys <= budget of a split into leaves: those that count, or `alike` ones of one label."""
    for i in range(leaf.shape[1]):
        for j in range(leaf.shape[1]):
            key = leaf[0, i] + leaf[1, j] + options[PRICE]
            if key <= budget and (i == j if alike else (i != j or options[TRIVIAL])):
                keys[size] = key
                counts[size] = times
                size += 1
    return size


@inline
def list_within(node, f, within, begin, side, multiple, options, room, part, keys, counts, size):
    """Appends the trees of one split, of keys <= room, of a side of column f: on columns `begin` + bits of `within`."""
    pairs, alone, total, _, _ = node
    width = pairs.shape[1]
    rows = total[0] - pairs[f, f] if side else pairs[f, f]
    while within != 0:
        g = begin + first_one(np.uint64(within))
        within &= within - 1
        count = alone[0, g] - pairs[f, g] if side else pairs[f, g]
        if 0 < count < rows:
            for k in range(part.shape[1]):
                row = (1 + k) * width + f
                inside = pairs[row, g]
                part[0, k] = alone[1 + k, g] - inside if side else inside
                part[1, k] = (total[1 + k] - pairs[row, f] if side else pairs[row, f]) - part[0, k]
            allow(part[0], count, options)
            allow(part[1], rows - count, options)
            size = list_stumps(part, False, room, multiple[g], options, keys, counts, size)
    return size


@native
def list_sides(node, f, multiple, options, picks, rooms, leaf, part, keys, counts):
    """How many trees of depth one have keys <= rooms[0] over the rows with column f, and <= rooms[1] over the others.

    Writes them to `keys` and `counts` (2, .); `leaf` and `part` (2, k) are for its own use.
    """
    pairs, alone, total, _, _ = node
    sign, n_in, n_out = fill(pairs, int64(_SIGN)), 0, 0
    for at in range(0, pairs.shape[1], LANES):
        first, last = stump_costs(pairs, alone, total, picks, f, at)
        inside = lanes_with(first - (rooms[0] + 1 - options[PRICE]), sign)
        n_in = list_within(node, f, inside, at, 0, multiple, options, rooms[0], part, keys[0], counts[0], n_in)
        beside = lanes_with(last - (rooms[1] + 1 - options[PRICE]), sign)
        n_out = list_within(node, f, beside, at, 1, multiple, options, rooms[1], part, keys[1], counts[1], n_out)
    put_leaves(node, f, options, leaf)
    n_in = list_leaves(leaf[0], rooms[0], keys[0], counts[0], n_in)
    return n_in, list_leaves(leaf[1], rooms[1], keys[1], counts[1], n_out)


@native
def put_shallow(table, node, depth, multiple, options, budget, check):
    """The table with the trees of depth at most 0, 1 or 2 of keys <= budget."""
    _, _, total, left, right = node
    labels, price = len(total) - 1, options[PRICE]
    most = labels + len(left) * labels * labels
    keys, counts = np.empty((2, most), np.int64), np.empty((2, most), np.int64)
    rooms = np.empty(2, np.int64)
    leaf, part = np.empty((2, labels), np.int64), np.empty((2, labels), np.int64)
    picks = np.arange(1, len(total))
    windows = np.empty((2, len(table[3])), np.int64)
    whole = total[1:].copy()
    allow(whole, total[0], options)
    size = list_leaves(whole, budget, keys[0], counts[0], 0)
    table = put_list(table, keys[0], counts[0], size)
    for f in range(len(left) if depth > 0 else 0):
        if left[f] >= INFINITE or left[f] + right[f] + price > budget:
            continue
        if depth == 2:
            slack = budget - price - left[f] - right[f]
            rooms[0] = left[f] + slack
            rooms[1] = right[f] + slack
            n_in, n_out = list_sides(node, f, multiple, options, picks, rooms, leaf, part, keys, counts)
            least = left[f] + right[f] + price
            if slack < windows.shape[1]:
                windows[:, : slack + 1] = 0
                put_window(windows[0], left[f], keys[0], counts[0], n_in)
                put_window(windows[1], right[f], keys[1], counts[1], n_out)
                join_windows(windows, slack, multiple[f], table, least, check)
            else:
                first = put_list(new_table(left[f], left[f], windows[0, :0]), keys[0], counts[0], n_in)
                last = put_list(new_table(right[f], right[f], windows[1, :0]), keys[1], counts[1], n_out)
                table = put_sums(table, listed(first), listed(last), price, budget, multiple[f], check)
            if check[0] >= 2.0**62:
                return table
            if options[TRIVIAL]:
                continue
        put_leaves(node, f, options, leaf)
        times = multiple[f] if depth == 1 else -multiple[f]
        size = list_stumps(leaf, depth == 2, budget, times, options, keys[0], counts[0], 0)
        table = put_list(table, keys[0], counts[0], size)
    return table
