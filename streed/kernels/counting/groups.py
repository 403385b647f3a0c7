"""Row groups: rows that cost alike stand together, so that counting them is popcounting.

A group has one vector of multipliers: per label the profit (worst cost minus cost), then the worst cost, then how many
rows a row of it counts for. Costs are first reduced by each row's least cost, which every tree pays (the base). Rows
with many different costs are sliced into bits: a row that profits 5 under a label stands in that label's group of ones
and in its group of fours. Where that makes too many groups, distinct rows are summed one by one instead.
"""

from __future__ import annotations

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.counting.distinct_rows import merge_rows
from streed.kernels.counting.group_kernels import effort_of_slices, find_equal, find_groups, place_groups, slice_costs

MOST_GROUPS = 48
"""More different cost vectors than this are sliced into bits."""

NO_TIMES = np.zeros(0, np.int64)
"""Every row stands for itself."""

_WORD = 64


@attrs.frozen(eq=False)
class Groups:
    """Rows by group, in the padded order of the engine."""

    places: Array
    """int64, flat pairs (row, place); a row may stand in several places, or in none if it costs nothing."""
    words: Array
    """int64 (G + 1,): the 64-row word at which each group begins."""
    profits: Array
    """int64 (G, K + 2): profit per label, worst cost, rows counted."""
    base: int
    """What every tree pays."""
    worst: int
    """The sum over all rows of worst minus least cost."""
    values: Array | None = None
    """(N, S padded to fours) int64: the numbers that are summed row by row, in place of counts of groups; see `sums`.
    There is one group then, whose rows are the distinct ones."""
    counted: int = 0
    """How many rows the rows stand for, where the rows plane adds up more than one for a row."""
    sliced: bool = False
    """Whether rows stand in the groups of their costs' binary digits."""
    times: Array | None = None
    """int64, for each pair of `places`: how many equal rows it stands for, in all its places together; None: 1."""
    flips: Array | None = None
    """(p,) int8: the binary columns that have ones in more than half of the rows, where places do not tell."""


def group_rows(costs: Array, divisor: int, count_rows: bool, codes: Array | None = None) -> Groups:
    """The groups of rows with costs (n, K) int64, divided by `divisor`; by codes (n, p) uint8 distinct rows are known.

    With `count_rows`, every row stands in the groups, so that minimum support can be counted; else rows that cost the
    same under every label are left out.
    """
    places, words, profits, base, worst = find_groups(costs, divisor, count_rows, MOST_GROUPS)
    if len(words) == 0 and codes is not None:
        distinct = merge_rows(codes, costs, divisor, count_rows)
        if distinct.effort <= effort_of_slices(costs, divisor, codes.shape[1]):
            m = len(distinct.first)
            places = np.stack([distinct.first, np.arange(m)], axis=1).ravel()
            profits = np.zeros((1, costs.shape[1] + 2), np.int64)
            words = np.array([0, len(distinct.values) // _WORD])
            return Groups(places, words, profits, distinct.base, distinct.worst, distinct.values)
    if len(words) == 0:
        places, words, profits, base, worst = slice_costs(costs, divisor, count_rows)
        return Groups(places, words, profits, int(base), int(worst), sliced=True)
    return Groups(places, words, profits, int(base), int(worst))


def group_vectors(vectors: Array, most: int) -> Groups | None:
    """The groups of equal rows of vectors (n, S) int64, which become the multipliers; None for more than `most`."""
    group_of, multipliers = find_equal(vectors, most)
    if len(group_of) == 0 and len(vectors):
        return None
    places, words = place_groups(group_of, len(multipliers))
    return Groups(places, words, multipliers, 0, 0)
