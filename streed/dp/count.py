"""The algebra of numbers of trees: how many there are of each key up to a bound.

    count(S, bound) = leaves of S + sum over splits of  price + count(S_1, bound_1) * count(S_0, bound_0)

with * the sums of keys and products of counts, and bound_1 = bound - price - least(S_0): the least key of any tree, by
the algebra of one best tree. Every tree is made in one way, by its root and its subtrees.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.dp.recursion import Algebra, Budgets, Limits, Option, Path, Recursion
from streed.exact import Array, as_objects

if TYPE_CHECKING:
    from streed.dp.states import Cell

FITS = 2**62
"""Counts that add up to less are kept in int64."""

_AT_ONCE = 2**20
"""Sums of two keys that are made at once."""


@final
@attrs.frozen(eq=False)
class Histogram:
    """Keys and how many trees each of them has.

    A key is a number that adds up over a tree: its cost, or its cost and further sums packed in one whole number.
    """

    keys: Array
    """(m,) rising; int64, or Python's numbers as objects."""
    counts: Array
    """(m,) >= 1; int64, or Python's integers as objects."""
    total: int
    """All trees."""

    @classmethod
    def of(cls, table: Mapping[Any, int], *, small: bool = False) -> Histogram:
        """The histogram of a table; entries of no trees are left out. `small`: sums of keys fit int64."""
        keys = sorted(key for key, count in table.items() if count)
        counts = as_objects([table[key] for key in keys])
        return cls.made(np.array(keys, np.int64) if small else as_objects(keys), counts)

    @classmethod
    def made(cls, keys: Array, counts: Array) -> Histogram:
        """The histogram of rising keys, with counts in int64 where they fit."""
        total = int(counts.sum()) if len(keys) else 0
        return cls(keys, counts.astype(np.int64, copy=False) if total < FITS else counts, total)

    @classmethod
    def merged(cls, parts: Sequence[Histogram]) -> Histogram:
        """All trees of the parts, at least one part."""
        parts = [part for part in parts if len(part.keys)] or [parts[0]]
        if len(parts) == 1:
            return parts[0]
        total = sum(part.total for part in parts)
        keys = np.concatenate([part.keys for part in parts])
        counts = np.concatenate([part.counts if total < FITS else part.counts.astype(object) for part in parts])
        return cls(*_grouped(keys, counts), total)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.total)

    @functools.cached_property
    def table(self) -> dict[Any, int]:
        """The counts by key, as Python's integers."""
        return dict(zip(self.keys.tolist(), self.counts.tolist(), strict=True))

    def upto(self, budget: Any) -> Histogram:
        """The trees of keys <= budget."""
        size = int(np.searchsorted(self.keys, budget, side="right"))
        if size == len(self.keys):
            return self
        return Histogram.made(self.keys[:size], self.counts[:size])

    def first(self, enough: int) -> Histogram:
        """The trees of the least keys, as many keys as have so many trees."""
        if self.total <= enough:
            return self
        last = int(np.searchsorted(np.cumsum(self.counts), enough))
        return Histogram.made(self.keys[: last + 1], self.counts[: last + 1])

    def without(self, table: Mapping[Any, int]) -> Histogram:
        """The trees less those of a table, all of which are among them."""
        if not table:
            return self
        left = dict(self.table)
        for key, count in table.items():
            left[key] -= count
        return Histogram.of(left, small=self.keys.dtype != object)

    def times(self, factor: int) -> Histogram:
        """So many copies of each tree."""
        if factor == 1:
            return self
        total = self.total * factor
        counts = self.counts if total < FITS else self.counts.astype(object)
        return Histogram(self.keys, counts * factor, total)


EMPTY = Histogram(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)


def _grouped(keys: Array, counts: Array) -> tuple[Array, Array]:
    """The keys, at least one, each once and rising, with the sums of their counts."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[starts], np.add.reduceat(counts[order], starts)


class Counting(Recursion):
    """Numbers of trees, by least keys that another recursion over the same cells finds."""

    least: Recursion
    small: bool = False
    """Whether sums of keys fit int64."""
    trivial: bool = True
    """Whether splits into leaves of one label count."""
    enough: int | None = None
    """No more trees than so many of the least keys need be counted, and those of the last of these keys."""
    charges: Any = 0
    """What every split adds to a key at least, where no leaf has a key below 0; else 0."""

    def trees(self, cell: Cell, limits: Limits, path: Path = (), bound: Any = None) -> Any:
        return super().trees(cell, self.within(cell, limits, bound), path, bound)

    def within(self, cell: Cell, limits: Limits, bound: Any) -> Limits:
        """The limits, with the depth beyond which there is no tree of a key <= bound."""
        if self.charges <= 0:
            return limits
        return self.useful(cell, min(limits[0] or 0, max(0, int(bound // self.charges))), None)

    def low(self, cell: Cell, limits: Limits) -> Any | None:
        """The least key of a tree; None if none is allowed."""
        found = self.least.trees(cell, limits)
        return found[0][0] if found else None

    def combined(self, first: Histogram, last: Histogram, add: Any, bound: Any) -> Histogram:
        """Every sum of a key of each and `add` that is <= bound, with the products of their counts."""
        if not len(first.keys) or not len(last.keys):
            return EMPTY
        wide = first.total * last.total >= FITS
        counts = first.counts.astype(object) if wide else first.counts
        step = max(1, _AT_ONCE // len(last.keys))
        parts = [EMPTY]
        for at in range(0, len(first.keys), step):
            sums = np.add.outer(first.keys[at : at + step] + add, last.keys)
            inside = (sums <= bound).astype(bool)
            made = np.multiply.outer(counts[at : at + step], last.counts)
            sums, made = sums[inside], made[inside]
            if len(sums):
                parts.append(Histogram.made(*_grouped(sums, made)))
        return Histogram.merged(parts)


@attrs.frozen
class Depths(Budgets):
    """Limits on the depth alone, always as a number."""

    n_splits: int = 0
    most_children: int = 0

    def useful(self, leaves: int, depth: int | None, nodes: int | None) -> Limits:
        return max(0, leaves - 1 if depth is None else min(depth, leaves - 1)), None


@final
class Count(Algebra):
    """How many trees there are of each key <= the bound."""

    recursion: Counting
    _lows: Sequence[Any] = ()

    def __init__(self, recursion: Counting, cell: Cell, bound: Any) -> None:
        super().__init__(recursion, cell, bound)
        keys = (leaf[0] for leaf in recursion.states.leaves(cell) if leaf[0] <= bound)
        self._parts = [Histogram.of(collections.Counter(keys), small=recursion.small)]

    @property
    def kept(self) -> tuple[Any, Histogram]:
        found = Histogram.merged(self._parts)
        return self.bound, found if self.recursion.enough is None else found.first(self.recursion.enough)

    @staticmethod
    def recall(recursion: Recursion, kept: Any, bound: Any) -> Histogram | None:
        most, found = kept
        return found.upto(bound) if most >= bound else None

    def lows(self, option: Option) -> Sequence[Any] | None:
        lows = option.lows
        if lows is None:
            lows = [self.recursion.low(*each) for each in zip(option.children, option.limits, strict=True)]
        self._lows = lows
        return None if None in lows or sum(lows) + option.cost > self.bound else lows

    def room(self, option: Option, lows: Sequence[Any], parts: Sequence[Any]) -> Any:
        return self.bound - option.cost - sum(lows) + lows[len(parts)]

    def put(self, option: Option, parts: Sequence[Histogram]) -> None:
        found, *rest = parts
        for number, own in enumerate(rest, 2):
            last = number == len(parts)
            add, later = (option.cost, 0) if last else (0, option.cost)
            room = self.bound - later - sum(self._lows[number:])
            found = self.recursion.combined(found, own, add, room)
        if not self.recursion.trivial:
            found = found.without(self._of_one_label(option))
        self._parts.append(found.times(len(self.recursion.states.asked(option.split))))

    def _of_one_label(self, option: Option) -> dict[Any, int]:
        """The trees whose root has these children, all of them leaves of one label."""
        leaves = [{label: key for key, label, _ in self.recursion.states.leaves(child)} for child in option.children]
        keys = (
            sum(own[label] for own in leaves) + option.cost
            for label in leaves[0] if all(label in own for own in leaves)
        )  # fmt: skip
        return collections.Counter(key for key in keys if key <= self.bound)
