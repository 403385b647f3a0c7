"""Single values of any library, and how tables say what their columns hold: missing, numbers, times, categories.

Dates, clock times and durations are whole numbers of microseconds, and text again. A date counts from 1970; one of a
zone counts in UTC, and is written in its zone, with the hours that it is off.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import numbers
import operator
import zoneinfo
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Self

import numpy as np

from streed.errors import InputError, TaskError, shown
from streed.exact import Array, as_float, as_objects


def gaps_of(values: Array | list[Any], told: Array | None) -> Array | None:
    """(n,) bool: what is missing by itself or by the container (`told`); None where nothing is."""
    found = told
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "fmM":
            found = np.isnan(values) if values.dtype.kind == "f" else np.isnat(values)
    elif set(map(type, values)) <= {str, int, bool, float}:
        found = np.fromiter(map(operator.ne, values, values), bool, len(values))  # of which only NaN is no equal
    else:
        found = np.fromiter(map(is_missing, values), bool, len(values))
    found = found if told is None or found is None else found | told
    return None if found is None or not found.any() else found


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
    numeric = all(issubclass(kind, (bool, int, float, np.bool_, np.number)) for kind in kinds)
    if not numeric or np.timedelta64 in kinds or (kinds & {bool, np.bool_} and len(kinds) > 1):
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


def plain_number(value: Any) -> int | float:
    """The number as an int, if it is whole, or as the nearest float."""
    try:
        whole = math.trunc(value)
    except (OverflowError, ValueError):  # infinite, or no number
        return float(value)
    return int(whole) if whole == value else as_float(value)


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
    """A narwhals series as an array, any where values are missing; None where numpy has no type for them."""
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


def declared_order(series: Any) -> tuple[Any, ...] | None:
    """The categories as the type declares them; None for polars' Categorical, whose order nobody chose."""
    import narwhals as nw

    if series.dtype not in (nw.Categorical, nw.Enum):
        return None
    if series.implementation.is_pandas_like():
        native = series.to_native()
        return tuple(native.cat.categories.tolist()) if hasattr(native, "cat") else None  # of pyarrow's dictionaries
    return tuple(series.dtype.categories) if series.dtype == nw.Enum else None


MICROSECOND = dt.timedelta(microseconds=1)
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - dates without a zone stay so
EPOCH_UTC = EPOCH.replace(tzinfo=dt.UTC)
UTC = "UTC"

FIRST, LAST = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""The years 1 to 9999, which Python and SQL have dates of."""


def microseconds(moment: Any) -> int:
    """Since 1970, of a date, a datetime (with a zone: of UTC), a period's beginning or a numpy datetime."""
    if isinstance(moment, np.datetime64):
        return int(moment.astype("datetime64[us]").astype(np.int64))
    if hasattr(moment, "start_time"):
        moment = moment.start_time.to_pydatetime()
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - see EPOCH
    return (moment - (EPOCH if moment.tzinfo is None else EPOCH_UTC)) // MICROSECOND  # type: ignore[no-any-return]


def zone_of(zones: Iterable[Any]) -> str | None:
    """The zone that all (tzinfo or None) are, UTC where they differ; raises ValueError where only some are None."""
    names = {None if zone is None else zone_name(zone) for zone in zones}
    if None in names and len(names) > 1:
        raise ValueError("moments with and without a zone")
    return names.pop() if len(names) == 1 else UTC


def zone_name(zone: Any) -> str:
    """The name of a tzinfo or of a zone as a table library has it: of the database, or how far it is off UTC."""
    name = zone if isinstance(zone, str) else getattr(zone, "key", None) or getattr(zone, "zone", None)
    if name is None:
        off = zone.utcoffset(None)
        name = UTC if off is None else str(dt.timezone(off))
    info = _info(name)
    if isinstance(info, dt.timezone):
        return str(info).removeprefix(UTC) or UTC
    return UTC if info is None else name


def _info(name: str) -> dt.tzinfo | None:
    with contextlib.suppress(ValueError):
        return dt.datetime.strptime(name.removeprefix(UTC) or "Z", "%z").tzinfo
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # of another computer
        return None


def moment_of(moment: int, zone: str | None) -> dt.datetime:
    """The moment in its zone; in UTC where this computer does not know it, or the year there is none of 1 to 9999."""
    if zone is None:
        return EPOCH + moment * MICROSECOND
    found = EPOCH_UTC + moment * MICROSECOND
    try:
        return found.astimezone(_info(zone) or dt.UTC)
    except OverflowError:
        return found


def date_text(moment: int, zone: str | None = None) -> str:
    """Microseconds since 1970 as ISO 8601, as short as it can be: of no zone, the date alone at midnight."""
    found = moment_of(moment, zone)
    return found.date().isoformat() if zone is None and found.time() == dt.time() else found.isoformat()


def clock(time: dt.time) -> int:
    """Microseconds since midnight."""
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 10**6 + time.microsecond


def clock_text(time: int) -> str:
    """Microseconds since midnight as ISO 8601, such as 08:30:00."""
    return (EPOCH + time * MICROSECOND).time().isoformat()


def duration(span: Any) -> int:
    """Microseconds of a timedelta, also numpy's or pandas'; raises OverflowError, or TypeError for months."""
    if isinstance(span, np.timedelta64):
        check_unit(span.dtype)
        return int(span.astype("timedelta64[us]").astype(np.int64))
    found = int(span // MICROSECOND)
    if not -(2**63) < found < 2**63:
        raise OverflowError("a duration of more than 2**63 microseconds")
    return found


def times_of(values: Array) -> list[Any]:
    """Numpy's dates or durations as Python's objects; as its own where these do not hold all of them."""
    unit = "us" if np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as") else np.datetime_data(values.dtype)[0]
    plain = values.astype(f"{values.dtype.kind}8[{unit}]")
    found: list[Any] = plain.tolist()
    return list(values) if int in set(map(type, found)) or (plain != values).any() else found


def check_unit(dtype: Any) -> None:
    """Raises TypeError for numpy's durations in months, in years or in nothing, which numpy would guess."""
    if np.datetime_data(dtype)[0] in ("M", "Y", "generic"):
        raise TypeError(f"{dtype} has no number of microseconds")


def duration_text(span: int) -> str:
    """Microseconds as Python writes them, such as "2 days, 1:30:00", below 0 with the sign before it all."""
    return "-" * (span < 0) + str(abs(span) * MICROSECOND)


class OwnValues(np.ndarray[Any, np.dtype[Any]]):
    """Labels or targets as the caller wrote them, which no comparison takes for class numbers by mistake.

    Whole numbers that texts are compared with, as in `data.y[:, None] == np.arange(data.n_classes)`, are class numbers:
    they can be nothing else. Numbers are compared with numbers among them; others raise TaskError. What is made of them
    by arithmetic is an ordinary array, and what is taken from them one by one is compared as they are.
    """

    labels: Array | None
    """(K,) those that there are, in the order of their numbers."""

    def __array_finalize__(self, source: Any) -> None:
        self.labels = getattr(source, "labels", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
        if ufunc in (np.equal, np.not_equal) and self.labels is not None:
            inputs = tuple(x if isinstance(x, OwnValues) else self._meant(np.asarray(x)) for x in inputs)
        if "out" in given:
            given["out"] = tuple(_plain(x) for x in given["out"])
        return getattr(ufunc, method)(*map(_plain, inputs), **given)

    def __array_function__(self, function: Any, types: Any, inputs: Any, given: Any) -> Any:
        if function is np.isin and isinstance(inputs[0], OwnValues) and self.labels is not None and len(inputs) > 1:
            inputs = (inputs[0], self._meant(np.asarray(inputs[1])), *inputs[2:])
        return super().__array_function__(function, types, inputs, given)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist()) if self.ndim == 1 else super().__iter__()

    def tolist(self) -> Any:
        found = np.asarray(self).tolist()
        if self.labels is None or self.labels.dtype.kind == "O" or self.ndim != 1:
            return found
        known = frozenset(self.labels.tolist())
        return [_OWN[type(value)](value)._among(known) for value in found]

    def _meant(self, others: Array) -> Array:
        """What the values are to be compared with."""
        assert self.labels is not None
        if others.dtype.kind == "O" and all(is_number(type(other)) for other in others.flat):
            others = others.astype(np.float64)  # decimals and fractions, as the labels are
        if self.labels.dtype.kind == "O":
            if others.dtype.kind not in "biuf":
                return others
            known = (others >= 0) & (others < len(self.labels)) & (others == np.floor(others))
            return as_objects([*self.labels, object()])[np.where(known, others, -1).astype(np.int64)]
        strange = ~np.isin(others, self.labels) if others.dtype.kind in "biuf" else np.ones(others.shape, np.bool_)
        if strange.any():
            raise _no_value(others[strange][0], self.labels.tolist())
        return others


class _Own:
    """A number among the caller's own values, which is compared with those only."""

    known: frozenset[Any] = frozenset()
    __array_priority__ = 1  # so that numpy's numbers ask it, too

    def _among(self, known: frozenset[Any]) -> Self:
        self.known = known
        return self

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, (numbers.Real, np.bool_)) and other not in self.known:
            raise _no_value(other, sorted(self.known))
        return super().__eq__(other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


class _OwnInt(_Own, int):
    pass


class _OwnFloat(_Own, float):
    pass


_OWN: dict[type, type[Any]] = {int: _OwnInt, float: _OwnFloat}


def _no_value(other: Any, labels: list[Any]) -> TaskError:
    return TaskError(
        f"data.y is compared with {other.item() if hasattr(other, 'item') else other!r}, and its values are "
        f"{shown(labels)}; compare data.class_numbers with class numbers, such as np.arange(data.n_classes), data.y "
        "with data.classes, and data.targets with any number"
    )


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, OwnValues) else x
