"""Bundled data, made by code from published rules and tables: `names()` lists them, `load(name)` makes one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs

from streed.data import Dataset
from streed.errors import InputError

__all__ = ["Bundled", "load", "names", "one_hot"]


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
    if name not in MAKERS:
        raise InputError("name", f"there is no bundled data set {name!r}", f"use one of {', '.join(MAKERS)}")
    return MAKERS[name](name)
