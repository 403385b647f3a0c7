"""What trees of depth two cost at least, from sums over the rows that have two columns, for every pair of them.

`pairs` (planes * P, P) int64 has the sums of a plane from row plane * P on, for m columns and zeros behind them; P is a
multiple of 32. Plane 0 counts rows, and `picks` (k,) names for every label the plane of what a leaf costs with it; -1
of a first label that others are compared with, under which a leaf costs nothing. `total` (planes,) are the sums over
all rows.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE, LANES
from streed.kernels.simd import fill, load, minimum, smallest
from streed.kernels.views import copy_into, inline, native
from streed.tables.entries import COST, FIRST_BITS, compact, new_table, put_entries, put_sums


@native
def diagonals(pairs, m, planes):
    """(planes, P) the sums over the rows that have each column."""
    width = pairs.shape[1]
    found = np.zeros((planes, width), np.int64)
    for p in range(planes):
        for f in range(m):
            found[p, f] = pairs[p * width + f, f]
    return found


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
def least_sides(pairs, alone, total, picks, m, price, deep, least_rows):
    """(least, left, right): what a tree costs at least, and (m,) each side of every column, with it and without.

    Trees of a side are leaves, or (`deep`) split once; INFINITE where a side has too few rows for a leaf.
    """
    left, right = np.full(m, INFINITE, np.int64), np.full(m, INFINITE, np.int64)
    size = total[0]
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
    return best, left, right


_FEW = 4
"""Of so few trees of a side, all sums are tried before equal ones are looked for."""


@entry
def least_shallow(pairs, total, m, split, depth, least_rows):
    """What `least_sides` gives for trees of depth at most 0, 1 or 2."""
    picks = np.arange(-len(split), len(total) - 1, len(split)) + 1 + COST
    picks[0] = -1
    alone = diagonals(pairs, m, len(total))
    return least_sides(pairs, alone, total, picks, m, split[COST], depth == 2, least_rows)


@native
def put_leaf(part, width, least_rows, found):
    """How many entries a leaf has, one per label or none; writes them. `part`: sums of profits over its rows."""
    if part[0] < least_rows:
        return 0
    labels = (len(part) - 1) // width + 1
    for k in range(labels):
        found[k, width] = k
        for c in range(width):
            found[k, c] = part[1 + (k - 1) * width + c] if k > 0 else 0
    return labels


@native
def put_stumps(pairs, whole, m, place, inside, budget, split, least_rows, found):
    """How many trees of depth at most 1 cost at most `budget`; writes their entries to `found`.

    The rows, whose sums are `whole`: all (place -1), or those that have (inside) or lack the column `place`.
    """
    columns, width, stride = len(whole), len(split), pairs.shape[1]
    part = np.empty(columns, np.int64)
    labels = (columns - 1) // width + 1
    leaves = np.empty((2, labels, width + 1), np.int64)
    count = 0
    for i in range(put_leaf(whole, width, least_rows, leaves[0])):
        if leaves[0, i, COST] <= budget:
            copy_into(found[count], leaves[0, i])
            count += 1
    for k in range(m):
        if k == place:
            continue
        for c in range(columns):
            part[c] = pairs[c * stride + k, k]
            if place >= 0:
                common = pairs[c * stride + place, k]
                part[c] = common if inside else part[c] - common
        if part[0] == 0 or part[0] == whole[0]:
            continue
        n_left = put_leaf(part, width, least_rows, leaves[0])
        for c in range(columns):
            part[c] = whole[c] - part[c]
        n_right = put_leaf(part, width, least_rows, leaves[1])
        for i in range(n_left):
            for j in range(n_right):
                if leaves[0, i, COST] + leaves[1, j, COST] + split[COST] <= budget:
                    for c in range(width):
                        found[count, c] = leaves[0, i, c] + leaves[1, j, c] + split[c]
                    found[count, width] = ((k + 1) * labels + j) * labels + i
                    count += 1
    return count


@native
def by_cost(found, count):
    """The first `count` entries by rising cost, those of equal keys once."""
    if count <= _FEW:
        return found[np.argsort(found[:count, COST])]
    entries, used = new_table(int64(FIRST_BITS), found.shape[1])
    entries, used, _, size = put_entries(entries, used, int64(FIRST_BITS), int64(0), found, count)
    return compact(entries, used, size)


@entry
def enumerate_shallow(pairs, total, m, split, depth, least_rows, budget, most):
    """The entries of the trees of depth at most 0, 1 or 2 that cost at most `budget`; more than `most` are not all."""
    width = len(split)
    labels = (len(total) - 1) // width + 1
    left = np.empty((labels + m * labels * labels, width + 1), np.int64)
    right = np.empty((labels + m * labels * labels, width + 1), np.int64)
    entries, used = new_table(int64(FIRST_BITS), width + 1)
    count = put_stumps(pairs, total, m if depth > 0 else 0, int64(-1), False, budget, split, least_rows, left)
    entries, used, bits, count = put_entries(entries, used, int64(FIRST_BITS), int64(0), left, count)
    if depth < 2:
        return compact(entries, used, count)
    _, least_in, least_out = least_shallow(pairs, total, m, split, depth, least_rows)
    room = budget - split[COST]
    part = np.empty(len(total), np.int64)
    add = np.empty(width + 1, np.int64)
    copy_into(add, split)
    names = (m + 1) * labels * labels
    for place in range(m):
        if count > most:
            break
        if least_in[place] >= INFINITE or least_in[place] + least_out[place] > room:
            continue
        for c in range(len(total)):
            part[c] = pairs[c * pairs.shape[1] + place, place]
        n_left = put_stumps(pairs, part, m, place, True, room - least_out[place], split, least_rows, left)
        for c in range(len(total)):
            part[c] = total[c] - part[c]
        n_right = put_stumps(pairs, part, m, place, False, room - least_in[place], split, least_rows, right)
        # most splits of few rows, or of rows of one class, are worth the same, and each would meet all others
        a, b = by_cost(left, n_left), by_cost(right, n_right)
        b[:, width] *= names
        add[width] = (place + 1) * names * names
        entries, used, bits, count = put_sums(entries, used, bits, count, a, len(a), b, len(b), add, budget, most)
    return compact(entries, used, count)
