"""What a tree asks of the table that the caller had: columns and values that are there, whatever was made of them.

What a 0/1 column means that the caller made, only the caller can say (`conditions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import attrs

from streed.data import Column, Cut, Kind
from streed.errors import InputError, check_kind
from streed.tree import Tree, flatten

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
    name: str
    """The column's name in the table."""
    kind: Kind | None
    """How the column is read; None where its values are compared as they are."""
    cases: tuple[Case, ...]
    """No value is in two of them, but that the last one may be of any that is present."""
    otherwise: int | None
    """The child of all other rows; None where the tree has no answer to them."""
    named: bool = True
    """Whether the table named its columns."""
    known: tuple[Any, ...] = ()
    """The categories of the column, where it has a recipe."""
    zone: str | None = None
    """Of dates that have one."""

    @property
    def rest(self) -> int:
        """The child of all other rows, for forms that cannot refuse: the first where the tree has no answer."""
        return 0 if self.otherwise is None else self.otherwise

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the column's categories are, as far as they are known."""
        asked = (value for case in self.cases if case.relation == ONE_OF for value in case.values)
        return tuple(value for value in (*self.known, *asked) if isinstance(value, str))

    @property
    def order(self) -> list[Case]:
        """The cases that need be tried, in an order where the first that holds is right: few values first."""
        cases = [case for case in self.cases if case.child != self.otherwise]
        return sorted(cases, key=lambda case: (case.relation == PRESENT, len(case.values)))


@attrs.frozen(eq=False)
class Plan:
    """A tree by the numbers of its nodes, the root first, with what its branching nodes ask and its leaves show."""

    children: tuple[tuple[int, ...], ...]
    """Empty for a leaf."""
    questions: tuple[Question | None, ...]
    """None for a leaf."""
    shows: tuple[Any, ...]
    """None for a branching node."""


def plan(tree: Tree, given: Mapping[str, str] | None = None) -> Plan:
    """The tree's nodes and questions; `given`: the expression that holds where the binary column named so is 1."""
    check_kind("conditions", given, (Mapping, NoneType))
    used = {column.name: column for column in tree.columns.values()}
    for name in sorted(given or (), key=lambda name: name not in used):
        if name not in used:
            names = ", ".join(map(repr, used))
            raise InputError("conditions", f"{name!r} is no column of the tree", f"it asks about {names}")
        if used[name].multiway:
            raise InputError("conditions", f"{name!r} has categories", "give those of binary columns only")
    shows, nodes = iter(tree.shows()), list[tuple[Any, ...]]()
    for first, second, _, *cuts in flatten(tree.root):
        if isinstance(second, tuple):
            asks = _of_cut(tree.columns[first], first, cuts[0]) if cuts else _question_at(tree, first, given or {})
            nodes.append((second, asks, None))
        else:
            nodes.append(((), None, next(shows)))
    return Plan(*zip(*nodes, strict=True))


def _question_at(tree: Tree, j: int, given: Mapping[str, str]) -> Question:
    """What a branching node on column j of the tree's data asks, which is not ordered."""
    column, recipe = tree.columns[j], tree.recipe
    if column.name in given:
        return Question(j, column.name, None, (Case(1, HOLDS, (given[column.name],)),), 0)
    if recipe is None:
        cases = [Case(code, ONE_OF, (category,)) for code, category in enumerate(column.known)]
        cases += [Case(len(column.categories) - 1, GAP)] if column.has_gaps else []
        kind = Kind.BOOLEAN if column.is_plain else Kind.CATEGORY
        return Question(j, column.name, kind, tuple(cases), column.usual, column.name != f"x{j}", column.known)
    place = recipe.sources[j]
    at = sum(source == place for source in recipe.sources[:j])
    asked = _of_recipe(recipe.columns[place], at, place, strict=recipe.unseen == "error")
    return attrs.evolve(asked, named=recipe.named)


def _of_cut(column: Column, place: int, cut: Cut) -> Question:
    """The question at a cut of an ordered column."""
    named = column.name != f"x{place}"
    if cut.threshold is None:
        return Question(place, column.name, column.scale, (Case(1, GAP),), 0, named, zone=column.zone)
    if column.scale is Kind.CATEGORY:
        steps = Case(0, ONE_OF, column.categories[: int(cut.threshold) + 1])
        return Question(place, column.name, column.scale, (steps, Case(cut.gaps, GAP)), 1, named)
    case = Case(1, ABOVE, (cut.threshold,)) if cut.gaps == 0 else Case(0, AT_MOST, (cut.threshold,))
    return Question(place, column.name, column.scale, (case,), cut.gaps, named, zone=column.zone)


def _of_recipe(column: Column, at: int, place: int, *, strict: bool) -> Question:
    """The question that its output `at` asks; `strict`: values that the column was not read with have no answer."""
    closed = strict and not column.other
    gap: int | None = None if strict and not column.has_gaps else 0
    if not column.one_hot:
        listed = [Case(code, ONE_OF, (category,)) for code, category in enumerate(column.known)]
        gap = len(column.categories) - 1 if column.has_gaps else None if strict else column.usual
        return _question(column, place, listed, gap, None if closed else column.usual)
    (_, asked), known = column.questions[at], column.known
    value: tuple[Any, ...] = ()
    if not isinstance(asked, Cut):
        value = known[asked : asked + 1]
    elif asked.threshold is not None and column.scale is not Kind.CATEGORY:
        return _question(column, place, [Case(1, AT_MOST, (asked.threshold,))], gap, 0, above=asked.threshold)
    elif asked.threshold is not None:
        value = known[: int(asked.threshold) + 1]
    yes, gap = (Case(1, ONE_OF, value), gap) if value else (Case(1, GAP), 1)
    if not closed or not known:
        return _question(column, place, [yes], gap, 0)
    others = tuple(category for category in known if category not in value)
    return _question(column, place, [yes, Case(0, ONE_OF, others)] if others else [yes], gap, None)


def _question(
    column: Column, place: int, cases: Sequence[Case], gap: int | None, unseen: int | None, *, above: Any = None
) -> Question:
    """The question with those cases, whose gaps and other values go to the children named; None is no answer."""
    found = [case for case in cases if case.relation != GAP]
    if gap != unseen and gap is not None:
        found.append(Case(gap, GAP))
    elif gap != unseen:
        found.append(Case(unseen or 0, PRESENT) if above is None else Case(unseen or 0, ABOVE, (above,)))
        unseen = None
    asked = Question(place, column.name, column.kind, tuple(found), unseen)
    return attrs.evolve(asked, known=column.known, zone=column.zone)
