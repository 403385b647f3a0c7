"""Trees of depth two or less from sums over pairs of columns: their least cost, and all of them by their entries.

Sums over the rows that have two columns, for every pair of columns, tell the sums of all four leaves below any two of
them. `pairs` (planes * P, P) int64 has the sums of a plane from row plane * P on, for m columns and zeros behind them;
P is a multiple of 32. Plane 0 counts rows, and `picks` (k,) names for every label the plane of what a leaf costs with
it, behind which those of its other sums stand; -1 of a first label that others are compared with, under which a leaf's
sums are 0. `total` (planes,) are the sums over all rows. There are no columns, m = 0, where the depth is 0.

A `rule` is (picks, split, options): `split` is what a branching node adds, the options are the least rows of a leaf,
the radix under which a key is its cost, whether leaves have their best label only, and whether splits into leaves of
one label count. Of a least key L and a slack s below WIDEST, tables of numbers of trees have a window with a place for
each key from L to L + s.

The name of a leaf is its label; of k labels the name of a split on column f into leaves of labels a, with the column,
and b is (f + 1) k k + b k + a. These are below M = (m + 1) k k, and the name of a split into such trees of names a and
b is (f + 1) M M + b M + a. So names add up as well.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE, LANES
from streed.kernels.simd import fill, first_one, lanes_with, load, minimum, smallest
from streed.kernels.views import copy_into, inline, native
from streed.tables.entries import (
    ANY,
    COST,
    MOST,
    USED,
    VALUE,
    as_table,
    compact,
    join_windows,
    new_table,
    put_entries,
    put_sums,
    put_window,
)

LEAST_ROWS, RADIX, BEST, TRIVIAL = range(4)
"""Places in the options of a rule."""

WIDEST = 1024
"""Slacks below this have windows."""

_FEW = 4
"""Of so few trees of a side, all sums are tried before equal ones are looked for."""

_SIGN = -(2**63)


# -- bounds --------------------------------------------------------------------------------------------------------


@inline
def stump_costs(pairs, alone, total, picks, f, at):
    """The least costs of two leaves on either side of column f by the columns from `at` on: those with f, and without.

    Of as many rows as there are, fewer than a leaf needs or none: so a bound where leaves need rows.
    """
    a = fill(pairs, 0)
    b, c, d = a, a, a
    if picks[0] >= 0:
        row = picks[0] * pairs.shape[1] + f
        a = load(pairs, row, at)
        c = load(alone, picks[0], at) - a
        b = fill(pairs, pairs[row, f]) - a
        d = fill(pairs, total[picks[0]] - pairs[row, f]) - c
    for k in range(1, len(picks)):
        row = picks[k] * pairs.shape[1] + f
        p = pairs[row, f]
        x = load(pairs, row, at)
        y = load(alone, picks[k], at) - x
        a = minimum(a, x)
        c = minimum(c, y)
        b = minimum(b, fill(pairs, p) - x)
        d = minimum(d, fill(pairs, total[picks[k]] - p) - y)
    return a + b, c + d


@native
def leaf_cost(pairs, total, picks, f, side):
    """What a leaf of the rows with column f costs at least (side 1), without it (0), or of all rows (-1)."""
    best = INFINITE
    for k in range(len(picks)):
        cost = 0
        if picks[k] >= 0:
            cost = total[picks[k]]
            if side >= 0:
                inside = pairs[picks[k] * pairs.shape[1] + f, f]
                cost = inside if side == 1 else cost - inside
        best = min(best, cost)
    return best


@native
def look(pairs, total, m, deep, rule):
    """(least key, node): a node is (pairs, alone, total, left, right).

    `alone` (planes, P) are the sums over the rows that have each column; `left` and `right` (m,) are the least keys of
    its sides, with it and without. Trees of a side are leaves, or (`deep`) split once; INFINITE where a side has too
    few rows for a leaf.
    """
    picks, split, options = rule
    price, least_rows, size = split[COST], options[LEAST_ROWS], total[0]
    alone = np.zeros((len(total), pairs.shape[1]), np.int64)
    for p in range(len(total)):
        for f in range(m):
            alone[p, f] = pairs[p * pairs.shape[1] + f, f]
    left, right = np.full(m, INFINITE, np.int64), np.full(m, INFINITE, np.int64)
    best = leaf_cost(pairs, total, picks, 0, -1) if size >= least_rows else INFINITE
    for f in range(m):
        on = pairs[f, f]
        if on < max(1, least_rows) or size - on < max(1, least_rows):
            continue
        low, high = leaf_cost(pairs, total, picks, f, 1), leaf_cost(pairs, total, picks, f, 0)
        if deep:
            # columns that do not separate a side give two leaves no better than one
            first, last = stump_costs(pairs, alone, total, picks, f, 0)
            for at in range(LANES, pairs.shape[1], LANES):
                one, other = stump_costs(pairs, alone, total, picks, f, at)
                first = minimum(first, one)
                last = minimum(last, other)
            if on >= 2 * least_rows:
                low = min(low, smallest(first) + price)
            if size - on >= 2 * least_rows:
                high = min(high, smallest(last) + price)
        left[f] = low
        right[f] = high
        best = min(best, low + high + price)
    return best, (pairs, alone, total, left, right)


# -- trees ---------------------------------------------------------------------------------------------------------


@native
def put_leaf(part, rule, found):
    """Writes the entries of a leaf by label, of INFINITE cost if it may not have the label; `part`: its sums."""
    picks, _, options = rule
    last = found.shape[1] - 1
    for k in range(len(picks)):
        for c in range(last):
            found[k, c] = part[picks[k] + c] if picks[k] >= 0 else 0
        found[k, last] = 1 if last == VALUE else k
    if part[0] < options[LEAST_ROWS]:
        found[:, COST] = INFINITE
    elif options[BEST]:
        chosen = 0
        for k in range(1, len(picks)):
            if found[k, COST] // options[RADIX] < found[chosen, COST] // options[RADIX]:
                chosen = k
        for k in range(len(picks)):
            if k != chosen:
                found[k, COST] = INFINITE


@native
def put_leaves(node, f, rule, part, leaves):
    """Writes the entries of leaves of the rows with column f, and of those without it, (2, k, width)."""
    pairs, _, total, _, _ = node
    for p in range(len(total)):
        part[0, p] = pairs[p * pairs.shape[1] + f, f]
        part[1, p] = total[p] - part[0, p]
    put_leaf(part[0], rule, leaves[0])
    put_leaf(part[1], rule, leaves[1])


@native
def list_leaves(leaf, budget, found, size):
    """Appends the leaves of cost <= budget."""
    for k in range(len(leaf)):
        if leaf[k, COST] <= budget:
            copy_into(found[size], leaf[k])
            size += 1
    return size


@inline
def list_stumps(leaves, alike, budget, times, name, rule, found, size):
    """Appends the trees of cost <= budget of a split into leaves: those that count, or `alike` ones of one label."""
    _, split, options = rule
    last = found.shape[1] - 1
    for i in range(leaves.shape[1]):
        for j in range(leaves.shape[1]):
            cost = leaves[0, i, COST] + leaves[1, j, COST] + split[COST]
            if cost <= budget and (i == j if alike else (i != j or options[TRIVIAL])):
                found[size, COST] = cost
                for c in range(1, last):
                    found[size, c] = leaves[0, i, c] + leaves[1, j, c] + split[c]
                found[size, last] = times if last == VALUE else (name * leaves.shape[1] + j) * leaves.shape[1] + i
                size += 1
    return size


@inline
def list_within(node, of, lanes, multiple, rule, room, space, size):
    """Appends the trees of one split, of cost <= room, of a side of column f: on columns `begin` + bits of `within`."""
    pairs, alone, total, _, _ = node
    (f, side), (within, begin), (part, leaves, found) = of, lanes, space
    rows = total[0] - pairs[f, f] if side else pairs[f, f]
    while within != 0:
        g = begin + first_one(np.uint64(within))
        within &= within - 1
        count = alone[0, g] - pairs[f, g] if side else pairs[f, g]
        if 0 < count < rows:
            for p in range(len(total)):
                row = p * pairs.shape[1] + f
                part[0, p] = alone[p, g] - pairs[row, g] if side else pairs[row, g]
                part[1, p] = (total[p] - pairs[row, f] if side else pairs[row, f]) - part[0, p]
            put_leaf(part[0], rule, leaves[0])
            put_leaf(part[1], rule, leaves[1])
            size = list_stumps(leaves, False, room, multiple[g], g + 1, rule, found, size)
    return size


@native
def list_sides(node, f, multiple, rule, rooms, part, leaves, found):
    """How many trees of depth one cost <= rooms[0] over the rows with column f, and <= rooms[1] over the others.

    Writes them to `found` (2, .); `part` (2, planes) and `leaves` (2, k, width) are for its own use.
    """
    pairs, alone, total, _, _ = node
    picks, split, _ = rule
    sign, n_in, n_out = fill(pairs, int64(_SIGN)), 0, 0
    for at in range(0, pairs.shape[1], LANES):
        first, last = stump_costs(pairs, alone, total, picks, f, at)
        inside = lanes_with(first - (rooms[0] + 1 - split[COST]), sign)
        n_in = list_within(node, (f, 0), (inside, at), multiple, rule, rooms[0], (part, leaves, found[0]), n_in)
        beside = lanes_with(last - (rooms[1] + 1 - split[COST]), sign)
        n_out = list_within(node, (f, 1), (beside, at), multiple, rule, rooms[1], (part, leaves, found[1]), n_out)
    put_leaves(node, f, rule, part, leaves)
    return list_leaves(leaves[0], rooms[0], found[0], n_in), list_leaves(leaves[1], rooms[1], found[1], n_out)


@native
def by_cost(found, size):
    """The first `size` entries by rising cost, those of equal keys once."""
    if size > _FEW or found.shape[1] == 2:
        return compact(as_table(found, int64(size), int64(ANY)))
    listed = np.empty((size, found.shape[1]), np.int64)
    for i in range(size):
        place = 0
        for j in range(size):
            place += found[j, COST] < found[i, COST] or (j < i and found[j, COST] == found[i, COST])
        copy_into(listed[place], found[i])
    return listed


@native
def put_shallow(table, node, depth, multiple, rule, budget, check):
    """The table with the trees of depth at most 0, 1 or 2 of cost <= budget."""
    _, split, options = rule
    total, left, right = node[2:]
    labels, width = len(rule[0]), table[0].shape[1]
    found = np.empty((2, labels + len(left) * labels * labels, width), np.int64)
    leaves, part = np.empty((2, labels, width), np.int64), np.empty((2, len(total)), np.int64)
    windows, rooms, add = np.empty((2, len(table[3])), np.int64), np.empty(2, np.int64), np.zeros(width, np.int64)
    copy_into(add, split)
    budget = min(budget, INFINITE - 1)
    names = (len(left) + 1) * labels * labels
    put_leaf(total, rule, leaves[0])
    table = put_entries(table, found[0], list_leaves(leaves[0], budget, found[0], 0))
    for f in range(len(left) if depth > 0 else 0):
        least = left[f] + right[f] + split[COST]
        if left[f] >= INFINITE or least > budget:
            continue
        if depth == 2:
            slack = budget - least
            rooms[0] = left[f] + slack
            rooms[1] = right[f] + slack
            n_in, n_out = list_sides(node, f, multiple, rule, rooms, part, leaves, found)
            if slack < windows.shape[1]:
                windows[:, : slack + 1] = 0
                put_window(windows[0], left[f], found[0], n_in)
                put_window(windows[1], right[f], found[1], n_out)
                join_windows(windows, slack, multiple[f], table, least, check)
            else:
                # most splits of few rows, or of rows of one class, are worth the same, and each would meet all others
                a, b = by_cost(found[0], n_in), by_cost(found[1], n_out)
                if width > 2:
                    for i in range(len(b)):
                        b[i, width - 1] *= names
                    add[width - 1] = (f + 1) * names * names
                table = put_sums(table, a, b, add, budget, multiple[f], check)
            if check[0] >= 2.0**62 or table[2][USED] > table[2][MOST]:
                return table
            if options[TRIVIAL]:
                continue
        put_leaves(node, f, rule, part, leaves)
        times = multiple[f] if depth == 1 else -multiple[f]
        size = list_stumps(leaves, depth == 2, budget, times, f + 1, rule, found[0], 0)
        table = put_entries(table, found[0], size)
    return table


# -- near-optimal trees --------------------------------------------------------------------------------------------


@native
def _rule_of(total, split, least_rows):
    """The rule of *profits*: planes of what the sums of each label but the first are beyond those of the first."""
    picks = np.arange(-len(split), len(total) - 1, len(split)) + 1 + COST
    picks[0] = -1
    return picks, split, np.array([least_rows, 1, 0, 1])


@entry
def least_shallow(pairs, total, m, split, depth, least_rows):
    """What trees of depth at most 0, 1 or 2 cost at least; INFINITE if there are none."""
    return look(pairs, total, m, depth == 2, _rule_of(total, split, least_rows))[0]


@entry
def enumerate_shallow(pairs, total, m, split, depth, least_rows, budget, most):
    """The entries of the trees of depth at most 0, 1 or 2 that cost at most `budget`; more than `most` are not all.

    Planes are profits: entries and costs here are beyond those of the first label.
    """
    rule = _rule_of(total, split, least_rows)
    node = look(pairs, total, m, depth == 2, rule)[1]
    table = new_table(int64(10), len(split) + 1, int64(0), np.empty(0, np.int64), most)
    return compact(put_shallow(table, node, depth, np.ones(m, np.int64), rule, budget, np.zeros(1)))
