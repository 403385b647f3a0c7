"""Lists of trees by the driver's own means (`LinearOracle.lists`), or, where it has none, by those of `plain.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from streed.enumerate.entries import KEY
from streed.enumerate.keys import encode
from streed.enumerate.plain import Entries, Listing, Needed
from streed.enumerate.vector_trees import EvaluatedTree, Trees, Window
from streed.exact import Array
from streed.problem.linear_oracle import ListSpec


@final
class NativeListing:
    """The trees below a budget, as `Listing` lists them."""

    def __init__(
        self,
        trees: Trees,
        value: Sequence[int],
        keys: Sequence[int],
        scale: int,
        multipliers: Sequence[int],
        intervals: Sequence[Window],
        needed: Needed | None,
    ) -> None:
        self._trees = trees
        weights = np.zeros(trees.vectors.shape[2], np.int64)
        weights[: len(value)] = scale * np.array(value, np.int64)
        weights[list(keys)] += np.array(multipliers, np.int64)
        values = trees.vectors[:, :, : len(value)] @ np.array(value, np.int64)
        key_sums, key_splits = [trees.vectors[:, :, j] for j in keys], [trees.splits[j] for j in keys]
        bounds = list(intervals)
        problem = trees.problem
        if problem.max_nodes is not None:
            key_sums.append(np.zeros_like(values))
            key_splits.append(1)
            bounds.append((0, problem.max_nodes))
        most = trees.data.n_rows
        branches = most if problem.max_depth is None or problem.max_depth > 20 else min(most, 2**problem.max_depth)
        self._code = encode(key_sums, key_splits, branches, trees.sizes)
        split_cost, split_value = (
            sum(w * each for w, each in zip(factors, trees.splits, strict=False))
            for factors in (weights.tolist(), value)
        )
        entries = np.concatenate(
            [(trees.vectors @ weights)[:, :, None], values[:, :, None], self._code.keys(values.shape)], axis=2
        )
        self._windows = np.array(bounds, np.int64)
        self._lists = trees.lists(
            ListSpec(
                entries,
                np.array([split_cost, split_value, *self._code.split], np.int64),
                self._code.places,
                self._code.factors,
                self._code.divisors,
                self._windows,
                None if needed is None or len(bounds) > 1 else needed.most_first,
                None if needed is None else needed.most_value,
                needed is not None and needed.staircase and len(bounds) == 1,
            )
        )

    @property
    def works(self) -> bool:
        """Whether the driver has lists."""
        return self._lists is not None

    def sums_of(self, entries: Entries) -> Array:
        """(m, q) the sums that the keys hold."""
        return self._code.sums(entries[:, KEY:])

    def every(self, budget: int) -> Entries:
        """All entries of cost <= budget whose sums are in their intervals."""
        assert self._lists is not None
        entries: Entries = self._lists.every(budget)
        sums = self.sums_of(entries)
        least, most = self._windows.T
        kept: Entries = entries[((least <= sums) & (sums <= most)).all(axis=1)]
        return kept

    def best(self, budget: int, below: int) -> tuple[int, EvaluatedTree] | None:
        """The least value of a tree of cost <= budget with all sums in their intervals, and the tree; None if >= below.

        Raises SearchStopped when the orders say so.
        """
        assert self._lists is not None
        found = self._lists.best(budget, below)
        return None if found is None else (found[0], self._trees.labelled(*found[1]))

    def tree(self, entry: Array) -> EvaluatedTree:
        """A tree of an entry that `every` gave."""
        assert self._lists is not None
        return self._trees.labelled(*self._lists.tree(entry))


def make_listing(
    trees: Trees,
    value: Sequence[int],
    keys: Sequence[int],
    scale: int,
    multipliers: Sequence[int],
    intervals: Sequence[Window],
    needed: Needed | None = None,
) -> NativeListing | Listing:
    """The lists of the trees; the arguments are those of `Listing`."""
    native = NativeListing(trees, value, keys, scale, multipliers, intervals, needed)
    return native if native.works else Listing(trees, value, keys, scale, multipliers, intervals, needed)
