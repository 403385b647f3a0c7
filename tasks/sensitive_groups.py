"""The groups that fairness compares: the rows by the values of sensitive columns, which are no columns of X.

They are row data, `sensitive_features`: one column of any kind, or a table with named ones.
"""

from __future__ import annotations

from typing import Any, final
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.ordered import distinct_numbers
from streed.errors import InputError
from streed.exact import Array

ROW_DATA = "sensitive_features"


@final
@attrs.frozen(eq=False)
class Groups:
    """The groups that the rows are in."""

    names: tuple[str, ...]
    number: Array
    """(n,) int64: which group each row is in."""

    def sizes(self, counted: Array, weights: Array | None) -> list[int]:
        """What the rows of each group weigh that are `counted` (n,) bool. `weights` (n,): whole numbers."""
        found = np.zeros(len(self.names), np.int64)
        np.add.at(found, self.number[counted], 1 if weights is None else weights[counted])
        return found.tolist()


def groups_of(notion: Any, data: Dataset) -> Groups:
    """The groups; raises InputError if there is one only."""
    groups = present_groups(notion, data)
    if len(groups.names) < 2:
        raise InputError(ROW_DATA, f"there is one group only, {groups.names[0]!r}", "rates compare two or more")
    return groups


_known: WeakKeyDictionary[Dataset, dict[Any, Groups]] = WeakKeyDictionary()
"""By the data and the feature that groups are of: a solve asks for them before it searches and when it is done."""


def present_groups(notion: Any, data: Dataset) -> Groups:
    """The groups that have rows, in sorted order of the sensitive columns' values."""
    known = _known.setdefault(data, {})
    if notion.feature in known:
        return known[notion.feature]
    groups: list[tuple[Any, ...]] = [()]
    number = np.zeros(data.n_rows, np.int64)
    for column in _columns(notion, data):
        values, codes = _coded(column)
        present, number = distinct_numbers(number * len(values) + codes)
        pairs = [divmod(both, len(values)) for both in present.tolist()]
        groups = [(*groups[at], values[code]) for at, code in pairs]
    names = [", ".join(map(str, values)) for values in groups]
    if len(set(names)) < len(names):
        names = [", ".join(map(repr, values)) for values in groups]
    return known.setdefault(notion.feature, Groups(tuple(names), number))


def _coded(column: Array) -> tuple[list[Any], Array]:
    """The distinct values in order, and the number of each row's value (n,)."""
    if column.dtype.kind in "biu":
        values, codes = distinct_numbers(column)
        return values.tolist(), codes
    listed = column.tolist()
    ordered = sorted(dict.fromkeys(listed), key=lambda value: (isinstance(value, str), str(value)))
    places = {value: place for place, value in enumerate(ordered)}
    return ordered, np.array([places[value] for value in listed])


def _columns(notion: Any, data: Dataset) -> list[Array]:
    """The sensitive columns that the notion is about."""
    name = type(notion).__name__
    if ROW_DATA not in data.row_data:
        raise InputError(ROW_DATA, f"missing, and {name} compares groups of rows", f"give solve(..., {ROW_DATA}=...)")
    table = data.row_data[ROW_DATA]
    wanted = notion.feature if isinstance(notion.feature, tuple) else (notion.feature,)
    if table.dtype.names is not None:
        named = {label: table[label] for label in table.dtype.names}
        if notion.feature is None and len(named) > 1:
            raise InputError(ROW_DATA, f"it has the columns {', '.join(named)}", f'name one or several: {name}("...")')
        chosen = list(named) if notion.feature is None else list(wanted)
        for label in chosen:
            if label not in named:
                raise InputError(ROW_DATA, f"there is no column {label!r}", f"its columns are {', '.join(named)}")
        return [named[label] for label in chosen]
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim != 1:
        raise InputError(ROW_DATA, f"its {table.shape[1]} columns have no names", "give a table or dict with names")
    if notion.feature is not None:
        found = f"it is one column without a name, not a table with {notion.feature!r}"
        raise InputError(ROW_DATA, found, f"write {name}()")
    if table.dtype.kind == "f" and np.isnan(table).any():
        found = f"row {int(np.isnan(table).argmax())} has no group"
        raise InputError(ROW_DATA, found, "fill it in, or leave the row out")
    return [table]
