"""Native histograms of trees of depth three or less: pair sums of columns, and tables of keys and counts.

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

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numba import int64, njit, uint64

from streed.kernels.kept import CodeCache
from streed.kernels.places import cache_directory
from streed.kernels.simd import count_ones
from streed.kernels.views import native

INFINITE = 2**61
"""The key of what there is not; two of them and a price fit int64."""

LEAST_ROWS, RADIX, BEST, TRIVIAL = 0, 1, 2, 3
"""Places in `options`."""

_HASH = np.uint64(0x9E3779B97F4A7C15)
_FIRST_BITS = 6


def entry(function: Any) -> Any:
    """A function that Python calls: compiled when first called, without the GIL, kept on disk for these sources."""
    made: Any = njit(nogil=True)(function)
    base = cache_directory()
    if base is not None:
        base = base / f"rashomon-{hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]}"
        base.mkdir(mode=0o700, exist_ok=True)
    made._cache = CodeCache(function, base)
    return made


# -- tables of keys ------------------------------------------------------------------------------------------------


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


# -- rows and pairs of columns -------------------------------------------------------------------------------------


@native
def leaf_sums(groups, keys, copies, rows, sums):
    """How many rows there are, by copies; writes (k,) the key of all of them by label."""
    size = 0
    sums[:] = 0
    for g in range(len(groups)):
        count = int64(0)
        for w in range(len(rows)):
            count += count_ones(rows[w] & groups[g, w])
        size += count * copies[g]
        for k in range(len(sums)):
            sums[k] += count * keys[g, k]
    return size


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
def pair_sums(columns, groups, keys, copies, rows, active, both, sums):
    """Writes (m, m) how many rows have both columns, by copies, and (k, m, m) the key of these as a leaf, by label."""
    m, words = len(active), len(rows)
    both[:, :] = 0
    sums[:, :, :] = 0
    held = np.empty((words, m), np.uint64)
    count = np.empty(m, np.int64)
    for g in range(len(groups)):
        used = 0
        for w in range(words):
            word = rows[w] & groups[g, w]
            if word != 0:
                for i in range(m):
                    held[used, i] = columns[w, active[i]] & word
                used += 1
        if used == 0:
            continue
        for i in range(m):
            count[i:] = 0
            for w in range(used):
                word = held[w, i]
                if word != 0:
                    for j in range(i, m):
                        count[j] += count_ones(word & held[w, j])
            for j in range(i, m):
                both[i, j] += copies[g] * count[j]
            for k in range(len(sums)):
                each = keys[g, k]
                if each != 0:
                    for j in range(i, m):
                        sums[k, i, j] += each * count[j]
    for i in range(m):
        for j in range(i):
            both[i, j] = both[j, i]
            for k in range(len(sums)):
                sums[k, i, j] = sums[k, j, i]


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
def least_sides(both, sums, size, whole, price, deep, options, left, right):
    """The least key of the splits on each column: writes (m,) that of either side, of depth one (`deep`) or zero.

    Returns the least key of a leaf or a split.
    """
    m, labels = len(both), len(whole)
    least = options[LEAST_ROWS]
    best = INFINITE
    if size >= least:
        for k in range(labels):
            best = min(best, whole[k])
    for f in range(m):
        on = both[f, f]
        low, high = INFINITE, INFINITE
        if on >= least:
            for k in range(labels):
                low = min(low, sums[k, f, f])
        if size - on >= least:
            for k in range(labels):
                high = min(high, whole[k] - sums[k, f, f])
        if on == 0 or on == size:
            left[f] = INFINITE
            right[f] = INFINITE
            continue
        if deep and labels == 2 and least <= 1:
            p, q = sums[0, f, f], sums[1, f, f]
            u, v = whole[0] - p, whole[1] - q
            stump, other = int64(INFINITE), int64(INFINITE)
            for g in range(m):
                a, b = sums[0, f, g], sums[1, f, g]
                stump = min(stump, min(a, b) + min(p - a, q - b))
                c, d = sums[0, g, g] - a, sums[1, g, g] - b
                other = min(other, min(c, d) + min(u - c, v - d))
            low = min(low, stump + price)
            high = min(high, other + price)
        elif deep:
            for g in range(m):
                with_both, with_g = both[f, g], both[g, g] - both[f, g]
                a, b, c, d = INFINITE, INFINITE, INFINITE, INFINITE
                for k in range(labels):
                    each = sums[k, f, g]
                    a = min(a, each)
                    b = min(b, sums[k, f, f] - each)
                    c = min(c, sums[k, g, g] - each)
                    d = min(d, whole[k] - sums[k, f, f] - sums[k, g, g] + each)
                if with_both >= least and on - with_both >= least:
                    low = min(low, a + b + price)
                if with_g >= least and size - on - with_g >= least:
                    high = min(high, c + d + price)
        left[f] = low
        right[f] = high
        if low < INFINITE and high < INFINITE:
            best = min(best, low + high + price)
    return best


# -- trees of depth two or less ------------------------------------------------------------------------------------


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


@entry
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
    table = new_table(_FIRST_BITS)
    if counting and best <= budget:
        chosen = multiple[active]
        table = put_shallow(
            table, best, both, sums, size, whole, price, depth, chosen, options, left, right, budget, check
        )
    found = listed(table)
    return best, found[0], found[1]


@entry
def count_three(columns, groups, keys, copies, multiple, options, rows, price, worst, low, budget, counting, check):
    """(least key, keys, counts) of the trees of the rows of depth at most three.

    The least key, none below `low`, is exact if it is <= budget, else a number above it. If `counting`, the keys <=
    budget and how many trees have each. `worst`: no row adds more to the least key of rows without it, INFINITE where
    that is not known.
    """
    labels = keys.shape[1]
    whole = np.empty(labels, np.int64)
    size = leaf_sums(groups, keys, copies, rows, whole)
    best = int64(INFINITE)
    if size >= options[LEAST_ROWS]:
        for k in range(labels):
            best = min(best, whole[k])
    table = new_table(_FIRST_BITS)
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
        best = min(best, least_sides(both, sums, size, whole, price, True, options, left, right))
    first = np.empty(m, np.int64)
    for f in range(m):
        first[f] = min(left[f], INFINITE // 2) + min(right[f], INFINITE // 2)
    order = np.argsort(first)
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
                new_table(_FIRST_BITS), least_1, one, ones, on, sides[0], price, 2, chosen, options, left, right,
                room_1, check,
            )  # fmt: skip
            trees_0 = put_shallow(
                new_table(_FIRST_BITS), least_0, zero, zeros, size - on, sides[1], price, 2, chosen, options, left_0,
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


@entry
def convolve(first_keys, first_counts, last_keys, last_counts, add, budget, times, check):
    """(keys, counts): every sum of a key of each and `add` that is <= budget, counts multiplied; keys rise."""
    table = put_sums(
        new_table(_FIRST_BITS),
        int64(0),
        (first_keys, first_counts),
        (last_keys, last_counts),
        add,
        budget,
        times,
        check,
    )
    return listed(table)


@entry
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
