"""Exact sums of a task's statistics over sets of rows, quickly: by matrix products of whole numbers in float64.

Statistics are integers over a common denominator. Where their sums fit 64 bits they are added as they are; larger ones
are cut into digits so small that sums of these are exact in float64, and put together again after adding. So no sum
depends on the order of its rows, and what should cancel does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.exact import LARGEST_TOTAL, Array
from streed.task import row_sums
from streed.task.base import Task
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset

_FLOAT_BITS = 53
"""Below 2**53 float64 adds whole numbers exactly, and matrix products of it are quick."""

_BLOCK = 2**22
"""Numbers of a block of a matrix product."""


@attrs.frozen
class _Place:
    """Where a statistic's sums stand."""

    name: str
    first: int
    width: int | None
    """How many sums it has; None: a number."""
    denominator: int
    """What the whole numbers are to be divided by."""
    wide: bool
    """Whether they are put together from digits."""


@final
class RowSetSums:
    """The statistics of all rows times their weights, as whole numbers."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self._named: list[_Place] = []
        small: list[list[int]] = [data.counts.tolist()]
        large: list[list[int]] = []
        for name, (values, unit) in row_sums.ExactSums(task, data).items():
            columns = (values.reshape(data.n_rows, -1).T.astype(object) * unit.numerator).tolist()
            wide = sum(sum(map(abs, column)) for column in columns) >= LARGEST_TOTAL
            width = None if values.ndim == 1 else len(columns)
            self._named.append(_Place(name, len(large) if wide else len(small), width, unit.denominator, wide))
            (large if wide else small).extend(columns)
        self._small = np.array(small, np.int64).T
        if float(np.abs(self._small.astype(np.float64)).sum(axis=0).max(initial=0)) < 2**_FLOAT_BITS:
            self._small = self._small.astype(np.float64)
        self._bits = _FLOAT_BITS - 1 - data.n_rows.bit_length()
        self._digits, self._ends = _cut(large, self._bits, data.n_rows)
        self.exact = True
        """Whether sums are given exactly; else, where they are too fine for 64 bits, rounded once."""

    def total(self, members: Array) -> tuple[Any, ...]:
        """The number of these rows (m,), then their sums, flat."""
        small = self._small[members].sum(axis=0).astype(np.int64).tolist()
        return (*small, *self._joined(self._digits[members].sum(axis=0).tolist()))

    def by_literal(self, members: Array, codes: Array) -> list[tuple[Any, ...]]:
        """The sums over the rows (m,) that have each literal; `codes` (n, L) uint8 says which row has which."""
        n_literals = codes.shape[1]
        small = np.zeros((n_literals, self._small.shape[1]), dtype=self._small.dtype)
        digits = np.zeros((n_literals, self._digits.shape[1]))
        block = max(1, _BLOCK // max(1, n_literals))
        for begin in range(0, len(members), block):
            rows = members[begin : begin + block]
            here = codes[rows].astype(np.float64)
            small += (here.astype(self._small.dtype, copy=False)).T @ self._small[rows]
            if digits.shape[1]:
                digits += here.T @ self._digits[rows]
        sums = small.astype(np.int64).tolist()
        if digits.shape[1]:
            return [(*a, *self._joined(b)) for a, b in zip(sums, digits.tolist(), strict=True)]
        return list(map(tuple, sums))

    def named(self, sums: Sequence[Any]) -> dict[str, Any]:
        """The sums by the names of the statistics; see `exact`."""
        shift = self._small.shape[1]
        found: dict[str, Any] = {}
        for place in self._named:
            begin = place.first + (shift if place.wide else 0)
            numbers: Sequence[Any] = sums[begin : begin + (1 if place.width is None else place.width)]
            if place.denominator > 1:
                divided = Fraction if self.exact or not place.wide else int.__truediv__
                numbers = [divided(x, place.denominator) for x in numbers]
            found[place.name] = numbers[0] if place.width is None else tuple(numbers)
        return found

    def state(self, sums: Sequence[Any]) -> State:
        """The state that has these sums."""
        return State(sums[0], **self.named(sums))

    def _joined(self, digits: list[float]) -> list[int]:
        """The whole numbers that have these digits, the least one first."""
        found, begin = [], 0
        for end in self._ends:
            number = 0
            for digit in reversed(digits[begin:end]):
                number = (number << self._bits) + int(digit)
            found.append(number)
            begin = end
        return found


def _cut(columns: list[list[int]], bits: int, n_rows: int) -> tuple[Array, list[int]]:
    """((n, D) float64 digits of so many bits, the least first, and the end of each column's); the last has the sign."""
    digits: list[list[int]] = []
    ends = []
    for column in columns:
        rest = column
        while any(not -(1 << bits) <= x < 1 << bits for x in rest):
            digits.append([x & ((1 << bits) - 1) for x in rest])
            rest = [x >> bits for x in rest]
        digits.append(rest)
        ends.append(len(digits))
    return np.array(digits, dtype=np.float64).reshape(len(digits), n_rows).T, ends
