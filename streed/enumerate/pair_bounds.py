"""What trees of depth two cost at least, from sums over the rows that have two columns, for every pair of them.

`pairs` (planes * P, P) int64 has the sums of a plane from row plane * P on, for m columns and zeros behind them; P is a
multiple of 32. Plane 0 counts rows, and `picks` (k,) names for every label the plane of what a leaf costs with it; -1
of a first label that others are compared with, under which a leaf costs nothing. `total` (planes,) are the sums over
all rows.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from streed.kernels.records import INFINITE, LANES
from streed.kernels.simd import fill, load, minimum, smallest
from streed.kernels.views import inline, native


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
