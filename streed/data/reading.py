"""One column of a table, of whatever library, as numbers or categories, with what is missing: the only reader there is.

`read_column` reads a column of X. It is of one kind (`Kind`), whatever holds it: numbers, truth values, dates (with a
zone or without), clock times and durations, which stand in an order, or categories. `read_values` reads labels, weights
and what else stands beside the rows, which must be complete and keeps its Python objects.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import single_values as single
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
    zone: str | None = None
    """The zone of dates that have one; they count in UTC."""

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
            write = lambda value: threshold_text(value, self.kind, (), self.zone)  # noqa: E731
        if self.gaps is None:
            return held if write is None else list(map(write, held))
        pairs = zip(held, self.gaps.tolist(), strict=True)
        return [None if gap else value if write is None else write(value) for value, gap in pairs]

    def example(self) -> Any:
        """The first value that is not missing, as categories have it."""
        return next((value for value in self.as_categories() if value is not None), None)

    def taken(self, rows: Array) -> Values:
        """The rows given by number (m,)."""
        held = self.values
        values = held[rows] if isinstance(held, np.ndarray) else [held[row] for row in rows.tolist()]
        gaps = None if self.gaps is None or not self.gaps[rows].any() else self.gaps[rows]
        return attrs.evolve(self, values=values, gaps=gaps)


def _held(values: Array | list[Any], gaps: Array | None = None) -> Values:
    """The values of a container, which says what is missing, before it is known what they are."""
    return Values(Kind.CATEGORY, values, single.gaps_of(values, gaps))


def read_values(x: Any, argument: str, what: str) -> Array | list[Any]:
    """(n,) a column without gaps or infinities: a bool, int or float array, or a list of other objects."""
    values = complete(x, argument, what)
    if isinstance(values, list):
        numeric = single.exact_numbers(values)
        values = values if numeric is None else numeric
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        single.check_finite(values, argument, what)
    return values


def complete(x: Any, argument: str, what: str) -> Array | list[Any]:
    """(n,) what a column holds, times as objects; raises InputError that names the first row without a value."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype.kind in "bui":  # nothing is missing
        return x
    held = _Reader(argument, what, objects=True).held(x)
    if held.gaps is not None:
        raise single.missing_value(argument, what, int(np.argmax(held.gaps)))
    values = held.values
    return single.times_of(values) if isinstance(values, np.ndarray) and values.dtype.kind in "mM" else values


def read_column(x: Any, what: str) -> Values:
    """One column of X: a list, an array (n,), masked or not, a series of any library, or what was read before.

    None, NaN, NaT, NA and what a mask hides are missing. Texts that all are dates, or clock times with seconds, by ISO
    8601 are such; objects of several types are texts. Ordered categories are steps of a scale, unless they are numbers
    or times in their own order. Raises InputError, naming `what`, for types such as complex numbers, for times beyond
    microseconds or the years 1 to 9999, and for dates of which only some have a zone.
    """
    return x if isinstance(x, Values) else _Reader("X", what).column(x)


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

    def held(self, x: Any) -> Values:
        """The values of any container, not yet of a kind; raises InputError for what is no column."""
        if isinstance(x, np.ma.MaskedArray):
            read, mask = self.held(x.data), np.ma.getmaskarray(x)
            return attrs.evolve(read, gaps=mask | read.missing) if mask.any() else read
        if isinstance(x, np.ndarray):
            return _held(self._array(x))
        if isinstance(x, (list, tuple, range)):
            return _held(list(x))
        if isinstance(x, (str, bytes, Mapping)) or x is None:
            raise self.error(f"is {type(x).__name__}, not a column of values", "give a list or an array")
        return self._series(x)

    def _array(self, x: Array) -> Array | list[Any]:
        if x.ndim != 1:
            raise self.error(f"has {x.ndim} dimensions (shape {x.shape})", "give one value per row")
        if x.dtype.kind in "cV":
            said = ". Complex data not supported" if x.dtype.kind == "c" else ""
            raise self.error(f"has the type {x.dtype}{said}", "use numbers, texts, dates or truth values")
        return x if x.dtype.kind in "buifmM" else x.tolist()

    def _series(self, x: Any) -> Values:
        import narwhals as nw

        try:
            series: Any = nw.from_native(x, series_only=True)
        except TypeError:
            if isinstance(nw.from_native(x, pass_through=True), (nw.DataFrame, nw.LazyFrame)):
                raise self.error("is a table", "give one of its columns") from None
            if hasattr(x, "toarray"):
                raise self.error(f"is a sparse {type(x).__name__}", "give it as toarray()") from None
            package = type(x).__module__.partition(".")[0]
            if package == "pandas":  # of whose arrays and indexes numpy's are less exact, and have no order
                return self._series(sys.modules[package].Series(x))
            if package == "pyarrow" and hasattr(x, "type"):
                return self._series(sys.modules[package].chunked_array([x]))
            if hasattr(x, "__array__"):
                return self.held(np.asarray(x))
            raise self.error(f"is a {type(x).__name__}", "give a list, an array or a series") from None
        gaps = series.is_null().to_numpy().astype(bool) if series.null_count() else None
        order = single.declared_order(series)
        if order is not None:
            is_scale = series.implementation.is_pandas_like() and bool(series.to_native().cat.ordered)
            return attrs.evolve(_held(series.to_list(), gaps), order=order, is_scale=is_scale)
        array = single.numpy_of(series)
        if array is None or array.dtype.kind not in ("buif" if self.objects else "buifmM"):
            return _held(series.to_list(), gaps)
        zone = getattr(series.dtype, "time_zone", None)
        return attrs.evolve(_held(array, gaps), zone=None if zone is None else single.zone_name(zone))

    # -- what they are -----------------------------------------------------------------------------------------------

    def column(self, x: Any) -> Values:
        """The column of X; raises InputError for values that no tree can ask about."""
        held = self.held(x)
        if isinstance(held.values, np.ndarray):
            return self._of_array(held.values, held.gaps, held.zone)
        if held.order is None:
            return self._spread(self._of_objects(held.present), held.gaps)
        return self._spread(self._categorical(held.present, held.order, held.is_scale), held.gaps)

    def _of_array(self, x: Array, gaps: Array | None, zone: str | None) -> Values:
        kind = x.dtype.kind
        if kind == "b":
            return Values(Kind.BOOLEAN, x, gaps)
        if kind in "mM":
            moments = self._moments(x, gaps)
            return Values(Kind.DATE if kind == "M" else Kind.DURATION, moments, gaps, zone=zone)
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
                single.check_unit(x.dtype)
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
        beyond = (moments < single.FIRST) | (moments > single.LAST)
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
            return Values(Kind.DURATION, self._counted(values, single.duration))
        if all(single.is_number(kind) for kind in kinds):
            return Values(Kind.NUMBER, self._numbers(list(values)))
        if all_are(dt.time):
            if any(value.tzinfo is not None for value in values):
                raise self.error("has clock times with a zone", "give times without one, or dates and times")
            return Values(Kind.TIME, np.fromiter(map(single.clock, values), np.int64, len(values)))
        if all(issubclass(kind, (dt.date, np.datetime64)) or hasattr(kind, "start_time") for kind in kinds):
            return self._dates(values)
        if all_are(str, bytes):
            texts = [value.decode(errors="backslashreplace") if isinstance(value, bytes) else value for value in values]
            return self._of_texts([str(text) for text in texts])
        return Values(Kind.CATEGORY, self._texts(values, kinds))

    def _of_texts(self, texts: list[str]) -> Values:
        with contextlib.suppress(ValueError):  # such as month 13, or hour 24
            if all(map(_ISO_DATE.fullmatch, texts)):
                return self._dates([dt.datetime.fromisoformat(text) for text in texts])
            if all(map(_ISO_CLOCK.fullmatch, texts)):
                times = [dt.time.fromisoformat(text) for text in texts]
                return Values(Kind.TIME, np.fromiter(map(single.clock, times), np.int64, len(times)))
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
            zone = single.zone_of(getattr(value, "tzinfo", None) for value in values)
        except ValueError:
            remedy = "give all of them in a zone, or none"
            raise self.error("has dates with a zone and dates without one", remedy) from None
        moments = self._counted(values, single.microseconds)
        self._check_years(moments)
        return Values(Kind.DATE, moments, zone=zone)

    def _counted(self, values: Sequence[Any], read: Callable[[Any], int]) -> Array:
        """(m,) int64: dates or durations in microseconds; raises InputError for what these do not hold."""
        fine = [value for value in values if single.is_fine(value)]
        if fine:
            found = f"has a time that is no whole microsecond: {fine[0]}"
            raise self.error(found, "round it, or give it as a whole number")
        try:
            return np.fromiter(map(read, values), np.int64, len(values))
        except (OverflowError, TypeError):
            raise self._too_far(read is single.microseconds, None) from None

    def _numbers(self, values: list[Any]) -> Array:
        """(m,) numbers of any types, exactly; raises InputError where double precision does not tell two apart."""
        found = single.exact_numbers(values)
        if found is not None:
            return self._doubles(found) if found.dtype.kind == "f" else found
        exact, rest = (int, float, np.integer, np.floating), (bool, np.longdouble)
        if not all(isinstance(value, exact) and not isinstance(value, rest) for value in values):
            plain = list(map(single.plain_number, values))
            if len(set(plain)) < len(set(values)):
                raise self.error("has different numbers that are the same double", "round them, or give them as texts")
            found = single.exact_numbers(plain)
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
        held = read.values
        full: Array = np.zeros(len(gaps), held.dtype if isinstance(held, np.ndarray) else object)
        full[~gaps] = held
        return attrs.evolve(read, values=full if isinstance(held, np.ndarray) else full.tolist(), gaps=gaps)
