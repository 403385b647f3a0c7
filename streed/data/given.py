"""Row data as tasks ask for it: arrays of finite numbers, one row or entry per row of X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.errors import InputError
from streed.exact import Array, Range

if TYPE_CHECKING:
    from streed.data import Dataset


def row_array(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> Array:
    """The row data of that name, (n,) or (n, m), as given; raises InputError where there is none."""
    row_data = data if isinstance(data, Mapping) else data.row_data
    if name not in row_data:
        known = ", ".join(row_data) or "none"
        raise InputError(name, f"{asked_by} needs it, and the row data are: {known}", f"give {name}= to solve")
    return row_data[name]


def row_column(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> Array:
    """(n,) the row data of that name, one column in whatever form; raises InputError for several."""
    values = row_array(data, name, asked_by)
    names = values.dtype.names
    if names is not None and len(names) == 1:
        values = values[names[0]]
    elif values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.names is not None or values.ndim != 1:
        found = f"columns {', '.join(names)}" if names else f"shape {values.shape}"
        raise InputError(name, f"it has the {found}", "give one entry per row")
    return values


def row_numbers(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> Array:
    """(n,) finite numbers, int64 or float64; raises InputError for anything else."""
    return _finite(row_column(data, name, asked_by), name)


def row_matrix(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> tuple[Array, tuple[Any, ...] | None]:
    """(n, m) finite numbers and the names of the columns, of a table; None where they have no names."""
    values = row_array(data, name, asked_by)
    if values.dtype.names is not None:
        columns = [_finite(values[field], name, f"column {field!r}: ") for field in values.dtype.names]
        return np.stack(columns, axis=1), own_names(values)
    if values.ndim != 2 or not values.shape[1]:
        raise InputError(name, f"it has the shape {values.shape}", "give a table or an array with a row per row of X")
    return _finite(values, name), None


def own_names(values: Array) -> tuple[Any, ...]:
    """The names of the columns of a structured array as the caller wrote them: not all are texts."""
    fields: Any = values.dtype.fields
    return tuple(fields[name][2] if len(fields[name]) > 2 else name for name in values.dtype.names or ())


def _finite(values: Array, name: str, where: str = "") -> Array:
    if values.dtype.kind in "bui":
        return values.astype(np.int64)
    try:
        texts = values.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in values.flat)
        if texts or values.dtype.kind in "SUc":
            raise TypeError  # numpy would read "1" as 1, and 1j as 0
        numbers: Array = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(name, f"{where}not all entries are numbers", "give finite numbers") from None
    return Range().read_rows(name, numbers)
