"""Distinct rows: rows that agree in every column go to the same leaf of every tree, so their costs can be added first.

The least cost of what they have in common is what every tree pays for them (the equivalent-points bound), so it becomes
part of the base.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.counting.distinct_row_kernels import sum_distinct
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.records import FOUR

_STEP = 2.5
"""The time to add four numbers, in that of counting 16 rows for 32 columns."""

_BLOCK_STEP = 6.0
"""The time to add four numbers to a block of columns."""

_BLOCK = 16

_DENSE = 4
"""As in pair_sums.py: rows of so many columns are added by blocks."""


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
    values, base, worst, pairs = sum_distinct(codes, costs, divisor, count_rows, first, class_of, width)
    steps = min(float(pairs) * _STEP, _by_blocks(codes, first))
    return DistinctRows(first, values, int(base), int(worst), steps * (width // FOUR))


def _by_blocks(codes: Array, first: Array) -> float:
    """Roughly the steps of adding four planes of the rows to all blocks of columns; infinite where rows have few."""
    ones = np.count_nonzero(codes[first], axis=0)
    columns, together = len(ones), float(np.minimum(ones, len(first) - ones).sum())
    if _DENSE * together <= len(first) * columns:
        return math.inf
    return together * columns / (2 * _BLOCK) * _BLOCK_STEP
