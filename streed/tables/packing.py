"""Several sums of a tree in one whole number, or in few, the words of a key, which add up like them.

Every sum counts from the least that labels can make it, so that no digit is ever negative; a digit's radix is more than
any tree makes of it. The first sum is the uppermost digit of the last word. In the keys of fronts, digits are bits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from streed.exact import Array
from streed.task.analysis.vector_form import VectorCosts

WORD = 62
"""Bits of a word that is to fit int64."""


@final
@attrs.frozen(eq=False)
class Packing:
    """Sums as the digits of keys."""

    bases: tuple[int, ...]
    """The least total of each sum."""
    places: tuple[tuple[int, int, int], ...]
    """Of each sum the word, what one is worth there, and the radix."""
    costs: Array
    """(n, K, words) what a row adds to a key by label; int64 where any key fits, else Python's integers."""
    split: tuple[int, ...]
    """(words,) what a branching node adds."""
    largest: int
    """No tree without branching nodes has a larger first sum than this times its worth."""

    @classmethod
    def of(
        cls,
        parts: Sequence[Array],
        splits: Sequence[int],
        most_branches: int,
        sizes: Array | None = None,
        bits: int | None = None,
        *,
        guarded: bool = False,
    ) -> Packing:
        """The packing of sums, of parts (n, K) each, over trees of at most so many branching nodes.

        `sizes` (n,): how many rows each stands for (None: itself). `bits`: of a word (None: there is one word).
        `guarded`: digits have bits of their own, with one above that is 0.
        """
        count = np.ones(len(parts[0]), np.int64) if sizes is None else sizes
        lows = [_by_row(np.minimum, part) for part in parts]
        spans = [int((_by_row(np.maximum, part) - low) @ count) for part, low in zip(parts, lows, strict=True)]
        radices = [span + split * most_branches + 1 for span, split in zip(spans, splits, strict=True)]
        if guarded:
            radices = [2 << (radix - 1).bit_length() for radix in radices]
        places: list[tuple[int, int, int]] = []
        word, worth = 0, 1
        for radix in reversed(radices):
            if bits is not None and worth > 1 and worth * radix >= 1 << bits:
                word, worth = word + 1, 1
            places.insert(0, (word, worth, radix))
            worth *= radix
        largest = (spans[0] + 1) * places[0][1]
        costs = np.zeros((*parts[0].shape, word + 1), np.int64 if bits is not None or largest < 2**60 else object)
        total = [0] * (word + 1)
        for part, low, split, (at, worth, _) in zip(parts, lows, splits, places, strict=True):
            costs[:, :, at] += worth * (part - low[:, None]).astype(costs.dtype)
            total[at] += worth * split
        bases = tuple(int(low @ count) for low in lows)
        return cls(bases, tuple(places), costs, tuple(total), largest)

    @property
    def radix(self) -> int:
        """A key of one word // radix is the digit of the first sum."""
        return math.prod(radix for _, _, radix in self.places[1:])

    def budget(self, most: int) -> int:
        """The largest key, of one word, of a tree whose first sum is at most this."""
        return (most - self.bases[0] + 1) * self.radix - 1

    def digits(self, words: Sequence[Any]) -> list[Any]:
        """The digits of a key, or arrays of those of many: by word an integer or an array."""
        (word, worth, _), *others = self.places
        return [words[word] // worth, *(words[word] // worth % radix for word, worth, radix in others)]

    def totals(self, words: Sequence[Any]) -> tuple[Any, ...]:
        """The totals of the sums of a key."""
        return tuple(base + digit for base, digit in zip(self.bases, self.digits(words), strict=True))


def _by_row(choice: np.ufunc, costs: Array) -> Array:
    """(n,) the least or largest cost of each row of costs (n, K), of which there are few by row."""
    return functools.reduce(choice, costs.T)


class KeyLayout(NamedTuple):
    """Where the components are, and what is added or forbidden everywhere."""

    shifts: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(m,) the lowest bit of each component."""
    guards: int
    cap: int
    """The largest components allowed, with guards."""
    split: int
    """What a branching node costs."""
    buckets: int
    """Of two components, one more than the first can be, if that is few; else 0."""


_MOST_BITS = 62
"""Of a key, guard bits and all."""

_MOST_BUCKETS = 2**14
"""Of two components: so many values of the first are quicker to run through than keys are to sort."""

_NARROW = 31
"""Keys of so many bits fit the narrow lanes of pair counts."""


@final
@attrs.frozen(eq=False)
class Keys:
    """The components of a problem, less what every tree has of them and divided by their greatest common divisors."""

    order: tuple[int, ...]
    """The components by their place in keys, the least wide one first."""
    bases: tuple[int, ...]
    divisors: tuple[int, ...]
    packing: Packing
    layout: KeyLayout
    narrow: bool

    @classmethod
    def of(cls, costs: VectorCosts, most_branches: int) -> Keys | None:
        """The keys of trees of so many branching nodes at most; None if the components need too many bits.

        A cap below what every tree has is stored as no cap: see `is_empty`.
        """
        least = costs.costs.min(axis=2)
        bases = [int(each.sum()) for each in least]
        rest = costs.costs - least[:, :, None]
        divisors = [
            max(1, math.gcd(split, int(np.gcd.reduce(part, axis=None))))
            for part, split in zip(rest, costs.splits, strict=True)
        ]
        splits = [split // divisor for split, divisor in zip(costs.splits, divisors, strict=True)]
        most = [
            int(part.max(axis=1).sum()) // divisor + split * most_branches
            for part, split, divisor in zip(rest, splits, divisors, strict=True)
        ]
        order = sorted(range(len(most)), key=lambda j: (most[j], j))
        if sum(each.bit_length() + 1 for each in most) > _MOST_BITS:
            return None
        parts = [rest[j] // divisors[j] for j in order]
        packing = Packing.of(parts, [splits[j] for j in order], most_branches, guarded=True)
        guards, cap = 0, 0
        for j, (_, worth, radix) in zip(order, packing.places, strict=True):
            given = costs.caps[j]
            whole = most[j] if given is None else (given - bases[j]) // divisors[j]
            guards += worth * (radix // 2)
            cap += worth * min(max(whole, 0), radix // 2 - 1)
        few = len(order) == 2 and most[order[0]] < _MOST_BUCKETS
        shifts = np.array([worth.bit_length() - 1 for _, worth, _ in packing.places], np.int64)
        layout = KeyLayout(shifts, guards, guards + cap, packing.split[0], most[order[0]] + 1 if few else 0)
        return cls(tuple(order), tuple(bases), tuple(divisors), packing, layout, guards < 1 << _NARROW)

    @property
    def costs(self) -> Array:
        """(n, K) int64: the key of a row by its label."""
        return self.packing.costs[:, :, 0]

    def is_empty(self, costs: VectorCosts) -> bool:
        """Whether no tree keeps the caps."""
        return any(cap is not None and cap < base for cap, base in zip(costs.caps, self.bases, strict=True))

    def vector(self, key: int) -> tuple[int, ...]:
        """The components of a key, in the order of the task."""
        digits = dict(zip(self.order, self.packing.digits((key,)), strict=True))
        return tuple(base + by * digits[j] for j, (base, by) in enumerate(zip(self.bases, self.divisors, strict=True)))
