"""What depth two is counted from, native: sums over the rows that have two columns, and the least keys of their sides.

Rows, columns, groups, keys, copies and options are as in `counts.py`. Matrices of columns have room for a multiple of
32 of them; what is behind the last column is zero, like a column that no row has.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.records import LANES
from streed.kernels.simd import broadcast, count_ones, fill, load, minimum, popcount, smallest, store
from streed.kernels.views import inline, native
from streed.rashomon.compiled.tables import INFINITE

LEAST_ROWS, RADIX, BEST, TRIVIAL = 0, 1, 2, 3
"""Places in `options`."""


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
def pad(m):
    """So many columns a matrix has room for."""
    return (m + LANES - 1) // LANES * LANES


@native
def pair_sums(columns, groups, keys, copies, rows, active, held, both, sums):
    """Writes (m, P) how many rows have both columns, by copies, and (k, m, P) the key of these as a leaf, by label.

    `held` (words, P) is for its own use, and zero behind the last column.
    """
    m, words, labels = len(active), len(rows), keys.shape[1]
    width = both.shape[1]
    begun = False
    for g in range(len(groups)):
        used = 0
        for w in range(words):
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
                if begun:
                    store(both, i, at, load(both, i, at) + count * copies[g])
                    for k in range(labels):
                        if keys[g, k] != 0:
                            store(sums, k * m + i, at, load(sums, k * m + i, at) + count * keys[g, k])
                else:
                    store(both, i, at, count * copies[g])
                    for k in range(labels):
                        store(sums, k * m + i, at, count * keys[g, k])
        begun = True
    if not begun:
        both[:, :] = 0
        sums[:, :] = 0


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
def diagonals(both, sums, labels, found):
    """Writes (1 + k, P) the counts and sums of each column alone."""
    m = len(both)
    found[:, :] = 0
    for f in range(m):
        found[0, f] = both[f, f]
        for k in range(labels):
            found[1 + k, f] = sums[k * m + f, f]


@inline
def stump_keys(sums, alone, whole, m, labels, f, at):
    """The least keys of two leaves on either side of column f by the columns from `at` on: those with f, and without.

    Of as many rows as there are, fewer than a leaf needs or none: so a bound where leaves need rows.
    """
    a = load(sums, f, at)
    c = load(alone, 1, at) - a
    b = fill(sums, sums[f, f]) - a
    d = fill(sums, whole[0] - sums[f, f]) - c
    for k in range(1, labels):
        p = sums[k * m + f, f]
        x = load(sums, k * m + f, at)
        y = load(alone, 1 + k, at) - x
        a = minimum(a, x)
        c = minimum(c, y)
        b = minimum(b, fill(sums, p) - x)
        d = minimum(d, fill(sums, whole[k] - p) - y)
    return a + b, c + d


@native
def least_sides(both, sums, alone, size, whole, price, deep, options, left, right):
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
                low = min(low, sums[k * m + f, f])
        if size - on >= least:
            for k in range(labels):
                high = min(high, whole[k] - sums[k * m + f, f])
        if on == 0 or on == size:
            left[f] = INFINITE
            right[f] = INFINITE
            continue
        if deep and least <= 1:
            # columns that do not separate a side give two leaves no better than one
            first, last = stump_keys(sums, alone, whole, m, labels, f, 0)
            for at in range(LANES, both.shape[1], LANES):
                one, other = stump_keys(sums, alone, whole, m, labels, f, at)
                first = minimum(first, one)
                last = minimum(last, other)
            low = min(low, smallest(first) + price)
            high = min(high, smallest(last) + price)
        elif deep:
            for g in range(m):
                with_both, with_g = both[f, g], both[g, g] - both[f, g]
                a, b, c, d = INFINITE, INFINITE, INFINITE, INFINITE
                for k in range(labels):
                    each = sums[k * m + f, g]
                    a = min(a, each)
                    b = min(b, sums[k * m + f, f] - each)
                    c = min(c, sums[k * m + g, g] - each)
                    d = min(d, whole[k] - sums[k * m + f, f] - sums[k * m + g, g] + each)
                if with_both >= least and on - with_both >= least:
                    low = min(low, a + b + price)
                if with_g >= least and size - on - with_g >= least:
                    high = min(high, c + d + price)
        left[f] = low
        right[f] = high
        if low < INFINITE and high < INFINITE:
            best = min(best, low + high + price)
    return best


@native
def subtract(whole, part, rest):
    """Writes whole - part."""
    a, b, c = whole.ravel(), part.ravel(), rest.ravel()
    for i in range(len(a)):
        c[i] = a[i] - b[i]
