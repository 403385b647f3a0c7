"""Counts of trees of depth two or less, native.

Of a least key L and a slack s below WIDEST, tables have a window with a place for each key from L to L + s. Pair sums
are as in `shallow.py`: plane 0 counts rows by copies, and plane 1 + k is the key of a leaf of label k.

`options`: least copies in a leaf, the radix under which a key is its cost, whether leaves have their best label only,
whether splits into leaves of one label count, and the key of a split.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import own_entry
from streed.kernels.records import INFINITE, LANES
from streed.kernels.simd import broadcast, count_ones, fill, first_one, lanes_with, load, popcount, store
from streed.kernels.views import inline, native
from streed.tables.count_tables import join_windows, listed, new_table, put_list, put_sums, put_window
from streed.tables.shallow import diagonals, least_sides, stump_costs

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


@native
def sums_of(groups, multipliers, rows):
    """(1 + k,) how many rows there are, by copies, and the key of all of them by label."""
    total = np.zeros(multipliers.shape[1], np.int64)
    for g in range(len(groups)):
        count = int64(0)
        for w in range(len(rows)):
            count += count_ones(rows[w] & groups[g, w])
        for p in range(len(total)):
            total[p] += count * multipliers[g, p]
    return total


@native
def separating(columns, rows):
    """(m,) the columns that separate the rows."""
    words, width = columns.shape
    one = np.zeros(width, np.uint64)
    zero = np.zeros(width, np.uint64)
    for w in range(words):
        if rows[w] != 0:
            for f in range(width):
                one[f] |= columns[w, f] & rows[w]
                zero[f] |= ~columns[w, f] & rows[w]
    found = np.empty(width, np.int64)
    size = 0
    for f in range(width):
        if one[f] != 0 and zero[f] != 0:
            found[size] = f
            size += 1
    return found[:size].copy()


@native
def new_pairs(planes, m):
    """Room for the sums over pairs of m columns."""
    width = (m + LANES - 1) // LANES * LANES
    return np.empty((planes * width, width), np.int64)


@native
def pair_sums(columns, groups, multipliers, rows, active, held, pairs):
    """Writes the sums over pairs of columns; `held` (words, P) is for its own use, and zero behind the last column."""
    m, width, planes = len(active), pairs.shape[1], multipliers.shape[1]
    begun = False
    for g in range(len(groups)):
        used = 0
        for w in range(len(rows)):
            word = rows[w] & groups[g, w]
            if word != 0:
                for i in range(m):
                    held[used, i] = int64(columns[w, active[i]] & word)
                used += 1
        if used == 0:
            continue
        for i in range(m):
            for at in range(0, width, LANES):
                count = fill(held, 0)
                for w in range(used):
                    count = count + popcount(load(held, w, at) & broadcast(held, w, i))
                for p in range(planes):
                    times, row = multipliers[g, p], p * width + i
                    if not begun:
                        store(pairs, row, at, count * times)
                    elif times != 0:
                        store(pairs, row, at, load(pairs, row, at) + count * times)
        begun = True
    if not begun:
        pairs[:] = 0


@own_entry
def count_shallow(data, rows, depth, budget, counting, check):
    """(least key, keys, counts) of the trees of the rows of depth at most 0, 1 or 2.

    No key is below the least one, INFINITE if there is no tree; it is one where a leaf may have any rows. If
    `counting`, the keys <= budget and how many trees have each.
    """
    columns, groups, multipliers, multiple, options = data
    total = sums_of(groups, multipliers, rows)
    active = separating(columns, rows) if depth > 0 else np.empty(0, np.int64)
    pairs = new_pairs(len(total), len(active))
    if len(active) > 0:
        held = np.zeros((len(rows), pairs.shape[1]), np.int64)
        pair_sums(columns, groups, multipliers, rows, active, held, pairs)
    best, node = look(pairs, total, len(active), depth == 2, options)
    slack = budget - best
    wanted = counting and slack >= 0
    table = new_table(best, best, np.zeros(slack + 1 if wanted and slack < WIDEST else 0, np.int64))
    if wanted:
        table = put_shallow(table, node, depth, multiple[active], options, budget, check)
    found = listed(table)
    return best, found[0], found[1]


@own_entry
def count_three(data, rows, asked, budget, check):
    """(keys, counts) of the trees of the rows of depth at most three whose keys are <= budget.

    `asked`: the columns that these trees may split on first.
    """
    columns, groups, multipliers, multiple, options = data
    total, price = sums_of(groups, multipliers, rows), options[PRICE]
    start = max(int64(0), budget - WIDEST + 1)
    table = new_table(int64(0), start, np.zeros(max(0, budget - start + 1), np.int64))
    keys, counts = np.empty(len(total) ** 2, np.int64), np.empty(len(total) ** 2, np.int64)
    leaf, leaves = total[1:].copy(), np.empty((2, len(total) - 1), np.int64)
    allow(leaf, total[0], options)
    table = put_list(table, keys, counts, list_leaves(leaf, budget, keys, counts, 0))
    active = separating(columns, rows)
    m = len(active)
    pairs, ones, zeros = new_pairs(len(total), m), new_pairs(len(total), m), new_pairs(len(total), m)
    held = np.zeros((len(rows), pairs.shape[1]), np.int64)
    side_1, side_0 = np.empty(len(total), np.int64), np.empty(len(total), np.int64)
    chosen = multiple[active]
    if m > 0:
        pair_sums(columns, groups, multipliers, rows, active, held, pairs)
    whole = look(pairs, total, m, False, options)[1]
    place = np.full(columns.shape[1], -1, np.int64)
    for i in range(m):
        place[active[i]] = i
    child = np.empty(len(rows), np.uint64)
    for f in place[asked]:
        is_small = 2 * pairs[f, f] <= total[0]
        for w in range(len(rows)):
            word = columns[w, active[f]]
            child[w] = rows[w] & (word if is_small else ~word)
        counted, rest = (ones, zeros) if is_small else (zeros, ones)
        pair_sums(columns, groups, multipliers, child, active, held, counted)
        for p in range(len(total)):
            first_row = p * pairs.shape[1]
            side_1[p] = pairs[first_row + f, f]
            side_0[p] = total[p] - side_1[p]
            for i in range(first_row, first_row + m):
                for j in range(pairs.shape[1]):
                    rest[i, j] = pairs[i, j] - counted[i, j]
        least_1, node_1 = look(ones, side_1, m, True, options)
        least_0, node_0 = look(zeros, side_0, m, True, options)
        if least_1 >= INFINITE or least_0 >= INFINITE or least_1 + least_0 + price > budget:
            continue
        slack = budget - (least_1 + least_0 + price)
        places = slack + 1 if slack < len(table[3]) else 0
        windows = np.zeros((2, places), np.int64)
        first, last = new_table(least_1, least_1, windows[0]), new_table(least_0, least_0, windows[1])
        first = put_shallow(first, node_1, 2, chosen, options, least_1 + slack, check)
        last = put_shallow(last, node_0, 2, chosen, options, least_0 + slack, check)
        if places > 0:
            join_windows(windows, slack, chosen[f], table, budget - slack, check)
        else:
            table = put_sums(table, listed(first), listed(last), price, budget, chosen[f], check)
        if check[0] >= 2.0**62:
            break
        if not options[TRIVIAL]:
            put_leaves(whole, f, options, leaves)
            size = list_stumps(leaves, True, budget, -chosen[f], options, keys, counts, 0)
            table = put_list(table, keys, counts, size)
    return listed(table)


@own_entry
def convolve(first_keys, first_counts, last_keys, last_counts, add, budget, check):
    """(keys, counts): every sum of a key of each and `add` that is <= budget, counts multiplied; keys rise."""
    table = new_table(int64(0), int64(0), np.empty(0, np.int64))
    first, last = (first_keys, first_counts), (last_keys, last_counts)
    return listed(put_sums(table, first, last, add, budget, int64(1), check))
