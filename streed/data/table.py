"""Reading what a caller hands over, numpy, lists, pandas, polars and dicts of columns, without changing it.

Missing values are found here, so everything further in is complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data.column import Values
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

    def read(self, j: int) -> Values:
        """The values of column j; raises InputError that names the column where a value is missing."""
        name = f"x{j}" if self.names is None else self.names[j]
        return read_values(self.columns[j], "X", f"column {name!r}")


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


def read_values(x: Any, argument: str, what: str) -> Values:
    """One column of anything: list, array (n,), or pandas / polars series.

    Raises InputError, naming `argument` and `what`, for missing values, more than one dimension and complex numbers.
    """
    if isinstance(x, np.ndarray):
        return _array_values(x, argument, what)
    if isinstance(x, (str, bytes, Mapping)) or x is None:
        raise InputError(argument, f"{what} is {type(x).__name__}, not a column of values", "give a list or an array")
    if isinstance(x, (list, tuple, range)):
        return _list_values(list(x), argument, what)
    return _series_values(x, argument, what)


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


def _array_values(x: Array, argument: str, what: str) -> Values:
    if x.ndim != 1:
        raise InputError(argument, f"{what} has {x.ndim} dimensions (shape {x.shape})", "give one value per row")
    kind = x.dtype.kind
    if kind in "bui":
        return Values(x)
    if kind == "f":
        _check_finite(x, argument, what)
        return Values(x)
    if kind in "cV":
        raise InputError(argument, f"{what} has the type {x.dtype}", "use numbers, texts or truth values")
    return _list_values(list(x) if kind in "mM" else x.tolist(), argument, what)


def _list_values(values: list[Any], argument: str, what: str) -> Values:
    numeric = _numbers(values)
    if numeric is not None:
        if numeric.dtype.kind == "f":
            _check_finite(numeric, argument, what)
        return Values(numeric)
    if any(kind not in (str, int, bool) for kind in set(map(type, values))):
        for row, value in enumerate(values):
            if _is_missing(value):
                raise _missing(argument, what, row)
    return Values(values)


def _series_values(x: Any, argument: str, what: str) -> Values:
    import narwhals as nw

    try:
        series: Any = nw.from_native(x, series_only=True)
    except TypeError:
        if isinstance(nw.from_native(x, pass_through=True), (nw.DataFrame, nw.LazyFrame)):
            raise InputError(argument, f"{what} is a table", "give one of its columns") from None
        if hasattr(x, "__array__"):
            return _array_values(np.asarray(x), argument, what)
        raise InputError(argument, f"{what} is a {type(x).__name__}", "give a list, an array or a series") from None
    if series.null_count():
        raise _missing(argument, what, int(np.argmax(series.is_null().to_numpy())))
    dtype = series.dtype
    if dtype == nw.Boolean or dtype.is_integer() or dtype.is_float():
        numeric = series.to_numpy()
        if numeric.dtype.kind in "biuf":
            return _array_values(numeric, argument, what)
    read = _list_values(series.to_list(), argument, what)
    return Values(read.values, _declared_order(series))


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
    if not all(issubclass(kind, (bool, int, float, np.bool_, np.number)) for kind in kinds):
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


def _check_finite(x: Array, argument: str, what: str) -> None:
    if not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x)))
        if np.isnan(x[row]):
            raise _missing(argument, what, row)
        raise InputError(argument, f"{what} has an infinite value in row {row}", "use finite numbers")


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return type(value).__name__ == "NAType"


def _missing(argument: str, what: str, row: int) -> InputError:
    return InputError(
        argument, f"{what} has a missing value in row {row} (counted from 0)", "fill it in, or leave the row out"
    )
