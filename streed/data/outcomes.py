"""Survival outcomes: a y of two fields, whether the event was observed and when, told apart by type and name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from streed.data.reading import read_values
from streed.data.table import named_columns
from streed.errors import InputError
from streed.exact import Array

_UNCLEAR = {"alive", "censor", "censored", "censoring", "survived"}
_EVENTS = {"cens", "dead", "death", "died", "event", "events", "failed", "failure", "observed", "relapse"}
_TIMES = {
    "t",
    "day",
    "days",
    "duration",
    "durations",
    "followup",
    "hours",
    "lenfol",
    "months",
    "times",
    "weeks",
    "years",
}

_REMEDY = 'name the two fields "event" and "time", or give times as y and event='


class Outcome(NamedTuple):
    """What was seen of a row."""

    event: Any
    time: Any


def is_outcome(y: Any) -> bool:
    """Whether y has fields: a structured array, a table, a dict of columns, or rows of a truth value and a number."""
    if getattr(getattr(y, "dtype", None), "names", None) or isinstance(y, Mapping):
        return True
    if hasattr(y, "columns") and not isinstance(y, np.ndarray):
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
        found = f"its fields have {len(columns[0])} and {len(columns[1])} entries"
        raise InputError("y", found, "give both of them one per row")
    return Outcome(columns[event], columns[1 - event])


def paired(y: Any) -> list[Outcome]:
    """The outcome of each row, of a y that is one, as labels that sort."""
    found = split_outcome(y)
    if found is None:
        raise InputError("y", "it is a table of one column", "give the column")
    events, times = (np.asarray(column).tolist() for column in found)
    return [Outcome(event, time) for event, time in zip(events, times, strict=True)]


def read_events(event: Any) -> Array:
    """(n,) int64: 1 where the event was observed, 0 where the time is censored; raises InputError for all else."""
    values = read_values(event, "event", "it")
    remedy = "give 1 (or True) for an observed event, 0 (or False) for a censored time"
    if not isinstance(values, np.ndarray):
        strange = next((v for v in values if not isinstance(v, (bool, int, float, np.number))), values[0])
        raise InputError("event", f"it holds {strange!r}, which is no number", remedy)
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
        return {j: _plain(y[:, j]) for j in range(y.shape[1])} if y.ndim == 2 and y.shape[1] != 1 else None
    if isinstance(y, tuple) and len(y) == 2 and not _in_pairs(y) and all(map(_is_column, y)):
        return dict(enumerate(y))
    if _in_pairs(y):
        return {j: [row[j] for row in y] for j in range(2)}
    return None


def _plain(column: Array) -> Any:
    return column.tolist() if column.dtype.kind == "O" else column


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
