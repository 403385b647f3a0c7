"""Sums over pairs of columns for rows by their numbers, and the least cost of shallow trees from them.

For weights of any kind and any number of labels, where the bit counting of `pair_counts.py` does not reach. `starts`
(n + 1,) and `columns` say which columns each row has. `base` (n, width) holds each row's entry under the first label,
`profits` (n, 1 + (K - 1) width) how many rows it stands for, then for every other label its entry less that; `split`
(width,) is what a branching node adds. All are int64.
"""

from __future__ import annotations

import numpy as np
from numba import int64

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
def add_pairs(pairs, total, rows, starts, columns, local, profits):  # type: ignore[no-untyped-def]
    """Adds the profits of the rows to the pairs (F, F, L) of their columns, i <= j, and to the total."""
    here = np.empty(len(local), np.int64)
    for i in rows:
        size = 0
        for at in range(starts[i], starts[i + 1]):
            if local[columns[at]] >= 0:
                here[size] = local[columns[at]]
                size += 1
        for c in range(len(total)):
            total[c] += profits[i, c]
        for p in range(size):
            for q in range(p, size):
                for c in range(len(total)):
                    pairs[here[p], here[q], c] += profits[i, c]


@entry
def sum_pairs(rows, starts, columns, profits, base, n_columns, depth):  # type: ignore[no-untyped-def]
    """(separating columns (F,), pairs (F, F, L), total (L,), least (width,)) of the rows, as `shallow.py` has them."""
    local, chosen = find_separating(rows, starts, columns, n_columns)
    if depth == 0:
        local[:] = -1
        chosen = chosen[:0]
    pairs = np.zeros((len(chosen), len(chosen), profits.shape[1]), np.int64)
    total = np.zeros(profits.shape[1], np.int64)
    add_pairs(pairs, total, rows, starts, columns, local, profits)
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
def _least_tree(pairs, total, picks, depth, split_cost, least_rows):  # type: ignore[no-untyped-def]
    """The least cost, beyond the base, of a tree of depth at most 0, 1 or 2; picks (K,): rows, then costs by label."""
    size, labels = len(pairs), len(picks)
    whole = total[picks]
    best = _least_leaf(whole, least_rows)
    inner = np.empty(labels, np.int64)
    outer = np.empty(labels, np.int64)
    part = np.empty(labels, np.int64)
    rest = np.empty(labels, np.int64)
    for j in range(size if depth > 0 else 0):
        for c in range(labels):
            inner[c] = pairs[j, j, picks[c]]
            outer[c] = whole[c] - inner[c]
        if inner[0] == 0 or outer[0] == 0:
            continue
        least_in = _least_leaf(inner, least_rows)
        least_out = _least_leaf(outer, least_rows)
        for k in range(size if depth == 2 else 0):
            if k == j:
                continue
            for c in range(labels):
                part[c] = pairs[min(j, k), max(j, k), picks[c]]
                rest[c] = inner[c] - part[c]
            if part[0] > 0 and rest[0] > 0:
                cost = _least_leaf(part, least_rows) + _least_leaf(rest, least_rows) + split_cost
                least_in = min(least_in, cost)
            for c in range(labels):
                part[c] = pairs[k, k, picks[c]] - part[c]
                rest[c] = outer[c] - part[c]
            if part[0] > 0 and rest[0] > 0:
                cost = _least_leaf(part, least_rows) + _least_leaf(rest, least_rows) + split_cost
                least_out = min(least_out, cost)
        if least_in < INFINITE and least_out < INFINITE:
            best = min(best, least_in + least_out + split_cost)
    return min(best, int64(INFINITE))


@entry
def least_shallow(rows, starts, columns, profits, base, n_columns, depth, split_cost, least_rows):  # type: ignore[no-untyped-def]
    """The least cost of a tree of depth at most 0, 1 or 2 over the rows; INFINITE if none is allowed."""
    _, pairs, total, least = sum_pairs(rows, starts, columns, profits, base, n_columns, depth)
    width = base.shape[1]
    labels = count_labels(profits, width)
    picks = np.zeros(labels, np.int64)
    for k in range(1, labels):
        picks[k] = 1 + (k - 1) * width
    found = _least_tree(pairs, total, picks, depth, split_cost, least_rows)
    return found + least[0] if found < INFINITE else int64(INFINITE)
