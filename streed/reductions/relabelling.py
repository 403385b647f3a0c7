"""A tree with other labels in its leaves, so that its sums keep their limits, and then cost less, greedily."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streed.exact import Array
from streed.tables.vector_trees import EvaluatedTree, Trees, Window

_MOST = 64
"""Changes of one label that are looked at, those that cost least for what they mend, and pairs of these."""

_LITTLE = 1e-4
"""Is mended by a change that mends nothing, so that it costs much for that."""


def relabelled(
    trees: Trees, found: EvaluatedTree, weights: Sequence[int], intervals: Sequence[Window]
) -> EvaluatedTree | None:
    """The tree with such labels, whose last components are in the intervals; None where none is found.

    `weights`: of its first components, whose sum is its cost. While a sum breaks its limit, those one or two labels are
    changed whose change costs least for what it mends; then the one that lessens the cost most, and breaks nothing.
    """
    first = len(trees.parts) - len(intervals)
    leaves = np.flatnonzero((found.preorder < 0) & (found.rows > 0))
    given = trees.by_label(found)[leaves]
    costs, sums = given[:, :, :first] @ np.array(weights[:first], np.int64), given[:, :, first:]
    least, most = np.array(intervals, np.int64).T
    wide = np.maximum(np.ptp(sums, axis=1).sum(axis=0), 1)

    def excess_of(totals: Array) -> Array:
        """By how much sums (..., j) break their limits, each of 1 as the most that labels change it by."""
        excess: Array = (np.maximum(np.maximum(totals - most, least - totals), 0) / wide).sum(axis=-1)
        return excess

    places, labels = np.arange(len(leaves)), found.labels[leaves]
    total = np.array(found.vector[first:], np.int64)
    while True:
        excess = excess_of(total)
        added, moved = costs - costs[places, labels][:, None], sums - sums[places, labels][:, None]
        leaf, label = np.nonzero(np.arange(costs.shape[1]) != labels[:, None])
        mended = np.maximum(excess - excess_of(total + moved), _LITTLE)
        cheapest = np.argsort((added / mended)[leaf, label], kind="stable")[:_MOST]
        # the first change is none, which makes pairs of single ones
        leaf, label = np.append(0, leaf[cheapest]), np.append(labels[0], label[cheapest])
        rises = added[leaf, label] + added[leaf, label][:, None]
        moves = moved[leaf, label] + moved[leaf, label][:, None]
        left = excess_of(total + moves)
        helps = left < excess if excess else (left == 0) & (rises < 0)
        helps[1:, 1:] &= leaf[1:] != leaf[1:, None]
        if not helps.any():
            break
        worth = np.where(helps, rises / np.where(helps & (excess > 0), excess - left, 1), np.inf)
        pair = list(np.unravel_index(worth.argmin(), worth.shape))
        total = total + moves[tuple(pair)]
        for each in pair:
            if each:
                labels[leaf[each]] = label[each]
    if excess:
        return None
    every = found.labels.copy()
    every[leaves] = labels
    return trees.labelled(found.preorder, every)
