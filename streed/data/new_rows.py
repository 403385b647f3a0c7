"""New rows by the columns of data that were read before: codes, or numbers where a column is ordered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data.binary import binary_codes
from streed.data.column import Column, Values, places, recode, shown
from streed.data.ordered import Scale
from streed.data.table import read_column, read_input, read_values
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array


@attrs.frozen(eq=False)
class Numbers:
    """The values of m rows in an ordered column, on its scale."""

    values: Array
    """(m,), any where they are missing."""
    missing: Array
    """(m,) bool."""


def encode(columns: Sequence[Column], X: Any, used: Collection[int] | None = None) -> Array:
    """(m, p) uint8: the codes of new rows by `columns`, as many as the data had that they come from.

    A table's columns are found by name, further ones are ignored; an array or nested list must have p columns.
    `used`: only these columns are read and need be there; the others are 0. Raises InputError for a missing column, a
    missing value, a value that a column's data did not have, and ordered columns, which have no codes for new values.
    """
    wanted = range(len(columns)) if used is None else sorted(used)
    if any(columns[j].scale is not None for j in wanted):
        raise InputError("X", "there are ordered columns, whose new values have no code", "let a tree read the rows")
    if isinstance(X, np.ndarray) and X.ndim == 2 and all(columns[j].is_plain for j in wanted):
        _check_width(X.shape[1], columns)
        plain = binary_codes(X)
        if plain is not None:
            return plain
    n_rows, read = read_rows(columns, X, wanted)
    codes = np.zeros((n_rows, len(columns)), dtype=np.uint8)
    for j in wanted:
        column = read(j)
        assert not isinstance(column, Numbers)
        codes[:, j] = column
    return codes


def read_rows(columns: Sequence[Column], X: Any, used: Collection[int]) -> tuple[int, Callable[[int], Array | Numbers]]:
    """(how many rows there are, a function that reads one of the `used` columns): codes (m,) uint8, or `Numbers`.

    `X` as in `encode`, and so are the errors; a column is read when it is asked for.
    """
    source = read_input(X)
    if isinstance(source, np.ndarray):
        _check_width(source.shape[1], columns)
        return len(source), lambda j: _read(columns[j], np.ascontiguousarray(source[:, j]))
    place_of = {j: j for j in used}
    if source.names is None:
        _check_width(len(source.columns), columns)
    else:
        by_name = {name: i for i, name in enumerate(source.names)}
        absent = [columns[j].name for j in sorted(used) if columns[j].name not in by_name]
        if absent:
            raise InputError(
                "X", f"it has no column named {shown(absent)}", f"its columns are {shown(source.names)}; rename them"
            )
        place_of = {j: by_name[columns[j].name] for j in used}
    return source.n_rows, lambda j: _read(columns[j], source.columns[place_of[j]])


def _read(column: Column, values: Any) -> Array | Numbers:
    what = f"column {column.name!r}"
    if column.scale is None:
        return recode(column, read_values(values, "X", what))
    return numbers_of(column, read_column(values, what))


def numbers_of(column: Column, read: Values) -> Numbers:
    """The values of rows in an ordered column; raises InputError for values of another kind."""
    n_rows = len(read.values)
    missing = np.zeros(n_rows, dtype=bool) if read.gaps is None else read.gaps
    if missing.all():
        return Numbers(np.zeros(n_rows), missing)
    if column.scale is Scale.CATEGORY:
        return Numbers(places(read.values, column.categories, read.gaps, column.name), missing)
    fits = isinstance(read.values, np.ndarray) and read.time is (None if column.scale is Scale.NUMBER else column.scale)
    if not fits:
        example = next(v for v, gap in zip(read.values, missing.tolist(), strict=True) if not gap)
        found = f"column {column.name!r} has values such as {str(example)!r}, and held {column.scale}s before"
        raise InputError("X", found, "give the same kind of values")
    values = read.values
    assert isinstance(values, np.ndarray)
    return Numbers(values.astype(np.int64) if values.dtype.kind == "b" else values, missing)


def _check_width(width: int, columns: Sequence[Column]) -> None:
    if width != len(columns):
        raise InputError(
            "X", f"it has {width} columns, not {len(columns)}", "give the columns of the first data, in that order"
        )
