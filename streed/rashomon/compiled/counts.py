"""Native histograms of trees of depth three or less, from pair sums of columns, in tables of keys and counts.

A row costs a key per label, in int64 and never below 0, and a split the key `price`; a tree's key is their sum. Rows
are bits: `columns` (w, p) uint64 has the words of every column beside each other, `groups` (g, w) the rows of equal
keys and copies, `keys` (g, k) what a row of a group costs by label, `copies` (g,) how many rows it stands for.
`multiple` (p,) says how many columns make the same split. Counts are int64; `check[0]` collects how many trees there
may be at most, as a float, and a caller discards what was counted where that reached 2**62.

`options`: least copies in a leaf, the radix under which a key is its cost, whether leaves have their best label only,
and whether splits into leaves of one label count.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import own_entry
from streed.kernels.views import native
from streed.rashomon.compiled.pair_sums import (
    LEAST_ROWS,
    TRIVIAL,
    allow,
    diagonals,
    leaf_sums,
    least_sides,
    pad,
    pair_sums,
    separating,
    subtract,
)
from streed.rashomon.compiled.shallow import WIDEST, drop_one_label, join_windows, put_shallow
from streed.rashomon.compiled.tables import INFINITE, listed, new_table, put, put_sums, total_of

FIRST_BITS = 6
"""New tables have 2**6 slots."""


@native
def put_near(table, low, near, least):
    """The table with the trees of keys least, least + 1 ... that `near` counts."""
    for i in range(len(near)):
        if near[i] != 0:
            table = put(table, low, least + i, near[i])
    return table


# -- what Python asks ----------------------------------------------------------------------------------------------


@own_entry
def count_shallow(columns, groups, keys, copies, multiple, options, rows, price, depth, budget, counting, check):
    """(least key, keys, counts) of the trees of the rows of depth at most 0, 1 or 2.

    The least key is exact, INFINITE if there is none. If `counting`, the keys <= budget and how many trees have each.
    """
    labels = keys.shape[1]
    whole = np.empty(labels, np.int64)
    size = leaf_sums(groups, keys, copies, rows, whole)
    best = int64(INFINITE)
    if size >= options[LEAST_ROWS]:
        for k in range(labels):
            best = min(best, whole[k])
    active = separating(columns, rows) if depth > 0 else np.empty(0, np.int64)
    m = len(active)
    width = pad(m)
    both, sums = np.empty((m, width), np.int64), np.empty((labels * m, width), np.int64)
    alone = np.empty((1 + labels, width), np.int64)
    left, right = np.empty(m, np.int64), np.empty(m, np.int64)
    if m > 0:
        pair_sums(columns, groups, keys, copies, rows, active, np.zeros((len(rows), width), np.int64), both, sums)
        diagonals(both, sums, labels, alone)
        best = least_sides(both, sums, alone, size, whole, price, depth == 2, options, left, right)
    table = new_table(FIRST_BITS)
    slack = budget - best
    if counting and slack >= 0:
        window = np.zeros(slack + 1 if slack < WIDEST else 0, np.int64)
        table = put_shallow(
            table, window, best, both, sums, alone, size, whole, price, depth, multiple[active], options, left, right,
            budget, check,
        )  # fmt: skip
        table = put_near(table, best, window, best)
    found = listed(table)
    return best, found[0], found[1]


@own_entry
def count_three(columns, groups, keys, copies, multiple, options, rows, asked, price, budget, check):
    """(keys, counts) of the trees of the rows of depth at most three whose keys are <= budget.

    `asked`: the columns that these trees may split on first.
    """
    labels = keys.shape[1]
    whole = np.empty(labels, np.int64)
    size = leaf_sums(groups, keys, copies, rows, whole)
    table, low = new_table(FIRST_BITS), int64(0)
    # the trees of keys `start` and more
    start = max(low, budget - WIDEST + 1)
    near = np.zeros(max(0, budget - start + 1), np.int64)
    leaf = whole.copy()
    allow(leaf, size, options)
    for k in range(labels):
        if start <= leaf[k] <= budget:
            near[leaf[k] - start] += 1
        elif leaf[k] <= budget:
            table = put(table, low, leaf[k], int64(1))
    active = separating(columns, rows)
    m = len(active)
    width = pad(m)
    both, one, zero = np.empty((m, width), np.int64), np.empty((m, width), np.int64), np.empty((m, width), np.int64)
    sums = np.empty((labels * m, width), np.int64)
    ones, zeros = np.empty((labels * m, width), np.int64), np.empty((labels * m, width), np.int64)
    alone_1, alone_0 = np.empty((1 + labels, width), np.int64), np.empty((1 + labels, width), np.int64)
    held = np.zeros((len(rows), width), np.int64)
    left, right = np.empty(m, np.int64), np.empty(m, np.int64)
    left_0, right_0 = np.empty(m, np.int64), np.empty(m, np.int64)
    sides = np.empty((2, labels), np.int64)
    chosen = multiple[active]
    if m > 0:
        pair_sums(columns, groups, keys, copies, rows, active, held, both, sums)
    place = np.full(columns.shape[1], -1, np.int64)
    for i in range(m):
        place[active[i]] = i
    child = np.empty(len(rows), np.uint64)
    for f in place[asked]:
        on = both[f, f]
        is_small = 2 * on <= size
        for w in range(len(rows)):
            word = columns[w, active[f]]
            child[w] = rows[w] & (word if is_small else ~word)
        counted, counted_sums = (one, ones) if is_small else (zero, zeros)
        rest, rest_sums = (zero, zeros) if is_small else (one, ones)
        pair_sums(columns, groups, keys, copies, child, active, held, counted, counted_sums)
        subtract(both, counted, rest)
        subtract(sums, counted_sums, rest_sums)
        for k in range(labels):
            sides[0, k] = sums[k * m + f, f]
            sides[1, k] = whole[k] - sides[0, k]
        diagonals(one, ones, labels, alone_1)
        diagonals(zero, zeros, labels, alone_0)
        least_1 = least_sides(one, ones, alone_1, on, sides[0], price, True, options, left, right)
        least_0 = least_sides(zero, zeros, alone_0, size - on, sides[1], price, True, options, left_0, right_0)
        if least_1 >= INFINITE or least_0 >= INFINITE or least_1 + least_0 + price > budget:
            continue
        slack = budget - (least_1 + least_0 + price)
        is_near = slack < len(near)
        windows = np.zeros((2, slack + 1 if is_near else 0), np.int64)
        trees_1 = put_shallow(
            new_table(FIRST_BITS), windows[0], least_1, one, ones, alone_1, on, sides[0], price, 2, chosen, options,
            left, right, least_1 + slack, check,
        )  # fmt: skip
        trees_0 = put_shallow(
            new_table(FIRST_BITS), windows[1], least_0, zero, zeros, alone_0, size - on, sides[1], price, 2, chosen,
            options, left_0, right_0, least_0 + slack, check,
        )  # fmt: skip
        if is_near:
            check[0] += total_of(windows[0]) * total_of(windows[1]) * chosen[f]
            if check[0] < 2.0**62:
                join_windows(windows[0], windows[1], slack, chosen[f], near, budget - slack - start)
        else:
            table = put_sums(table, low, listed(trees_1), listed(trees_0), price, budget, chosen[f], check)
        if check[0] >= 2.0**62:
            break
        if not options[TRIVIAL]:
            allow(sides[0], on, options)
            allow(sides[1], size - on, options)
            window, least = (near, start) if is_near else (near[:0], low)
            table = drop_one_label(table, window, least, sides[0], sides[1], price, budget, chosen[f])
    table = put_near(table, low, near, start)
    return listed(table)


@own_entry
def convolve(first_keys, first_counts, last_keys, last_counts, add, budget, times, check):
    """(keys, counts): every sum of a key of each and `add` that is <= budget, counts multiplied; keys rise."""
    table = put_sums(
        new_table(FIRST_BITS),
        int64(0),
        (first_keys, first_counts),
        (last_keys, last_counts),
        add,
        budget,
        times,
        check,
    )
    return listed(table)
