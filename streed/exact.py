"""Exact numbers: decimals become fractions, and arrays of numbers become integers with a stated unit.

A cost of 0.01 means one hundredth, not the nearest binary fraction, so costs that are decimals stay exact in the
engine, which computes in integers of 64 bits (`whole_costs.py`).
"""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
import operator
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.errors import InputError, brief

Array = np.ndarray[Any, np.dtype[Any]]

LARGEST_TOTAL = 2**60
"""Sums over all rows stay below this, so that sums and differences of two of them fit int64."""

_DECIMALS = 9  # floats with at most this many decimals are read as exact decimals
_EXACT_FLOATS = 2.0**53  # whole floats below this are told apart from their neighbours
SURELY_MORE = 2.0**62
"""A float that is at least this is of a total above LARGEST_TOTAL, however it was rounded."""

ONE = Fraction(1)

_FINEST = Fraction(1, 2**30)
"""What rounding may be of how far numbers lie apart."""

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE]([+-]?[0-9]{1,5}))?")

_MOST_DIGITS = 4_000  # of a number that is written out: Python itself refuses 4,300


def exact_number(x: Any, name: str = "number") -> int | Fraction:
    """`x` as an int or a Fraction: a float is read as the decimal that Python prints for it.

    Raises InputError for NaN, infinities and what is no number.
    """
    if type(x) is int:
        return x
    if isinstance(x, Fraction):
        return x if x.denominator > 1 else int(x)
    is_time = isinstance(x, np.timedelta64)  # which numpy has among the integers
    if isinstance(x, (numbers.Integral, np.bool_)) and not is_time:
        return int(x)
    if (isinstance(x, numbers.Real) and not is_time) or hasattr(x, "as_integer_ratio"):
        if not math.isfinite(x):
            raise InputError(name, f"{x!r} is not finite", "give a finite number")
        fraction = read_decimal(repr(float(x)) if isinstance(x, float) else str(x), name)
        return fraction if fraction.denominator > 1 else int(fraction)
    raise InputError(name, f"{x!r} is no number", "give an int, float, Fraction or Decimal")


_SIGNS: dict[str, Any] = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


@final
@attrs.frozen
class Range:
    """Which finite numbers an argument takes: what every number of a user's is checked by, and a validator of attrs."""

    least: Any = None
    most: Any = None
    above: Any = attrs.field(default=None, kw_only=True)
    below: Any = attrs.field(default=None, kw_only=True)
    whole: bool = attrs.field(default=False, kw_only=True)
    optional: bool = attrs.field(default=False, kw_only=True)
    """Whether None is allowed."""
    meaning: str = attrs.field(default="", kw_only=True)
    """What the number is; errors say "give a number >= 0" and then that."""
    _ends: list[tuple[str, Any, Any]] = attrs.field(init=False, eq=False, repr=False)
    """The signs, and the numbers that they stand before, as given and exactly."""

    @_ends.default
    def _list_ends(self) -> list[tuple[str, Any, Any]]:
        ends = zip(_SIGNS, (self.least, self.above, self.most, self.below), strict=True)
        return [(sign, end, exact_number(end)) for sign, end in ends if end is not None]

    def read(self, argument: str, value: Any) -> Any:
        """The number as an int or a Fraction, or None where that is allowed; raises InputError for anything else."""
        if value is None and self.optional:
            return None
        exact: Any = value if type(value) is int else None
        if exact is None and isinstance(value, numbers.Integral if self.whole else (numbers.Real, Decimal)):
            with contextlib.suppress(InputError):
                exact = None if isinstance(value, bool) else exact_number(value, argument)
        if exact is None or not self.holds(exact) or (not self.whole and math.isinf(as_float(exact))):
            raise InputError(argument, f"it is {brief(value)}", f"give {self}")
        return exact

    def __call__(self, owner: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        self.read(attribute.alias or attribute.name, value)

    def read_rows(self, argument: str, values: Array) -> Array:
        """Numbers (n, ...) as they are; raises InputError that names the first row with one that is not allowed."""
        outside = ~(self.holds(values) & np.isfinite(values))
        if outside.any():
            place = tuple(np.argwhere(outside)[0].tolist())
            raise InputError(argument, f"row {place[0]} has {values[place]}", f"give {self}")
        return values

    def holds(self, x: Any) -> Any:
        """Whether a finite number is in it, or each of an array."""
        within, are_many = x == x, isinstance(x, np.ndarray)
        for sign, end, exact in self._ends:
            within = within & _SIGNS[sign](x, end if are_many else exact)
        return within & (x == np.floor(x)) if self.whole and are_many else within

    def __str__(self) -> str:
        """What to give: "a number > 0 and <= 1, a share, or None"."""
        kind = "a whole number" if self.whole else "a number" if self._ends else "a finite number"
        ends = " and ".join(f"{sign} {end}" for sign, end, _ in self._ends)
        if self.least is not None and self.most is not None:
            ends = f"from {self.least} to {self.most}"
        return f"{kind} {ends}".strip() + f", {self.meaning}" * bool(self.meaning) + ", or None" * self.optional


def are_within(values: Array, most: int) -> bool:
    """Whether all whole numbers of an array are from 0 to `most`."""
    kind = values.dtype
    limit = min(most, 2 ** (8 * kind.itemsize - 1) - 1) if kind.kind == "i" else most
    # seen without a sign, a number below 0 is large
    return bool(np.maximum.reduce(values.view(kind.str.replace("i", "u")), axis=None, initial=0) <= limit)


def as_objects(values: Sequence[Any]) -> Array:
    """(n,) the values as an array of objects, whatever they are."""
    found: Array = np.empty(len(values), object)
    found[:] = values
    return found


def fraction_of(x: Any) -> Fraction:
    """A finite value of a task as it is, floats as the binary fractions that they are."""
    return Fraction(int(x) if isinstance(x, numbers.Integral) else x)


def writable(array: Array) -> Array:
    """The array as one that can be written to: native code is compiled for such arrays only, also where it just reads.

    A copy where the memory itself can only be read.
    """
    found = array.view()
    try:
        found.setflags(write=True)
    except ValueError:
        return array.copy()
    return found


def as_float(x: Any) -> float:
    """The nearest float; an infinity where no float is that large."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def floats(values: Sequence[Any] | Array, argument: str) -> Array:
    """Numbers of any types as float64, each rounded; raises InputError where no float is as large."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise InputError(argument, "it has a number that no float can hold", "divide all by a common factor") from None


def doubles(values: Sequence[Any], argument: str) -> Array:
    """(n,) numbers of any types as float64; raises InputError where rounding changes how far they lie apart."""
    found = floats(values, argument)
    if len(set(values)) > 1 and set(map(type, values)) != {float}:
        exact = [Fraction(exact_number(x, argument)) for x in values]
        lost = max(abs(exact_number(rounded) - x) for rounded, x in zip(found.tolist(), exact, strict=True))
        if lost > _FINEST * (max(exact) - min(exact)):
            said = "its numbers differ by less than floats of their size can tell"
            raise InputError(argument, said, "subtract a common number from all")
    return found


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
    if isinstance(value, int):  # truth values among them
        return int(value)
    if isinstance(value, float):  # numpy's numbers among them
        return float(value)
    if isinstance(value, tuple):
        return tuple(map(readable, value))
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 and not real and abs(value) < SURELY_MORE else as_float(value)
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


def close(a: Any, b: Any, part: float = 1e-9, least: float = 1e-9) -> bool:
    """Whether values, tuples entry by entry, are equal but for rounding of floats: by this part of them, or so much.

    Floats were rounded once when they were written, and sums of real data once per row. Exact numbers are not rounded.
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(close(x, y, part, least) for x, y in zip(a, b, strict=True))
    if a == b or not (isinstance(a, numbers.Real) and isinstance(b, numbers.Real)):
        return bool(a == b)
    exact = isinstance(a, numbers.Rational) and isinstance(b, numbers.Rational)
    return not exact and math.isclose(a, b, rel_tol=part, abs_tol=least)


def in_whole(values: Sequence[int | Fraction]) -> tuple[list[int], Fraction]:
    """(the numbers times a factor > 0 that makes them whole and coprime, and that)."""
    common = math.lcm(*(x.denominator for x in values))
    whole = [x.numerator * (common // x.denominator) for x in values]
    divisor = max(math.gcd(*whole), 1)
    return [x // divisor for x in whole], Fraction(common, divisor)


def exact_integers(values: Array, name: str = "values") -> tuple[Array, Fraction]:
    """The values as whole numbers and the worth of one, exactly: int64 where their total fits, else Python's own.

    `values` is an array of integers, bools, floats, which are the decimals that Python prints, or exact numbers (as
    objects). Raises InputError for non-finite values.
    """
    values = np.asarray(values)
    small = _small(values, name)
    if small is not None:
        return small
    whole, unit = _any_size(values, name)
    common = math.gcd(*whole.flat)
    if common > 1:
        whole, unit = whole // common, unit * common
    fit = sum(map(abs, whole.flat)) < LARGEST_TOTAL
    return (whole.astype(np.int64) if fit else whole), unit


def _small(values: Array, name: str) -> tuple[Array, Fraction] | None:
    """Integers and floats of few decimals as int64 and the worth of 1; None for other numbers."""
    if values.dtype.kind in "bui":
        are_small = are_within(values, (LARGEST_TOTAL - 1) // max(1, values.size))
        if not are_small and float(np.abs(values.astype(np.float64)).sum()) >= LARGEST_TOTAL:
            return None
        return values.astype(np.int64, copy=False), ONE
    if values.dtype.kind == "O":
        return None
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError(name, "a value is NaN or infinite", "give finite numbers")
    top, total = float(np.abs(values).max(initial=0)), float(np.abs(values).sum())
    for decimals in range(_DECIMALS + 1):
        scale = 10**decimals
        if total * scale >= LARGEST_TOTAL or top * scale >= _EXACT_FLOATS:
            return None
        scaled = np.rint(values * scale)
        if (scaled / scale == values).all():
            return scaled.astype(np.int64), Fraction(1, scale)
    return None


def _any_size(values: Array, name: str) -> tuple[Array, Fraction]:
    """The values as Python integers (objects), and the worth of one."""
    place: Any = slice(None)
    if values.dtype.kind in "Obui":
        fractions = [Fraction(exact_number(x, name)) for x in values.flat]
        common = math.lcm(*{x.denominator for x in fractions})
        whole = [x.numerator * (common // x.denominator) for x in fractions]
    else:
        different, place = np.unique(values.ravel().astype(np.float64), return_inverse=True)
        written = [_digits_of(each) for each in different.tolist()]
        digits = max([0, *(after for _, after in written)])
        whole, common = [number * 10 ** (digits - after) for number, after in written], 10**digits
    return as_objects(whole)[place].reshape(values.shape), Fraction(1, common)


@functools.lru_cache(2**16)  # a solve reads its numbers up to three times
def _digits_of(x: float) -> tuple[int, int]:
    """The digits that Python prints for a finite float as a whole number, and how many stand behind the point."""
    mantissa, _, exponent = repr(x).partition("e")
    before, _, behind = mantissa.partition(".")
    return int(before + behind), len(behind) - int(exponent or 0)
