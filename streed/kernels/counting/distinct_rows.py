"""Distinct rows: rows that agree in every column go to the same leaf of every tree, so their costs can be added first.

The least cost of what they have in common is what every tree pays for them (the equivalent-points bound), so it becomes
part of the base.
"""

from __future__ import annotations

import attrs
import numpy as np
from numba import int64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.pair_sums import FOUR

_WORD = 64

_STEP = 2.5
"""The time to add four numbers, in that of counting 16 rows for 32 columns."""


@attrs.frozen(eq=False)
class DistinctRows:
    """The distinct rows with what they cost together."""

    first: Array
    """(m,) int64: the first row of each kind."""
    values: Array
    """(m padded to 64, K + 2 padded to fours) int64: profit per label, worst cost, then rows if they are counted."""
    base: int
    """What every tree pays."""
    worst: int
    """The sum of worst minus least costs."""
    effort: float
    """Roughly the steps of summing all pairs of columns."""


def merge_rows(codes: Array, costs: Array, divisor: int, count_rows: bool) -> DistinctRows:
    """The distinct rows of codes (n, p) uint8 with the sums of their costs (n, K) int64, divided by `divisor`."""
    first, class_of = find_classes(codes)
    planes = costs.shape[1] + 1 + count_rows
    width = -(-planes // FOUR) * FOUR
    values, base, worst, pairs = _merge(codes, costs, divisor, count_rows, first, class_of, width)
    return DistinctRows(first, values, int(base), int(worst), float(pairs) * (width // FOUR) * _STEP)


@entry
def _merge(codes, costs, divisor, count_rows, first, class_of, width):  # type: ignore[no-untyped-def]
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
