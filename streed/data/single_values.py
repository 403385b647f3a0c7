"""Single values of any library, and how tables say what their columns hold: missing, numbers, times, categories."""

from __future__ import annotations

import math
import numbers
import operator
from decimal import Decimal
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array


@attrs.frozen(eq=False)
class Held:
    """The values of a column in numpy's or Python's terms."""

    values: Array | list[Any]
    gaps: Array | None = None
    """Those that the container says."""
    order: tuple[Any, ...] | None = None
    is_scale: bool = False
    zone: str | None = None

    def missing(self) -> Array | None:
        """(n,) bool: what is missing by the container or by itself; None where nothing is."""
        values = self.values
        if isinstance(values, np.ndarray):
            found = np.isnan(values) if values.dtype.kind == "f" else None
            if values.dtype.kind in "mM":
                found = np.isnat(values)
        elif set(map(type, values)) <= {str, int, bool, float}:
            found = np.fromiter(map(operator.ne, values, values), bool, len(values))  # of which only NaN is no equal
        else:
            found = np.fromiter(map(is_missing, values), bool, len(values))
        if found is not None and not found.any():
            found = None
        if self.gaps is None or found is None:
            return found if self.gaps is None else self.gaps
        return found | self.gaps


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT, NA, or an entry that a mask hides."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, (str, int, bool)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA has no truth value; neither have arrays
        return type(value).__name__ == "NAType" or (isinstance(value, Decimal) and value.is_nan())


def exact_numbers(values: list[Any]) -> Array | None:
    """The values as a numeric array if they are numbers or truth values that it holds exactly, else None."""
    kinds = set(map(type, values))
    if np.timedelta64 in kinds or not all(issubclass(kind, (bool, int, float, np.bool_, np.number)) for kind in kinds):
        return None
    if kinds & {bool, np.bool_} and len(kinds) > 1:
        return None
    try:
        array = np.array(values)
    except OverflowError:
        return None
    if array.dtype.kind == "f" and kinds and all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return None  # whole numbers beyond int64 beside smaller ones
    exact = array.dtype.kind in "biuf" and (len(kinds) <= 1 or array.tolist() == values)
    return array if exact else None


def is_number(kind: type) -> bool:
    """Whether a type is one of numbers or truth values."""
    return issubclass(kind, (numbers.Real, Decimal, np.bool_)) and not issubclass(kind, np.timedelta64)


def is_plain_number(value: Any) -> bool:
    """Whether it is a number that Python compares exactly, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.longdouble))


def plain_number(value: Any) -> int | float:
    """The number as an int, if it is whole, or as the nearest float."""
    try:
        whole = math.trunc(value)
        return int(whole) if whole == value else float(value)
    except (OverflowError, ValueError):  # infinite, or a fraction beyond floats
        try:
            return float(value)
        except OverflowError:
            return math.copysign(math.inf, value)


def is_fine(moment: Any) -> bool:
    """Whether a date or duration is no whole number of microseconds."""
    if isinstance(moment, (np.datetime64, np.timedelta64)):
        unit, _ = np.datetime_data(moment.dtype)
        return unit in ("ns", "ps", "fs", "as") and bool(moment.astype(f"{moment.dtype.kind}8[us]") != moment)
    return bool(getattr(moment, "nanosecond", 0) or getattr(moment, "nanoseconds", 0))


def check_finite(x: Array, argument: str, what: str) -> None:
    """Raises InputError that names the first row whose number is infinite or missing."""
    if not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x)))
        if np.isnan(x[row]):
            raise missing_value(argument, what, row)
        raise InputError(argument, f"{what} has an infinite value in row {row}", "use finite numbers")


def missing_value(argument: str, what: str, row: int) -> InputError:
    """The error for a value that is missing where there must be one."""
    found = f"{what} has a missing value in row {row} (counted from 0)"
    return InputError(argument, found, "fill it in, or leave the row out")


def numpy_of(series: Any) -> Array | None:
    """The values of a narwhals series as an array, any where they are missing; None where numpy has no type for them.

    Gaps are filled first: libraries differ in what they make of a missing whole number.
    """
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_integer():
        filled = series.fill_null(0)
    elif dtype == nw.Boolean:
        filled = series.fill_null(value=False)
    elif dtype.is_float() or dtype in (nw.Datetime, nw.Duration, nw.Date) or dtype == nw.Unknown:
        filled = series
    else:
        return None
    try:
        found: Array = filled.to_numpy()
    except Exception:  # noqa: BLE001 - of whole numbers of 128 bits, whose error is the library's own
        return None
    return found.astype(bool) if dtype == nw.Boolean else found


def declares_scale(series: Any) -> bool:
    """Whether the type of a narwhals series declares that its categories are ordered, as pandas' can."""
    return bool(series.implementation.is_pandas_like() and getattr(series.to_native().cat, "ordered", False))


def declared_order(series: Any) -> tuple[Any, ...] | None:
    """The categories as the type declares them.

    None for polars' Categorical, whose order is that of first appearance anywhere in the process, and so no choice of
    the caller's: such columns are sorted like text.
    """
    import narwhals as nw

    if series.dtype not in (nw.Categorical, nw.Enum):
        return None
    if series.implementation.is_pandas_like():
        return tuple(series.to_native().cat.categories.tolist())
    return tuple(series.dtype.categories) if series.dtype == nw.Enum else None
