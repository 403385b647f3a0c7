"""What a caller gives an estimator, checked as scikit-learn has it: X, y, weights, data by row, tasks and limits."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.utils import _safe_indexing, validation

from streed.data.column import distinct
from streed.data.reading import complete
from streed.data.rows import read_frequency, read_weights, weigh_copies
from streed.data.single_values import is_number
from streed.data.table import Table, collected, named_columns, read_input
from streed.errors import InputError, argument_names, brief
from streed.exact import Array, as_objects, doubles
from streed.registry import make_limit, make_task
from streed.task import Limit, Task
from streed.tasks import Splits

FREQUENCY = "frequency"
"""The row data that say how many equal rows each row stands for."""


def forget(estimator: Any) -> None:
    """Takes every fitted attribute (whose names end with _) from an estimator that is fitted again."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("__")]:
        delattr(estimator, name)


def readable(X: Any) -> Any:
    """X as an array, nested lists, an eager table, a `Table` or a sparse matrix, whose rows can be taken."""
    if hasattr(X, "tocsr"):  # which some that are mappings have, of places
        return X.tocsr()
    if isinstance(X, Mapping) or getattr(getattr(X, "dtype", None), "names", None):
        return read_input(X)
    return collected(X)


def checked_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """What `readable` gave; the estimator's columns are those, or when it is fitted already, must be."""
    table = read_input(X)
    if min(table.shape) == 0:
        what = "sample(s)" if table.n_rows == 0 else "feature(s)"
        raise ValueError(f"Found array with 0 {what} (shape={table.shape}) while a minimum of 1 is required.")
    if reset:
        estimator._is_named = table.names is not None
    if not isinstance(X, Table):
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
        # the columns of a table without names are found by their places, as scikit-learn has it
        return table if estimator._is_named else attrs.evolve(table, names=None)
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(table.columns), np.array(table.names, object)
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or set(known) != set(table.all_names):
        fitted = "no names" if known is None else f"the columns {', '.join(known)}"
        raise InputError("X", f"its columns are {', '.join(table.all_names)}", f"the estimator was fitted on {fitted}")
    return table


def checked_column(y: Any, n_rows: int, *, numeric: bool = False) -> Array:
    """(n,) y without gaps; numbers where `numeric`."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    columns = named_columns(y, "y")
    if columns is not None and len(columns) == 1:
        (y,) = columns.values()
    if isinstance(y, (list, tuple)):
        with contextlib.suppress(ValueError):  # of unequal lengths, which scikit-learn refuses
            # of numbers and texts side by side, which numpy would make texts, an array of objects
            y = np.array(y, object if np.array(y).dtype.kind in "US" else None)
    if getattr(y, "ndim", 1) == 1 and not hasattr(y, "toarray"):
        held = complete(y, "y", "it")
        if isinstance(held, np.ndarray) and held.dtype.kind in "biu":
            y = held  # of which scikit-learn makes floats where their container may have gaps
        elif isinstance(held, list) and getattr(getattr(y, "dtype", None), "kind", "O") not in "US":
            y = as_objects(held)  # as times with a zone and integers of 128 bits, which scikit-learn does not read
    with named_errors("y", "give one entry per row of X"):
        checked = validation.check_array(y, ensure_2d=False, dtype=None, input_name="y")
        column = validation.column_or_1d(checked, warn=True)
        validation.check_consistent_length(np.zeros(n_rows), column)
    if numeric and column.dtype.kind in "OSUmM":
        return _numbers(column)
    if column.dtype.kind == "O":
        distinct(column.tolist(), "y", "it")
    return column  # type: ignore[no-any-return]


@contextlib.contextmanager
def named_errors(name: str, remedy: str) -> Iterator[None]:
    """What scikit-learn says of an argument is an InputError that names it."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(name, str(error).split("\n")[0], remedy) from None


def _numbers(column: Array) -> Array:
    """(n,) float64, or whole numbers as they are; raises InputError for what is no number."""
    for row, value in enumerate(column):
        if not is_number(type(value)) or value != value:
            raise InputError("y", f"it has {brief(value)} in row {row}, which is no number", "give one number per row")
    plain = np.array(column.tolist())
    return plain if plain.dtype.kind in "iu" else doubles(column.tolist(), "y")


def signs_of(estimator: Any) -> Array:
    """(p,) 1, -1 or 0 for each column, as scikit-learn reads `monotonic_cst`; raises InputError for anything else."""
    with named_errors("monotonic_cst", "give one of -1, 0 and 1 for each column, or a dict by name"):
        return validation._check_monotonic_cst(estimator, estimator.monotonic_cst)  # type: ignore[no-any-return]


def checked_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """(n,) numbers >= 0, of a single one the same for all rows; None where the caller gave none, or all are 1."""
    each = isinstance(sample_weight, numbers.Number)
    return weigh_copies(read_weights([sample_weight] * n_rows if each else sample_weight, n_rows), None)


def present_rows(X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> tuple[Any, ...]:
    """The same without the rows whose `frequency`, one of the row data, is 0; in its place are whole numbers (n,)."""
    _check_lengths(X, row_data)
    given = {name: values for name, values in row_data.items() if name != FREQUENCY}
    if row_data.get(FREQUENCY) is None:
        return X, y, sample_weight, given
    n_rows = length(X)
    found = read_frequency(row_data[FREQUENCY], n_rows)
    frequency = np.ones(n_rows, np.int64) if found is None else found
    given |= {"y": y, "sample_weight": sample_weight, FREQUENCY: frequency}
    _check_lengths(X, given)
    rows = np.flatnonzero(frequency)
    kept = {name: None if values is None else take_rows(values, rows) for name, values in given.items()}
    return take_rows(X, rows), kept.pop("y"), kept.pop("sample_weight"), kept


def _check_lengths(X: Any, given: Mapping[str, Any]) -> None:
    """Raises InputError for what has not an entry, or a row, for each row of X."""
    rows = length(X)
    for name, values in given.items():
        found = length(next(iter(values.values()), None) if isinstance(values, Mapping) else values)
        if -1 not in (rows, found) and rows != found:
            raise InputError(name, f"it has {found} rows, but X has {rows} rows", "give one entry per row of X")


def length(x: Any) -> int:
    """How many rows an array, a list, a table or a sparse matrix has; -1 of anything else."""
    shape = getattr(x, "shape", None)
    if shape is not None:  # of one value alone it is empty
        return int(shape[0]) if shape else -1
    return len(x) if hasattr(x, "__len__") else -1


def together(**given: Any) -> None:
    """Raises InputError where one of two arguments is given, and the other is not."""
    absent = [name for name, value in given.items() if value is None]
    if len(absent) == 1:
        (known,) = given.keys() - set(absent)
        raise InputError(absent[0], f"there is none, and {known} is given", "give both, or neither")


def take_rows(data: Any, rows: Array) -> Any:
    """The chosen rows (numbers) of an array, list, table or dict of columns."""
    if isinstance(data, Mapping):
        return {name: take_rows(column, rows) for name, column in data.items()}
    if isinstance(data, Table):
        return data.taken(rows)
    return _safe_indexing(collected(data), rows)


def with_splits(task: Any, cost_complexity: Any) -> Task:
    """The task, or the one that a text names, such as "f1", with that cost for each branching node; itself at 0."""
    task = make_task(task, {}) if isinstance(task, str) else task
    if not isinstance(task, Task):
        raise InputError("task", f"{task!r} is no task", 'give one such as streed.tasks.F1(), or its name, "f1"')
    if cost_complexity == 0:
        return task
    price = cost_complexity * Splits()
    summed: Task = task - price if task.larger_is_better else task + price
    return summed


def limit_of(limit: Any) -> Limit:
    """The limit that was given, or that a text names, such as "min-support(5)"."""
    if isinstance(limit, str):
        with argument_names(subject_to="limits"):
            return make_limit(limit)
    if not isinstance(limit, Limit):
        raise InputError("limits", f"{brief(limit)} is no limit", "give such as streed.tasks.MinSupport(5)")
    return limit
