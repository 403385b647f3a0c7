"""Row groups of rows that stand for several equal ones each, where rows are counted: the rows plane adds frequencies.

Rows of equal costs and equal frequency form a group, whose multiplier of the rows plane is that frequency. Where that
makes too many groups, distinct rows are summed one by one (`sums.py`), as rows with many kinds of cost are.
"""

from __future__ import annotations

import numpy as np

from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.groups import Groups, group_vectors
from streed.kernels.records import FOUR

_MOST_GROUPS = 48
"""More different rows of costs and frequency than this are summed."""

_WORD = 64


def group_copies(costs: Array, divisor: int, counts: Array, codes: Array) -> Groups:
    """The groups of rows that stand for counts (n,) int64 rows each, every row in one; as `group_rows` has them.

    costs (n, K) int64, what all rows that a row stands for cost together, are divided by `divisor`; codes (n, p) uint8
    tell which rows are equal.
    """
    vectors, base = _profits(costs, divisor)
    groups = group_vectors(np.hstack([vectors, counts[:, None]]), _MOST_GROUPS)
    counted = int(counts.sum())
    if groups is not None:
        return Groups(groups.places, groups.words, groups.profits, base, int(vectors[:, -1].sum()), counted=counted)
    first, class_of = find_classes(codes)
    m, planes = len(first), costs.shape[1] + 2
    together = np.zeros((m, costs.shape[1] + 1), np.int64)
    np.add.at(together, class_of, np.hstack([costs, counts[:, None]]))
    vectors, base = _profits(together[:, :-1], divisor)
    values = np.zeros((-(-m // _WORD) * _WORD, -(-planes // FOUR) * FOUR), np.int64)
    values[:m, : planes - 1] = vectors
    values[:m, planes - 1] = together[:, -1]
    places = np.stack([first, np.arange(m)], axis=1).ravel()
    words = np.array([0, len(values) // _WORD])
    profits = np.zeros((1, planes), np.int64)
    return Groups(places, words, profits, base, int(vectors[:, -1].sum()), values, counted)


def _profits(costs: Array, divisor: int) -> tuple[Array, int]:
    """(n, K + 1) the profits per label and the worst cost, and what every tree pays."""
    least, worst = costs.min(axis=1), costs.max(axis=1)
    profits = np.hstack([worst[:, None] - costs, (worst - least)[:, None]]) // divisor
    return profits, int(least.sum())
