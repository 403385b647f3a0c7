"""Reading data for the shell: a bundled data set by name, or a file of separated values, into named columns, and these
into what a task is solved on, as `streed.solve` and the estimators read tables.
"""

from __future__ import annotations

import collections
import csv
import importlib.util
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from streed import datasets
from streed.binarize import Settings, make_recipe
from streed.data import Dataset
from streed.data.database import Roles
from streed.data.ordered import TIMES
from streed.data.reading import read_column
from streed.data.strict_json import read_text
from streed.errors import InputError, MissingPackageError

Cells = list[tuple[int, list[str]]]
"""Rows of texts, each with the number of its (last) line."""

_MOST_BYTES = 1 << 33  # of a table; its cells are Python objects, so that one of this size hardly fits any memory
_MOST_DIGITS = 4_000  # of a whole number; Python itself refuses to read 4,300

_DELIMITERS = ("\t", ";", ",", " ")

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_REAL = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.IGNORECASE)
_MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})


def read_table(
    source: str | Path, target: str | int | None = None, *, delimiter: str | None = None, header: bool | None = None
) -> tuple[dict[str, Any], str | None]:
    """The columns by name, lists or (of a Parquet file) series, and the name of the target column.

    `source`: the name of a bundled data set, the path of a file (write ./berkeley for a file of that name), or "-" for
    standard input. A file whose name ends in .parquet is read by its types (`read_parquet`). The delimiter is the first
    of tab, semicolon, comma and space(s) that splits the first row, unless given. The first row is a header if one of
    its cells is neither a number nor missing, unless `header` says; without one the columns are x0, x1, ... A column of
    whole numbers becomes ints, one of numbers floats, any other stays text; numbers with leading zeros are codes, hence
    text. An empty cell, ?, NA, N/A, NaN and null are missing: None.

    `target`: a column's name, or else its position, negative ones from the end. Without it the target is the bundled
    data set's own, or None for a file. Raises InputError for an unknown file or target, a file that is no text or has
    no rows, a row of another length (by its line number), and columns of the same name.
    """
    if isinstance(source, str) and source in datasets.names():
        bundled = datasets.load(source)
        return bundled.table, bundled.target if target is None else _find_target(target, list(bundled.table))
    if str(source).endswith(".parquet"):
        table = read_parquet(Path(source))
        return table, None if target is None else _find_target(target, list(table))
    names, rows = _split(Path(source), delimiter, header)
    chosen = None if target is None else _find_target(target, names)
    return {name: _typed([row[j] for _, row in rows], name) for j, name in enumerate(names)}, chosen


def read_parquet(path: Path) -> dict[str, Any]:
    """The columns of a Parquet file by name, with their types, as series of polars or pandas.

    Raises InputError for a file that is none, and MissingPackageError without polars, or pandas with pyarrow.
    """
    if not path.is_file():
        raise InputError("data", f"there is no file {str(path)!r}", "check the path")
    try:
        library = importlib.import_module("pandas" if importlib.util.find_spec("polars") is None else "polars")
        frame = library.read_parquet(path)
    except ImportError:
        raise MissingPackageError("Parquet files need polars, or pandas with pyarrow: pip install polars") from None
    except Exception as error:  # noqa: BLE001 - every library has errors of its own for files that are none
        found = f"{str(path)!r} is no Parquet file ({type(error).__name__})"
        raise InputError("data", found, "check the file, or rename it") from None
    if not len(frame):
        raise InputError("data", f"{str(path)!r} has no rows", "give a file with at least one row")
    return {str(name): frame[name] for name in frame.columns}


def _split(path: Path, delimiter: str | None, header: bool | None) -> tuple[list[str], Cells]:
    text = read_text(path, "data", _MOST_BYTES, f"check the path, or use bundled data: {', '.join(datasets.names())}")
    rows = _rows(text, delimiter, path)
    if not rows:
        raise InputError("data", f"{str(path)!r} is empty", "give a file with at least one row")
    first = rows[0][1]
    for line, row in rows:
        if len(row) != len(first):
            found = f"line {line} of {str(path)!r} has {len(row)} values, where the first row has {len(first)}"
            raise InputError("data", found, "give every row the same number of values")
    if header is None:
        header = any(cell not in _MISSING and not _REAL.fullmatch(cell) for cell in first)
    if not header:
        return [f"x{j}" for j in range(len(first))], rows
    names = [cell or f"x{j}" for j, cell in enumerate(first)]
    if len(set(names)) < len(names):
        again = collections.Counter(names).most_common(1)[0][0]
        raise InputError("data", f"{str(path)!r} has two columns named {again!r}", "give every column its own name")
    if len(rows) == 1:
        raise InputError("data", f"{str(path)!r} has a header and no rows", "give a file with at least one row")
    return names, rows[1:]


def _rows(text: str, delimiter: str | None, path: Path) -> Cells:
    try:
        if delimiter is None:
            first = next((line.strip(" ") for line in text.splitlines() if line.strip()), "")
            splits = [d for d in _DELIMITERS if _splits(first, d)]
            delimiter = splits[0] if splits else ","
        lines: Iterable[str] = io.StringIO(text, newline="")
        if delimiter == " ":  # runs of spaces separate once, and those at either end do not
            lines = (line.strip() + "\n" for line in lines)
        return _parse(lines, delimiter)
    except csv.Error as error:
        raise InputError("data", f"{str(path)!r} is no table of separated values ({error})", "check the file") from None


def _splits(line: str, delimiter: str) -> bool:
    """Whether the delimiter parts the line; a line that is too long for one field is not parted by it."""
    try:
        return any(len(row) > 1 for _, row in _parse([line], delimiter))
    except csv.Error:
        return False


def _parse(lines: Iterable[str], delimiter: str) -> Cells:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    rows = ((reader.line_num, [cell.strip() for cell in row]) for row in reader)
    return [(line, row) for line, row in rows if row not in ([], [""])]


def _find_target(target: str | int, names: list[str]) -> str:
    if isinstance(target, str) and target in names:
        return target
    text = str(target)
    if re.fullmatch(r"-?[0-9]{1,18}", text) and -len(names) <= int(text) < len(names):
        return names[int(text)]
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    remedy = f"use a name or a position (0 to {len(names) - 1}): {shown}"
    raise InputError("target", f"there is no column {text!r}", remedy)


def _typed(cells: list[str], name: str) -> list[Any]:
    """The cells as ints, floats or texts, whichever fits all of them, and None where one is missing."""
    present = set(cells) - _MISSING
    read: Callable[[str], Any] = float if all(map(_REAL.fullmatch, present)) else str
    if all(map(_INTEGER.fullmatch, present)):
        longest = max(map(len, present), default=0)
        if longest > _MOST_DIGITS:
            said = f"column {name!r} has a whole number of {longest:,} digits"
            raise InputError("data", said, f"give numbers of up to {_MOST_DIGITS:,} digits, or texts")
        read = int
    values = {cell: read(cell) for cell in present}
    return [values.get(cell) for cell in cells]


Table = Mapping[str, Any]
"""The columns by name: lists, or series of a table library."""

GROUPS = "sensitive_features"

ALL = "all"
"""In place of the columns of numbers that are categories: every one of them."""


def roles_in(table: Table, target: str, asked: Any, categorical: Sequence[str] = ()) -> Roles:
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
    features, given = _by_role(table, roles)
    if one_hot and features:
        recipe = make_recipe(features, Settings(categorical=roles.categorical))
    if recipe is not None:
        return recipe.dataset(recipe.encode(features), **given)  # type: ignore[no-any-return]
    listed = [name for name in roles.categorical if name in features]
    X: Any = features or np.zeros((len(given["y"]), 0), dtype=np.uint8)
    return Dataset.make(X, categorical=listed or None, max_cuts=max_cuts, **given)


def _by_role(table: Table, roles: Roles) -> tuple[dict[str, Any], dict[str, Any]]:
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
