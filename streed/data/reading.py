"""One column of a table, of whatever library, as numbers or categories, with what is missing: the only reader there is.

`read_column` reads a column of X. It is of one kind (`Kind`), whatever holds it: numbers, truth values, dates (with a
zone or without), clock times and durations, which stand in an order, or categories. `read_values` reads labels, weights
and what else stands beside the rows, which must be complete and keeps its Python objects.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, final

import attrs
import numpy as np

from streed.data.moments import FIRST, LAST, check_unit, clock, duration, have_zones, microseconds
from streed.data.ordered import TIMES, Kind, threshold_text
from streed.errors import InputError
from streed.exact import Array, as_objects

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
_ISO_DATE = re.compile(rf"{_DATE}([T ]({_CLOCK}|[0-9]{{2}}:[0-9]{{2}})(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?")
_ISO_CLOCK = re.compile(_CLOCK)


_LARGEST = int(np.finfo(np.float64).max)


@attrs.frozen(eq=False)
class Values:
    """One column of n rows as it was read, but not yet coded."""

    kind: Kind
    values: Array | list[Any]
    """Numbers as a float64, integer or (of Python's numbers) object array, truth values as bools, microseconds as
    int64; categories as a list of texts, numbers or truth values. Any where there are gaps."""
    gaps: Array | None = None
    """(n,) bool: which values are missing; None: none is."""
    order: tuple[Any, ...] | None = None
    """The declared order of the categories, of a categorical or enum type."""
    is_scale: bool = False
    """Whether the type says that the categories are steps of a scale."""

    @property
    def missing(self) -> Array:
        """(n,) bool."""
        return np.zeros(len(self.values), dtype=bool) if self.gaps is None else self.gaps

    @property
    def present(self) -> Any:
        """The values that are not missing: an array, or a list of categories."""
        if self.gaps is None:
            return self.values
        if isinstance(self.values, np.ndarray):
            return self.values[~self.gaps]
        return [value for value, gap in zip(self.values, self.gaps.tolist(), strict=True) if not gap]

    @property
    def is_whole(self) -> bool:
        """Whether these are floats, and all whole."""
        values = self.present
        is_real = self.kind is Kind.NUMBER and values.dtype.kind == "f"
        return bool(is_real and (np.isfinite(values) & (values == np.floor(values))).all())

    def as_categories(self) -> list[Any]:
        """The values as categories have them, None where missing: whole numbers as int, times as texts."""
        held: list[Any] = self.values.tolist() if isinstance(self.values, np.ndarray) else list(self.values)
        write: Callable[[Any], Any] | None = int if self.is_whole else None
        if self.kind in TIMES:
            write = lambda value: threshold_text(value, self.kind, ())  # noqa: E731
        if self.gaps is None:
            return held if write is None else list(map(write, held))
        pairs = zip(held, self.gaps.tolist(), strict=True)
        return [None if gap else value if write is None else write(value) for value, gap in pairs]

    def example(self) -> Any:
        """The first value that is not missing, as categories have it."""
        return next((value for value in self.as_categories() if value is not None), None)

    def taken(self, rows: Array) -> Values:
        """The rows given by number (m,) or as a mask (n,)."""
        chosen = np.asarray(rows)
        places = np.flatnonzero(chosen) if chosen.dtype.kind == "b" else chosen
        held = self.values
        values = held[places] if isinstance(held, np.ndarray) else [held[row] for row in places.tolist()]
        gaps = None if self.gaps is None or not self.gaps[places].any() else self.gaps[places]
        return attrs.evolve(self, values=values, gaps=gaps)


def read_values(x: Any, argument: str, what: str) -> Array | list[Any]:
    """(n,) one column of anything that must be complete: a bool, int or float array, or a list of other objects.

    Raises InputError, naming `argument` and `what`, for missing and infinite values, more than one dimension and
    complex numbers.
    """
    values = complete(x, argument, what)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        values = list(values)
    if isinstance(values, list):
        numeric = exact_numbers(values)
        values = values if numeric is None else numeric
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        check_finite(values, argument, what)
    return values


def complete(x: Any, argument: str, what: str) -> Array | list[Any]:
    """(n,) what a column holds, as its container does; raises InputError that names the first row without a value."""
    held = _Reader(argument, what, objects=True).held(x)
    missing = held.missing()
    if missing is not None:
        raise missing_value(argument, what, int(np.argmax(missing)))
    return held.values


def read_column(x: Any, what: str) -> Values:
    """One column of X: a list, an array (n,), masked or not, a series of any library, or what was read before.

    None, NaN, NaT, NA and what a mask hides are missing. Texts that all are dates, or clock times with seconds, by ISO
    8601 are such; objects of several types are texts. Ordered categories are steps of a scale, unless they are numbers
    or times in their own order. Raises InputError, naming `what`, for types such as complex numbers, for times beyond
    microseconds or the years 1 to 9999, and for dates of which only some have a zone.
    """
    return x if isinstance(x, Values) else _Reader("X", what).column(x)


@attrs.frozen(eq=False)
class _Held:
    """The values of a column in numpy's or Python's terms."""

    values: Array | list[Any]
    gaps: Array | None = None
    """Those that the container says."""
    order: tuple[Any, ...] | None = None
    is_scale: bool = False
    zoned: bool = False

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


@final
@attrs.frozen
class _Reader:
    """Reads one column, and names it in errors."""

    argument: str
    what: str
    objects: bool = False
    """Whether the times of a table stay its objects."""

    def error(self, found: str, remedy: str) -> InputError:
        return InputError(self.argument, f"{self.what} {found}", remedy)

    # -- what holds the values ---------------------------------------------------------------------------------------

    def held(self, x: Any) -> _Held:
        """The values of any container; raises InputError for what is no column."""
        if isinstance(x, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(x)
            held = self.held(x.data)
            return attrs.evolve(held, gaps=mask) if mask.any() else held
        if isinstance(x, np.ndarray):
            return _Held(self._array(x))
        if isinstance(x, (list, tuple, range)):
            return _Held(list(x))
        if isinstance(x, (str, bytes, Mapping)) or x is None:
            raise self.error(f"is {type(x).__name__}, not a column of values", "give a list or an array")
        return self._series(x)

    def _array(self, x: Array) -> Array | list[Any]:
        if x.ndim != 1:
            raise self.error(f"has {x.ndim} dimensions (shape {x.shape})", "give one value per row")
        if x.dtype.kind in "cV":
            raise self.error(f"has the type {x.dtype}", "use numbers, texts, dates or truth values")
        return x if x.dtype.kind in "buifmM" else x.tolist()

    def _series(self, x: Any) -> _Held:
        import narwhals as nw

        try:
            series: Any = nw.from_native(x, series_only=True)
        except TypeError:
            if isinstance(nw.from_native(x, pass_through=True), (nw.DataFrame, nw.LazyFrame)):
                raise self.error("is a table", "give one of its columns") from None
            if hasattr(x, "toarray"):
                raise self.error(f"is a sparse {type(x).__name__}", "give it as toarray()") from None
            if hasattr(x, "__array__"):
                return self.held(np.asarray(x))
            raise self.error(f"is a {type(x).__name__}", "give a list, an array or a series") from None
        gaps = series.is_null().to_numpy().astype(bool) if series.null_count() else None
        order = _declared_order(series)
        if order is not None:
            return _Held(series.to_list(), gaps, order, _declares_scale(series))
        array = _numpy_of(series)
        if array is None or array.dtype.kind not in ("buif" if self.objects else "buifmM"):
            return _Held(series.to_list(), gaps)
        return _Held(array, gaps, zoned=getattr(series.dtype, "time_zone", None) is not None)

    # -- what they are -----------------------------------------------------------------------------------------------

    def column(self, x: Any) -> Values:
        """The column of X; raises InputError for values that no tree can ask about."""
        held = self.held(x)
        gaps = held.missing()
        if isinstance(held.values, np.ndarray):
            return self._of_array(held.values, gaps, held.zoned)
        present = held.values
        if gaps is not None:
            present = [value for value, gap in zip(held.values, gaps.tolist(), strict=True) if not gap]
        if held.order is None:
            return self._spread(self._of_objects(present), gaps)
        return self._spread(self._categorical(present, held.order, held.is_scale), gaps)

    def _of_array(self, x: Array, gaps: Array | None, zoned: bool) -> Values:
        kind = x.dtype.kind
        if kind == "b":
            return Values(Kind.BOOLEAN, x, gaps)
        if kind in "mM":
            dates = Kind.MOMENT if zoned else Kind.DATE
            return Values(dates if kind == "M" else Kind.DURATION, self._moments(x, gaps), gaps)
        return Values(Kind.NUMBER, self._doubles(x) if kind == "f" else x, gaps)

    def _doubles(self, x: Array) -> Array:
        """Real numbers as float64; raises InputError for those that it does not hold."""
        with np.errstate(over="ignore"):
            doubles: Array = x.astype(np.float64, copy=False)
        if x.dtype.itemsize > 8:
            lost = (doubles != x) & ~np.isnan(x)
            if lost.any():
                found = f"has in row {int(np.argmax(lost))} a number of more than double precision"
                raise self.error(found, "round it to float64")
        return doubles

    def _moments(self, x: Array, gaps: Array | None) -> Array:
        """(n,) int64: numpy's dates and durations in microseconds, 0 where they are missing."""
        if gaps is not None:
            x = np.where(gaps, np.zeros(1, x.dtype), x)
        is_date = x.dtype.kind == "M"
        try:
            if not is_date:
                check_unit(x.dtype)
            moments = x.astype(f"{x.dtype.kind}8[us]")
        except TypeError:  # months and years have no number of days
            raise self.error(f"has the type {x.dtype}", "give days or seconds") from None
        except OverflowError:
            raise self._too_far(is_date, None) from None
        lost = moments.astype(x.dtype) != x
        if lost.any():
            row = int(np.argmax(lost))
            if np.datetime_data(x.dtype)[0] in ("ns", "ps", "fs", "as"):
                said = "give it as a whole number"
                raise self.error(f"has in row {row} a time that is no whole microsecond", f"round it, or {said}")
            raise self._too_far(is_date, row)
        whole: Array = moments.astype(np.int64)
        if is_date:
            self._check_years(whole)
        return whole

    def _check_years(self, moments: Array) -> None:
        beyond = (moments < FIRST) | (moments > LAST)
        if beyond.any():
            raise self._too_far(True, int(np.argmax(beyond)))

    def _too_far(self, is_date: bool, row: int | None) -> InputError:
        where = "has" if row is None else f"has in row {row}"
        if is_date:
            return self.error(f"{where} a date outside the years 1 to 9999", "give it as a number, such as the year")
        found = f"{where} a duration that has no number of microseconds below 2**63"
        return self.error(found, "give it as a number, such as days")

    def _of_objects(self, values: Sequence[Any]) -> Values:
        """Of values none of which is missing."""
        kinds = set(map(type, values))

        def all_are(*types: type) -> bool:
            return bool(kinds) and all(issubclass(kind, types) for kind in kinds)

        if all_are(bool, np.bool_):
            return Values(Kind.BOOLEAN, np.array(values, dtype=bool))
        if all_are(dt.timedelta, np.timedelta64):
            return Values(Kind.DURATION, self._counted(values, duration))
        if all(_is_number(kind) for kind in kinds):
            return Values(Kind.NUMBER, self._numbers(list(values)))
        if all_are(dt.time):
            if any(value.tzinfo is not None for value in values):
                raise self.error("has clock times with a zone", "give times without one, or dates and times")
            return Values(Kind.TIME, np.fromiter(map(clock, values), np.int64, len(values)))
        if all(issubclass(kind, (dt.date, np.datetime64)) or hasattr(kind, "start_time") for kind in kinds):
            return self._dates(values)
        if all_are(str, bytes):
            texts = [value.decode(errors="backslashreplace") if isinstance(value, bytes) else value for value in values]
            return self._of_texts([str(text) for text in texts])
        return Values(Kind.CATEGORY, self._texts(values, kinds))

    def _of_texts(self, texts: list[str]) -> Values:
        if all(map(_ISO_DATE.fullmatch, texts)):
            try:
                return self._dates([dt.datetime.fromisoformat(text) for text in texts])
            except ValueError:  # such as month 13
                pass
        elif all(map(_ISO_CLOCK.fullmatch, texts)):
            try:
                times = [dt.time.fromisoformat(text) for text in texts]
                return Values(Kind.TIME, np.fromiter(map(clock, times), np.int64, len(times)))
            except ValueError:  # such as hour 24
                pass
        return Values(Kind.CATEGORY, texts)

    def _texts(self, values: Sequence[Any], kinds: Collection[type]) -> list[str]:
        """What the values are written as; raises InputError for those that say no more than where they are kept."""
        for kind in kinds:
            if issubclass(kind, complex):
                raise self.error("holds complex numbers", "use numbers, texts, dates or truth values")
            if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
                raise self.error(f"has values of the type {kind.__name__}", "use numbers, texts, dates or truth values")
        return [str(value) for value in values]

    def _dates(self, values: Sequence[Any]) -> Values:
        try:
            zoned = have_zones(getattr(value, "tzinfo", None) for value in values)
        except ValueError:
            remedy = "give all of them in a zone, or none"
            raise self.error("has dates with a zone and dates without one", remedy) from None
        moments = self._counted(values, microseconds)
        self._check_years(moments)
        return Values(Kind.MOMENT if zoned else Kind.DATE, moments)

    def _counted(self, values: Sequence[Any], read: Callable[[Any], int]) -> Array:
        """(m,) int64: dates or durations in microseconds; raises InputError for what these do not hold."""
        fine = [value for value in values if _is_fine(value)]
        if fine:
            found = f"has a time that is no whole microsecond: {fine[0]}"
            raise self.error(found, "round it, or give it as a whole number")
        try:
            return np.fromiter(map(read, values), np.int64, len(values))
        except (OverflowError, TypeError):
            raise self._too_far(read is microseconds, None) from None

    def _numbers(self, values: list[Any]) -> Array:
        """(m,) numbers of any types, exactly; raises InputError where double precision does not tell two apart."""
        found = exact_numbers(values)
        if found is not None:
            return self._doubles(found) if found.dtype.kind == "f" else found
        if not all(_is_plain_number(value) for value in values):
            plain = list(map(_plain_number, values))
            if len(set(plain)) < len(set(values)):
                raise self.error("has different numbers that are the same double", "round them, or give them as texts")
            found = exact_numbers(plain)
            values = plain
        if found is None:
            if any(isinstance(value, int) and abs(value) > _LARGEST for value in values):
                raise self.error("has a number that no float can hold", "give numbers below 1e308, or texts")
            found = as_objects(values)
        return found

    def _categorical(self, values: list[Any], order: tuple[Any, ...], is_scale: bool) -> Values:
        """Of values of a categorical type, none of which is missing."""
        if is_scale:
            steps = self._of_objects(order)
            if isinstance(steps.values, np.ndarray) and np.all(steps.values[1:] > steps.values[:-1]):
                return self._of_objects(values)
        kinds = set(map(type, order))
        written = list(order)
        if not (kinds == {bool} or all(issubclass(kind, (int, float)) and kind is not bool for kind in kinds)):
            written = self._texts(order, kinds)
        if len(set(written)) < len(written):
            raise self.error("has categories that are written alike", "give each its own name")
        named = dict(zip(order, written, strict=True))
        return Values(Kind.CATEGORY, [named[value] for value in values], None, tuple(written), is_scale)

    def _spread(self, read: Values, gaps: Array | None) -> Values:
        """The column with gaps, of the values that are present."""
        if gaps is None:
            return read
        if isinstance(read.values, np.ndarray):
            full: Array = np.zeros(len(gaps), read.values.dtype)
            full[~gaps] = read.values
            return attrs.evolve(read, values=full, gaps=gaps)
        rest = iter(read.values)
        return attrs.evolve(read, values=[None if gap else next(rest) for gap in gaps.tolist()], gaps=gaps)


# -- single values ----------------------------------------------------------------------------------------------------


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


def _is_number(kind: type) -> bool:
    return issubclass(kind, (numbers.Real, Decimal, np.bool_)) and not issubclass(kind, np.timedelta64)


def _is_plain_number(value: Any) -> bool:
    """Whether it is a number that Python compares exactly, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.longdouble))


def _plain_number(value: Any) -> int | float:
    """The number as an int, if it is whole, or as the nearest float."""
    try:
        whole = math.trunc(value)
        return int(whole) if whole == value else float(value)
    except (OverflowError, ValueError):  # infinite, or a fraction beyond floats
        try:
            return float(value)
        except OverflowError:
            return math.copysign(math.inf, value)


def _is_fine(moment: Any) -> bool:
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
    return InputError(
        argument, f"{what} has a missing value in row {row} (counted from 0)", "fill it in, or leave the row out"
    )


# -- series of table libraries ----------------------------------------------------------------------------------------


def _numpy_of(series: Any) -> Array | None:
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


def _declares_scale(series: Any) -> bool:
    """Whether the type of a narwhals series declares that its categories are ordered, as pandas' can."""
    return bool(series.implementation.is_pandas_like() and getattr(series.to_native().cat, "ordered", False))


def _declared_order(series: Any) -> tuple[Any, ...] | None:
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
