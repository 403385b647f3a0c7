"""What a caller hands over as rows and columns, of whatever library, as a table of columns.

These are read one at a time (`reading`). Nothing of the caller's is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from streed.data.reading import Values, read_column
from streed.data.single_values import exact_numbers
from streed.errors import InputError, listed, shown
from streed.exact import Array, are_within


@attrs.frozen(eq=False)
class Table:
    """Columns of equal length, in order."""

    names: tuple[str, ...] | None
    """None where the caller gave a bare array, a matrix or nested lists."""
    columns: Sequence[Any] | Array
    """Each a list, an array (n,), a narwhals series, or what was read of one; (p, n) of an array of numbers."""
    n_rows: int

    @property
    def array(self) -> Array | None:
        """(n, p) where the caller gave an array of numbers."""
        return self.columns.T if isinstance(self.columns, np.ndarray) else None

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.n_rows, len(self.columns)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names of the columns; x0, x1, ... where the table has none."""
        return tuple(f"x{j}" for j in range(len(self.columns))) if self.names is None else self.names

    def read(self, j: int) -> Values:
        """Column j with its gaps."""
        return read_column(self.columns[j], f"column {f'x{j}' if self.names is None else self.names[j]!r}")

    def taken(self, rows: Array) -> Table:
        """The rows given by number, (m,) int64 in ascending order."""
        if self.array is not None:
            return attrs.evolve(self, columns=self.array[rows].T, n_rows=len(rows))
        columns = [take_values(column, rows, self.n_rows, "X", "values") for column in self.columns]
        return attrs.evolve(self, columns=columns, n_rows=len(rows))


def read_input(X: Any) -> Table:
    """The caller's X; raises InputError for what has no rows and columns."""
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        return _columns({name: X[name] for name in X.dtype.names}) if X.dtype.names else _of_array(X)
    if hasattr(X, "tocsc"):
        return _sparse(X)
    if isinstance(X, (list, tuple)):
        return _nested(X)
    return _columns(X) if isinstance(X, Mapping) else _frame(X)


def collected(data: Any) -> Any:
    """A lazy table as one whose rows can be taken, in its own library; anything else itself."""
    if not (hasattr(data, "collect") and hasattr(type(data), "columns")):  # asking a lazy table for them warns
        return data
    import narwhals as nw

    return nw.from_native(data).lazy().collect().to_native()


def named_columns(data: Any, argument: str) -> dict[Any, Any] | None:
    """The columns of a table, a dict or a structured array, by the caller's own names; None of anything else."""
    data = collected(data)
    fields = getattr(getattr(data, "dtype", None), "names", None)
    if fields:
        return {name: data[name] for name in fields}
    if not (isinstance(data, Mapping) or hasattr(data, "columns")) or isinstance(data, np.ndarray):
        return None
    try:
        table = read_input(data)
    except InputError as error:
        raise InputError(argument, error.found, error.remedy) from None
    names = data if isinstance(data, Mapping) else getattr(data, "column_names", None) or data.columns
    own = [name.item() if isinstance(name, np.generic) else name for name in names]
    return dict(zip(own, table.columns, strict=True))


def take_values(x: Any, rows: Array, n: int, argument: str, what: str) -> Any:
    """The values of these rows (m,) of n of one column; raises InputError for one of another length."""
    if isinstance(x, Values):
        return x.taken(rows)
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


def _of_array(X: Array) -> Table:
    if X.ndim != 2:
        found = f"it has {X.ndim} dimensions (shape {X.shape})"
        raise InputError("X", found, "give rows and columns. Reshape your data: X.reshape(-1, 1) if it is one column")
    if not (isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any()):
        X = np.asarray(X)
    return Table(None, X.T if type(X) is np.ndarray and X.dtype.kind in "biuf" else list(X.T), len(X))


def _nested(rows: Sequence[Any]) -> Table:
    if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows) or not rows:
        raise InputError("X", "it is a flat or empty list", "give a list of rows, each a list of values")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        first = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        found = f"row {first} has {len(rows[first])} values where row 0 has {len(rows[0])}"
        raise InputError("X", found, "give every row the same number of values")
    flat = [value for row in rows for value in row]
    if any(issubclass(kind, (list, tuple, np.ndarray)) for kind in set(map(type, flat)) - {_MASKED}):
        raise InputError("X", "it has 3 or more dimensions", "give a list of rows, each a list of values")
    numeric = exact_numbers(flat)
    if numeric is not None:
        return _of_array(numeric.reshape(len(rows), len(rows[0])))
    return Table(None, [list(column) for column in zip(*rows, strict=True)], len(rows))


_MASKED = type(np.ma.masked)


def _columns(X: Mapping[Any, Any]) -> Table:
    names = _unique_names(list(X))
    for name, column in zip(names, X.values(), strict=True):
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            shown = repr(column)[:40] if isinstance(column, (str, bytes, int, float)) else type(column).__name__
            raise InputError("X", f"column {name!r} is {shown}, not a list of values", "give one value per row")
    lengths = {name: len(column) for name, column in zip(names, X.values(), strict=True)}
    if len(set(lengths.values())) > 1:
        raise InputError("X", f"its columns have different lengths: {lengths}", "give columns of equal length")
    return Table(names, list(X.values()), next(iter(lengths.values()), 0))


def _sparse(X: Any) -> Table:
    """A sparse matrix of scipy's; as an array of bytes, if it holds nothing but 0 and 1."""
    if len(X.shape) != 2:
        raise InputError("X", f"it has {len(X.shape)} dimensions", "give rows and columns: shape (rows, columns)")
    matrix = X.tocsc()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    is_truth = matrix.data.dtype.kind == "b"
    if is_truth or ((matrix.data == 0) | (matrix.data == 1)).all():
        matrix = matrix.astype(bool if is_truth else np.uint8)
    return _of_array(matrix.toarray(order="F"))


def _frame(X: Any) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(X)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except nw.exceptions.DuplicateError:
        _unique_names(getattr(X, "column_names", X.columns))
        raise
    except TypeError:
        if isinstance(nw.from_native(X, pass_through=True, allow_series=True), nw.Series):
            raise InputError("X", "it is a series, of 1 dimension", "give a table, such as frame[[name]]") from None
        if hasattr(X, "__array__"):
            return read_input(np.asarray(X))
        remedy = "give a numpy array, a list of rows, a pandas or polars table"
        raise InputError("X", f"{type(X).__name__} is no table", remedy) from None
    names = _unique_names(frame.columns)
    return Table(names, list(frame.iter_columns()), len(frame))


def _unique_names(names: Sequence[Any], argument: str = "X") -> tuple[str, ...]:
    texts = tuple(str(name) for name in names)
    for name, times in Counter(texts).items():
        if times > 1:
            raise InputError(argument, f"two columns are named {name!r}", "give every column its own name")
    return texts


def binary_codes(X: Array) -> Array | None:
    """(n, p) uint8, C-contiguous and never the caller's memory: the 0/1 array `X`; None where it is none."""
    if X.dtype.kind not in "bfiu":
        return None
    if X.dtype.kind in "iu":
        return X.astype(np.uint8, order="C") if are_within(X, 1) else None
    with np.errstate(invalid="ignore"):  # NaN and what overflows uint8 are found by the comparison
        codes: Array = X.astype(np.uint8, order="C")
    if X.dtype.kind != "b" and codes.size and (codes.max() > 1 or not np.array_equal(codes, X)):
        return None
    return codes


def column_names(source: Table, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The columns' names, a table's own or those given for an array; None without any. Raises InputError for others."""
    p = len(source.columns)
    if names is None:
        return source.names
    if source.names is not None:
        raise InputError("names", "given for a table, which names its columns itself", "rename the table's columns")
    given = listed("names", names, "give a list of texts, one per column")
    if not all(isinstance(name, str) for name in given):
        raise InputError("names", f"not all are texts: {shown(given)}", "give one text per column")
    if len(given) != p:
        raise InputError("names", f"there are {len(given)} names for {p} columns", "give one name per column")
    return _unique_names(given, "names")


def listed_columns(categorical: Any, names: tuple[str, ...] | None, p: int) -> Collection[int]:
    """The positions of the columns that the caller calls categorical."""
    if categorical is None or categorical is False:
        return ()
    if categorical is True:
        return range(p)
    known = {name: j for j, name in enumerate(names or [f"x{j}" for j in range(p)])}
    chosen: set[int] = set()
    for item in listed("categorical", categorical, "give True, or a list of column names or positions"):
        is_text = isinstance(item, str)
        if not is_text and (not isinstance(item, (int, np.integer)) or isinstance(item, bool)):
            raise InputError("categorical", f"{item!r} is no column name or position", "give texts or whole numbers")
        if item not in known if is_text else not 0 <= item < p:
            remedy = f"the columns are {shown(known)}" if is_text else f"positions go from 0 to {p - 1}"
            raise InputError("categorical", f"there is no column {item!r}", remedy)
        chosen.add(known[item] if is_text else int(item))
    return chosen
