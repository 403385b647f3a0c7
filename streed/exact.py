"""Exact numbers: decimals become fractions, and rows of costs become integers with a stated unit.

A cost of 0.01 means one hundredth, not the nearest binary fraction, so costs that are decimals stay exact in the
engine, which computes in integers of 64 bits. Costs too fine for these are kept as integers of any size (`WideCosts`),
by which trees are measured, and rounded once, here, to a multiple of about 2**-50 of their total for the search;
`IntegerCosts.exact` then is False, and how far rounding moved the cost of any tree is known exactly.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
import re
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.decimals import decimals_of
from streed.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]

LARGEST_TOTAL = 2**60
"""Sums over all rows stay below this, so that sums and differences of two of them fit int64."""

_DECIMALS = 9
"""Floats with at most this many decimals are read as exact decimals."""

_EXACT_FLOATS = 2.0**53
"""Whole floats below this are told apart from their neighbours."""

_FEW = 512
"""Of so few numbers, equal ones are read one by one: to find them takes longer."""

_WORD = 63
"""Whole numbers of fewer bits fit into int64."""

_GRID_BITS = 44

_ROUNDED_BITS = 50

_CLOSE = 20
"""Sums of floats are off by less than one in 2 to the power of this."""

_SURELY_MORE = 2.0**62
"""A float that is at least this is of a total above LARGEST_TOTAL, however it was rounded."""

_SMALL_TOTAL = 2**40
"""Totals that need not be known more closely."""

_ONE = Fraction(1)

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE]([+-]?[0-9]{1,5}))?")

_MOST_DIGITS = 4_000
"""Of a number that is written out: Python itself refuses 4,300."""


def exact_number(x: Any, name: str = "number") -> int | Fraction:
    """`x` as an int or a Fraction: a float is read as the decimal that Python prints for it.

    Raises InputError for NaN, infinities and what is no number.
    """
    if type(x) is int:
        return x
    if isinstance(x, Fraction):
        return x if x.denominator > 1 else int(x)
    if isinstance(x, (numbers.Integral, np.bool_)):
        return int(x)
    if isinstance(x, numbers.Real) or hasattr(x, "as_integer_ratio"):
        if not math.isfinite(x):
            raise InputError(name, f"{x!r} is not finite", "give a finite number")
        fraction = read_decimal(repr(float(x)) if isinstance(x, float) else str(x), name)
        return fraction if fraction.denominator > 1 else int(fraction)
    raise InputError(name, f"{x!r} is no number", "give an int, float, Fraction or Decimal")


def real_number(x: Any, name: str = "number") -> float:
    """`x` as a float; raises InputError as `exact_number` does, and for numbers beyond the range of floats."""
    try:
        return float(exact_number(x, name))
    except OverflowError:
        raise InputError(name, "the number is too large", "give one below 1e308") from None


@functools.lru_cache(maxsize=1024)
def read_decimal(text: str, name: str = "number") -> Fraction:
    """The decimal that a text writes, such as "0.01" or "1e-9".

    Raises InputError for what is none, and for one whose digits written out are more than 4,000, such as 1e-30000000.
    """
    match = _DECIMAL.fullmatch(text.strip())
    if match is None or len(text) > _MOST_DIGITS or abs(int(match[3] or 0)) > _MOST_DIGITS:
        raise InputError(name, f"{text[:40]!r} is no number of up to {_MOST_DIGITS:,} digits", "give a decimal")
    return Fraction(text)


def readable(value: Any, *, real: bool = False) -> Any:
    """A value without fractions, which few libraries take: ints and floats in their place, in tuples too.

    `real`: whole fractions become floats, too.
    """
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, tuple):
        return tuple(map(readable, value))
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 and not real else float(value)
    return value


def readable_bound(bound: Any, value: Any, *, upper: bool, real: bool = False) -> Any:
    """A bound as `readable` gives it, but rounded outwards, and apart from the readable value unless they are equal.

    A lower bound is at most what it stands for, an upper one at least that.
    """
    shown = readable(bound, real=real)
    if not isinstance(shown, float) or not isinstance(bound, Fraction):
        return shown
    outwards = math.inf if upper else -math.inf
    if (Fraction(shown) < bound) if upper else (Fraction(shown) > bound):
        shown = shown if bound == value else math.nextafter(shown, outwards)
    if isinstance(value, (int, Fraction)) and bound != value and shown == readable(value):
        shown = math.nextafter(shown, outwards)
    return shown


def exact_integers(values: Array, name: str = "values") -> tuple[Array, Fraction]:
    """The values as whole numbers and the worth of one, exactly: int64 where their total fits, else Python's own.

    What `values` may be, and the errors, are as in `exact_array`; floats are the decimals that Python prints.
    """
    values = np.asarray(values)
    small = _small(values, name)
    if small is not None:
        return small
    whole, unit = _any_size(values, name)
    fits = _rough_total(whole) < _SURELY_MORE and sum(map(abs, whole.flat)) < LARGEST_TOTAL
    return (whole.astype(np.int64) if fits else whole), unit


def exact_array(values: Array, name: str = "values") -> tuple[Array, Fraction, bool]:
    """Integers (int64), the worth of one of them, and whether that is exact.

    `values` is an array of integers, bools, floats or exact numbers (as objects). Decimals and fractions with a common
    denominator that fits are scaled exactly; others, and integers whose total is beyond 2**60, are rounded to a grid of
    2**-44 of their total. Raises InputError for non-finite values.
    """
    whole, unit = exact_integers(values, name)
    if whole.dtype != object:
        return whole, unit, True
    shift = max(0, sum(map(abs, whole.flat)).bit_length() - _GRID_BITS)
    return ((whole + (1 << shift >> 1)) >> shift).astype(np.int64), unit * (1 << shift), False


def _small(values: Array, name: str) -> tuple[Array, Fraction] | None:
    """Integers and floats of few decimals as int64 and the worth of 1; None for other numbers."""
    if values.dtype.kind in "bui":
        largest = max(int(values.max(initial=0)), -int(values.min(initial=0)))
        if largest * values.size >= LARGEST_TOTAL and float(np.abs(values.astype(np.float64)).sum()) >= LARGEST_TOTAL:
            return None
        return values.astype(np.int64, copy=False), _ONE
    if values.dtype.kind == "O":
        return None
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError(name, "a value is NaN or infinite", "give finite numbers")
    top, total = float(np.abs(values).max(initial=0)), float(np.abs(values).sum())
    # what the first value needs, all need: most arrays of many decimals end here
    for decimals in range(_decimals_of(values.flat[0].item()) if values.size else 0, _DECIMALS + 1):
        scale = 10**decimals
        if total * scale >= LARGEST_TOTAL or top * scale >= _EXACT_FLOATS:
            return None
        scaled = np.rint(values * scale)
        if (scaled / scale == values).all():
            return scaled.astype(np.int64), Fraction(1, scale)
    return None


def _decimals_of(value: float) -> int:
    """The least number of decimals with which rounding gives the value back; more than _DECIMALS if none does."""
    for decimals in range(_DECIMALS + 1):
        scale = 10**decimals
        if abs(value) * scale >= _EXACT_FLOATS or round(value * scale) / scale == value:
            return decimals
    return _DECIMALS + 1


def _any_size(values: Array, name: str) -> tuple[Array, Fraction]:
    """The values as Python integers (objects) and the worth of one."""
    if values.dtype.kind == "O":
        fractions = [Fraction(exact_number(x, name)) for x in values.flat]
        common = math.lcm(*{x.denominator for x in fractions})
        whole = [x.numerator * (common // x.denominator) for x in fractions]
    elif values.dtype.kind in "bui":
        common, whole = 1, values.ravel().tolist()
    else:
        place = None
        different = values.ravel()
        if values.size > _FEW:
            different, place = np.unique(different, return_inverse=True)
        whole, common = decimals_of(different.astype(np.float64).tolist())
        if place is not None:
            whole = [whole[at] for at in place.ravel().tolist()]
    found = np.empty(len(whole), object)
    found[:] = whole
    return found.reshape(values.shape), Fraction(1, common)


@attrs.frozen(eq=False)
class WideCosts:
    """Costs as integers of any size, and what was lost when they were rounded down to multiples of 2**shift.

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
    """(n, K): by how much each cost is above its rounded one, below 2**shift; int64, or Python integers if wider."""

    def lower(self, rounded: int) -> Fraction:
        """A tree that costs at least `rounded` by rounded costs costs at least this."""
        return self.unit * ((rounded << self.shift) + self.least)

    def rounding(self, branches: int) -> Fraction:
        """How far a tree with so many branching nodes may be above its own `lower`."""
        return self.unit * (self.most - self.least + self.split_rest * branches)


@attrs.frozen(eq=False)
class IntegerCosts:
    """Costs as the engine adds them: integers, and what one of them is worth.

    A tree's value is `unit * (sum of costs[row, label of its leaf] + split * branching nodes)`.
    """

    costs: Array
    """(n, K) int64: the cost of giving a row a label."""
    split: int
    """The cost of one branching node."""
    unit: Fraction
    """The worth of an integer cost of 1, in the task's own unit."""
    exact: bool
    """False if the costs were rounded down to the unit."""
    wide: WideCosts | None = None
    """The exact costs, if they were rounded."""

    def value(self, total: int) -> int | Fraction:
        """`total` in the task's own unit: an int where that is a whole number by its nature, else a fraction."""
        return self.unit.numerator * total if self.unit.denominator == 1 else self.unit * total

    def lower(self, total: int) -> int | Fraction:
        """No tree that costs at least `total` has a value below this."""
        return self.value(total) if self.wide is None else self.wide.lower(total)

    def above(self, value: int | Fraction) -> int:
        """Every tree of a value below this has a total below that."""
        if self.wide is None:
            return math.ceil(value / Fraction(self.unit))
        return math.ceil((value / Fraction(self.wide.unit) - self.wide.least) / (1 << self.wide.shift))


def integer_costs(terms: list[tuple[Fraction, Array]], split: Fraction | int, weights: Array | None) -> IntegerCosts:
    """The sum of `terms`, each an exact weight times an (n, K) array of costs per row and label, as integers.

    `split` is the exact cost of a branching node and `weights` (n,) multiplies the costs of each row. Where exact
    integers would leave 2**60, because the numbers are too fine, costs are rounded to a grid; `exact` then is False.
    """
    if len(terms) == 1 and terms[0][0] == 1 and split == 0 and weights is None and terms[0][1].dtype == np.int64:
        costs = terms[0][1]
        most = max(int(costs.max(initial=0)), -int(costs.min(initial=0)))
        if 2 * most * costs.size < LARGEST_TOTAL:
            return IntegerCosts(costs, 0, _ONE, True)
    row_weights, row_unit = None, _ONE
    if weights is not None:
        row_weights, row_unit = exact_integers(weights, "sample_weight")
    parts: list[tuple[Fraction, Array]] = []
    for weight, costs in terms:
        integers, unit = exact_integers(costs, "costs")
        worth = weight if unit is _ONE else weight * unit
        parts.append((worth if row_unit is _ONE else worth * row_unit, integers))
    unit = _common_unit([worth for worth, _ in parts] + [Fraction(split)])
    own = _in_units(split, unit)
    largest = abs(own)
    for worth, part in parts:
        largest += abs(_in_units(worth, unit)) * _largest_total(part, row_weights)
    if 2 * largest >= LARGEST_TOTAL:  # twice, as what a search adds is how far a row's costs lie apart
        return _rounded(parts, own, unit, row_weights)
    total = _times(parts[0], unit)
    for each in parts[1:]:
        total = total + _times(each, unit)
    if row_weights is not None:
        total = total * row_weights[:, None]
    return IntegerCosts(np.ascontiguousarray(total, np.int64), own, unit, True)


def _rounded(parts: list[tuple[Fraction, Array]], split: int, unit: Fraction, weights: Array | None) -> IntegerCosts:
    """The costs, exact where their sum fits after all, else rounded down to 2**50 or less of their total."""
    total = _total(parts, unit)
    if weights is not None:
        total = total * weights.astype(object)[:, None]
    largest = _largest(total)
    # a split that costs more than any labels may gain never pays, however much more
    capped = min(split, 2 * largest + 1)
    if largest + 2 * abs(capped) + 2 < LARGEST_TOTAL:
        return IntegerCosts(np.ascontiguousarray(total, np.int64), capped, unit, True)
    if not math.isfinite(_as_float(unit * largest)):
        raise InputError("costs", "their sum is beyond the range of floats", "divide all of them by a common factor")
    shift = max(0, largest.bit_length() - _ROUNDED_BITS)
    if split >> shift >= LARGEST_TOTAL:
        raise InputError(
            "costs", f"a branching node costs {_as_float(split * unit):.3g}, far above all rows", "lower its cost"
        )
    rounded, rest = total >> shift, total & ((1 << shift) - 1)
    rests = rest if shift >= _WORD else rest.astype(np.int64)
    least, most = sum(rests.min(axis=1).tolist()), sum(rests.max(axis=1).tolist())
    wide = WideCosts(total, split, unit, shift, least, most, split - (split >> shift << shift), rests)
    return IntegerCosts(np.ascontiguousarray(rounded, np.int64), split >> shift, unit * (1 << shift), False, wide)


def _total(parts: list[tuple[Fraction, Array]], unit: Fraction) -> Array:
    """The sum of the parts in the unit, as Python integers."""
    found = []
    for worth, part in parts:
        factor = _in_units(worth, unit)
        found.append(part.astype(object, copy=False) if factor == 1 else part.astype(object) * factor)
    return functools.reduce(operator.add, found)


def _largest(total: Array) -> int:
    """The sum over the rows of their largest cost in absolute value, or of how far costs lie apart if that is more.

    Of costs that surely do not fit into 64 bits, a little more than that.
    """
    try:
        near = total.astype(np.float64)
    except OverflowError:
        near = np.zeros(total.shape)
    with np.errstate(over="ignore"):
        rough = max(float(np.abs(near).max(axis=1).sum()), float((near.max(axis=1) - near.min(axis=1)).sum()))
    if _SURELY_MORE <= rough < math.inf:
        return int(rough) + (int(rough) >> _CLOSE)
    apart = total.max(axis=1) - total.min(axis=1)
    return int(max(np.abs(total).max(axis=1).sum(), apart.sum()))


def _times(part: tuple[Fraction, Array], unit: Fraction) -> Array:
    """The whole numbers of a part, each worth so much, in the unit."""
    factor = _in_units(part[0], unit)
    if factor == 1:
        return part[1]
    whole = part[1] if abs(factor) < LARGEST_TOTAL else part[1].astype(object)
    return whole * factor


def _in_units(worth: Fraction | int, unit: Fraction) -> int:
    """How many units something is worth, a whole number; much faster than to divide fractions."""
    return worth.numerator * unit.denominator // (worth.denominator * unit.numerator)


def _largest_total(costs: Array, weights: Array | None) -> int:
    """The sum over the rows of their largest cost in absolute value, or more where that is no matter."""
    if costs.dtype == object:
        return LARGEST_TOTAL  # which all of their absolute values together reach: `_rounded` looks more closely
    if weights is None:
        most = len(costs) * int(max(costs.max(initial=0), -costs.min(initial=0)))
        return most if most < _SMALL_TOTAL else sum(np.abs(costs).max(axis=1).tolist())
    if weights.dtype == object:
        return int((np.abs(costs).max(axis=1).astype(object) * weights).sum())
    return math.ceil(float(np.abs(costs).max(axis=1, initial=0).astype(np.float64) @ weights.astype(np.float64)))


def _rough_total(values: Array) -> float:
    """The sum of the absolute values of Python integers, nearly; 0 where floats cannot tell."""
    try:
        with np.errstate(over="ignore"):
            total = float(np.abs(values.astype(np.float64)).sum())
    except OverflowError:
        return 0.0
    return total if total < math.inf else 0.0


def _as_float(x: Fraction) -> float:
    """The nearest float; an infinity where no float is that large."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def _common_unit(worths: list[Fraction]) -> Fraction:
    """The largest fraction of which every given one is a whole multiple."""
    numerator, denominator = 0, 1
    for worth in worths:
        if worth:
            numerator, denominator = (
                math.gcd(numerator * worth.denominator, worth.numerator * denominator),
                denominator * worth.denominator,
            )
            common = math.gcd(numerator, denominator)
            numerator, denominator = numerator // common, denominator // common
    return Fraction(numerator, denominator) if numerator else Fraction(1)
