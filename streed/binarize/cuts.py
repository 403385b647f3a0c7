"""Where to cut a column of numbers: between neighbouring values, at quantiles, and at numbers that are easily read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from streed.data import ordered, thresholds
from streed.data.column import places
from streed.data.ordered import Kind, OrderedValues
from streed.data.reading import Values

if TYPE_CHECKING:
    from streed.exact import Array


@attrs.frozen(eq=False)
class Spread:
    """The distinct values of a column, ascending, and the weight of the rows that have each; gaps left out."""

    column: Values
    values: Array
    """(m,) distinct: numbers, microseconds, or places among the steps of a scale."""
    codes: Array
    """(n',) int64: the place in `values` of each row that is not missing."""
    rows: Array
    """(n',) int64: which rows these are."""
    weights: Array
    """(m,) float64: the total weight of the rows of each value."""

    @property
    def n_cuts(self) -> int:
        """How many cuts there are: cut i lies between values i and i + 1."""
        return max(len(self.values) - 1, 0)

    def threshold(self, cut: int) -> int | float:
        """The number, moment or step at which cut i is made; values up to it, itself included, are on its near side."""
        low, high = self.values[cut : cut + 2].tolist()
        if self.column.kind is Kind.NUMBER:
            return between(low, high, whole=self.column.is_whole)
        none = np.zeros(0, np.int64)
        return OrderedValues(self.values, self.column.kind, False, none, self.column.zone).threshold(cut)


def spread(column: Values, weights: Array | None = None) -> Spread:
    """The distinct values of a column of numbers, times or steps of a scale; `weights`: (n,), default 1."""
    rows = np.flatnonzero(~column.missing)
    values, codes = np.unique(in_order(column)[rows], return_inverse=True)
    held = None if weights is None else weights[rows]
    totals = np.bincount(codes, weights=held, minlength=len(values)).astype(np.float64)
    return Spread(column, values, codes.astype(np.int64), rows, totals)


def in_order(column: Values) -> Array:
    """(n,) numbers that stand in the order of the values: those of numbers and times, the places of steps."""
    if column.is_scale:
        assert column.order is not None
        return places(column, column.order)
    return np.asarray(column.values)


def quantiles(spread: Spread, most: int) -> list[int]:
    """At most so many cuts, which share the rows out as evenly as the values allow by weight; all if they are few."""
    return ordered.quantiles(spread.weights, most)


def between(low: float, high: float, *, whole: bool) -> int | float:
    """The middle of two numbers, rounded to as few digits as keep it in the middle half between them.

    >>> between(29.7, 30.4, whole=False), between(30, 35, whole=True), between(0.25, 0.26, whole=False)
    (30.0, 32, 0.255)
    """
    if isinstance(low, int) and isinstance(high, int):
        return thresholds.between_integers(low, high)
    if whole and abs(low) < 2**53 and abs(high) < 2**53:
        return math.floor((low + high) / 2)
    return thresholds.between(low, high)
