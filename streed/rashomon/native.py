"""The recursion where splits have two children and leaves cost sums over rows: depth three and less is native."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.rashomon.compiled.counts import convolve, count_shallow, count_three
from streed.rashomon.compiled.tables import INFINITE
from streed.rashomon.engine import LEAST_DEPTH, Engine
from streed.rashomon.histogram import FITS, Histogram, combined
from streed.rashomon.recursion import Allowed, Key, Recursion, RowLeaves, parted
from streed.rashomon.splits import Splits

LARGEST_KEY = 2**60
"""Keys of trees within the budget, and of all leaves, stay below this."""

_UNIT = 3
"""The depth of what one call of a kernel counts."""


@final
@attrs.define(eq=False)
class NativeRecursion(Recursion):
    """The native search tells what splits may begin trees of three levels and more, and what their sides cost."""

    engine: Engine | None = None
    """What tells the least keys of the sides of splits, where there are three levels or more."""
    _words: int = attrs.field(init=False)
    _arrays: tuple[Array, ...] = attrs.field(init=False)
    _price: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        leaves, splits, self.are_positive = self.leaves, self.splits, True
        assert isinstance(leaves, RowLeaves)
        assert isinstance(splits, Splits)
        kinds = leaves.kinds
        self._words = leaves.members.shape[1]
        # a split is the rows of its last part; which side a kernel calls the first is no matter to its counts
        columns = np.ascontiguousarray(splits.sets.T)
        keys = np.array(kinds.keys, np.int64).reshape(len(kinds.keys), leaves.n_labels)
        copies = np.array(kinds.copies, np.int64)
        options = np.array([leaves.min_leaf, leaves.radix, leaves.best, self.trivial], np.int64)
        self._arrays = (columns, leaves.members, keys, copies, splits.multiple, options)
        self._price = splits.price

    def _bits(self, rows: int) -> Array:
        return np.frombuffer(rows.to_bytes(8 * self._words, "little"), np.uint64)

    @property
    def price(self) -> int:
        return self._price

    def optimum(self, rows: int, depth: int) -> Key | None:
        depth = self.useful(rows, depth, None)
        if depth >= _UNIT:
            return super().optimum(rows, depth)
        known = self._optima.get((rows, depth))
        if known is None:
            known = self._optima[rows, depth] = self._shallow(rows, depth, 0, counting=False)[0]
        return None if known >= INFINITE else known

    def _shallow(self, rows: int, depth: int, budget: int, *, counting: bool) -> tuple[int, Histogram | None]:
        check = np.zeros(1)
        least, keys, counts = count_shallow(
            *self._arrays, self._bits(rows), self._price, depth, budget, counting, check
        )
        return int(least), _histogram(keys, counts, check)

    def _three(self, rows: int, budget: int) -> Histogram | None:
        """The trees of depth three; None if there is no engine, or counts are beyond int64."""
        if self.engine is None:
            return None
        found = list(self.engine.splits(rows, _UNIT, budget, self._base(rows)))
        if not found:
            return self.of_leaves(rows, budget)
        check = np.zeros(1)
        asked = np.array([place for place, _, _ in found], np.int64)
        keys, counts = count_three(*self._arrays, self._bits(rows), asked, self._price, budget, check)
        return _histogram(keys, counts, check)

    # -- histograms ------------------------------------------------------------------------------------------------

    def _counted(self, rows: int, depth: int, budget: Key) -> Histogram:
        self.watch.look()
        if depth == 0:
            return self.of_leaves(rows, budget)
        if depth <= _UNIT:
            is_unit = depth == _UNIT
            found = self._three(rows, budget) if is_unit else self._shallow(rows, depth, budget, counting=True)[1]
            if found is not None:
                return found
        # counts beyond int64 are made of those of smaller trees
        return self.by_splits(rows, depth, budget)

    def combined(self, first: Histogram, last: Histogram, add: Key, budget: Key) -> Histogram:
        if first.total * last.total >= FITS or not first.total or not last.total or first.keys.dtype == object:
            return combined(first, last, add, budget)
        sums = convolve(first.keys, first.counts, last.keys, last.counts, add, budget, 1, np.zeros(1))
        return Histogram.made(*sums)

    def of_leaves(self, rows: int, budget: Key) -> Histogram:
        found = super().of_leaves(rows, budget)
        return Histogram(found.keys.astype(np.int64), found.counts, found.total)

    # -- splits ----------------------------------------------------------------------------------------------------

    def affordable(self, rows: int, depth: int, budget: Key) -> Iterator[Allowed]:
        if self.engine is None or depth < LEAST_DEPTH:
            yield from super().affordable(rows, depth, budget)
            return
        for place, without, having in self.engine.splits(rows, depth, budget, self._base(rows)):
            self.watch.look()
            split = self.splits[place]
            children = parted(split, rows)
            if len(children) == 2:
                bases = [self._base(child) for child in children]
                yield split, children, (without + bases[0], having + bases[1])

    def _base(self, rows: int) -> int:
        """What every tree of the rows pays."""
        leaves = self.leaves
        assert isinstance(leaves, RowLeaves)
        return sum(least * (members & rows).bit_count() for members, least in leaves.paid)


def _histogram(keys: Array, counts: Array, check: Array) -> Histogram | None:
    """What a kernel counted; None where that may have been too much for its integers."""
    if check[0] >= float(FITS):
        return None
    return Histogram.made(keys, counts)
