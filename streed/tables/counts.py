"""Native histograms of trees of depth three or less, from pair sums of columns, in tables of keys and counts.

A row costs a key per label, in int64 and never below 0, and a split one too; a tree's key is their sum. `data` has what
all sets of rows share: `columns` (w, p) uint64, the words of every column beside each other; `groups` (g, w), the rows
of equal keys and copies; `multipliers` (g, 1 + k), how many rows one of a group stands for, and what it costs by label;
`multiple` (p,), how many columns make the same split; and the rule of `shallow.py`, of absolute keys. What is found are
entries (key, count), and `check` is as in `entries.py`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import functools

import numpy as np
from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE, LANES
from streed.kernels.simd import broadcast, count_ones, fill, load, popcount, store
from streed.kernels.views import native
from streed.tables.entries import ANY, COST, compact, join_windows, new_table, put_entries, put_sums
from streed.tables.shallow import TRIVIAL, WIDEST, list_leaves, list_stumps, look, put_leaf, put_leaves, put_shallow

_BITS = 6


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


@native
def _table_of(start, window):
    """A table of counts with a window that begins at a key."""
    return new_table(int64(_BITS), 2, start, window, int64(ANY))


@functools.partial(entry, late=False)
def count_shallow(data, rows, depth, budget, counting, check):
    """(least key, entries) of the trees of the rows of depth at most 0, 1 or 2.

    No key is below the least one, INFINITE if there is no tree; it is one where a leaf may have any rows. If
    `counting`, the keys <= budget and how many trees have each.
    """
    columns, groups, multipliers, multiple, rule = data
    total = sums_of(groups, multipliers, rows)
    active = separating(columns, rows) if depth > 0 else np.empty(0, np.int64)
    pairs = new_pairs(len(total), len(active))
    if len(active) > 0:
        held = np.zeros((len(rows), pairs.shape[1]), np.int64)
        pair_sums(columns, groups, multipliers, rows, active, held, pairs)
    best, node = look(pairs, total, len(active), depth == 2, rule)
    slack = budget - best
    wanted = counting and slack >= 0
    table = _table_of(best, np.zeros(slack + 1 if wanted and slack < WIDEST else 0, np.int64))
    if wanted:
        table = put_shallow(table, node, depth, multiple[active], rule, budget, check)
    return best, compact(table)


@functools.partial(entry, late=False)
def count_three(data, rows, asked, budget, check):
    """Entries of the trees of the rows of depth at most three whose keys are <= budget.

    `asked`: the columns that these trees may split on first.
    """
    columns, groups, multipliers, multiple, rule = data
    total, split = sums_of(groups, multipliers, rows), rule[1]
    add = np.array([split[COST], 0])
    start = max(int64(0), budget - WIDEST + 1)
    table = _table_of(start, np.zeros(max(0, budget - start + 1), np.int64))
    labels = len(total) - 1
    found, part = np.empty((labels * labels + labels, 2), np.int64), np.empty((2, len(total)), np.int64)
    leaves = np.empty((2, labels, 2), np.int64)
    put_leaf(total, rule, leaves[0])
    table = put_entries(table, found, list_leaves(leaves[0], budget, found, 0))
    active = separating(columns, rows)
    m = len(active)
    pairs, ones, zeros = new_pairs(len(total), m), new_pairs(len(total), m), new_pairs(len(total), m)
    held = np.zeros((len(rows), pairs.shape[1]), np.int64)
    sides = np.empty((2, len(total)), np.int64)
    chosen = multiple[active]
    if m > 0:
        pair_sums(columns, groups, multipliers, rows, active, held, pairs)
    whole = look(pairs, total, m, False, rule)[1]
    place = np.full(columns.shape[1], -1, np.int64)
    for i in range(m):
        place[active[i]] = i
    child = np.empty(len(rows), np.uint64)
    for f in place[asked]:
        is_small = 2 * pairs[f, f] <= total[0]
        for w in range(len(rows)):
            child[w] = rows[w] & (columns[w, active[f]] if is_small else ~columns[w, active[f]])
        counted, rest = (ones, zeros) if is_small else (zeros, ones)
        pair_sums(columns, groups, multipliers, child, active, held, counted)
        for p in range(len(total)):
            first_row = p * pairs.shape[1]
            sides[0, p] = pairs[first_row + f, f]
            sides[1, p] = total[p] - sides[0, p]
            for i in range(first_row, first_row + m):
                for j in range(pairs.shape[1]):
                    rest[i, j] = pairs[i, j] - counted[i, j]
        least_1, node_1 = look(ones, sides[0], m, True, rule)
        least_0, node_0 = look(zeros, sides[1], m, True, rule)
        if least_1 >= INFINITE or least_0 >= INFINITE or least_1 + least_0 + split[COST] > budget:
            continue
        slack = budget - (least_1 + least_0 + split[COST])
        places = slack + 1 if slack < len(table[3]) else 0
        windows = np.zeros((2, places), np.int64)
        first = put_shallow(_table_of(least_1, windows[0]), node_1, 2, chosen, rule, least_1 + slack, check)
        last = put_shallow(_table_of(least_0, windows[1]), node_0, 2, chosen, rule, least_0 + slack, check)
        if places > 0:
            join_windows(windows, slack, chosen[f], table, budget - slack, check)
        else:
            table = put_sums(table, compact(first), compact(last), add, budget, chosen[f], check)
        if check[0] >= 2.0**62:
            break
        if not rule[2][TRIVIAL]:
            put_leaves(whole, f, rule, part, leaves)
            table = put_entries(table, found, list_stumps(leaves, True, budget, -chosen[f], 0, rule, found, 0))
    return compact(table)
