"""Several sums of a tree in one whole number, or in few, the words of a key, which add up like them.

Every sum counts from the least that labels can make it, so that no digit is ever negative; a digit's radix is more than
any tree makes of it. The first sum is the uppermost digit of the last word.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.exact import Array

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
