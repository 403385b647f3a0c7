"""What depth two is counted from, native: sums over the rows that have two columns, and the least keys of their sides.

Rows, columns, groups, keys, copies and options are as in `counts.py`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.simd import count_ones
from streed.kernels.views import native

INFINITE = 2**61
"""The key of what there is not; two of them and a price fit int64."""

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
