"""Sums over pairs of columns for rows by their numbers, and the least cost of shallow trees from them.

For weights of any kind and any number of labels, where the bit counting of `pair_counts.py` does not reach. `starts`
(n + 1,) and `columns` say which columns each row has. `base` (n, width) holds each row's entry under the first label,
`profits` (n, 1 + (K - 1) width) how many rows it stands for, then for every other label its entry less that; `split`
(width,) is what a branching node adds. All are int64.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.enumerate.shallow import signed_costs, signed_sides
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE
from streed.kernels.views import native


@native
def count_labels(profits, width):  # type: ignore[no-untyped-def]
    """K, the number of labels."""
    return (profits.shape[1] - 1) // width + 1


@native
def find_separating(rows, starts, columns, n_columns):  # type: ignore[no-untyped-def]
    """(local number of each column or -1, the columns): those that some rows have and others do not."""
    count = np.zeros(n_columns, np.int64)
    for i in rows:
        for at in range(starts[i], starts[i + 1]):
            count[columns[at]] += 1
    local = np.full(n_columns, -1, np.int64)
    chosen = np.empty(n_columns, np.int64)
    size = 0
    for f in range(n_columns):
        if 0 < count[f] < len(rows):
            local[f] = size
            chosen[size] = f
            size += 1
    return local, chosen[:size]


@native
def add_pairs(pairs, total, rows, starts, columns, local, profits, picks, f, side):  # type: ignore[no-untyped-def]
    """Adds the profits (picked columns) of the rows to the pairs (F, F, L) of their columns, i <= j, and to the total.

    With f >= 0, only rows that have (side 1) or lack (side 0) column f.
    """
    here = np.empty(len(local), np.int64)
    for i in rows:
        size = 0
        found = int64(0)
        for at in range(starts[i], starts[i + 1]):
            column = columns[at]
            if column == f:
                found = int64(1)
            if local[column] >= 0:
                here[size] = local[column]
                size += 1
        if f >= 0 and found != side:
            continue
        for c in range(len(picks)):
            total[c] += profits[i, picks[c]]
        for p in range(size):
            for q in range(p, size):
                for c in range(len(picks)):
                    pairs[here[p], here[q], c] += profits[i, picks[c]]


@entry
def sum_pairs(rows, starts, columns, profits, base, n_columns, depth):  # type: ignore[no-untyped-def]
    """(separating columns (F,), pairs (F, F, L), total (L,), least (width,)) of the rows, as `shallow.py` has them."""
    local, chosen = find_separating(rows, starts, columns, n_columns)
    if depth == 0:
        local[:] = -1
        chosen = chosen[:0]
    pairs = np.zeros((len(chosen), len(chosen), profits.shape[1]), np.int64)
    total = np.zeros(profits.shape[1], np.int64)
    add_pairs(pairs, total, rows, starts, columns, local, profits, np.arange(len(total)), int64(-1), int64(0))
    least = np.zeros(base.shape[1], np.int64)
    for i in rows:
        for c in range(len(least)):
            least[c] += base[i, c]
    return chosen, pairs, total, least


@native
def _least_leaf(part, least_rows):  # type: ignore[no-untyped-def]
    """The least cost of a leaf beyond the base; `part` holds its rows and the costs of the other labels."""
    if part[0] < least_rows:
        return int64(INFINITE)
    best = int64(0)
    for k in range(1, len(part)):
        best = min(best, part[k])
    return best


@native
def _least_tree(pairs, total, depth, split_cost, least_rows):  # type: ignore[no-untyped-def]
    """The least cost, beyond the base, of a tree of depth at most 0, 1 or 2 over rows with these pair sums."""
    size, labels = len(pairs), len(total)
    best = _least_leaf(total, least_rows)
    if labels == 2 and least_rows <= 1:
        costs, singles = signed_costs(pairs, size)
        for place in range(size if depth > 0 else 0):
            least_in, least_out = signed_sides(costs, singles, total[1], place, depth - 1, split_cost)
            best = min(best, least_in + least_out + split_cost)
        return best
    inner = np.empty(labels, np.int64)
    outer = np.empty(labels, np.int64)
    part = np.empty(labels, np.int64)
    rest = np.empty(labels, np.int64)
    for j in range(size if depth > 0 else 0):
        for c in range(labels):
            inner[c] = pairs[j, j, c]
            outer[c] = total[c] - inner[c]
        if inner[0] == 0 or outer[0] == 0:
            continue
        least_in = _least_leaf(inner, least_rows)
        least_out = _least_leaf(outer, least_rows)
        for k in range(size if depth == 2 else 0):
            if k == j:
                continue
            for c in range(labels):
                part[c] = pairs[min(j, k), max(j, k), c]
                rest[c] = inner[c] - part[c]
            if part[0] > 0 and rest[0] > 0:
                cost = _least_leaf(part, least_rows) + _least_leaf(rest, least_rows) + split_cost
                least_in = min(least_in, cost)
            for c in range(labels):
                part[c] = pairs[k, k, c] - part[c]
                rest[c] = outer[c] - part[c]
            if part[0] > 0 and rest[0] > 0:
                cost = _least_leaf(part, least_rows) + _least_leaf(rest, least_rows) + split_cost
                least_out = min(least_out, cost)
        if least_in < INFINITE and least_out < INFINITE:
            best = min(best, least_in + least_out + split_cost)
    return min(best, int64(INFINITE))


@native
def _base_costs(rows, starts, columns, base, local, size):  # type: ignore[no-untyped-def]
    """(rows with each local column, their base cost, the base cost of all)."""
    counts = np.zeros(size, np.int64)
    bases = np.zeros(size, np.int64)
    whole = int64(0)
    for i in rows:
        whole += base[i, 0]
        for at in range(starts[i], starts[i + 1]):
            if local[columns[at]] >= 0:
                counts[local[columns[at]]] += 1
                bases[local[columns[at]]] += base[i, 0]
    return counts, bases, whole


@entry
def optima_of_children(rows, starts, columns, profits, base, split, n_columns, depth, least_rows):  # type: ignore[no-untyped-def]
    """(n_columns, 2) the least cost of a tree of depth at most 0, 1 or 2 over the rows without and with each column.

    INFINITE where no leaf would have `least_rows` rows, and on both sides of columns that separate no rows.
    """
    optima = np.full((n_columns, 2), INFINITE, np.int64)
    local, chosen = find_separating(rows, starts, columns, n_columns)
    size = len(chosen)
    labels = count_labels(profits, len(split))
    picks = np.zeros(labels, np.int64)
    for k in range(1, labels):
        picks[k] = 1 + (k - 1) * len(split)
    counts, bases, whole = _base_costs(rows, starts, columns, base, local, size)
    everything = np.zeros((size, size, labels), np.int64)
    total = np.zeros(labels, np.int64)
    add_pairs(everything, total, rows, starts, columns, local, profits, picks, int64(-1), int64(0))
    if labels == 2 and least_rows <= 1 and depth < 2:
        costs, singles = signed_costs(everything, size)
        for j in range(size):
            least_in, least_out = signed_sides(costs, singles, total[1], j, depth, split[0])
            optima[chosen[j], 1] = least_in + bases[j]
            optima[chosen[j], 0] = least_out + whole - bases[j]
        return optima
    mine = np.empty((size, size, labels), np.int64)
    part = np.empty(labels, np.int64)
    for j in range(size):
        # the smaller side is added up, the other one is what is left
        side = 1 if 2 * counts[j] <= len(rows) else 0
        mine[:] = 0
        part[:] = 0
        add_pairs(mine, part, rows, starts, columns, local, profits, picks, chosen[j], int64(side))
        least = _least_tree(mine, part, depth, split[0], least_rows)
        mine[:] = everything - mine
        part[:] = total - part
        other = _least_tree(mine, part, depth, split[0], least_rows)
        with_column = bases[j]
        if least < INFINITE:
            optima[chosen[j], side] = least + (with_column if side == 1 else whole - with_column)
        if other < INFINITE:
            optima[chosen[j], 1 - side] = other + (whole - with_column if side == 1 else with_column)
    return optima
