"""What a tree asks of the table that the caller had: columns and values that are there, whatever was made of them.

A tree of an estimator carries the recipe of its questions, one that the shell grew says in its claims how the file was
read, and any other asks about the columns of its data as they are. What a 0/1 column means that the caller made, only
the caller can say (`conditions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from streed.binarize import ColumnRecipe
from streed.binarize.conditions import questions
from streed.binarize.raw import Kind
from streed.data import Column, Cut, Scale
from streed.errors import InputError
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
    columns: tuple[int, ...]
    """The number of the column of the tree's data; -1 for a leaf."""
    questions: tuple[Question | None, ...]
    """None for a leaf."""
    shows: tuple[Any, ...]
    """None for a branching node."""
    rows: tuple[int, ...]
    cuts: tuple[Cut | None, ...]
    """The cuts of branching nodes on ordered columns."""


def plan(tree: Tree, given: Mapping[str, str] | None = None, *, coded: bool = False) -> Plan:
    """The tree's nodes and questions.

    `given`: by the name of a binary column, the expression that holds where its value is the second one (1, or yes).
    `coded`: ask about the columns of the data that the shell made of a table, not about the table's. Raises InputError
    for a name that the tree does not ask about, and for a column of categories.
    """
    asked = _Asked.of(tree, given or {}, coded=coded)
    shows = iter(tree.shows())
    nodes: list[tuple[tuple[int, ...], int, Question | None, Any, int, Cut | None]] = []
    for first, second, third, *cuts in flatten(tree.root):
        if isinstance(second, tuple):
            cut = cuts[0] if cuts else None
            asks = asked.question(first) if cut is None else _of_cut(tree.columns[first], first, cut)
            nodes.append((second, first, asks, None, int(third), cut))
        else:
            nodes.append(((), -1, None, next(shows), second, None))
    columns: list[tuple[Any, ...]] = list(zip(*nodes, strict=True))
    return Plan(*columns)


@attrs.frozen(eq=False)
class _Asked:
    """What is known of a tree's columns."""

    tree: Tree
    given: Mapping[str, str]
    made: Mapping[str, tuple[ColumnRecipe, int]]
    """By the name of a column: the recipe that made it, and which of its outputs it is."""
    sources: Mapping[str, tuple[str, Any, tuple[Any, ...]]]
    """By the name of a column that stands for one category: the table's column, that value, and the other ones."""

    @classmethod
    def of(cls, tree: Tree, given: Mapping[str, str], *, coded: bool) -> _Asked:
        used = {column.name: column for column in tree.columns.values()}
        for name in given:
            if name in used and used[name].multiway:
                raise InputError("conditions", f"{name!r} has categories", "give those of binary columns only")
        for name in given:
            if name not in used:
                names = ", ".join(map(repr, used))
                raise InputError("conditions", f"{name!r} is no column of the tree", f"it asks about {names}")
        reading = None if tree.claims is None or coded or tree.recipe is not None else tree.claims.reading
        recipes = () if reading is None else reading.recipes
        made = {output.name: (recipe, at) for recipe in recipes for at, output in enumerate(recipe.outputs)}
        held = {} if reading is None else reading.sources
        sources = {
            f"{name}={value}": (name, value, tuple(other for other in values if other != value))
            for name, values in held.items()
            for value in values
        }
        return cls(tree, given, made, sources)

    def question(self, j: int) -> Question:
        """What a branching node on column j of the tree's data asks."""
        column = self.tree.columns[j]
        if column.name in self.given:
            case = Case(1, HOLDS, (self.given[column.name],))
            return Question(j, column.name, None, (case,), 0)
        recipe = self.tree.recipe
        if recipe is not None:
            place = recipe.sources[j]
            at = sum(source == place for source in recipe.sources[:j])
            asked = _of_recipe(recipe.columns[place], at, place, strict=recipe.unseen == "error")
            return attrs.evolve(asked, named=recipe.named)
        if column.name in self.made:
            made, at = self.made[column.name]
            return _of_recipe(made, at, j, strict=True)
        if column.name in self.sources:
            name, value, others = self.sources[column.name]
            return Question(j, name, None, (Case(0, ONE_OF, others), Case(1, ONE_OF, (value,))), None)
        return _of_column(column, j)


def _of_column(column: Column, place: int) -> Question:
    """The question about a column as it is."""
    cases = tuple(
        Case(code, GAP) if category is None else Case(code, ONE_OF, (category,))
        for code, category in enumerate(column.categories)
    )
    named = column.name != f"x{place}"
    return Question(place, column.name, None, cases, None, named)


def _of_cut(column: Column, place: int, cut: Cut) -> Question:
    """The question at a cut of an ordered column."""
    named = column.name != f"x{place}"
    kind = Kind((column.scale or Scale.NUMBER).value)
    if cut.threshold is None:
        return Question(place, column.name, kind, (Case(1, GAP),), 0, named)
    if column.scale is Scale.CATEGORY:
        first = int(cut.threshold) + 1
        sides = (column.categories[:first], column.categories[first:])
        cases = [Case(child, ONE_OF, values) for child, values in enumerate(sides) if values]
        return Question(place, column.name, kind, (*cases, Case(cut.gaps, GAP)), None, named)
    case = Case(1, ABOVE, (cut.threshold,)) if cut.gaps == 0 else Case(0, AT_MOST, (cut.threshold,))
    return Question(place, column.name, kind, (case,), cut.gaps, named)


def _of_recipe(recipe: ColumnRecipe, at: int, place: int, *, strict: bool) -> Question:
    """The question that output `at` of a recipe asks; `strict`: values that it was not made for have no answer."""
    closed = strict and not recipe.other
    gap: int | None = None if strict and not recipe.missing else 0
    if recipe.multiway:
        usual = recipe.categories.index(recipe.usual) if recipe.usual in recipe.categories else 0
        n = len(recipe.categories)
        listed = [Case(code, ONE_OF, (category,)) for code, category in enumerate(recipe.categories)]
        unseen = n if recipe.other else None if strict else usual
        gap = n + recipe.other if recipe.missing else None if strict else usual
        return _question(recipe, place, listed, gap, unseen)
    _, relation, value = questions(recipe)[at]
    if relation == "<=":
        return _question(recipe, place, [Case(1, AT_MOST, (value,))], gap, 0, above=value)
    known: Sequence[Any] = recipe.categories
    if recipe.kind is Kind.BOOLEAN:
        closed, known = strict, (0, 1)
    yes = [Case(1, GAP)] if relation == "missing" else [Case(1, ONE_OF, value)]
    if relation == "missing":
        gap = 1
    if not closed or not known:
        return _question(recipe, place, yes, gap, 0)
    others = tuple(category for category in known if relation == "missing" or category not in value)
    return _question(recipe, place, [*yes, *([Case(0, ONE_OF, others)] if others else [])], gap, None)


def _question(
    recipe: ColumnRecipe,
    place: int,
    cases: Sequence[Case],
    gap: int | None,
    unseen: int | None,
    *,
    above: Any = None,
) -> Question:
    """The question with those cases, whose gaps and other values go to the children named; None is no answer."""
    found = [case for case in cases if case.relation != GAP]
    if gap == unseen:
        return Question(place, recipe.name, recipe.kind, tuple(found), unseen, known=recipe.categories)
    if gap is None:
        rest = Case(unseen or 0, PRESENT) if above is None else Case(unseen or 0, ABOVE, (above,))
        return Question(place, recipe.name, recipe.kind, (*found, rest), None, known=recipe.categories)
    return Question(place, recipe.name, recipe.kind, (*found, Case(gap, GAP)), unseen, known=recipe.categories)
