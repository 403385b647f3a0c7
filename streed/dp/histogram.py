"""How many trees there are of each key: sorted keys, and counts that are exact however large they are."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.exact import Array, as_objects

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
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        return cls(keys[starts], np.add.reduceat(counts, starts), total)

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


def combined(first: Histogram, last: Histogram, add: Any, budget: Any) -> Histogram:
    """Every sum of a key of each and `add` that is <= budget, with the products of their counts."""
    if not len(first.keys) or not len(last.keys):
        return EMPTY
    wide = first.total * last.total >= FITS
    counts = first.counts.astype(object) if wide else first.counts
    step = max(1, _AT_ONCE // len(last.keys))
    parts = [EMPTY]
    for at in range(0, len(first.keys), step):
        sums = np.add.outer(first.keys[at : at + step] + add, last.keys)
        inside = (sums <= budget).astype(bool)
        made = np.multiply.outer(counts[at : at + step], last.counts)
        sums, made = sums[inside], made[inside]
        if not len(sums):
            continue
        order = np.argsort(sums, kind="stable")
        sums, made = sums[order], made[order]
        starts = np.flatnonzero(np.concatenate([[True], sums[1:] != sums[:-1]]))
        parts.append(Histogram.made(sums[starts], np.add.reduceat(made, starts)))
    return Histogram.merged(parts)
