"""Data sets made by code from published rules and tables; files and tables as the shell reads them."""

from __future__ import annotations

import collections
import csv
import importlib.util
import io
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from streed.binarize import make_recipe
from streed.data import Dataset
from streed.data.column import MOST_CATEGORIES, NUMBER
from streed.data.database import Roles
from streed.data.ordered import TIMES
from streed.data.reading import read_column
from streed.data.strict_json import MOST_DIGITS, read_text
from streed.errors import InputError, MissingPackageError, check_known

__all__ = ["Bundled", "load", "names", "one_hot", "read_table"]


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
        check_known("target", [chosen], self.table, "column")
        features = {name: values for name, values in self.table.items() if name != chosen}
        if one_hot:
            return Dataset.make(_one_hot(features), self.table[chosen])
        return Dataset.make(features, self.table[chosen], categorical=True)


def one_hot(table: Mapping[str, Sequence[Any]]) -> dict[str, list[int]]:
    """The table in 0/1 columns: one per value, named `column=value`, in sorted order; none of a constant column.

    A column of two values gives one column, named after the greater value, which is 1 (`gender=male`); a column that
    holds 0/1 or False/True keeps its name.
    """
    recipe = make_recipe(table, categorical=tuple(table), max_categories=MOST_CATEGORIES - 2)
    names = (output.name for output in recipe.outputs)
    return dict(zip(names, recipe.encode(table).T.tolist(), strict=True))


_one_hot = one_hot


_ATTRIBUTES = ("left-weight", "left-distance", "right-weight", "right-distance")


def balance_scale(name: str) -> Bundled:
    """One row per setting of the four attributes in 1..5, 625 of them; the class is L, B (balanced) or R."""
    cases = list(itertools.product(range(1, 6), repeat=4))
    table: dict[str, list[Any]] = {attribute: [case[i] for case in cases] for i, attribute in enumerate(_ATTRIBUTES)}
    table["class"] = ["BLR"[(a * b > c * d) - (a * b < c * d)] for a, b, c, d in cases]
    told = "Balance scale: the side that goes down (L, R), or B where weight times distance is the same"
    source = "R. S. Siegler (1976): Three aspects of cognitive development, Cognitive Psychology 8, 481-520"
    return Bundled(name, told, source, table, "class")


_COUNTS = {
    "A": ((512, 313), (89, 19)),
    "B": ((353, 207), (17, 8)),
    "C": ((120, 205), (202, 391)),
    "D": ((138, 279), (131, 244)),
    "E": ((53, 138), (94, 299)),
    "F": ((22, 351), (24, 317)),
}
"""Per department: men admitted and rejected, women admitted and rejected."""


def berkeley(name: str) -> Bundled:
    """One row per applicant, 4,526 of them, in the order of the published table.

    Overall 45 % of the men and 30 % of the women were admitted, while department by department women fared as well as
    men or better: they applied to the departments that rejected most (Simpson's paradox).
    """
    cells = itertools.product(_COUNTS, enumerate(("male", "female")), enumerate(("yes", "no")))
    rows = [(gender, letter, told) for letter, (i, gender), (j, told) in cells for _ in range(_COUNTS[letter][i][j])]
    table = dict(zip(("gender", "department", "admitted"), map(list, zip(*rows, strict=True)), strict=True))
    told = "Graduate admissions, Berkeley 1973: gender, department, and whether the applicant was admitted"
    source = "P. J. Bickel, E. A. Hammel, J. W. O'Connell (1975): Sex bias in graduate admissions: data from Berkeley, "
    source += "Science 187, 398-404; counts as in Freedman, Pisani, Purves: Statistics, chapter 2"
    return Bundled(name, told, source, table, "admitted", ("gender",))


_SIZES = {"a1": 3, "a2": 3, "a3": 2, "a4": 3, "a5": 4, "a6": 2}  # attribute a takes the values 1 to its size

_RULES: dict[str, tuple[str, Callable[[tuple[int, ...]], bool]]] = {
    "monks-1": ("a1 = a2 or a5 = 1", lambda a: a[0] == a[1] or a[4] == 1),
    "monks-2": ("exactly two attributes have their first value", lambda a: a.count(1) == 2),
    "monks-3": (
        "(a5 = 3 and a4 = 1) or (a5 != 4 and a2 != 3)",
        lambda a: (a[4] == 3 and a[3] == 1) or (a[4] != 4 and a[1] != 3),
    ),
}


def monks(name: str) -> Bundled:
    """One row per case; the class is 1 where the problem's rule holds, else 0."""
    text, rule = _RULES[name]
    cases = list(itertools.product(*(range(1, size + 1) for size in _SIZES.values())))
    table: dict[str, list[int]] = {attribute: [case[i] for case in cases] for i, attribute in enumerate(_SIZES)}
    table["class"] = [int(rule(case)) for case in cases]
    source = "S. B. Thrun and others (1991): The MONK's problems: a performance comparison of different learning "
    source += "algorithms, CMU-CS-91-197; all cases, without the noise of the third training set"
    return Bundled(name, f"MONK's problem {name[-1]}: the class is 1 where {text}", source, table, "class")


_SQUARES = tuple(f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right"))

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe(name: str) -> Bundled:
    """One row per final board, 958 of them: nine squares with x, o or b (blank), and whether x has won."""
    boards = sorted(_final_boards())
    table = {square: [board[i] for board in boards] for i, square in enumerate(_SQUARES)}
    table["class"] = ["positive" if _has_won(board, "x") else "negative" for board in boards]
    told = "Tic-tac-toe: all boards on which a game can end; positive where x, who moves first, has won"
    source = "the rules of the game; published as D. W. Aha (1991): Tic-Tac-Toe Endgame, UCI repository"
    return Bundled(name, told, source, table, "class")


def _final_boards() -> set[str]:
    final: set[str] = set()
    reached = {"b" * 9}
    for turn in range(9):
        player = "xo"[turn % 2]
        places = ((board, square) for board in reached for square, mark in enumerate(board) if mark == "b")
        moved = {board[:square] + player + board[square + 1 :] for board, square in places}
        ended = {board for board in moved if _has_won(board, player)}
        final |= ended
        reached = moved - ended
    return final | reached


def _has_won(board: str, player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


MAKERS: dict[str, Callable[[str], Bundled]] = {"balance-scale": balance_scale, "berkeley": berkeley}
MAKERS |= dict.fromkeys(_RULES, monks) | {"tic-tac-toe": tic_tac_toe}
"""By name."""


def names() -> tuple[str, ...]:
    """The names of the bundled data sets, sorted."""
    return tuple(MAKERS)


def load(name: str) -> Bundled:
    """The bundled data set of that name, made afresh; raises InputError for a name that is not in `names()`."""
    check_known("name", [name], MAKERS, "bundled data set")
    return MAKERS[name](name)


Cells = list[tuple[int, list[str]]]
"""Rows of texts, each with the number of its (last) line."""

_MOST_BYTES = 1 << 33  # of a table; its cells are Python objects, so that one of this size hardly fits any memory

_DELIMITERS = ("\t", ";", ",", "|", " ")

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})


def read_table(
    source: str | Path, target: str | int | None = None, *, header: bool | None = None
) -> tuple[dict[str, Any], str | None]:
    """The columns by name, lists or (of a Parquet file) series, and the name of the target column.

    `source`: the name of a bundled data set, the path of a file (write ./berkeley for a file of that name), or "-" for
    standard input. A file whose name ends in .parquet is read by its types (`read_parquet`). The delimiter is the first
    of tab, semicolon, comma, bar and space(s) that splits the first row, which is a header if one of its cells is
    neither a number nor missing, unless `header` says; without one the columns are x0, x1, ... A column of whole
    numbers becomes ints, one of numbers floats, any other stays text; numbers with leading zeros are codes, hence text.
    An empty cell, ?, NA, N/A, NaN and null are missing: None; so is a blank line of a file with one column.

    `target`: a column's name, or else its position, negative ones from the end. Without it the target is the bundled
    data set's own, or None for a file. Raises InputError for an unknown file or target, a file that is no text or has
    no rows, a row of another length (by its line number), and columns of the same name.
    """
    if isinstance(source, str) and source in MAKERS:
        bundled = load(source)
        return bundled.table, bundled.target if target is None else _find_target(target, list(bundled.table))
    if str(source).endswith(".parquet"):
        table = read_parquet(Path(source))
        return table, None if target is None else _find_target(target, list(table))
    names, rows = _split(Path(source), header)
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


def _split(path: Path, header: bool | None) -> tuple[list[str], Cells]:
    text = read_text(path, "data", _MOST_BYTES, f"check the path, or use bundled data: {', '.join(MAKERS)}")
    rows = _rows(text, path)
    if not rows:
        raise InputError("data", f"{str(path)!r} is empty", "give a file with at least one row")
    first = rows[0][1]
    for line, row in rows:
        if len(row) != len(first):
            found = f"line {line} of {str(path)!r} has {len(row)} values, where the first row has {len(first)}"
            raise InputError("data", found, "give every row the same number of values")
    if header is None:
        header = any(cell not in _MISSING and not NUMBER.fullmatch(cell) for cell in first)
    if not header:
        return [f"x{j}" for j in range(len(first))], rows
    names = [cell or f"x{j}" for j, cell in enumerate(first)]
    if len(set(names)) < len(names):
        again = collections.Counter(names).most_common(1)[0][0]
        raise InputError("data", f"{str(path)!r} has two columns named {again!r}", "give every column its own name")
    if len(rows) == 1:
        raise InputError("data", f"{str(path)!r} has a header and no rows", "give a file with at least one row")
    return names, rows[1:]


def _rows(text: str, path: Path) -> Cells:
    try:
        first = [line.strip(" ") for line in itertools.islice(filter(str.strip, io.StringIO(text)), 2)]
        # a name may have spaces
        delimiter = next((d for d in _DELIMITERS if all(_splits(row, d) for row in first[: 2 if d == " " else 1])), ",")
        lines: Iterable[str] = io.StringIO(text, newline="")
        if delimiter == " ":  # runs of spaces separate once, and those at either end do not
            lines = (line.strip() + "\n" for line in lines)
        rows = _parse(lines, delimiter)
    except csv.Error as error:
        raise InputError("data", f"{str(path)!r} is no table of separated values ({error})", "check the file") from None
    if any(len(row) > 1 for _, row in rows):
        return [(line, row) for line, row in rows if row not in ([], [""])]
    return [(line, row or [""]) for line, row in itertools.dropwhile(lambda each: not any(each[1]), rows)]


def _splits(line: str, delimiter: str) -> bool:
    """Whether the delimiter parts the line; a line that is too long for one field is not parted by it."""
    try:
        return any(len(row) > 1 for _, row in _parse([line], delimiter))
    except csv.Error:
        return False


def _parse(lines: Iterable[str], delimiter: str) -> Cells:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    return [(reader.line_num, [cell.strip() for cell in row]) for row in reader]


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
    read: Callable[[str], Any] = float if all(map(NUMBER.fullmatch, present)) else str
    if all(map(_INTEGER.fullmatch, present)):
        longest = max(map(len, present), default=0)
        if longest > MOST_DIGITS:
            said = f"column {name!r} has a whole number of {longest:,} digits"
            raise InputError("data", said, f"give numbers of up to {MOST_DIGITS:,} digits, or texts")
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
    named = {"target": target, "sample_weight": asked.weights, "frequency": asked.frequency, **asked.beside()}
    roles = Roles.of(tuple(table), None, named)
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
    for argument, name in roles.named:
        check_known(argument, [name], table, "column")
    taken = [name for _, name in roles.named]
    features = {name: column for name, column in table.items() if name not in taken}
    given = roles.given(table)
    labels = read_column(given["y"], "it")
    if labels.kind in TIMES:
        given["y"] = labels.as_categories()
    if one_hot and features:
        recipe = make_recipe(features, categorical=roles.categorical)
    if recipe is not None:
        return recipe.dataset(recipe.encode(features), **given)  # type: ignore[no-any-return]
    listed = [name for name in roles.categorical if name in features]
    X: Any = features or np.zeros((len(given["y"]), 0), dtype=np.uint8)
    return Dataset.make(X, categorical=listed or None, max_cuts=max_cuts, **given)
