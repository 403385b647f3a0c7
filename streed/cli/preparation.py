"""From a table as read to what a task is solved on, as `streed.solve` and the estimators read tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.binarize import Settings, make_recipe
from streed.cli.asked import Asked
from streed.data import Dataset
from streed.data.database import Roles
from streed.data.ordered import TIMES
from streed.data.reading import read_column
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.task import Task

Table = Mapping[str, Any]
"""The columns by name: lists, or series of a table library."""

GROUPS = "sensitive_features"

ALL = "all"
"""In place of the columns of numbers that are categories: every one of them."""


_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}


def roles_in(table: Table, target: str, asked: Asked, categorical: Sequence[str] = ()) -> Roles:
    """What the columns of the table are; all that are nothing else are features. Raises InputError for unknown ones."""
    roles = Roles.of(tuple(table), None, target, asked.weights, asked.frequency, {GROUPS: asked.sensitive or None})
    for argument, name in roles.named[1:]:
        if name == target:
            raise InputError(argument, f"{target!r} is the target", "name another column")
    every = ALL in categorical and ALL not in table
    for name in categorical:
        if name not in table and not (every and name == ALL):
            raise InputError("categorical", f"there is no column {name!r}", f"the columns are {', '.join(table)}")
    return attrs.evolve(roles, categorical=tuple(x for x in roles.features if every or x in categorical))


def make_dataset(
    table: Table, roles: Roles, max_cuts: int | str | None = None, *, one_hot: bool = False, recipe: Any = None
) -> Dataset:
    """The table's rows as `Dataset.make` reads them, where its columns are what the roles say.

    `one_hot`: of columns that all are categories, a question for each of them, as `Bundled.dataset` has it; `recipe`:
    the questions of a saved tree. Raises InputError for columns that are not there.
    """
    features, given = _split(table, roles)
    if one_hot and features:
        recipe = make_recipe(features, Settings(categorical=roles.categorical))
    if recipe is not None:
        return recipe.dataset(recipe.encode(features), **given)  # type: ignore[no-any-return]
    listed = [name for name in roles.categorical if name in features]
    X: Any = features or np.zeros((len(given["y"]), 0), dtype=np.uint8)
    return Dataset.make(X, categorical=listed or None, max_cuts=max_cuts, **given)


def _split(table: Table, roles: Roles) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the features by name, labels and what else `Dataset.make` takes beside them)."""
    for argument, name in roles.named:
        if name not in table:
            raise InputError(argument, f"there is no column {name!r}", f"the columns are {', '.join(table)}")
    taken = [name for _, name in roles.named]
    features = {name: column for name, column in table.items() if name not in taken}
    groups = {name: table[name] for name in roles.row_data.get(GROUPS, ())}
    assert roles.target is not None
    labels = read_column(table[roles.target], "it")
    return features, {
        "y": labels.as_categories() if labels.kind in TIMES else table[roles.target],
        "sample_weight": None if roles.sample_weight is None else table[roles.sample_weight],
        "frequency": None if roles.frequency is None else table[roles.frequency],
        GROUPS: groups or None,
    }


def query_data(asked: Asked, task: Task) -> Dataset:
    """The rows of a query, in which `data` is the file; of squared errors the database adds up all that they need.

    Raises InputError for a file that is none, and whatever `Dataset.from_query` does.
    """
    from streed.data.database import file_query, own_connection
    from streed.tasks import SquaredError

    reader = _READERS.get(Path(asked.data).suffix.lower())
    if reader is None:
        raise InputError("data", f"{asked.data!r} is no Parquet or CSV file", "name one, such as rows.parquet")
    with own_connection(None, None) as connection:
        connection.execute(f"CREATE VIEW data AS {file_query(asked.data, reader)}")
        groups: dict[str, Any] = {GROUPS: list(asked.sensitive)} if asked.sensitive else {}
        return Dataset.from_query(
            connection,
            asked.query,
            target=asked.target,
            sample_weight=asked.weights,
            frequency=asked.frequency,
            categorical=True if ALL in asked.categorical else list(asked.categorical) or None,
            max_cuts=asked.most_cuts(),
            moments=isinstance(task, SquaredError),
            **groups,
        )
