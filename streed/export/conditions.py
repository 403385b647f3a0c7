"""What a branching node asks, in terms of the table that the caller had.

A 0/1 column that the shell made of a category (`department=A`) is asked as `department` being "A", one that it made of
a number (`age<=30`) as a condition; the tree's claims say which columns those are. What a column means that the caller
made, only the caller can say; `streed.binarize.conditions` says it of a recipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from streed.binarize import ColumnRecipe
from streed.binarize.conditions import conditions
from streed.data import Column
from streed.errors import InputError
from streed.tree import Tree, flatten


@attrs.frozen
class Question:
    """What branching nodes on a column ask of the caller's table."""

    place: int
    """The column's number in the data that the tree was grown on."""
    name: str
    """The column of the table."""
    values: tuple[tuple[Any, ...], ...]
    """The values that lead to each child."""
    text: str | None = None
    """In place of values: an expression that holds where the row goes to the second child."""

    @property
    def order(self) -> list[int]:
        """The children in the order in which they are best tried: those with few values first."""
        return sorted(range(len(self.values)), key=lambda code: len(self.values[code]))


@attrs.frozen(eq=False)
class Plan:
    """A tree by the numbers of its nodes, the root first, with what its columns ask and its leaves show."""

    children: tuple[tuple[int, ...], ...]
    """Empty for a leaf."""
    columns: tuple[int, ...]
    """-1 for a leaf."""
    shows: tuple[Any, ...]
    """None for a branching node."""
    rows: tuple[int, ...]
    questions: Mapping[int, Question]


def plan(tree: Tree, given: Mapping[str, str] | None = None, language: str | None = None) -> Plan:
    """The tree's nodes and questions.

    `given`: by the name of a binary column, the expression that holds where its value is the second one (1, or yes).
    `language`: "python" or "sql", to have such expressions of the numbers, dates and gaps that the shell read.
    Raises InputError for a name that the tree does not ask about, and for a column of categories.
    """
    shows = iter(tree.shows())
    children: list[tuple[int, ...]] = []
    columns: list[int] = []
    shown: list[Any] = []
    rows: list[int] = []
    ordered = next((column for column in tree.columns.values() if column.scale is not None), None)
    if ordered is not None:
        raise InputError("tree", f"column {ordered.name!r} is ordered", "export such trees as JSON, text or DOT")
    for first, second, third, *_ in flatten(tree.root):
        if isinstance(second, tuple):
            children.append(second)
            columns.append(first)
            shown.append(None)
            rows.append(int(third))
        else:
            children.append(())
            columns.append(-1)
            shown.append(next(shows))
            rows.append(second)
    return Plan(tuple(children), tuple(columns), tuple(shown), tuple(rows), _questions(tree, given, language))


def _questions(tree: Tree, given: Mapping[str, str] | None, language: str | None) -> dict[int, Question]:
    reading = None if tree.claims is None else tree.claims.reading
    recipes = () if reading is None or language is None else reading.recipes
    used = {column.name for column in tree.columns.values()}
    named = {**(conditions(recipes, language, used) if language is not None else {}), **(given or {})}
    multiway = {recipe.name: recipe for recipe in recipes if recipe.multiway}
    sources = {} if reading is None else reading.sources
    made = {f"{column}={value}": (column, value) for column, values in sources.items() for value in values}
    found = {}
    for j, column in tree.columns.items():
        if column.name in named:
            if column.multiway:
                raise InputError("conditions", f"{column.name!r} has categories", "give those of binary columns only")
            found[j] = Question(j, column.name, (), named.pop(column.name))
        elif column.name in multiway:
            found[j] = Question(j, column.name, _values(column, multiway[column.name]))
        elif column.name in made:
            source, value = made[column.name]
            others = tuple(other for other in sources[source] if other != value)
            found[j] = Question(j, source, (others, (value,)))
        else:
            found[j] = Question(j, column.name, tuple((category,) for category in column.categories))
    if named:
        names = ", ".join(repr(column.name) for column in tree.columns.values())
        raise InputError("conditions", f"{next(iter(named))!r} is no column of the tree", f"it asks about {names}")
    return found


def _values(column: Column, recipe: ColumnRecipe) -> tuple[tuple[Any, ...], ...]:
    """The values that lead to each child of a multiway column; None is a missing one."""
    if recipe.other:
        raise InputError(
            "tree", f"column {recipe.name!r} has a child for all values but some", "grow it without --multiway"
        )
    known = {str(category): category for category in recipe.categories}
    return tuple((known.get(category),) for category in column.categories)
