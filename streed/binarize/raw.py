"""A column as it stands in a table: what kind of values it holds, and where they are missing."""

from __future__ import annotations

import datetime as dt
import enum
import numbers
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data.column import places
from streed.data.moments import date_text, duration, duration_text, microseconds
from streed.data.table import declared_steps
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array

_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


_EXACT = 2**53
"""Whole numbers up to here are all of float64."""


class Kind(enum.StrEnum):
    """What a column holds."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DURATION = "duration"
    CATEGORY = "category"


@attrs.frozen(eq=False)
class RawColumn:
    """One column of n rows."""

    kind: Kind
    values: Array
    """(n,): float64 of numbers, int64 microseconds of dates (since 1970) and durations, bool, texts as objects.

    Whole numbers that float64 does not hold are integers, of any type. Any where missing.
    """
    missing: Array
    """(n,) bool."""
    whole: bool = False
    """Whether all numbers are whole."""
    steps: tuple[Any, ...] = ()
    """The categories in their order, of a column whose type says that they are steps of a scale."""

    @property
    def present(self) -> Array:
        """The values that are not missing."""
        return self.values[~self.missing]

    @property
    def in_order(self) -> Array:
        """(n,) numbers that stand in the order of the values: those of numbers and times, the places of steps."""
        return places(self.values, self.steps, self.missing, "") if self.steps else self.values

    def as_categories(self) -> list[Any]:
        """The values as categories have them, None where missing: whole numbers as int, dates and durations written."""
        held: list[Any] = self.values.tolist()
        write: Any = {Kind.DATE: date_text, Kind.DURATION: duration_text}.get(self.kind)
        if write is None and self.whole:
            write = int
        return [
            None if gap else value if write is None else write(value)
            for value, gap in zip(held, self.missing.tolist(), strict=True)
        ]


def read_column(column: Any, name: str) -> RawColumn:
    """The column: an array (n,), a list, or a narwhals series.

    None, NaN, NaT and NA are missing. Texts that all write dates by ISO 8601 are dates; objects of several types are
    taken as texts. Categories of an ordered type keep their order; numbers and dates that stand in their own are taken
    as such. Raises InputError, naming the column, for infinite numbers and for types such as complex numbers.
    """
    if isinstance(column, np.ndarray):
        return _of_array(column, name)
    if isinstance(column, (list, tuple, range)):
        return _of_objects(list(column), name)
    return _of_series(column, name)


def _of_array(x: Array, name: str) -> RawColumn:
    if x.ndim != 1:
        raise InputError("X", f"column {name!r} has {x.ndim} dimensions", "give one value per row")
    kind = x.dtype.kind
    if kind == "b":
        return RawColumn(Kind.BOOLEAN, x.copy(), np.zeros(len(x), dtype=bool))
    if kind in "iu":
        return _integers(x, np.zeros(len(x), dtype=bool))
    if kind == "f":
        return _numbers(x.astype(np.float64), name)
    if kind == "M":
        moments = x.astype("datetime64[us]")
        return RawColumn(Kind.DATE, moments.astype(np.int64), np.isnat(moments))
    if kind == "m":
        return _durations(list(x), np.isnat(x), name)
    if kind in "cV":
        raise InputError("X", f"column {name!r} has the type {x.dtype}", "give numbers, texts, dates or truth values")
    return _of_objects(x.tolist(), name)


def _of_series(column: Any, name: str) -> RawColumn:
    import narwhals as nw

    column = nw.from_native(column, series_only=True)
    dtype = column.dtype
    gaps = column.is_null().to_numpy().astype(bool)
    # Filled with 0 first: libraries differ in what they make of a missing whole number.
    if dtype.is_integer():
        return _integers(column.fill_null(0).to_numpy(), gaps)
    if dtype.is_float() or dtype.is_decimal():
        values = column.fill_null(0).cast(nw.Float64).to_numpy().astype(np.float64)
        return _numbers(np.where(gaps, np.nan, values), name)
    steps = declared_steps(column)
    if steps is not None:
        return _of_steps(column.to_list(), gaps, steps, name)
    if isinstance(dtype, (nw.Date, nw.Datetime)) or dtype in (nw.Date, nw.Datetime):
        return _of_objects([None if gap else value for value, gap in zip(column.to_list(), gaps, strict=True)], name)
    return _of_objects(column.to_list(), name)


def _of_objects(values: list[Any], name: str) -> RawColumn:
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    kinds = {type(value) for value, gap in zip(values, missing, strict=True) if not gap}
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        held = np.fromiter((not gap and bool(v) for v, gap in zip(values, missing, strict=True)), bool, len(values))
        return RawColumn(Kind.BOOLEAN, held, missing)
    if kinds and all(issubclass(kind, (dt.timedelta, np.timedelta64)) for kind in kinds):
        return _durations(values, missing, name)
    if all(issubclass(kind, numbers.Complex) and not issubclass(kind, numbers.Real) for kind in kinds) and kinds:
        raise InputError("X", f"column {name!r} holds complex numbers", "give numbers, texts, dates or truth values")
    if all(_is_number(kind) for kind in kinds):
        try:
            held_reals = [np.nan if gap else float(v) for v, gap in zip(values, missing, strict=True)]
        except OverflowError:
            remedy = "give numbers below 1e308, or texts"
            raise InputError("X", f"column {name!r} has a number that no float can hold", remedy) from None
        if kinds and all(issubclass(kind, numbers.Integral) for kind in kinds):
            return _integers(np.array([0 if gap else int(v) for v, gap in zip(values, missing, strict=True)]), missing)
        return _numbers(np.array(held_reals, dtype=np.float64), name)
    if all(issubclass(kind, (dt.date, np.datetime64)) for kind in kinds):
        return _dates([None if gap else value for value, gap in zip(values, missing, strict=True)], missing)
    texts = [None if gap else str(value) for value, gap in zip(values, missing, strict=True)]
    if all(issubclass(kind, str) for kind in kinds):
        moments = _iso_dates(texts)
        if moments is not None:
            return _dates(moments, missing)
    held = np.empty(len(texts), dtype=object)
    held[:] = texts
    return RawColumn(Kind.CATEGORY, held, missing)


def _of_steps(values: list[Any], gaps: Array, order: tuple[Any, ...], name: str) -> RawColumn:
    """The column of values that are steps of a scale, in that order."""
    scale = _of_objects(list(order), name)
    if scale.kind is not Kind.CATEGORY and (scale.values[1:] > scale.values[:-1]).all():
        return _of_objects(values, name)
    steps = tuple(scale.as_categories())
    if len(set(steps)) < len(steps):
        raise InputError("X", f"column {name!r} has categories that are written alike", "give each its own name")
    written = dict(zip(order, steps, strict=True))
    held = np.empty(len(values), dtype=object)
    held[:] = [None if gap else written[value] for value, gap in zip(values, gaps.tolist(), strict=True)]
    return RawColumn(Kind.CATEGORY, held, gaps, steps=steps)


def _is_number(kind: type) -> bool:
    import decimal

    return issubclass(kind, (numbers.Real, decimal.Decimal, np.bool_))


def _integers(values: Array, missing: Array) -> RawColumn:
    """The column of whole numbers: as float64 where that holds all of them, else as they are."""
    if len(values) and not -_EXACT <= values.min() <= values.max() <= _EXACT:
        return RawColumn(Kind.NUMBER, values, missing, whole=True)
    return RawColumn(Kind.NUMBER, np.where(missing, np.nan, values.astype(np.float64)), missing, whole=True)


def _numbers(values: Array, name: str) -> RawColumn:
    missing = np.isnan(values)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise InputError(
            "X", f"column {name!r} has an infinite value in row {row}", "use finite numbers, or leave it out"
        )
    present = values[~missing]
    return RawColumn(Kind.NUMBER, values, missing, whole=bool((present == np.floor(present)).all()))


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT, NA."""
    if value is None:
        return True
    if isinstance(value, (str, int, bool)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value; neither have arrays, which are no gaps
        return type(value).__name__ == "NAType"


def _iso_dates(texts: Sequence[str | None]) -> list[Any] | None:
    """The texts as moments if all of them are dates by ISO 8601, else None."""
    present = [text for text in texts if text is not None]
    if not present or not all(_ISO.fullmatch(text) for text in present):
        return None
    try:
        return [None if text is None else dt.datetime.fromisoformat(text) for text in texts]
    except ValueError:  # such as month 13
        return None


def _durations(values: Sequence[Any], missing: Array, name: str) -> RawColumn:
    try:
        spans = [0 if gap else duration(value) for value, gap in zip(values, missing.tolist(), strict=True)]
    except (OverflowError, TypeError):  # months have no number of days
        found = f"column {name!r} has a duration that has no number of microseconds below 2**63"
        raise InputError("X", found, "give it as a number, such as days") from None
    return RawColumn(Kind.DURATION, np.array(spans, np.int64), missing)


def _dates(moments: Sequence[Any], missing: Array) -> RawColumn:
    values = np.fromiter((0 if moment is None else microseconds(moment) for moment in moments), np.int64, len(moments))
    return RawColumn(Kind.DATE, values, missing)
