"""Rows as a tree reads them: which child each goes to at a branching node, of raw tables and of data sets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, final

import attrs
import numpy as np

from streed.data import Column, Dataset, Kind
from streed.data.column import check_width, raw_columns
from streed.data.questions import TableRecipe
from streed.data.reading import Values
from streed.data.table import binary_codes
from streed.errors import InputError
from streed.exact import Array
from streed.tree.nodes import Branch, Leaf, Node, route, walk


def sides_in(data: Dataset, node: Branch, rows: Array | slice) -> Array:
    """(m,) the child that each of the rows (m,), given by number, goes to; `node` is on a column of `data`."""
    codes = data.X[:, node.column][rows]  # which is quicker than both at once
    return codes if node.cut is None else data.ordered[node.column].sides(codes, node.cut)


def predict_data(root: Node, data: Dataset) -> Array:
    """(n,) int64: the number of the label that the tree gives each row of the data that it was grown on."""
    labels = np.array([node.label for node in walk(root) if isinstance(node, Leaf)])
    return np.asarray(labels[route(root, functools.partial(sides_in, data), data.n_rows)])


@final
class TreeRows:
    """The rows of a table or data set, by the columns that a tree asks about, each of which is read once."""

    def __init__(self, n_rows: int, read: Callable[[int], Array | Values]) -> None:
        self.n_rows = n_rows
        self.column = functools.cache(read)

    @classmethod
    def of(cls, X: Any, columns: Mapping[int, Column], n_columns: int, recipe: TableRecipe | None) -> TreeRows:
        """The rows of `X` as `Tree.predict` takes them, for a tree on `columns` of data with `n_columns`.

        `recipe`: how the columns are made of a raw table, as `Tree` has it. Warns of values that the tree's data did
        not have, unless the recipe says otherwise; raises InputError for missing columns and for values of another
        kind.
        """
        if isinstance(X, Dataset):
            places = _places(X, columns)
            return cls(X.n_rows, lambda j: _of_data(X, places[j], columns[j]))
        if recipe is not None:
            answers = recipe.encode(X, used=columns)
            return cls(len(answers), lambda j: answers[:, j])
        if type(X) is np.ndarray and X.ndim == 2 and all(column.is_plain for column in columns.values()):
            check_width(X.shape[1], n_columns)
            codes = binary_codes(X)
            if codes is not None:
                return cls(len(codes), lambda j: codes[:, j])
        names = [columns[j].name if j in columns else "" for j in range(n_columns)]
        n_rows, raw = raw_columns(X, names, columns, named=True)

        def read(j: int) -> Array | Values:
            column, values = columns[j], raw(j)
            return column.codes(values, "warn") if column.scale is None else column.numbers(values, "warn")

        rows = cls(n_rows, read)
        for j in columns:
            rows.column(j)  # so that what cannot be read is an error, whatever branch the rows take
        return rows

    def sides(self, node: Branch, rows: Array) -> Array:
        """(m,) the child that each of the rows (m,), given by number, goes to."""
        column = self.column(node.column)
        if not isinstance(column, Values):
            return column[rows]
        assert node.cut is not None
        return node.cut.sides(np.asarray(column.values)[rows], column.missing[rows])


def _of_data(data: Dataset, j: int, column: Column) -> Array | Values:
    """Column j of the data, for a tree that has it as `column`."""
    codes = data.X[:, j]
    if column.scale is None:
        return codes
    if j in data.ordered:
        return Values(column.scale, *data.ordered[j].numbers(codes))
    # a column of two numbers may be binary in one data set and ordered in another one
    return Values(column.scale, np.array(data.column(j).categories)[codes])


def _places(data: Dataset, columns: Mapping[int, Column]) -> dict[int, int]:
    """The number in the data of each of the tree's columns."""
    places = {}
    for j, column in columns.items():
        place = j if j < data.n_columns and data.column(j).name == column.name else None
        if place is None:
            if column.name not in data.names:
                raise InputError("X", f"column {column.name!r} is missing", "give every column that the tree uses")
            place = data.names.index(column.name)
        found, wanted = data.column(place), column
        if column.scale is not None:
            zoned = column.scale is Kind.DATE and None not in (found.zone, column.zone)
            wanted = attrs.evolve(column, has_gaps=found.has_gaps, zone=found.zone if zoned else column.zone)
        real = bool(found.categories) and all(isinstance(x, (bool, int, float)) for x in found.categories)
        if found != wanted and not (column.scale is Kind.NUMBER and found.scale is None and real):
            told = f"column {column.name!r} has {_described(found)}, the tree's has {_described(column)}"
            raise InputError("X", told, "give the rows that it was grown on, or, to predict, the table itself")
        places[j] = place
    return places


def _described(column: Column) -> str:
    if column.scale is None or column.scale is Kind.CATEGORY:
        return f"the categories {column.categories}"
    zone = "" if column.scale is not Kind.DATE else f" of {'no' if column.zone is None else 'a'} zone"
    return f"{column.scale.value}s in order{zone}"
