"""What stands beside the rows: weights, frequencies, and data by name such as costs or sensitive features."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.data.reading import read_values
from streed.data.single_values import is_number, missing_value
from streed.data.table import named_columns
from streed.errors import InputError, brief
from streed.exact import LARGEST_TOTAL, Array, Range, as_objects, exact_array, exact_number

if TYPE_CHECKING:
    from streed.data import Dataset


def read_weights(sample_weight: Any, n: int) -> Array | None:
    """The row weights as int64 or float64 (n,), or None where all are 1.

    Rows of weight 0 are legal. Raises InputError for a wrong length, negative, missing or infinite weights, weights
    that are all zero, and a total beyond 2**60, or of floats beyond their range.
    """
    if sample_weight is None:
        return None
    read = read_values(sample_weight, "sample_weight", "it")
    weights = read if isinstance(read, np.ndarray) else _decimals(read)
    if len(weights) != n:
        found = f"it has {len(weights)} weights, but X has {n} rows"
        raise InputError("sample_weight", found, "give one weight per row")
    if (weights == 1).all():
        return None
    Range(0).read_rows("sample_weight", weights)
    if not weights.any():
        raise InputError("sample_weight", "all weights are zero", "give at least one row a positive weight")
    if weights.max() < sys.float_info.min:
        found = f"no weight is above {weights.max()}, below the range of floats"
        raise InputError("sample_weight", found, "multiply all weights by a common factor")
    _check_total(weights, weights, "the total")
    return weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64)


_COPIES = Range(0, whole=True, meaning="of rows; other weights belong into sample_weight")


def read_frequency(frequency: Any, n: int) -> Array | None:
    """How many equal rows each row stands for, (n,) int64 >= 0, or None where each stands for itself.

    Raises InputError for a wrong length, for what is no whole number >= 0 (truth values are none), where no row stands
    for any, and for a total of 2**60 or more.
    """
    if frequency is None:
        return None
    read = read_values(frequency, "frequency", "it")
    if len(read) != n:
        raise InputError("frequency", f"it has {len(read)} numbers, but X has {n} rows", "give one per row")
    large = InputError("frequency", "the total is 2**60 or more", "divide all frequencies by a common factor")
    if not isinstance(read, np.ndarray) or read.dtype.kind == "b":
        read = read.tolist() if isinstance(read, np.ndarray) else read
        strange = [row for row, x in enumerate(read) if not isinstance(x, int) or isinstance(x, bool)]
        if strange:
            raise InputError("frequency", f"row {strange[0]} has {brief(read[strange[0]])}", f"give {_COPIES}")
        if min(read) >= 0:
            raise large
        read = np.array(read, dtype=object)
    _COPIES.read_rows("frequency", read)
    if float(read.sum(dtype=np.float64)) >= LARGEST_TOTAL:
        raise large
    if not read.any():
        raise InputError("frequency", "every row stands for 0 rows", "give at least one row a positive number")
    return some_copies(read.astype(np.int64))


def some_copies(frequency: Array) -> Array | None:
    """The frequencies, or None where all are 1."""
    return None if (frequency == 1).all() else frequency


def weigh_copies(weights: Array | None, frequency: Array | None) -> Array | None:
    """(n,) what all copies of each row weigh together, or None where each is 1; short decimals stay so.

    `weights` are those of one copy. Raises InputError for weights that are all zero, and a total beyond 2**60.
    """
    if weights is not None and not weights.any():
        raise InputError("sample_weight", "all weights are zero", "give at least one row a positive weight")
    if weights is None or frequency is None:
        return frequency if weights is None else weights
    _check_total(weights, weights.astype(np.float64) * frequency, "times frequency, the total")
    if weights.dtype.kind != "f":
        return weights * frequency
    whole, unit, exact = exact_array(weights, "sample_weight")
    if exact and float(whole.astype(np.float64) @ frequency) < LARGEST_TOTAL:
        # whole numbers of any size, which Python divides with one rounding
        return ((whole * frequency).astype(object) * unit.numerator / unit.denominator).astype(np.float64)
    return weights * frequency


def _check_total(weights: Array, each: Array, name: str) -> None:
    """Raises InputError where what rows weigh together is more than numbers of the weights' type hold."""
    real = weights.dtype.kind == "f"
    with np.errstate(over="ignore"):
        if float(each.sum(dtype=np.float64)) < (math.inf if real else LARGEST_TOTAL):
            return
    found = f"{name} is beyond {'the range of floats' if real else '2**60'}"
    raise InputError("sample_weight", found, "divide all weights by a common factor")


def read_row_data(row_data: Mapping[str, Any], n: int) -> dict[str, Array]:
    """One array per name, its first axis the rows; a table becomes a structured array with one field per column.

    Names given as None are left out. Raises InputError, naming the argument, for a wrong length or a missing value in
    a column; what the numbers mean is for the task to judge.
    """
    arrays = {name: _row_array(name, data) for name, data in row_data.items() if data is not None}
    for name, array in arrays.items():
        if array.ndim == 0 or len(array) != n:
            found = "is a single value" if array.ndim == 0 else f"has {len(array)} rows"
            raise InputError(name, f"it {found}, but X has {n} rows", "give one entry per row of X")
    return arrays


def _row_array(name: str, data: Any) -> Array:
    if isinstance(data, np.ma.MaskedArray) and data.ndim > 1:  # of one column `read_values` does the same
        hidden = np.ma.getmaskarray(data).reshape(len(data), -1).any(axis=1)
        if hidden.any():
            raise missing_value(name, "it", int(np.argmax(hidden)))
        data = data.data
    if isinstance(data, np.ndarray) and data.ndim != 1:
        return data.copy()
    columns = named_columns(data, name)
    if columns is not None:
        return _structured(name, columns)
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], (list, tuple, np.ndarray)):
        return _matrix(name, data)
    values = read_values(data, name, "it")
    return values.copy() if isinstance(values, np.ndarray) else as_objects(values)


def _matrix(name: str, rows: Sequence[Any]) -> Array:
    masked = [any(value is np.ma.masked for value in row) for row in rows if not np.isscalar(row)]
    if any(masked):
        raise missing_value(name, "it", masked.index(True))
    try:
        array = np.array(rows)
        # A row of texts and numbers would become all texts.
        return np.array(rows, dtype=object) if array.dtype.kind in "SU" else array
    except ValueError:
        raise InputError(name, "its rows have different lengths", "give equally many values per row") from None


def _structured(name: str, columns: Mapping[Any, Any]) -> Array:
    """The columns as fields, which are called by text; a name that is none is the field's title."""
    read = [read_values(column, name, f"column {label!r}") for label, column in columns.items()]
    kinds = [values.dtype if isinstance(values, np.ndarray) else np.dtype(object) for values in read]
    fields = [label if isinstance(label, str) else (label, str(label)) for label in columns]
    array = np.empty(len(read[0]) if read else 0, dtype=list(zip(fields, kinds, strict=True)))
    for field, values in zip(array.dtype.names or (), read, strict=True):
        array[field] = values
    return array


def _decimals(values: list[Any]) -> Array:
    """Weights that are Fractions or Decimals, as floats that print as exactly these numbers."""
    weights = np.array([float(exact_number(value, "sample_weight")) for value in values], dtype=np.float64)
    for row, (value, weight) in enumerate(zip(values, weights.tolist(), strict=True)):
        if exact_number(weight) != exact_number(value):
            found = f"row {row} has the weight {value}, which no short decimal equals"
            raise InputError("sample_weight", found, "multiply all weights by a common denominator")
    return weights


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
        # a field's title is the name as the caller wrote it: not all are texts
        fields: Any = values.dtype.fields
        titles = [fields[name] for name in values.dtype.names]
        names = [each[2] if len(each) > 2 else name for each, name in zip(titles, values.dtype.names, strict=True)]
        return np.stack(columns, axis=1), tuple(names)
    if values.ndim != 2 or not values.shape[1]:
        raise InputError(name, f"it has the shape {values.shape}", "give a table or an array with a row per row of X")
    return _finite(values, name), None


def _finite(values: Array, name: str, where: str = "") -> Array:
    if values.dtype.kind in "bui":
        return values.astype(np.int64)
    try:
        strange = values.dtype.kind == "O" and not all(is_number(type(value)) for value in values.flat)
        if strange or values.dtype.kind in "SUcmM":
            raise TypeError  # numpy would read "1" as 1, 1j as 0, and times in a unit of its own
        numbers: Array = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(name, f"{where}not all entries are numbers", "give finite numbers") from None
    return Range().read_rows(name, numbers)
