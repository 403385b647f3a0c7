"""Reading what a caller hands over, numpy, lists, pandas, polars and dicts of columns, without changing it.

Missing values are found here: they are an error, or, where a column may be ordered, marked as gaps.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.data.column import Values, check_finite, missing_value
from streed.data.moments import check_unit, duration, microseconds
from streed.data.ordered import Scale
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array


@attrs.frozen
class Table:
    """Columns of equal length, in order."""

    names: tuple[str, ...] | None
    """None where the caller gave a bare array or nested lists."""
    columns: tuple[Any, ...]
    """Each a list, an array (n,) or a narwhals series, as the caller gave it; `read_values` reads one."""
    n_rows: int

    def read(self, j: int, *, listed: bool) -> Values:
        """The values of column j: if the caller calls it categorical (`listed`) all of them, else with its gaps."""
        name = f"x{j}" if self.names is None else self.names[j]
        what = f"column {name!r}"
        return read_values(self.columns[j], "X", what) if listed else read_column(self.columns[j], what)


def read_input(X: Any) -> Array | Table:
    """The caller's X as a numeric array (n, p), or as a Table.

    Raises InputError for anything that does not have rows and columns.
    """
    if isinstance(X, np.ndarray):
        return _array_or_table(X)
    if isinstance(X, (list, tuple)):
        return _nested(X)
    if isinstance(X, Mapping):
        return _columns(X)
    return _frame(X)


def named_columns(data: Any, argument: str) -> dict[Any, Any] | None:
    """The columns of a table, a dict of columns or a structured array, by the caller's own names.

    None for what names no columns. Raises InputError, naming `argument`, for what `read_input` does not take.
    """
    fields = getattr(getattr(data, "dtype", None), "names", None)
    if fields:
        return {name: data[name] for name in fields}
    if not (isinstance(data, Mapping) or hasattr(data, "columns")) or isinstance(data, np.ndarray):
        return None
    try:
        table = read_input(data)
    except InputError as error:
        raise InputError(argument, error.found, error.remedy) from None
    assert isinstance(table, Table)
    names = data if isinstance(data, Mapping) else getattr(data, "column_names", data.columns)
    own = [name.item() if isinstance(name, np.generic) else name for name in names]
    return dict(zip(own, table.columns, strict=True))


def read_values(x: Any, argument: str, what: str) -> Values:
    """One column of anything: list, array (n,), or pandas / polars series.

    Raises InputError, naming `argument` and `what`, for missing values, more than one dimension and complex numbers.
    """
    return _Reader(argument, what, gaps=False).read(x)


def read_column(x: Any, what: str) -> Values:
    """One column of X, as `read_values`, but missing values are marked as gaps, and numbers may be infinite."""
    return _Reader("X", what, gaps=True).read(x)


def take_rows(source: Array | Table, rows: Array) -> Array | Table:
    """The rows given by number, (m,) int64 in ascending order, of what `read_input` gave."""
    if isinstance(source, np.ndarray):
        return source[rows]
    columns = tuple(take_values(column, rows, source.n_rows, "X", "values") for column in source.columns)
    return attrs.evolve(source, columns=columns, n_rows=len(rows))


def take_values(x: Any, rows: Array, n: int, argument: str, what: str) -> Any:
    """The values of these rows (m,) of n of one column, as `read_values` takes it.

    Raises InputError, naming `argument` and `what` it should have n of, for a column of another length.
    """
    if not hasattr(x, "__len__") or isinstance(x, (str, bytes, Mapping)):
        return x
    if len(x) != n:
        raise InputError(argument, f"it has {len(x)} {what}, but X has {n} rows", "give one per row")
    if isinstance(x, (list, tuple, range)):
        return [x[row] for row in rows.tolist()]
    if isinstance(x, np.ndarray):
        return x[rows]
    import narwhals as nw

    try:
        return nw.from_native(x, series_only=True)[rows.tolist()]
    except TypeError:
        return np.asarray(x)[rows]


def _array_or_table(X: Array) -> Array | Table:
    if X.ndim != 2:
        raise InputError(
            "X", f"it has {X.ndim} dimensions (shape {X.shape})", "give rows and columns: shape (rows, columns)"
        )
    if X.dtype.kind in "biuf":
        return X
    return Table(None, tuple(X[:, j] for j in range(X.shape[1])), len(X))


def _nested(rows: Sequence[Any]) -> Array | Table:
    if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows) or not rows:
        raise InputError("X", "it is a flat or empty list", "give a list of rows, each a list of values")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        first = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise InputError(
            "X",
            f"row {first} has {len(rows[first])} values where row 0 has {len(rows[0])}",
            "give every row the same number of values",
        )
    flat = [value for row in rows for value in row]
    if any(issubclass(kind, (list, tuple, np.ndarray)) for kind in set(map(type, flat))):
        raise InputError("X", "it has 3 or more dimensions", "give a list of rows, each a list of values")
    numeric = _numbers(flat)
    if numeric is not None:
        return numeric.reshape(len(rows), len(rows[0]))
    return Table(None, tuple(list(column) for column in zip(*rows, strict=True)), len(rows))


def _columns(X: Mapping[Any, Any]) -> Table:
    names = _unique_names(list(X))
    for name, column in zip(names, X.values(), strict=True):
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            raise InputError("X", f"column {name!r} is {column!r}, not a list of values", "give one value per row")
    lengths = {name: len(column) for name, column in zip(names, X.values(), strict=True)}
    if len(set(lengths.values())) > 1:
        raise InputError("X", f"its columns have different lengths: {lengths}", "give columns of equal length")
    return Table(names, tuple(X.values()), next(iter(lengths.values()), 0))


def _frame(X: Any) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise _duplicate([str(name) for name in X.columns]) from None
    except TypeError:
        if hasattr(X, "collect"):
            raise InputError("X", f"{type(X).__name__} is a lazy table", "call its collect() first") from None
        if hasattr(X, "toarray"):
            raise InputError("X", f"{type(X).__name__} is a sparse matrix", "call its toarray() first") from None
        if isinstance(nw.from_native(X, pass_through=True, allow_series=True), nw.Series):
            raise InputError("X", "it is a series, of 1 dimension", "give a table, such as frame[[name]]") from None
        raise InputError(
            "X", f"{type(X).__name__} is no table", "give a numpy array, a list of rows, a pandas or polars table"
        ) from None
    names = _unique_names(frame.columns)
    return Table(names, tuple(frame.iter_columns()), len(frame))


def _unique_names(names: Sequence[Any]) -> tuple[str, ...]:
    texts = tuple(str(name) for name in names)
    if len(set(texts)) < len(texts):
        raise _duplicate(texts)
    return texts


def _duplicate(names: Sequence[str]) -> InputError:
    twice = next(name for i, name in enumerate(names) if name in names[:i])
    return InputError("X", f"two columns are named {twice!r}", "give every column its own name")


@final
@attrs.frozen
class _Reader:
    """Reads one column, and names it in errors."""

    argument: str
    what: str
    gaps: bool
    """Whether values may be missing or infinite, and dates and durations are to be numbers."""

    def read(self, x: Any) -> Values:
        if isinstance(x, np.ndarray):
            return self._of_array(x)
        if isinstance(x, (str, bytes, Mapping)) or x is None:
            remedy = "give a list or an array"
            raise InputError(self.argument, f"{self.what} is {type(x).__name__}, not a column of values", remedy)
        if isinstance(x, (list, tuple, range)):
            return self._of_list(list(x))
        return self._of_series(x)

    def _of_array(self, x: Array) -> Values:
        if x.ndim != 1:
            found = f"{self.what} has {x.ndim} dimensions (shape {x.shape})"
            raise InputError(self.argument, found, "give one value per row")
        kind = x.dtype.kind
        if kind in "bui":
            return Values(x)
        if kind == "f":
            return self._of_floats(x)
        if kind in "cV":
            found = f"{self.what} has the type {x.dtype}"
            raise InputError(self.argument, found, "use numbers, texts or truth values")
        if kind in "mM" and self.gaps:
            return self._of_moments(x, "datetime64[us]" if kind == "M" else "timedelta64[us]")
        return self._of_list(list(x) if kind in "mM" else x.tolist())

    def _of_floats(self, x: Array) -> Values:
        if not self.gaps:
            check_finite(x, self.argument, self.what)
            return Values(x)
        gaps = np.isnan(x)
        if x.dtype.itemsize > 8:
            x = self._narrowed(x)
        return Values(x, gaps=gaps if gaps.any() else None)

    def _narrowed(self, x: Array) -> Array:
        """Numbers of more than double precision as float64; raises InputError for those that it does not hold."""
        with np.errstate(over="ignore"):
            narrow: Array = x.astype(np.float64)
        lost = (narrow != x) & ~np.isnan(x)
        if lost.any():
            row = int(np.argmax(lost))
            found = f"{self.what} has in row {row} a number of more than double precision"
            raise InputError(self.argument, found, "round it to float64")
        return narrow

    def _of_moments(self, x: Array, dtype: str) -> Values:
        gaps = np.isnat(x)
        try:
            if x.dtype.kind == "m":
                check_unit(x.dtype)
            moments = x.astype(dtype)
        except TypeError:  # months and years have no number of days
            raise InputError(self.argument, f"{self.what} has the type {x.dtype}", "give days or seconds") from None
        lost = (moments.astype(x.dtype) != x) & ~gaps
        if lost.any():
            row = int(np.argmax(lost))
            found = f"{self.what} has in row {row} a time that is no whole microsecond"
            raise InputError(self.argument, found, "round it, or give it as a whole number")
        numbers = np.where(gaps, 0, moments.astype(np.int64))
        scale = Scale.DATE if x.dtype.kind == "M" else Scale.DURATION
        return Values(numbers, gaps=gaps if gaps.any() else None, time=scale)

    def _of_list(self, values: list[Any]) -> Values:
        gaps = None
        if any(kind not in (str, int, bool) for kind in set(map(type, values))):
            missing = [_is_missing(value) for value in values]
            if any(missing):
                if not self.gaps:
                    raise missing_value(self.argument, self.what, missing.index(True))
                gaps = np.array(missing)
        present = values if gaps is None else [v for v, gap in zip(values, gaps.tolist(), strict=True) if not gap]
        numeric = _numbers(present)
        if numeric is None and self.gaps and present and all(_is_plain_number(v) for v in present):
            numeric = np.empty(len(present), dtype=object)
            numeric[:] = present
        if numeric is not None:
            if numeric.dtype.kind == "f" and not self.gaps:
                check_finite(numeric, self.argument, self.what)
            return Values(_spread(numeric, gaps), gaps=gaps)
        for scale, types in _TIMES if self.gaps and present else ():
            if all(isinstance(v, types) for v in present):
                return Values(_spread(self._moments(present, scale), gaps), gaps=gaps, time=scale)
        return Values(values, gaps=gaps)

    def _moments(self, values: list[Any], scale: Scale) -> Array:
        """(m,) int64: dates, times and durations in microseconds; raises InputError for what these do not hold."""
        fine = [v for v in values if _is_fine(v)]
        if fine:
            found = f"{self.what} has a time that is no whole microsecond: {fine[0]}"
            raise InputError(self.argument, found, "round it, or give it as a whole number")
        read = microseconds if scale is Scale.DATE else duration
        try:
            return np.fromiter(map(read, values), np.int64, len(values))
        except (OverflowError, TypeError):
            found = f"{self.what} has a duration that has no number of microseconds below 2**63"
            raise InputError(self.argument, found, "give it as a number, such as days") from None

    def _of_series(self, x: Any) -> Values:
        import narwhals as nw

        try:
            series: Any = nw.from_native(x, series_only=True)
        except TypeError:
            if isinstance(nw.from_native(x, pass_through=True), (nw.DataFrame, nw.LazyFrame)):
                raise InputError(self.argument, f"{self.what} is a table", "give one of its columns") from None
            if hasattr(x, "__array__"):
                return self._of_array(np.asarray(x))
            found = f"{self.what} is a {type(x).__name__}"
            raise InputError(self.argument, found, "give a list, an array or a series") from None
        gaps = None
        if series.null_count():
            gaps = series.is_null().to_numpy().astype(bool)
            if not self.gaps:
                raise missing_value(self.argument, self.what, int(np.argmax(gaps)))
            series = series.drop_nulls()
        dtype = series.dtype
        if dtype == nw.Boolean or dtype.is_integer() or dtype.is_float():
            numeric = series.to_numpy()
            if numeric.dtype.kind in "biuf":
                return _with_gaps(self._of_array(numeric), gaps)
        read = _with_gaps(self._of_list(series.to_list()), gaps)
        return attrs.evolve(read, order=_declared_order(series), is_ordered=declared_steps(series) is not None)


def _with_gaps(read: Values, gaps: Array | None) -> Values:
    """The column of values that were read without its gaps."""
    if gaps is None:
        return read
    if read.gaps is not None:  # NaN beside what the table calls missing
        gaps = gaps.copy()
        gaps[~gaps] = read.gaps
        present = read.values[~read.gaps] if isinstance(read.values, np.ndarray) else read.values
        return attrs.evolve(read, values=_spread(present, gaps), gaps=gaps)
    return attrs.evolve(read, values=_spread(read.values, gaps), gaps=gaps)


def _spread(present: Any, gaps: Array | None) -> Any:
    """The values with any others where there are gaps."""
    if gaps is None:
        return present
    if isinstance(present, np.ndarray):
        full: Array = np.zeros(len(gaps), present.dtype)
        full[~gaps] = present
        return full
    rest = iter(present)
    return [None if gap else next(rest) for gap in gaps.tolist()]


def _is_plain_number(value: Any) -> bool:
    """Whether it is a number that Python compares exactly, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
        value, (bool, np.longdouble, np.timedelta64)
    )


_TIMES = ((Scale.DATE, (dt.date, np.datetime64)), (Scale.DURATION, (dt.timedelta, np.timedelta64)))
"""The types of dates and of durations; pandas' are among them."""


def _is_fine(moment: Any) -> bool:
    """Whether a date or duration is no whole number of microseconds."""
    if isinstance(moment, (np.datetime64, np.timedelta64)):
        unit, _ = np.datetime_data(moment.dtype)
        return unit in ("ns", "ps", "fs", "as") and bool(moment.astype(f"{moment.dtype.kind}8[us]") != moment)
    return bool(getattr(moment, "nanosecond", 0) or getattr(moment, "nanoseconds", 0))


def declared_steps(series: Any) -> tuple[Any, ...] | None:
    """The categories of a narwhals series whose type declares that they are ordered, as pandas' can; else None."""
    import narwhals as nw

    if series.dtype not in (nw.Categorical, nw.Enum) or not series.implementation.is_pandas_like():
        return None
    return _declared_order(series) if getattr(series.to_native().cat, "ordered", False) else None


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


def _numbers(values: list[Any]) -> Array | None:
    """The values as a numeric array if they are numbers or truth values that it holds exactly, else None."""
    kinds = set(map(type, values))
    if np.timedelta64 in kinds or not all(issubclass(kind, (bool, int, float, np.bool_, np.number)) for kind in kinds):
        return None
    if bool in kinds and len(kinds) > 1:
        return None
    try:
        array = np.array(values)
    except OverflowError:
        return None
    if array.dtype.kind == "f" and kinds and all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return None  # whole numbers beyond int64 beside smaller ones
    exact = array.dtype.kind in "biuf" and (len(kinds) <= 1 or array.tolist() == values)
    return array if exact else None


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return type(value).__name__ == "NAType"
