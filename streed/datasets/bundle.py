"""A bundled data set: a table of columns, which one is the target, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs

from streed.data import Dataset
from streed.errors import InputError


@final
@attrs.frozen
class Bundled:
    """A data set with its source.

    >>> from streed.datasets import load
    >>> load("monks-1").dataset(one_hot=False).names
    ('a1', 'a2', 'a3', 'a4', 'a5', 'a6')
    >>> load("monks-1").dataset().names[:4]
    ('a1=1', 'a1=2', 'a1=3', 'a2=1')
    """

    name: str
    description: str
    source: str
    table: dict[str, list[Any]]
    """The columns by name, the target among them."""
    target: str
    """The column that is predicted unless the caller names another."""
    sensitive: tuple[str, ...] = ()
    """The columns that fairness is measured on."""

    def dataset(self, target: str | None = None, *, one_hot: bool = True) -> Dataset:
        """The rows as a Dataset that predicts `target`; every other column is a feature.

        `one_hot`: binary columns only, as `one_hot` names them; else columns of more than two values are multiway.
        Raises InputError for a target that is no column.
        """
        chosen = self.target if target is None else target
        if chosen not in self.table:
            raise InputError("target", f"{self.name} has no column {chosen!r}", f"use one of {', '.join(self.table)}")
        features = {name: values for name, values in self.table.items() if name != chosen}
        if one_hot:
            return Dataset.make(_one_hot(features), self.table[chosen])
        return Dataset.make(features, self.table[chosen], categorical=True)


def one_hot(table: Mapping[str, Sequence[Any]]) -> dict[str, list[int]]:
    """The table in 0/1 columns: one per value, named `column=value`, in sorted order.

    A column of two values gives one column, named after the greater value, which is 1 (`gender=male`). A constant
    column gives one column of ones; a column that holds 0/1 or False/True keeps its name.
    """
    columns: dict[str, list[int]] = {}
    for name, values in table.items():
        found = sorted(set(values))
        if all(value in (0, 1) for value in found):
            columns[name] = [int(value) for value in values]
            continue
        for value in found[1:] if len(found) == 2 else found:
            columns[f"{name}={value}"] = [int(v == value) for v in values]
    return columns


_one_hot = one_hot
