"""Several sums of a tree in few whole numbers, the words of a key, which add up like them.

A word is a number in mixed radix whose digits are sums, each with a span that no set of rows leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from streed.exact import Array

_BITS = 62
"""Of a word."""


@final
@attrs.frozen(eq=False)
class KeyCode:
    """How keys are made of sums, and the sums of keys."""

    parts: tuple[Array, ...]
    """By sum (n, K) int64: what giving row i the label k adds to it."""
    splits: tuple[int, ...]
    """What a branching node adds to each."""
    places: Array
    """(q, 4) int64: of each sum the word, the worth of one in it, the span, and the least that it can be."""

    @classmethod
    def of(cls, parts: Sequence[Array], splits: Sequence[int], branches: int, sizes: Array) -> KeyCode:
        """The code for sums over trees of at most so many branching nodes; `sizes` (n,): how many rows a row is."""
        places = np.zeros((len(parts), 4), np.int64)
        word, worth = 0, 1
        for place, part, split in zip(places, parts, splits, strict=True):
            low = int(np.minimum(part.min(axis=1), 0) @ sizes) + min(0, split) * branches
            high = int(np.maximum(part.max(axis=1), 0) @ sizes) + max(0, split) * branches
            span = high - low + 1
            if worth > 1 and worth * span >= 1 << _BITS:
                word, worth = word + 1, 1
            place[:] = word, worth, span, low
            worth *= span
        return cls(tuple(parts), tuple(splits), places)

    @property
    def words(self) -> int:
        """How many words a key has, at least one."""
        return int(self.places[:, 0].max(initial=0)) + 1

    @property
    def split(self) -> list[int]:
        """The key of a branching node, by word."""
        key = [0] * self.words
        for (word, worth, _, _), split in zip(self.places.tolist(), self.splits, strict=True):
            key[word] += worth * split
        return key

    def keys(self, shape: tuple[int, int]) -> Array:
        """(n, K, words) int64: what giving row i the label k adds to the key."""
        total = np.zeros((*shape, self.words), np.int64)
        for (word, worth, _, _), part in zip(self.places.tolist(), self.parts, strict=True):
            total[:, :, word] += worth * part
        return total

    def sums(self, keys: Array) -> Array:
        """(m, q) int64: the sums of keys (m, words)."""
        word, worth, span, least = self.places.T
        shift = np.zeros(self.words, np.int64)
        np.add.at(shift, word, worth * least)
        found: Array = (keys - shift)[:, word] // worth % span + least
        return found
