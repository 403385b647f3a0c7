"""Several sums of a tree in one whole number, or in few, the words of a key, which add up like them.

Every sum counts from the least that labels can make it, so that no digit is ever negative; a digit's radix is more than
any tree makes of it. The first sum is the uppermost digit of the last word. In the keys of fronts, digits are bits, and
the least wide one is the uppermost.

Rows of few kinds, however often each of them occurs: numbers of copies are written in binary.

Rows that agree in every column go to the same leaf of every tree. If their parts are 3 and 5 times the same vector,
they count as 8 copies of one row with it. 13 copies are three rows, of 8, 4 and 1 times the vector, since there would
be a kind for every number that occurs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes, find_equal
from streed.kernels.counting.groups import MANY_ROWS, MOST_GROUPS, often_equal
from streed.task.bounded_sums import least_of_labels, most_of_labels
from streed.task.states import sums_by

WORD = 62
"""Bits of a word that is to fit int64."""


@final
@attrs.frozen(eq=False)
class Packing:
    """Sums as the digits of keys: beyond the least total, and in multiples of what divides all that labels change."""

    bases: tuple[int, ...]
    """The least total of each sum."""
    divisors: tuple[int, ...]
    places: tuple[tuple[int, int, int | None], ...]
    """Of each sum the word, what one is worth there, and the radix, None of the uppermost in a word."""
    most: tuple[int, ...]
    """No tree has a larger digit."""
    costs: Array
    """(n, K, words) what a row adds to a key by label; int64 where any key fits, else Python's integers."""
    split: tuple[int, ...]
    """(words,) what a branching node adds."""
    largest: int
    """No tree without branching nodes has a larger uppermost digit than this times its worth."""

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
        `guarded`: digits have bits of their own, with one above that is 0, and the least wide one is the uppermost.
        """
        count = np.ones(len(parts[0]), np.int64) if sizes is None else sizes
        lows = [least_of_labels(part) for part in parts]
        rests = [part - low[:, None] for part, low in zip(parts, lows, strict=True)]
        gcds = [int(np.gcd.reduce(rest, axis=None)) for rest in rests]
        divisors = [max(1, math.gcd(split, each)) for split, each in zip(splits, gcds, strict=True)]
        spans = [int(most_of_labels(rest) @ count) // by for rest, by in zip(rests, divisors, strict=True)]
        splits = [split // by for split, by in zip(splits, divisors, strict=True)]
        most = [span + split * most_branches for span, split in zip(spans, splits, strict=True)]
        order = sorted(range(len(most)), key=most.__getitem__) if guarded else list(range(len(most)))
        places: list[tuple[int, int, int | None]] = [(0, 1, None)] * len(most)
        word, worth, below, last = 0, 1, order[-1], 0
        for j in reversed(order):
            radix = 2 << most[j].bit_length() if guarded else most[j] + 1
            if bits is not None and worth > 1 and worth * radix >= 1 << bits:
                word, worth = word + 1, 1
            elif j != below:
                places[below] = (*places[below][:2], last)
            places[j], below, last = (word, worth, None), j, radix
            worth *= radix
        largest = (spans[order[0]] + 1) * places[order[0]][1]
        costs = np.zeros((*parts[0].shape, word + 1), np.int64 if bits is not None or largest < 2**60 else object)
        total = [0] * (word + 1)
        for rest, gcd, by, split, (at, worth, _) in zip(rests, gcds, divisors, splits, places, strict=True):
            # where nothing but splits adds to a sum, a split may be beyond int64
            costs[:, :, at] += worth * (rest // min(by, gcd or 1)).astype(costs.dtype)
            total[at] += worth * split
        bases = tuple(int(low @ count) for low in lows)
        return cls(bases, tuple(divisors), tuple(places), tuple(most), costs, tuple(total), largest)

    @property
    def radix(self) -> int:
        """A key of one word // radix is the digit of the first sum, if that is the uppermost one."""
        return math.prod(each + 1 for each in self.most[1:])

    def budget(self, most: int) -> int:
        """The largest key, of one word, of a tree whose first sum, which is the uppermost, is at most this."""
        return ((most - self.bases[0]) // self.divisors[0] + 1) * self.radix - 1

    def totals(self, words: Sequence[Any]) -> tuple[Any, ...]:
        """The totals of the sums of a key, or arrays of those of many: by word an integer or an array."""
        found = []
        for base, by, (word, worth, radix) in zip(self.bases, self.divisors, self.places, strict=True):
            digit = words[word] if worth == 1 else words[word] // worth
            digit = digit if radix is None else digit % radix
            found.append(base + (digit if by == 1 else by * digit))
        return tuple(found)


_SHARE = 4
"""Rows without frequencies are counted where at most one for so many of them remains."""


def count_rows(data: Dataset, words: Array, kinds: Array) -> tuple[Dataset, Array, Array, Array] | None:
    """(r rows, words (h, w), kinds (r,), place (n,)): other rows with the same sums of words in every leaf.

    kinds (n,) says which of the words (k, w) int64 each row has. `place` is one of the rows that agree with each of
    those they stand for. None where that gives no fewer kinds or rows: worth its time where frequencies make many
    kinds, or where many of very many rows are equal.
    """
    n, given = len(kinds), data.frequency
    if data.X.dtype != np.uint8 or (given is None and (n < MANY_ROWS or not often_equal(data.X))):
        return None
    # all that is asked of rows below is asked of one row of each of these, which are few
    distinct, which = words, kinds
    if given is not None:
        firsts, which = find_equal(np.stack([kinds, given], axis=1))
        if len(firsts) <= MOST_GROUPS:
            return None
        distinct = words[kinds[firsts]]
    copies = np.gcd.reduce(distinct, axis=1)
    if given is not None:
        copies = np.gcd(copies, given[firsts])
    copies = np.maximum(copies, 1)
    vectors = distinct // copies[:, None]
    if given is not None:
        vectors = np.hstack([vectors, (given[firsts] // copies)[:, None]])
    firsts_of, kind = find_equal(vectors)
    if len(firsts_of) > MOST_GROUPS:
        return None
    first, place = find_classes(np.hstack([data.X, kind.astype(np.uint8)[which][:, None]]))
    totals = sums_by(place, copies[which], len(first))
    classes, digits = np.nonzero(totals[:, None] >> np.arange(int(totals.max()).bit_length()) & 1)
    if given is None and len(classes) * _SHARE > n:
        return None
    times = 1 << digits
    begins = np.searchsorted(classes, np.arange(len(first)))
    chosen = first[classes]
    of = which[chosen]
    frequency = times if given is None else times * (given[chosen] // copies[of])
    counted = attrs.evolve(data.subset(chosen), weights=None, sample_weight=None, frequency=frequency)
    several, numbers = find_equal(np.stack([of, times], axis=1))
    of, times = of[several], times[several]
    return counted, distinct[of] // copies[of, None] * times[:, None], numbers, begins[place]
