"""Exact numbers: decimals become fractions, and rows of costs become integers with a stated unit.

A cost of 0.01 means one hundredth, not the nearest binary fraction, so costs that are decimals stay exact in the
engine, which computes in integers only. Real numbers that are no short decimals are rounded once, here, each to a
multiple of about 2**-44 of their total; `IntegerCosts.exact` then is False.
"""

from __future__ import annotations

import math
import numbers
import re
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]

LARGEST_TOTAL = 2**60
"""Sums over all rows stay below this, so that sums and differences of two of them fit int64."""

_DECIMALS = 9
"""Floats with at most this many decimals are read as exact decimals."""

_GRID_BITS = 44

_ROUNDED_BITS = 50

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


def read_decimal(text: str, name: str = "number") -> Fraction:
    """The decimal that a text writes, such as "0.01" or "1e-9".

    Raises InputError for what is none, and for one whose digits written out are more than 4,000, such as 1e-30000000.
    """
    match = _DECIMAL.fullmatch(text.strip())
    if match is None or len(text) > _MOST_DIGITS or abs(int(match[3] or 0)) > _MOST_DIGITS:
        raise InputError(name, f"{text[:40]!r} is no number of up to {_MOST_DIGITS:,} digits", "give a decimal")
    return Fraction(text)


def readable(value: Any) -> Any:
    """A value without fractions, which few libraries take: ints and floats in their place, in tuples too."""
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, tuple):
        return tuple(map(readable, value))
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def exact_array(values: Array, name: str = "values") -> tuple[Array, Fraction, bool]:
    """Integers (int64), the worth of one of them, and whether that is exact.

    `values` is an array of integers, bools, floats or exact numbers (as objects). Floats with at most nine decimals and
    fractions with a common denominator that fits are scaled exactly; others are rounded to a grid of 2**-44 of their
    total. Raises InputError for non-finite values and totals beyond 2**60.
    """
    values = np.asarray(values)
    if values.dtype.kind in "bui":
        largest = max(int(values.max(initial=0)), -int(values.min(initial=0)))
        if largest * values.size >= LARGEST_TOTAL:
            _check_total(values.astype(np.float64), 1.0, name)
        return values.astype(np.int64, copy=False), _ONE, True
    if values.dtype.kind == "O":
        exact = [Fraction(exact_number(x, name)) for x in values.flat]
        common = math.lcm(*(x.denominator for x in exact))
        whole = [int(x * common) for x in exact]
        if sum(map(abs, whole)) < LARGEST_TOTAL:
            return np.array(whole, np.int64).reshape(values.shape), Fraction(1, common), True
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError(name, "a value is NaN or infinite", "give finite numbers")
    total = float(np.abs(values).sum())
    for decimals in range(_DECIMALS + 1):
        scale = 10**decimals
        if total * scale >= LARGEST_TOTAL:
            break
        scaled = np.rint(values * scale)
        if (scaled / scale == values).all():
            return scaled.astype(np.int64), Fraction(1, scale), True
    exponent = math.frexp(total)[1]
    shift = _GRID_BITS - exponent
    return np.rint(np.ldexp(values, shift)).astype(np.int64), Fraction(2) ** -shift, False


def _check_total(values: Array, scale: float, name: str) -> None:
    if values.size and float(np.abs(values).sum()) * scale >= LARGEST_TOTAL:
        raise InputError(name, "the total is beyond 2**60", "divide all of them by a common factor")


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
    """False if real inputs were rounded to the unit."""

    def value(self, total: int) -> int | float:
        """`total` in the task's own unit: an int where that is a whole number by its nature, else a float."""
        return self.unit.numerator * total if self.unit.denominator == 1 else float(self.unit * total)


def integer_costs(terms: list[tuple[Fraction, Array]], split: Fraction | int, weights: Array | None) -> IntegerCosts:
    """The sum of `terms`, each an exact weight times an (n, K) array of costs per row and label, as integers.

    `split` is the exact cost of a branching node and `weights` (n,) multiplies the costs of each row. Where exact
    integers would leave 2**60, because the numbers are too fine, costs are rounded to a grid; `exact` then is False.
    """
    if len(terms) == 1 and terms[0][0] == 1 and split == 0 and weights is None and terms[0][1].dtype == np.int64:
        costs, unit, exact = exact_array(terms[0][1], "costs")
        return IntegerCosts(costs, 0, unit, exact)
    exact = True
    row_weights, row_unit = None, Fraction(1)
    if weights is not None:
        row_weights, row_unit, exact = exact_array(weights, "sample_weight")
    parts: list[tuple[Fraction, Array]] = []
    for weight, costs in terms:
        integers, unit, whole = exact_array(costs, "costs")
        exact = exact and whole
        parts.append((weight * unit * row_unit, integers))
    unit = _common_unit([worth for worth, _ in parts] + [Fraction(split)])
    largest = sum(abs(_as_float(worth / unit)) * _largest_total(part, row_weights) for worth, part in parts)
    if not largest + abs(_as_float(Fraction(split) / unit)) < LARGEST_TOTAL:
        return _rounded(parts, split, row_weights)
    total = parts[0][1] * int(parts[0][0] / unit)
    for worth, part in parts[1:]:
        total = total + part * int(worth / unit)
    if row_weights is not None:
        total = total * row_weights[:, None]
    return IntegerCosts(np.ascontiguousarray(total), int(split / unit), unit, exact)


def _rounded(parts: list[tuple[Fraction, Array]], split: Fraction | int, weights: Array | None) -> IntegerCosts:
    """The costs rounded to a power of two of which their total has at most 2**50."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
        total = sum(_as_float(worth) * part.astype(np.float64) for worth, part in parts)
        assert isinstance(total, np.ndarray)
        if weights is not None:
            total = total * weights[:, None].astype(np.float64)
        finite = math.isfinite(float(np.abs(total).max(axis=1, initial=0).sum()))
    if not finite:
        raise InputError("costs", "their sum is beyond the range of floats", "divide all of them by a common factor")
    shift = _ROUNDED_BITS - math.frexp(float(np.abs(total).max(axis=1, initial=0).sum()))[1]
    unit = Fraction(2) ** -shift
    split_units = round(Fraction(split) / unit)
    if split_units >= LARGEST_TOTAL:
        raise InputError(
            "costs", f"a branching node costs {_as_float(Fraction(split)):.3g}, far above all rows", "lower its cost"
        )
    return IntegerCosts(np.rint(np.ldexp(total, shift)).astype(np.int64), split_units, unit, False)


def _largest_total(costs: Array, weights: Array | None) -> float:
    """The sum over the rows of their largest cost in absolute value, as a float; no less, where that is no matter."""
    if weights is None:
        most = float(len(costs)) * float(max(costs.max(initial=0), -costs.min(initial=0)))
        return most if most < _SMALL_TOTAL else float(np.abs(costs).max(axis=1, initial=0).sum(dtype=np.float64))
    return float(np.abs(costs).max(axis=1, initial=0).astype(np.float64) @ weights.astype(np.float64))


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
