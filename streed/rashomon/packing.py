"""Several sums of a tree in one whole number, the first of them uppermost, so that one recursion adds them all."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.rashomon.question import RowSum


@final
@attrs.frozen(eq=False)
class Packing:
    """Sums as the digits of keys.

    Every sum counts from the least that labels can make it, so that no digit is ever negative; a digit's radix is more
    than any tree makes of it. The first sum has no radix: its digit is what is left.
    """

    bases: tuple[int, ...]
    """The least total of each sum."""
    radices: tuple[int, ...]
    """Of the sums from the second on."""
    costs: Array
    """(n, K) what a row adds to a key by label; int64 where any key fits, else Python's integers."""
    split: int
    """What a branching node adds."""
    largest: int
    """No tree without branching nodes has a larger key."""

    @classmethod
    def of(cls, sums: Sequence[RowSum], most_branches: int) -> Packing:
        """The packing of the sums of trees with at most so many branching nodes."""
        lowest = [_by_row(np.minimum, each.costs) for each in sums]
        radices = [
            int((_by_row(np.maximum, each.costs) - low).sum()) + each.split * most_branches + 1
            for each, low in zip(sums[1:], lowest[1:], strict=True)
        ]
        first = int((_by_row(np.maximum, sums[0].costs) - lowest[0]).sum())
        scale = math.prod(radices)
        largest = (first + 1) * scale
        costs = np.zeros(sums[0].costs.shape, np.int64 if largest < 2**60 else object)
        split = 0
        for each, low, radix in zip(sums, lowest, [1, *radices], strict=True):
            own = (each.costs - low[:, None]).astype(costs.dtype)
            costs, split = costs * radix + own, split * radix + each.split
        return cls(tuple(int(low.sum()) for low in lowest), tuple(radices), costs, split, largest)

    @property
    def radix(self) -> int:
        """A key // radix is the digit of the first sum."""
        return math.prod(self.radices)

    def budget(self, most: int) -> int:
        """The largest key of a tree whose first sum is at most this."""
        return (most - self.bases[0] + 1) * self.radix - 1

    def totals(self, key: int) -> tuple[int, ...]:
        """The totals of the sums of a key."""
        digits = []
        for radix in reversed(self.radices):
            key, digit = divmod(key, radix)
            digits.append(digit)
        return tuple(base + digit for base, digit in zip(self.bases, [key, *reversed(digits)], strict=True))


def _by_row(choice: np.ufunc, costs: Array) -> Array:
    """(n,) the least or largest cost of each row of costs (n, K), of which there are few by row."""
    return functools.reduce(choice, costs.T)
