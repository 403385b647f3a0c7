"""The native part of `distinct_rows.py`: what equal rows cost together."""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry

_WORD = 64


@entry
def sum_distinct(codes, costs, divisor, count_rows, first, class_of, width):  # type: ignore[no-untyped-def]
    """(values, base, worst) as `DistinctRows` has them, and how many pairs of columns its rows have together."""
    n, labels = costs.shape
    m = len(first)
    columns = codes.shape[1]
    values = np.zeros(((m + _WORD - 1) // _WORD * _WORD, width), np.int64)
    for i in range(n):
        c = class_of[i]
        for k in range(labels):
            values[c, k] += costs[i, k]
        if count_rows:
            values[c, labels + 1] += 1
    base = int64(0)
    total = int64(0)
    for c in range(m):
        least = values[c, 0]
        worst = values[c, 0]
        for k in range(1, labels):
            least = min(least, values[c, k])
            worst = max(worst, values[c, k])
        for k in range(labels):
            values[c, k] = (worst - values[c, k]) // divisor
        values[c, labels] = (worst - least) // divisor
        total += values[c, labels]
        base += least
    ones = np.zeros(columns, np.int64)
    for c in range(m):
        for f in range(columns):
            ones[f] += codes[first[c], f] != 0
    pairs = int64(0)
    for c in range(m):
        count = int64(0)
        for f in range(columns):
            has = codes[first[c], f] != 0
            count += has != (2 * ones[f] > m)
        pairs += count * (count + 1) // 2
    return values, base, total, pairs
