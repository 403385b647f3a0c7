"""What stands beside the rows: labels, weights, frequencies, and data by name such as costs or sensitive features.

Labels of any one type become class numbers 0, 1, ... in the labels' sorted order. Outcomes of survival have two fields,
whether the event was observed and when, told apart by type and name.
"""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from streed.data.column import distinct
from streed.data.reading import read_values
from streed.data.single_values import OwnValues, is_number, missing_value
from streed.data.table import named_columns
from streed.errors import InputError, brief, shown
from streed.exact import LARGEST_TOTAL, Array, Range, as_objects, doubles, exact_integers, exact_number, floats


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
        raise InputError("sample_weight", f"it has {len(weights)} weights, but X has {n} rows", "give one per row")
    if (weights == 1).all():
        return None
    Range(0).read_rows("sample_weight", weights)
    if 0 < weights.max() < sys.float_info.min:
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
        for row, x in enumerate(read if isinstance(read, list) else read.tolist()):
            if not isinstance(x, int) or isinstance(x, bool) or x < 0:
                raise InputError("frequency", f"row {row} has {brief(x)}", f"give {_COPIES}")
        raise large
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
    """(n,) what all copies of each row weigh together, or None where each is 1; short decimals stay so."""
    if weights is not None and not weights.any():
        raise InputError("sample_weight", "all weights are zero", "give at least one row a positive weight")
    if weights is None or frequency is None:
        return frequency if weights is None else weights
    _check_total(weights, weights.astype(np.float64) * frequency, "times frequency, the total")
    if weights.dtype.kind != "f":
        return weights * frequency
    whole, unit = exact_integers(weights, "sample_weight")
    if whole.dtype != object and float(whole.astype(np.float64) @ frequency) < LARGEST_TOTAL:
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
    """One array per name that is not None, its first axis the rows; a table becomes structured, a field per column."""
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
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    if isinstance(first, (list, tuple, np.ndarray)) and np.iterable(first):
        return _matrix(name, data)
    values = read_values(data, name, "it")
    return values.copy() if isinstance(values, np.ndarray) else as_objects(values)


def _matrix(name: str, rows: Sequence[Any]) -> Array:
    masked = [any(value is np.ma.masked for value in row) for row in rows if np.iterable(row)]
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
    weights = floats([exact_number(value, "sample_weight") for value in values], "sample_weight")
    for row, (value, weight) in enumerate(zip(values, weights.tolist(), strict=True)):
        if exact_number(weight) != exact_number(value):
            found = f"row {row} has the weight {value}, which no short decimal equals"
            raise InputError("sample_weight", found, "multiply all weights by a common denominator")
    return weights


def code_labels(y: Any, n: int) -> tuple[Array, tuple[Any, ...]]:
    """The class number of each row, (n,) int64, and the classes that occur, sorted, as plain Python objects."""
    found = split_outcome(y) if is_outcome(y) else read_values(y, "y", "it")
    if found is None:
        raise InputError("y", "it is a table of one column", "give the column")
    labels: Any = found
    if isinstance(found, Outcome):
        labels = list(map(Outcome, *(np.asarray(column).tolist() for column in found)))
    if len(labels) != n:
        raise InputError("y", f"it has {len(labels)} labels, but X has {n} rows", "give one label per row")
    classes, codes = distinct(labels, "y", "it")
    return codes, classes


def named_labels(names: Iterable[Any], labels: Iterable[Any]) -> tuple[Any, ...]:
    """For each name the label that it is, or whose text it is; a name of none stays itself."""
    known = tuple(labels)
    texts, exact = {str(label): label for label in known}, {label: label for label in known}
    return tuple(exact.get(name, texts.get(str(name), name)) for name in names)


MOST_REAL_CLASSES = 32
"""Different labels that are not whole numbers; of more, they are taken to be measured."""


def check_classes(classes: tuple[Any, ...]) -> None:
    """Raises InputError for many different numbers that are not whole, and for times: they name no classes."""
    if isinstance(classes[0], Outcome):
        raise InputError("y", "it holds events and times", "solve RelativeRisk(), or give one column")
    if len(classes) <= MOST_REAL_CLASSES:
        return
    real = [label for label in classes if isinstance(label, float) and not label.is_integer()]
    if real:
        found = f"it has {len(classes)} different labels that are not whole numbers: {shown(real)}"
        remedy = "bin a real target, or give classes as text; a task of your own that predicts numbers has `labels`"
        raise InputError("y", found, f"a classification task needs classes; {remedy}")


def own_values(classes: tuple[Any, ...], class_numbers: Array) -> Array:
    """(n,) the classes of the rows, by their numbers; an ordinary array where they are these numbers."""
    real = all(map(is_number, set(map(type, classes))))
    labels = read_targets(classes) if real else as_objects(classes)
    is_numbered = real and classes == tuple(range(len(classes)))
    if labels.dtype.kind == "i" and -len(labels) <= labels[0] < 0 and labels[-1] < len(labels):
        labels = labels.astype(np.float64)  # so that no list by class is asked for such a place
    found = labels[class_numbers] if is_numbered else labels[class_numbers].view(OwnValues)
    if isinstance(found, OwnValues):
        found.labels = labels
    found.setflags(write=False)
    return found


def read_targets(classes: tuple[Any, ...]) -> Array:
    """(K,) int64 or float64: labels as numbers; raises InputError for texts and where there are no labels."""
    kinds = set(map(type, classes))
    if not all(map(is_number, kinds)):
        label = next(label for label in classes if not is_number(type(label)))
        found = "there is none" if label is None else f"it has the label {label!r}, which is no number"
        raise InputError("y", found, "a regression task needs one number per row")
    whole = all(issubclass(kind, numbers.Integral) for kind in kinds) and -(2**63) < classes[0] <= classes[-1] < 2**63
    return np.array(classes, dtype=np.int64) if whole else doubles(classes, "y")


_UNCLEAR = {"alive", "censor", "censored", "censoring", "survived"}
_EVENTS = {"cens", "dead", "death", "died", "event", "events", "failed", "failure", "observed", "relapse"}
_TIMES = {"t", "day", "days", "duration", "durations", "followup", "hours", "lenfol", "months"}
_TIMES |= {"times", "weeks", "years"}

_REMEDY = 'name the two fields "event" and "time", or give times as y and event='


class Outcome(NamedTuple):
    """What was seen of a row."""

    event: Any
    time: Any


def is_outcome(y: Any) -> bool:
    """Whether y has fields: a structured array, a table, a dict of columns, or rows of a truth value and a number."""
    if isinstance(y, np.ndarray):
        return y.dtype.names is not None
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        return True
    return _in_pairs(y) and all(isinstance(row[0], (bool, np.bool_)) for row in y)


def split_outcome(y: Any) -> Outcome | None:
    """(events, times), each (n,), of a y of two fields; None for a y that is a single column.

    A field of truth values is that of the events; else the names tell. `y` is a structured array, a table, a dict, an
    array (n, 2), rows of two values, or a tuple of two columns. Raises InputError for other fields than an event and a
    time, and where nothing tells which is which.
    """
    fields = _fields(y)
    if fields is None:
        return None
    names = list(fields)
    told = ", ".join(map(repr, names)) if all(isinstance(name, str) for name in names) else f"{len(names)} columns"
    if len(names) != 2:
        raise InputError("y", f"it has {told}, and survival has an event and a time", _REMEDY)
    columns = [read_values(column, "y", f"field {name!r}") for name, column in fields.items()]
    roles = [_role(name) for name in names]
    are_truth = [isinstance(column, np.ndarray) and column.dtype.kind == "b" for column in columns]
    event = roles.index("event") if "event" in roles else 1 - roles.index("time") if "time" in roles else None
    if are_truth[0] != are_truth[1]:
        event = are_truth.index(True) if event is None or are_truth[event] else None
    if event is None or roles[event] == "time" or roles[1 - event] == "event" or "unclear" in roles:
        unclear = [f"{name} may mean 1 or 0" for name, role in zip(names, roles, strict=True) if role == "unclear"]
        why = unclear[0] if unclear else "nothing tells the event from the time"
        raise InputError("y", f"it has {told}: {why}", _REMEDY)
    if len(columns[0]) != len(columns[1]):
        raise InputError("y", "its fields have {} and {} entries".format(*map(len, columns)), "give both one per row")
    return Outcome(columns[event], columns[1 - event])


def read_events(event: Any) -> Array:
    """(n,) int64: 1 where the event was observed, 0 where the time is censored; raises InputError for all else."""
    values = read_values(event, "event", "it")
    remedy = "give 1 (or True) for an observed event, 0 (or False) for a censored time"
    if not isinstance(values, np.ndarray):
        strange = [value for value in values if not is_number(type(value))]
        if strange:
            raise InputError("event", f"it holds {strange[0]!r}, which is no number", remedy)
        values = floats(values, "event")
    known = np.isin(values, (0, 1))
    if not known.all():
        row = int(np.argmin(known))
        kinds = len(np.unique(values)) > 2 and (values == np.floor(values)).all()
        what = "; risks that compete are not told apart" if kinds else ""
        raise InputError("event", f"row {row} has {values[row]}{what}", remedy)
    return values.astype(np.int64)


def _fields(y: Any) -> dict[Any, Any] | None:
    """The columns of y by name, or by number where they have no names; None where y is a single column."""
    named = named_columns(y, "y")
    if named is not None:
        return None if len(named) == 1 and not isinstance(y, Mapping) else named
    if isinstance(y, np.ndarray):
        columns = list(y.T) if y.ndim == 2 and y.shape[1] != 1 else []
        return dict(enumerate(x.tolist() if x.dtype.kind == "O" else x for x in columns)) or None
    if isinstance(y, tuple) and len(y) == 2 and not _in_pairs(y) and all(map(_is_column, y)):
        return dict(enumerate(y))
    return {j: [row[j] for row in y] for j in range(2)} if _in_pairs(y) else None


def _is_column(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, (str, bytes))


def _in_pairs(y: Any) -> bool:
    """Whether it lists rows of two values."""
    if not isinstance(y, Sequence) or isinstance(y, (str, bytes)) or not len(y):
        return False
    return all(isinstance(row, (tuple, list)) and len(row) == 2 and not any(map(_is_column, row)) for row in y)


def _role(name: Any) -> str | None:
    """What a field of this name holds: "event", "time", "unclear" (such as "censored"), or None."""
    words = [word for word in re.split(r"[^a-z]+", str(name).lower()) if word]
    if any(word in _TIMES or word.endswith("time") for word in words):
        return "time"
    if _UNCLEAR.intersection(words):
        return "unclear"
    return "event" if any(word in _EVENTS or word.endswith(("stat", "status")) for word in words) else None
