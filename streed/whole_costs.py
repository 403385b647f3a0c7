"""Rows of costs become integers with a stated unit, which the engine adds.

Costs too fine for 64 bits are kept at any size (`WideCosts`), by which trees are measured, and rounded once, here, to
about 2**-50 of how far they lie apart; how far that moved the cost of any tree is known exactly.
"""

from __future__ import annotations

import functools
import math
import operator
from fractions import Fraction

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import LARGEST_TOTAL, ONE, Array, are_within, as_float, exact_integers, in_whole, writable

_ROUNDED_BITS = 50


@attrs.frozen(eq=False)
class WideCosts:
    """Costs as integers of any size, and what is left of them beside the multiples of 2**shift that are searched.

    A tree costs `unit * (sum of costs[row, label of its leaf] + split * branching nodes)`.
    """

    costs: Array
    """(n, K) Python integers as objects."""
    split: int
    unit: Fraction
    shift: int
    least: int
    """Any tree costs at least this more than its rounded rows,"""
    most: int
    """and at most this more, apart from its branching nodes,"""
    split_rest: int
    """of which each costs this much more."""
    rests: Array
    """(n, K) int64, or Python integers if wider: by how much each cost is above its rounded one.

    That is less than 2**shift and, where costs are large beside how far they lie apart, what any label costs the row.
    """

    def value(self, total: int) -> Fraction:
        """`total` in the task's own unit."""
        return self.unit * total

    def lower(self, rounded: int) -> Fraction:
        """A tree that costs at least `rounded` by rounded costs costs at least this."""
        return self.unit * ((rounded << self.shift) + self.least)

    @property
    def is_settled(self) -> bool:
        """Whether rounded costs tell all trees apart, which only what every tree pays was taken from."""
        return self.most == self.least and self.split_rest == 0

    def rounding(self, branches: int) -> Fraction:
        """How far a tree with so many branching nodes may be above its own `lower`."""
        return self.unit * (self.most - self.least + self.split_rest * branches)


@attrs.frozen(eq=False)
class IntegerCosts:
    """Costs as the engine adds them: integers, and what one of them is worth.

    A tree's value is `unit * (sum of costs[row, label of its leaf] + split * branching nodes)`.
    """

    costs: Array = attrs.field(converter=writable)
    """(n, K) int64: the cost of giving a row a label."""
    split: int
    """The cost of one branching node."""
    unit: Fraction
    """The worth of an integer cost of 1, in the task's own unit."""
    wide: WideCosts | None = None
    """The exact costs, if they were rounded down to the unit."""

    def value(self, total: int) -> int | Fraction:
        """`total` in the task's own unit: an int where that is a whole number by its nature, else a fraction."""
        if self.unit is ONE:
            return total
        return self.unit.numerator * total if self.unit.denominator == 1 else self.unit * total

    def lower(self, total: int) -> int | Fraction:
        """No tree that costs at least `total` has a value below this."""
        return self.value(total) if self.wide is None else self.wide.lower(total)

    def above(self, value: int | Fraction) -> int:
        """Every tree of a value below this has a total below that."""
        if self.wide is None:
            return math.ceil(value / Fraction(self.unit))
        return math.ceil((value / Fraction(self.wide.unit) - self.wide.least) / (1 << self.wide.shift))


def integer_costs(
    terms: list[tuple[Fraction, Array]], split: Fraction | int, weights: Array | None, room: int = LARGEST_TOTAL
) -> IntegerCosts:
    """The sum of `terms`, each an exact weight times an (n, K) array of costs per row and label, as integers.

    `split` is the exact cost of a branching node and `weights` (n,) multiplies the costs of each row. Where sums of
    exact integers would reach the `room`, because the numbers are too fine, costs are rounded to a grid: `wide` has
    the exact ones then.
    """
    if len(terms) == 1 and terms[0][0] == 1 and split == 0 and weights is None and terms[0][1].dtype == np.int64:
        costs = terms[0][1]
        if are_within(costs, (LARGEST_TOTAL - 1) // (2 * costs.size)):
            return IntegerCosts(costs, 0, ONE)
    row_weights, row_unit = None, ONE
    if weights is not None:
        row_weights, row_unit = exact_integers(weights, "sample_weight")
    worths, read = [], []
    for weight, costs in terms:
        integers, unit = exact_integers(costs, "costs")
        worth = weight if unit is ONE else weight * unit
        worths.append(worth if row_unit is ONE else worth * row_unit)
        read.append(integers)
    (*factors, own), scale = in_whole([*worths, split])
    parts = list(zip(factors, read, strict=True))
    largest = abs(own) + sum(abs(factor) * _largest_total(part, row_weights) for factor, part in parts)
    if 2 * largest >= room:  # twice, as what a search adds is how far a row's costs lie apart
        return _rounded(parts, own, 1 / scale, row_weights, room)
    total: Array = functools.reduce(operator.add, [_times(factor, part) for factor, part in parts])
    if row_weights is not None:
        total = total * row_weights[:, None]
    return IntegerCosts(np.ascontiguousarray(total, np.int64), own, 1 / scale)


def _rounded(
    parts: list[tuple[int, Array]], split: int, unit: Fraction, weights: Array | None, room: int
) -> IntegerCosts:
    """The costs, exact where their sum fits after all, else rounded down to 2**50 or less of their total."""
    total: Array = functools.reduce(operator.add, [_times(factor, part.astype(object)) for factor, part in parts])
    if weights is not None:
        total = total * weights.astype(object)[:, None]
    lows, highs = total.min(axis=1), total.max(axis=1)
    most, apart = int(np.abs(total).max(axis=1).sum()), int((highs - lows).sum())
    # a split that costs more than any labels may gain never pays, however much more
    capped = min(split, 2 * apart + 1)
    if max(most, apart) + 2 * abs(capped) + 2 < room:
        return IntegerCosts(np.ascontiguousarray(total, np.int64), capped, unit)
    if not math.isfinite(as_float(unit * most)):
        raise InputError("costs", "their sum is beyond the range of floats", "divide all of them by a common factor")
    base, largest = 0, max(most, apart)
    if apart < most >> 2:  # what a row costs whatever its label needs no bits
        base, largest = total.min(axis=1, keepdims=True), apart
    shift = max(0, largest.bit_length() - _ROUNDED_BITS)
    rounded = total - base >> shift
    rests = total - (rounded << shift)
    rests = rests if max(map(abs, rests.flat), default=0) >= LARGEST_TOTAL else rests.astype(np.int64)
    lowest, highest = (sum(functools.reduce(extreme, rests.T).tolist()) for extreme in (np.minimum, np.maximum))
    price = min(split, 2 * (largest + (1 << shift))) >> shift
    wide = WideCosts(total, split, unit, shift, lowest, highest, split - (price << shift), rests)
    return IntegerCosts(np.ascontiguousarray(rounded, np.int64), price, unit * (1 << shift), wide)


def _times(factor: int, numbers: Array) -> Array:
    """Whole numbers times a factor, of whatever size."""
    if factor == 1:
        return numbers
    return (numbers if abs(factor) < LARGEST_TOTAL else numbers.astype(object)) * factor


def _largest_total(costs: Array, weights: Array | None) -> int:
    """The sum over the rows of their largest cost in absolute value, or LARGEST_TOTAL, which `_rounded` looks into."""
    if costs.dtype == object or (weights is not None and weights.dtype == object):
        return LARGEST_TOTAL
    rows = np.abs(costs).max(axis=1, initial=0).astype(np.float64)
    return math.ceil(float(rows.sum() if weights is None else rows @ weights.astype(np.float64)))
