"""Trees of depth two or less from sums over pairs of columns: all of them by their entries, and their least cost.

Sums over the rows that have two columns, for every pair of columns, tell the sums of all four leaves below any two of
them: see `pair_bounds.py`. Planes are *profits*: how many rows there are, then for every label but the first its entry
less that of the first label (`width` each). Entries and costs here are therefore beyond those of the first label. There
are no columns, m = 0, where the depth is 0. `split` (width,) is what a branching node adds; all are int64.

The name of a leaf is its label; of k labels the name of a split on column f into leaves of labels a, with the column,
and b is (f + 1) k k + b k + a. These are below M = (m + 1) k k, and the name of a split into such trees of names a and
b is (f + 1) M M + b M + a. So names add up as well.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.enumerate.entries import COST, FIRST_BITS, compact, new_table, put_entries, put_sums
from streed.enumerate.pair_bounds import diagonals, least_sides
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE
from streed.kernels.views import copy_into, native

_FEW = 4
"""Of so few trees of a side, all sums are tried before equal ones are looked for."""


@entry
def least_shallow(pairs, total, m, split, depth, least_rows):  # type: ignore[no-untyped-def]
    """What `least_sides` gives for trees of depth at most 0, 1 or 2."""
    picks = np.arange(-len(split), len(total) - 1, len(split)) + 1 + COST
    picks[0] = -1
    alone = diagonals(pairs, m, len(total))
    return least_sides(pairs, alone, total, picks, m, split[COST], depth == 2, least_rows)


@native
def put_leaf(part, width, least_rows, found):  # type: ignore[no-untyped-def]
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
def put_stumps(pairs, whole, m, place, inside, budget, split, least_rows, found):  # type: ignore[no-untyped-def]
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
def by_cost(found, count):  # type: ignore[no-untyped-def]
    """The first `count` entries by rising cost, those of equal keys once."""
    if count <= _FEW:
        return found[np.argsort(found[:count, COST])]
    entries, used = new_table(int64(FIRST_BITS), found.shape[1])
    entries, used, _, size = put_entries(entries, used, int64(FIRST_BITS), int64(0), found, count)
    return compact(entries, used, size)


@entry
def enumerate_shallow(pairs, total, m, split, depth, least_rows, budget, most):  # type: ignore[no-untyped-def]
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
