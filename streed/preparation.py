"""From a table as read to what a task is solved on: features, labels and weights, and back again for a saved tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streed.data import Dataset
from streed.datasets import one_hot
from streed.errors import InputError
from streed.tree import Reading, Tree

Table = Mapping[str, list[Any]]

ALL = "all"
"""In place of the columns of numbers that are categories: every one of them."""


def plan(
    table: Table,
    target: str,
    *,
    weights: str | None,
    categorical: Sequence[str],
    one_hot: bool,
    trusted: bool,
    sensitive: Sequence[str] = (),
) -> Reading:
    """How to make features of the table's columns but `target`, `weights` and `sensitive` ones.

    Texts are categories; numbers with more than two values must be listed in `categorical`, unless the table is
    `trusted` to hold nothing but categories. Raises InputError for unknown columns, missing values and such numbers.
    """
    listed_names = [("categorical", c) for c in categorical] + [("sensitive", c) for c in sensitive]
    for argument, name in (("target", target), ("weights", weights), *listed_names):
        if name is not None and name not in table and not (argument == "categorical" and name == ALL):
            raise InputError(argument, f"there is no column {name!r}", f"the columns are {', '.join(table)}")
    if weights == target:
        raise InputError("weights", f"{target!r} is the target", "name another column")
    if target in sensitive:
        raise InputError("sensitive", f"{target!r} is the target", "name another column")
    features = [name for name in table if name not in (target, weights, *sensitive)]
    chosen = [name for name in categorical if name in table]
    if trusted or (ALL in categorical and ALL not in table):
        chosen = features
    listed, sources = [], {}
    for name in features:
        values = _distinct(name, table[name])
        if len(values) <= 2 and set(values) <= {0, 1}:
            continue
        numeric = any(isinstance(value, (int, float)) for value in values)
        if numeric and name in chosen:
            listed.append(name)
        elif numeric and len(values) > 2:
            raise InputError(
                "data",
                f"column {name!r} has {len(values)} different numbers, such as {values[0]} and {values[-1]}",
                f"make 0/1 columns of it (thresholds), or add --categorical {name!r} if they are categories",
            )
        if one_hot:
            sources[name] = tuple(values)
    return Reading(target, weights, tuple(listed), one_hot, sources, tuple(sensitive))


def make_dataset(table: Table, reading: Reading) -> Dataset:
    """The table's rows as `reading` says; raises InputError for columns that are not there."""
    groups = [("sensitive", name) for name in reading.sensitive]
    for argument, name in (("target", reading.target), ("weights", reading.weights), *groups):
        if name is not None and name not in table:
            raise InputError(argument, f"there is no column {name!r}", f"the columns are {', '.join(table)}")
    others = (reading.target, reading.weights, *reading.sensitive)
    features = {name: table[name] for name in table if name not in others}
    sensitive = {name: table[name] for name in reading.sensitive} or None
    labels = table[reading.target]
    weights = None if reading.weights is None else table[reading.weights]
    if not reading.one_hot or not features:
        listed = [name for name in reading.categorical if name in features]
        X: Any = features or np.zeros((len(labels), 0), dtype=np.uint8)
        return Dataset.make(X, labels, sample_weight=weights, categorical=listed or None, sensitive_features=sensitive)
    for name, values in features.items():
        _distinct(name, values)
    columns = one_hot(features)
    codes = np.array(list(columns.values()), dtype=np.uint8).T
    named = list(columns)
    return Dataset.make(codes, labels, sample_weight=weights, names=named, sensitive_features=sensitive)


def predict(tree: Tree, table: Table) -> list[Any]:
    """What the tree predicts for each row of a table like the one that it was learned from.

    The target need not be there. Raises InputError for missing columns, and for values that the tree's data did not
    have in a column that the tree asks about.
    """
    reading = None if tree.claims is None else tree.claims.reading
    derived = {} if reading is None else {f"{c}={v}": (c, v) for c, values in reading.sources.items() for v in values}
    columns: dict[str, Any] = dict(table)
    for column in tree.columns.values():
        if column.name in derived:
            source, value = derived[column.name]
            assert reading is not None
            columns[column.name] = _indicator(table, source, value, reading.sources[source])
    return tree.predict(columns).tolist()  # type: ignore[no-any-return]


def _indicator(table: Table, source: str, value: Any, known: tuple[Any, ...]) -> list[int]:
    if source not in table:
        raise InputError("data", f"column {source!r} is missing", "give every column that the tree uses")
    values = _distinct(source, table[source])
    for other in values:
        if other not in known:
            raise InputError(
                "data", f"column {source!r} has the value {other!r}, which the tree's data did not have", "leave it out"
            )
    return [int(entry == value) for entry in table[source]]


def _distinct(name: str, values: Sequence[Any]) -> list[Any]:
    """The sorted distinct values; raises InputError for missing ones."""
    found = set(values)
    if None in found:
        raise InputError(
            "data",
            f"column {name!r} has a missing value in row {values.index(None)} (counted from 0)",
            "fill it in, or leave the row out",
        )
    return sorted(found)
