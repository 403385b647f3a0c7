"""New rows by the columns of data that were read before: codes, or numbers where a column is ordered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data.column import Column, numbers_like, places, shown, unseen_values
from streed.data.ordered import Kind
from streed.data.reading import Values, read_column
from streed.data.table import read_input
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


def read_rows(
    columns: Sequence[Column], X: Any, used: Collection[int], unseen: str
) -> tuple[int, Callable[[int], Array | Numbers]]:
    """(how many rows there are, a function that reads one of the `used` columns): codes (m,) uint8, or `Numbers`.

    `columns`: as many as the data had that the rows are read for. A table's columns are found by name, further ones are
    ignored; an array or nested list must have them all. `unseen`: what becomes of values that the column's data did not
    have, as `unseen_values` says. A column is read when it is asked for. Raises InputError for a missing column, and
    for values of another kind.
    """
    n_rows, raw = raw_columns(X, [column.name for column in columns], used, named=True)

    def read(j: int) -> Array | Numbers:
        values = raw(j)
        return columns[j].codes(values, unseen) if columns[j].scale is None else numbers_of(columns[j], values, unseen)

    return n_rows, read


def raw_columns(
    X: Any, names: Sequence[str], used: Collection[int], *, named: bool
) -> tuple[int, Callable[[int], Values]]:
    """(how many rows a table has, a function that reads one of its columns of these names).

    `used`: the numbers of the columns that must be there; `named`: whether they are found by name in a table that has
    names. Raises InputError for columns that are not there.
    """
    source = read_input(X)
    if isinstance(source, np.ndarray) or source.names is None or not named:
        check_width(source.shape[1], len(names))
        place_of = {j: j for j in used}
    else:
        by_name = {name: i for i, name in enumerate(source.names)}
        absent = [names[j] for j in sorted(used) if names[j] not in by_name]
        if absent:
            found = f"it has no column named {shown(absent)}"
            raise InputError("X", found, f"its columns are {shown(source.names)}; rename them")
        place_of = {j: by_name[names[j]] for j in used}

    def read(j: int) -> Values:
        place = place_of[j]
        held = np.ascontiguousarray(source[:, place]) if isinstance(source, np.ndarray) else source.columns[place]
        return read_column(held, f"column {names[j]!r}")

    return len(source), read


def numbers_of(column: Column, read: Values, unseen: str) -> Numbers:
    """The values of rows in an ordered column; raises InputError for values of another kind.

    A step that the scale does not have stands above all others.
    """
    assert column.scale is not None
    missing = read.missing
    if missing.any() and not column.has_gaps:
        unseen_values(column.name, read, missing, unseen, "take the branch of more rows")
    if column.scale is not Kind.CATEGORY:
        return Numbers(numbers_like(column.name, column.scale, read, column.zone), missing)
    found = places(read, column.categories)
    strange = (found < 0) & ~missing
    if strange.any():
        unseen_values(column.name, read, strange, unseen, "are answered no")
    return Numbers(np.where(strange, len(column.categories), found), missing)


def check_width(width: int, expected: int) -> None:
    """Raises InputError unless a table without names has as many columns as the data."""
    if width != expected:
        found = f"it has {width} columns, not {expected}"
        raise InputError("X", found, "give the columns of the first data, in that order")
