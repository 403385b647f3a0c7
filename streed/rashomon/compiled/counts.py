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
from streed.kernels.simd import count_ones
from streed.kernels.views import native
from streed.rashomon.compiled.pair_sums import (
    INFINITE,
    LEAST_ROWS,
    TRIVIAL,
    allow,
    leaf_sums,
    least_sides,
    pair_sums,
    separating,
)
from streed.rashomon.compiled.tables import listed, new_table, put, put_sums

FIRST_BITS = 6
"""New tables have 2**6 slots."""


@native
def put_leaves(leaf, budget, found, numbers, size):
    """Appends the leaves of keys <= budget."""
    for k in range(len(leaf)):
        if leaf[k] <= budget:
            found[size] = leaf[k]
            numbers[size] = 1
            size += 1
    return size


@native
def put_stumps(first, last, price, budget, times, options, found, numbers, size):
    """Appends the trees of one split into these leaves of keys <= budget."""
    for i in range(len(first)):
        if first[i] + price > budget:
            continue
        for j in range(len(last)):
            key = first[i] + last[j] + price
            if key <= budget and (i != j or options[TRIVIAL]):
                found[size] = key
                numbers[size] = times
                size += 1
    return size


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


@native
def drop_one_label(table, low, first, last, price, budget, times):
    """The table without the splits into leaves of one label."""
    for k in range(len(first)):
        key = first[k] + last[k] + price
        if key <= budget:
            table = put(table, low, key, -times)
    return table


@native
def put_shallow(table, low, both, sums, size, whole, price, depth, multiple, options, left, right, budget, check):
    """The table with the trees of depth at most 0, 1 or 2 of keys <= budget.

    `left`, `right` (m,): the least keys of both sides of every split, of depth - 1.
    """
    m, labels = len(both), len(whole)
    most = labels + m * labels * labels
    found, numbers = np.empty(most, np.int64), np.empty(most, np.int64)
    other, others = np.empty(most, np.int64), np.empty(most, np.int64)
    leaf = np.empty((2, labels), np.int64)
    part = np.empty((2, labels), np.int64)
    leaf[0] = whole
    allow(leaf[0], size, options)
    count = put_leaves(leaf[0], budget, found, numbers, 0)
    for i in range(count):
        table = put(table, low, found[i], numbers[i])
    for f in range(m if depth > 0 else 0):
        if left[f] >= INFINITE or right[f] >= INFINITE or left[f] + right[f] + price > budget:
            continue
        on = both[f, f]
        for k in range(labels):
            leaf[0, k] = sums[k, f, f]
            leaf[1, k] = whole[k] - leaf[0, k]
        if depth == 1:
            allow(leaf[0], on, options)
            allow(leaf[1], size - on, options)
            count = put_stumps(leaf[0], leaf[1], price, budget, multiple[f], options, found, numbers, 0)
            for i in range(count):
                table = put(table, low, found[i], numbers[i])
            continue
        room_left = budget - price - right[f]
        room_right = budget - price - left[f]
        n_left, n_right = 0, 0
        for g in range(m):
            inside = both[f, g]
            if 0 < inside < on:
                for k in range(labels):
                    part[0, k] = sums[k, f, g]
                    part[1, k] = leaf[0, k] - part[0, k]
                allow(part[0], inside, options)
                allow(part[1], on - inside, options)
                n_left = put_stumps(part[0], part[1], price, room_left, multiple[g], options, found, numbers, n_left)
            beside = both[g, g] - inside
            if 0 < beside < size - on:
                for k in range(labels):
                    part[0, k] = sums[k, g, g] - sums[k, f, g]
                    part[1, k] = leaf[1, k] - part[0, k]
                allow(part[0], beside, options)
                allow(part[1], size - on - beside, options)
                n_right = put_stumps(part[0], part[1], price, room_right, multiple[g], options, other, others, n_right)
        allow(leaf[0], on, options)
        allow(leaf[1], size - on, options)
        n_left = put_leaves(leaf[0], room_left, found, numbers, n_left)
        n_right = put_leaves(leaf[1], room_right, other, others, n_right)
        table = put_sums(
            table,
            low,
            gathered(found, numbers, n_left),
            gathered(other, others, n_right),
            price,
            budget,
            multiple[f],
            check,
        )
        if check[0] >= 2.0**62:
            return table
        if not options[TRIVIAL]:
            table = drop_one_label(table, low, leaf[0], leaf[1], price, budget, multiple[f])
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
    both = np.empty((m, m), np.int64)
    sums = np.empty((labels, m, m), np.int64)
    left, right = np.empty(m, np.int64), np.empty(m, np.int64)
    if m > 0:
        pair_sums(columns, groups, keys, copies, rows, active, both, sums)
        best = least_sides(both, sums, size, whole, price, depth == 2, options, left, right)
    table = new_table(FIRST_BITS)
    if counting and best <= budget:
        chosen = multiple[active]
        table = put_shallow(
            table, best, both, sums, size, whole, price, depth, chosen, options, left, right, budget, check
        )
    found = listed(table)
    return best, found[0], found[1]


@own_entry
def count_three(
    columns, groups, keys, copies, multiple, options, rows, asked, price, worst, low, budget, counting, check
):
    """(least key, keys, counts) of the trees of the rows of depth at most three.

    The least key, none below `low`, is exact if it is <= budget, else a number above it. If `counting`, the keys <=
    budget and how many trees have each. `worst`: no row adds more to the least key of rows without it, INFINITE where
    that is not known. `asked`: the columns that trees of keys <= budget may split on first; all, if there are none.
    """
    labels = keys.shape[1]
    whole = np.empty(labels, np.int64)
    size = leaf_sums(groups, keys, copies, rows, whole)
    best = int64(INFINITE)
    if size >= options[LEAST_ROWS]:
        for k in range(labels):
            best = min(best, whole[k])
    table = new_table(FIRST_BITS)
    leaf = whole.copy()
    allow(leaf, size, options)
    for k in range(labels if counting else 0):
        if leaf[k] <= budget:
            table = put(table, low, leaf[k], int64(1))
    active = separating(columns, rows)
    m = len(active)
    both, one, zero = np.empty((m, m), np.int64), np.empty((m, m), np.int64), np.empty((m, m), np.int64)
    sums = np.empty((labels, m, m), np.int64)
    ones, zeros = np.empty((labels, m, m), np.int64), np.empty((labels, m, m), np.int64)
    left, right = np.empty(m, np.int64), np.empty(m, np.int64)
    left_0, right_0 = np.empty(m, np.int64), np.empty(m, np.int64)
    sides = np.empty((2, labels), np.int64)
    chosen = multiple[active]
    if m > 0:
        pair_sums(columns, groups, keys, copies, rows, active, both, sums)
        if len(asked) == 0:
            best = min(best, least_sides(both, sums, size, whole, price, True, options, left, right))
    first = np.empty(m, np.int64)
    for f in range(m if len(asked) == 0 else 0):
        first[f] = min(left[f], INFINITE // 2) + min(right[f], INFINITE // 2)
    order = np.argsort(first) if len(asked) == 0 else np.zeros(0, np.int64)
    if len(asked) > 0:
        place = np.full(columns.shape[1], -1, np.int64)
        for i in range(m):
            place[active[i]] = i
        order = place[asked]
    bound_1, bound_0 = np.zeros(m, np.int64), np.zeros(m, np.int64)
    child = np.empty(len(rows), np.uint64)
    for f in order:
        limit = budget if counting else min(budget, best - 1)
        if bound_1[f] + bound_0[f] + price > limit:
            continue
        on = both[f, f]
        is_small = 2 * on <= size
        for w in range(len(rows)):
            word = columns[w, active[f]]
            child[w] = rows[w] & (word if is_small else ~word)
        counted, counted_sums = (one, ones) if is_small else (zero, zeros)
        rest, rest_sums = (zero, zeros) if is_small else (one, ones)
        pair_sums(columns, groups, keys, copies, child, active, counted, counted_sums)
        for i in range(m):
            for j in range(m):
                rest[i, j] = both[i, j] - counted[i, j]
        for k in range(labels):
            for i in range(m):
                for j in range(m):
                    rest_sums[k, i, j] = sums[k, i, j] - counted_sums[k, i, j]
        for k in range(labels):
            sides[0, k] = sums[k, f, f]
            sides[1, k] = whole[k] - sides[0, k]
        least_1 = least_sides(one, ones, on, sides[0], price, True, options, left, right)
        least_0 = least_sides(zero, zeros, size - on, sides[1], price, True, options, left_0, right_0)
        is_possible = least_1 < INFINITE and least_0 < INFINITE
        if is_possible:
            best = min(best, least_1 + least_0 + price)
        if counting and is_possible and least_1 + least_0 + price <= budget:
            room_1 = budget - price - least_0
            room_0 = budget - price - least_1
            trees_1 = put_shallow(
                new_table(FIRST_BITS), least_1, one, ones, on, sides[0], price, 2, chosen, options, left, right,
                room_1, check,
            )  # fmt: skip
            trees_0 = put_shallow(
                new_table(FIRST_BITS), least_0, zero, zeros, size - on, sides[1], price, 2, chosen, options, left_0,
                right_0, room_0, check,
            )  # fmt: skip
            table = put_sums(table, low, listed(trees_1), listed(trees_0), price, budget, chosen[f], check)
            if check[0] >= 2.0**62:
                break
            if not options[TRIVIAL]:
                allow(sides[0], on, options)
                allow(sides[1], size - on, options)
                table = drop_one_label(table, low, sides[0], sides[1], price, budget, chosen[f])
        if worst < INFINITE and is_possible:
            # least keys of rows that differ by few rows differ by little: of rows without j, at most worst * j less
            for g in range(m):
                shared = both[f, g]
                bound_1[g] = max(
                    bound_1[g], least_1 - worst * (on - shared), least_0 - worst * (size - on - (both[g, g] - shared))
                )
                bound_0[g] = max(bound_0[g], least_0 - worst * (both[g, g] - shared), least_1 - worst * shared)
    found = listed(table)
    return best, found[0], found[1]


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


@own_entry
def overlaps(columns, rows, active):
    """(m, m) how many of the rows have both columns."""
    m = len(active)
    found = np.zeros((m, m), np.int64)
    for w in range(len(rows)):
        if rows[w] != 0:
            for i in range(m):
                word = columns[w, active[i]] & rows[w]
                if word != 0:
                    for j in range(m):
                        found[i, j] += count_ones(word & columns[w, active[j]])
    return found
