"""The recursion where splits have two children and leaves cost sums over rows: depth three and less is native."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.rashomon.compiled.counts import convolve, count_shallow, count_three, overlaps
from streed.rashomon.compiled.layout import INFINITE
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
    """Least keys are asked for up to a budget, and bounded by those of rows that differ in few."""

    engine: Engine | None = None
    """What tells the least keys of the sides of splits, where there are three levels or more."""
    _words: int = attrs.field(init=False)
    _arrays: tuple[Array, ...] = attrs.field(init=False)
    _columns: Array = attrs.field(init=False)
    _price: int = attrs.field(init=False)
    _worst: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        leaves, splits = self.leaves, self.splits
        assert isinstance(leaves, RowLeaves)
        assert isinstance(splits, Splits)
        kinds = leaves.kinds
        self._words = leaves.members.shape[1]
        # a split is the rows of its last part; which side a kernel calls the first is no matter to its counts
        self._columns = np.ascontiguousarray(splits.sets.T)
        keys = np.array(kinds.keys, np.int64).reshape(len(kinds.keys), leaves.n_labels)
        copies = np.array(kinds.copies, np.int64)
        options = np.array([leaves.min_leaf, leaves.radix, leaves.best, self.trivial], np.int64)
        self._arrays = (self._columns, leaves.members, keys, copies, splits.multiple, options)
        self._price = splits.price
        # without a least size of leaves: rows that are taken away may leave too few
        worst = int(keys.max(initial=0))
        is_known = leaves.min_leaf <= 1 and worst * kinds.size < LARGEST_KEY
        self._worst = worst if is_known else INFINITE

    def _bits(self, rows: int) -> Array:
        return np.frombuffer(rows.to_bytes(8 * self._words, "little"), np.uint64)

    @property
    def are_positive(self) -> bool:
        return True

    @property
    def price(self) -> int:
        return self._price

    # -- least keys ------------------------------------------------------------------------------------------------

    def optimum(self, rows: int, depth: int, cut: Key | None) -> Key | None:
        cut = INFINITE - 1 if cut is None else cut
        depth = self.useful(rows, depth, cut)
        known = self._optima.get((rows, depth))
        if known is not None and (known[1] or known[0] > cut):
            return _finite(known[0])
        if depth < _UNIT:
            least = self._shallow(rows, depth, 0, counting=False)[0]
            self._optima[rows, depth] = least, True
            return _finite(least)
        if depth == _UNIT:
            least = self._three(rows, cut, counting=False)[0]
        else:
            least = self._deep(rows, depth, cut)
        is_exact = least <= cut
        least = least if is_exact else max(cut + 1, 0 if known is None else known[0])
        self._optima[rows, depth] = least, is_exact
        return _finite(least)

    def _deep(self, rows: int, depth: int, cut: int) -> int:
        """The least key if it is <= cut, else a number above."""
        best = min((key for key in self.leaves.keys(rows) if key is not None), default=INFINITE)
        best = min(best, cut + 1)
        # every split costs its price, whatever the leaves do
        limit = [best - 1]
        for _, _, optima in self._ranked(rows, depth, limit) if best > self._price else ():
            limit[0] = min(limit[0], sum(optima) + self._price - 1)
        return limit[0] + 1

    def _shallow(self, rows: int, depth: int, budget: int, *, counting: bool) -> tuple[int, Histogram | None]:
        check = np.zeros(1)
        least, keys, counts = count_shallow(
            *self._arrays, self._bits(rows), self._price, depth, budget, counting, check
        )
        return int(least), _histogram(keys, counts, check)

    def _three(self, rows: int, budget: int, *, counting: bool) -> tuple[int, Histogram | None]:
        asked = np.zeros(0, np.int64)
        if self.engine is not None:
            places = [place for place, _, _ in self.engine.splits(rows, _UNIT, budget, self._base(rows))]
            if not places:
                return budget + 1, self.of_leaves(rows, budget)
            asked = np.array(places, np.int64)
        check = np.zeros(1)
        low = self._optima.get((rows, _UNIT), (0, False))[0]
        least, keys, counts = count_three(
            *self._arrays, self._bits(rows), asked, self._price, self._worst, min(low, budget), budget, counting, check
        )
        return int(least), _histogram(keys, counts, check)

    # -- histograms ------------------------------------------------------------------------------------------------

    def _counted(self, rows: int, depth: int, budget: Key) -> Histogram:
        self.watch.look()
        if depth == 0:
            return self.of_leaves(rows, budget)
        if depth <= _UNIT:
            found = (
                self._three(rows, budget, counting=True)
                if depth == _UNIT
                else self._shallow(rows, depth, budget, counting=True)
            )[1]
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
            yield from self._ranked(rows, depth, [budget])
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

    def _ranked(self, rows: int, depth: int, limit: list[int]) -> Iterator[Allowed]:
        """The splits of a least key <= limit[0], which may fall meanwhile, with the children and their least keys.

        Likely ones come first.
        """
        asked = [(f, parted(split, rows)) for f, split in enumerate(self.splits)]
        asked = [(f, children) for f, children in asked if len(children) == 2]
        active = np.array([f for f, _ in asked], np.int64)
        quick = 1 if depth > _UNIT else 0
        guesses = []
        for _, children in asked:
            sides = [self.optimum(child, min(quick, depth - 1), None) for child in children]
            guesses.append(sum(INFINITE if each is None else each for each in sides))
        is_bounded = depth > _UNIT and self._worst < INFINITE and len(asked) > 0
        shared = overlaps(self._columns, self._bits(rows), active) if is_bounded else None
        size = rows.bit_count()
        on = np.diagonal(shared) if shared is not None else None
        bounds = np.zeros((2, len(asked)), np.int64)
        """Of the parts without and with a column."""
        for i in np.argsort(np.array(guesses, object), kind="stable").tolist():
            self.watch.look()
            f, (without, having) = asked[i]
            room = limit[0] - self._price
            low_without, low_having = bounds[:, i].tolist()
            if low_without + low_having > room:
                continue
            first = self.optimum(having, depth - 1, room - low_without)
            first = INFINITE if first is None else first
            last = low_without
            if first + low_without <= room:
                found = self.optimum(without, depth - 1, room - first)
                last = INFINITE if found is None else found
            if shared is not None and on is not None and first < INFINITE and last < INFINITE:
                # of rows without so many of these, at most `worst` each less
                both = shared[i]
                n_i = int(on[i])
                worst = self._worst
                bounds[1] = np.maximum(
                    bounds[1], np.maximum(first - worst * (n_i - both), last - worst * (size - n_i - (on - both)))
                )
                bounds[0] = np.maximum(bounds[0], np.maximum(last - worst * (on - both), first - worst * both))
            if first + last <= room:
                yield self.splits[f], (without, having), (last, first)


def _finite(least: int) -> int | None:
    return None if least >= INFINITE else least


def _histogram(keys: Array, counts: Array, check: Array) -> Histogram | None:
    """What a kernel counted; None where that may have been too much for its integers."""
    if check[0] >= float(FITS):
        return None
    return Histogram.made(keys, counts)
