"""What a tree asks of the table that the caller had: columns and values that are there, whatever was made of them.

What a 0/1 column means that the caller made, only the caller can say (`conditions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

import attrs

from streed.data import Column, Cut, Kind
from streed.errors import InputError, check_kind
from streed.tree import FlatBranch, Tree, flatten

ONE_OF, AT_MOST, ABOVE, GAP, PRESENT, HOLDS = "one of", "<=", ">", "gap", "present", "holds"
"""What a case says of a value: it is one of some, up to or above a threshold, absent, there; or an expression holds."""


@attrs.frozen
class Case:
    """The rows that one child takes: those whose value stands in that relation."""

    child: int
    relation: str
    values: tuple[Any, ...] = ()
    """The values, the threshold (microseconds of durations, and of dates since 1970) or the expression."""


@attrs.frozen
class Question:
    """What a branching node asks of the caller's table."""

    place: int
    """The column's number in the table."""
    column: Column
    """As the table has it."""
    cases: tuple[Case, ...]
    """No value is in two of them, but that the last one may be of any that is present."""
    otherwise: int | None
    """The child of all other rows; None where the tree has no answer to them."""

    @property
    def rest(self) -> int:
        """The child of all other rows, for forms that cannot refuse: the first where the tree has no answer."""
        return 0 if self.otherwise is None else self.otherwise

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the column's categories are."""
        return tuple(value for value in self.column.known if isinstance(value, str))

    @property
    def order(self) -> list[Case]:
        """The cases that need be tried, in an order where the first that holds is right: few values first."""
        cases = [case for case in self.cases if case.child != self.otherwise]
        return sorted(cases, key=lambda case: (case.relation == PRESENT, len(case.values)))


def plan(tree: Tree, given: Mapping[str, str] | None = None) -> dict[int, Question]:
    """What branching nodes ask, by their numbers; `given`: the expression that holds where the column named so is 1."""
    check_kind("conditions", given, (Mapping, NoneType))
    used = {column.name: column for column in tree.columns.values()}
    for name in sorted(given or (), key=lambda name: name not in used):
        if name not in used:
            names = ", ".join(map(repr, used))
            raise InputError("conditions", f"{name!r} is no column of the tree", f"it asks about {names}")
        if used[name].multiway:
            raise InputError("conditions", f"{name!r} has categories", "give those of binary columns only")
    branches = ((place, node) for place, node in enumerate(flatten(tree.root)) if isinstance(node, FlatBranch))
    return {place: _question_at(tree, node.column, node.cut, given or {}) for place, node in branches}


def _question_at(tree: Tree, j: int, cut: Cut | None, given: Mapping[str, str]) -> Question:
    """What a branching node on column j of the tree's data asks; of an ordered one, at a cut."""
    column, recipe = tree.columns[j], tree.recipe
    asked: Cut | int | None = cut
    if column.name in given:
        return Question(j, column, (Case(1, HOLDS, (given[column.name],)),), 0)
    place, strict = j, False
    if recipe is not None:
        place, strict = recipe.sources[j], recipe.unseen == "error"
        column, at = recipe.columns[place], sum(source == place for source in recipe.sources[:j])
        asked = column.questions[at][1] if column.one_hot else None
    cases, gap, unseen = _cases(column, asked, strict)
    if gap is None and unseen is not None:
        cases, unseen = [*cases, Case(unseen, PRESENT)], None
    elif gap is not None and gap != unseen:
        cases.append(Case(gap, GAP))
    return Question(place, column, tuple(cases), unseen)


def _cases(column: Column, asked: Cut | int | None, strict: bool) -> tuple[list[Case], int | None, int | None]:
    """(the cases of values, the child of gaps, that of other values), None for no answer.

    `asked`: the cut of an ordered column, or a code, of which a question in a recipe is 1 for the first child; None for
    a child per category. `strict`: values that the column was not read with have no answer.
    """
    known, usual = column.known, column.usual
    gap = None if strict and not column.has_gaps else 0
    unseen = None if strict and not column.other else usual
    if asked is None:
        last = len(column.categories) - 1 if column.has_gaps else None if strict else usual
        return [Case(code, ONE_OF, (category,)) for code, category in enumerate(known)], last, unseen
    low, high = (1, 0) if column.one_hot else (0, 1)
    values: tuple[Any, ...] = ()
    if isinstance(asked, Cut):
        gap, limit = gap if column.one_hot else asked.gaps, asked.threshold
        if limit is not None and column.scale is not Kind.CATEGORY:
            sides = [Case(low, AT_MOST, (limit,)), Case(high, ABOVE, (limit,))]
            return [case for case in sides if case.child != gap], gap, gap
        values = () if limit is None else known[: int(limit) + 1]
    else:
        values = known[asked : asked + 1]
    yes, no, gap = (low, high, gap) if values else (1, 0, 1)
    others = tuple(category for category in known if category not in values)
    closed = strict and not column.other and bool(known)
    groups = [(yes, values), (no, others if closed else ())]
    return [Case(child, ONE_OF, each) for child, each in groups if each], gap, None if closed else no
