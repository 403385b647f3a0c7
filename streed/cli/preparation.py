"""From a table as read to what a task is solved on: features, labels and weights, and back again for a saved tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from streed.binarize import ColumnRecipe, Settings, make_recipe
from streed.binarize.planning import LEARNED, Teacher
from streed.binarize.raw import Kind, read_column
from streed.data import Dataset
from streed.data.rows import read_frequency, read_weights, weigh_copies
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
    settings: Settings | None = None,
    frequency: str | None = None,
    every_threshold: bool = False,
) -> Reading:
    """How to make features of the table's columns but `target`, `weights`, `frequency` and `sensitive` ones.

    Texts are categories. Questions by `settings` are made of numbers with more than two values that are not listed in
    `categorical`, unless the table is `trusted` to hold nothing but categories; of dates, of texts of many values, and
    of columns with missing values. With `every_threshold` numbers and dates are ordered columns instead. Raises
    InputError for unknown columns.
    """
    listed_names = [("categorical", c) for c in categorical] + [("sensitive", c) for c in sensitive]
    for argument, name in (("target", target), ("weights", weights), ("frequency", frequency), *listed_names):
        if name is not None and name not in table and not (argument == "categorical" and name == ALL):
            raise InputError(argument, f"there is no column {name!r}", f"the columns are {', '.join(table)}")
    for argument, name in (("weights", weights), ("frequency", frequency)):
        if name == target:
            raise InputError(argument, f"{target!r} is the target", "name another column")
    if target in sensitive:
        raise InputError("sensitive", f"{target!r} is the target", "name another column")
    features = [name for name in table if name not in (target, weights, frequency, *sensitive)]
    chosen = [name for name in categorical if name in table]
    if trusted or (ALL in categorical and ALL not in table):
        chosen = features
    wanted = Settings() if settings is None else settings
    wanted = attrs.evolve(wanted, categories="one-hot" if one_hot else "multiway")
    listed, sources, raw = [], {}, []
    for name in features:
        values = set(table[name])
        if _needs_questions(table[name], values, name in chosen, trusted, wanted):
            raw.append(name)
            continue
        if len(values) <= 2 and values <= {0, 1}:
            continue
        if name in chosen and any(isinstance(value, (int, float)) for value in values):
            listed.append(name)
        if one_hot:
            sources[name] = tuple(sorted(values))
    ordered: list[str] = []
    if every_threshold:
        ordered = [
            name for name in raw if name not in chosen and read_column(table[name], name).kind is not Kind.CATEGORY
        ]
        raw = [name for name in raw if name not in ordered]
    recipes: tuple[ColumnRecipe, ...] = ()
    if raw:
        found = attrs.evolve(wanted, categorical=[name for name in raw if name in chosen])
        row_weights = _masses(table, weights, frequency)
        taught = _teacher(table[target]) if wanted.thresholds in LEARNED else None
        recipes = make_recipe({name: table[name] for name in raw}, found, taught, weights=row_weights).columns
    return Reading(
        target, weights, tuple(listed), one_hot, sources, tuple(sensitive), recipes, frequency, tuple(ordered)
    )


def present(table: dict[str, list[Any]], frequency: str | None) -> dict[str, list[Any]]:
    """The table without the rows whose number in the column `frequency` is 0; the table itself if there is none.

    Raises InputError where these are no whole numbers >= 0.
    """
    if frequency is None or frequency not in table:
        return table
    copies = read_frequency(table[frequency], len(table[frequency]))
    if copies is None or copies.all():
        return table
    rows = np.flatnonzero(copies).tolist()
    return {name: [values[row] for row in rows] for name, values in table.items()}


def _masses(table: Table, weights: str | None, frequency: str | None) -> Any:
    """(n,) what each row of the table weighs, with all rows that it stands for; None where that is 1."""
    each = None if weights is None else read_weights(table[weights], len(table[weights]))
    copies = None if frequency is None else read_frequency(table[frequency], len(table[frequency]))
    return weigh_copies(each, copies)


def _needs_questions(column: list[Any], values: set[Any], listed: bool, trusted: bool, settings: Settings) -> bool:
    """Whether the column is more than 0/1 or a few categories."""
    if None in values:
        return True
    if any(isinstance(value, (int, float)) for value in values):
        return len(values) > 2 and not listed
    return not trusted and (len(values) > settings.max_categories or read_column(column, "").kind is Kind.DATE)


def _teacher(labels: list[Any]) -> Teacher:
    """What thresholds are learned from: numbers where y is measured, else classes."""
    data = Dataset.make(np.zeros((len(labels), 0), dtype=np.uint8), labels)
    measured = any(isinstance(label, float) and not label.is_integer() for label in data.classes)
    return Teacher(data.targets if measured else data.class_numbers, measured)


def make_dataset(table: Table, reading: Reading, *, max_cuts: int | str | None = None) -> Dataset:
    """The table's rows as `reading` says, with all thresholds of ordered columns or at most so many of each.

    Raises InputError for columns that are not there.
    """
    groups = [("sensitive", name) for name in reading.sensitive]
    counted = ("frequency", reading.frequency)
    for argument, name in (("target", reading.target), ("weights", reading.weights), counted, *groups):
        if name is not None and name not in table:
            raise InputError(argument, f"there is no column {name!r}", f"the columns are {', '.join(table)}")
    others = (reading.target, reading.weights, reading.frequency, *reading.sensitive)
    recipes = {recipe.name: recipe for recipe in reading.recipes}
    columns: dict[str, Any] = {}
    for name, values in table.items():
        if name in recipes:
            columns |= _answers(recipes[name], values)
        elif name in reading.ordered:
            columns[name] = _in_order(values, name)
        elif name not in others and reading.one_hot:
            _distinct(name, values)
            columns |= one_hot({name: values})
        elif name not in others:
            columns[name] = values
    sensitive = {name: table[name] for name in reading.sensitive} or None
    labels = table[reading.target]
    weights = None if reading.weights is None else table[reading.weights]
    frequency = None if reading.frequency is None else table[reading.frequency]
    beside: dict[str, Any] = {"sample_weight": weights, "frequency": frequency, "sensitive_features": sensitive}
    if not reading.one_hot or not columns or reading.ordered:
        listed = [name for name in reading.categorical if name in columns]
        X: Any = columns or np.zeros((len(labels), 0), dtype=np.uint8)
        return Dataset.make(X, labels, categorical=listed or None, max_cuts=max_cuts, **beside)
    codes = np.array(list(columns.values()), dtype=np.uint8).T
    named = list(columns)
    return Dataset.make(codes, labels, names=named, **beside)


def _in_order(values: list[Any], name: str) -> Any:
    """The column as it is, texts that are dates as such."""
    if not any(isinstance(value, str) for value in values):
        return values
    raw = read_column(values, name)
    if raw.kind is not Kind.DATE:
        return values
    return np.where(raw.missing, np.datetime64("NaT", "us"), raw.values.astype("datetime64[us]"))


def _answers(recipe: ColumnRecipe, values: list[Any]) -> dict[str, Any]:
    """The columns that the recipe makes, by name: 0/1, or texts of a multiway column."""
    codes = recipe.codes(read_column(values, recipe.name), "error")
    if recipe.multiway:
        (output,) = recipe.outputs
        return {output.name: [str(output.categories[code]) for code in codes[:, 0].tolist()]}
    return {output.name: column for output, column in zip(recipe.outputs, codes.T, strict=True)}


def predict(tree: Tree, table: Table) -> list[Any]:
    """What the tree predicts for each row of a table like the one that it was learned from, as `asked_columns` says."""
    return tree.predict(asked_columns(tree, table)).tolist()  # type: ignore[no-any-return]


def asked_columns(tree: Tree, table: Table) -> dict[str, Any]:
    """The table's columns and, by name, those that were made of them and that the tree asks about.

    The target need not be there. Raises InputError for missing columns, and for values that the tree's data did not
    have in a column that the tree asks about.
    """
    reading = None if tree.claims is None else tree.claims.reading
    derived = {} if reading is None else {f"{c}={v}": (c, v) for c, values in reading.sources.items() for v in values}
    columns: dict[str, Any] = dict(table)
    for recipe in () if reading is None else reading.recipes:
        if any(output.name == column.name for output in recipe.outputs for column in tree.columns.values()):
            if recipe.name not in table:
                raise InputError("data", f"column {recipe.name!r} is missing", "give every column that the tree uses")
            columns |= _answers(recipe, table[recipe.name])
    for column in tree.columns.values():
        if column.scale is not None and column.name in table:
            columns[column.name] = _in_order(table[column.name], column.name)
        if column.name in derived:
            source, value = derived[column.name]
            assert reading is not None
            columns[column.name] = _indicator(table, source, value, reading.sources[source])
    return columns


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
