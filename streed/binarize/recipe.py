"""How the columns of a table become questions, fixed once, so that new rows are asked the same ones."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.column import Column, names_of_rest, numbers_like, places, raw_columns, unseen_values
from streed.data.ordered import Kind, at_most, threshold_text
from streed.data.reading import Values

if TYPE_CHECKING:
    from streed.exact import Array


@attrs.frozen
class ColumnRecipe:
    """The questions about one column.

    A number, date or duration `x` gives `x<=t` for each threshold t, a truth value its own column. A category gives
    `x=c` for each category c, or one question where there are but two, or a multiway column with a child for each.
    Categories that are steps of a scale give `x<=c` for each of some of them.
    `missing`: an absent value is a category of its own, `x=missing`, and every other question about it is answered no.
    `other`: the values that have no question of their own; in a multiway column they share a child.
    """

    name: str
    kind: Kind
    thresholds: tuple[int | float, ...] = ()
    """Ascending; microseconds of dates (since 1970) and of durations; of steps, their places in `categories`."""
    categories: tuple[Any, ...] = ()
    """Where there are thresholds, every step of the scale in its order."""
    multiway: bool = False
    missing: bool = False
    other: bool = False
    usual: Any = None
    """The most frequent category: where a multiway column sends values that it was not made for."""
    note: str = ""
    """What was found, and what was left out and why."""
    zone: str | None = None
    """Of dates that have one."""

    @property
    def outputs(self) -> tuple[Column, ...]:
        """The columns that are made, in order; none where the column is left out."""
        if self.multiway:
            return (Column(self.name, self._children, multiway=len(self._children) > 2),)
        return tuple(Column(name, (0, 1), multiway=False) for name, _, _ in self._asked)

    @property
    def questions(self) -> list[tuple[str, Any]]:
        """(relation, value) of each binary output: "<=" and a threshold, "in" and categories, or "missing" and None."""
        return [] if self.multiway else [(relation, value) for _, relation, value in self._asked]

    @property
    def _asked(self) -> list[tuple[str, str, Any]]:
        """The name of each binary output, and what `questions` has of it."""
        asked: list[tuple[str, str, Any]] = []
        for threshold in self.thresholds:
            name = f"{self.name}<={threshold_text(threshold, self.kind, self.categories, self.zone)}"
            steps = ("in", self.categories[: int(threshold) + 1])
            asked.append((name, *(steps if self.is_scale else ("<=", threshold))))
        if self.kind is Kind.CATEGORY and not self.is_scale:
            asked = [(f"{self.name}={category}", "in", (category,)) for category in self.asked]
        if self.kind is Kind.BOOLEAN and self.categories:
            asked.append((self.name, "in", (1,)))
        return [*asked, (f"{self.name}={self._children[-1]}", "missing", None)] if self.missing else asked

    @property
    def is_plain(self) -> bool:
        """Whether the column is 0/1, or every category of it is asked about, and nothing was missing or left out."""
        return bool(self.categories) and not (self.thresholds or self.missing or self.other)

    @property
    def is_scale(self) -> bool:
        """Whether the categories are steps of a scale, and the questions thresholds of it."""
        return self.kind is Kind.CATEGORY and bool(self.thresholds)

    def codes(self, raw: Values, unseen: str) -> Array:
        """(n, k) uint8 of new values, for the k outputs.

        `unseen`, of values that the recipe was not made for: "error" raises InputError; else they are answered no, and
        "warn" says so once a column. Raises InputError for values of another kind.
        """
        if self.multiway:
            usual = self.categories.index(self.usual) if self.usual in self.categories else 0
            usual = len(self.categories) if self.other else usual
            column = Column(self.name, self._children, True, None, self.missing, None, self.other, usual)
            return column.codes(raw, unseen)[:, None]
        missing, asked = raw.missing, self._asked
        if not asked:
            return np.zeros((len(missing), 0), dtype=np.uint8)
        is_number = self.kind is not Kind.CATEGORY
        held = numbers_like(self.name, self.kind, raw, self.zone) if is_number else places(raw, self.categories)
        if missing.any() and not self.missing:
            unseen_values(self.name, raw, missing, unseen, "are answered no")
        if self.categories and not self.other:
            strange = ~missing & ~np.isin(held, (0, 1)) if is_number else ~missing & (held < 0)
            if strange.any():
                unseen_values(self.name, raw, strange, unseen, "are answered no")
        place = {category: at for at, category in enumerate(self.categories)}
        answers = [
            at_most(held, value) if relation == "<=" else np.isin(held, [place[each] for each in value or ()])
            for _, relation, value in asked
        ]
        columns = [missing if asked[at][1] == "missing" else yes & ~missing for at, yes in enumerate(answers)]
        return np.column_stack(columns).astype(np.uint8)

    @property
    def asked(self) -> tuple[Any, ...]:
        """The categories with a question of their own, of a column that is not multiway."""
        complete = len(self.categories) == 2 and not (self.missing or self.other)
        return self.categories[1:] if complete else self.categories

    @property
    def _children(self) -> tuple[Any, ...]:
        """The categories, and what the others and gaps are called."""
        return (*self.categories, *names_of_rest(self.categories, self.other, self.missing))


@attrs.frozen
class TableRecipe:
    """The recipes of a table's columns, in order."""

    columns: tuple[ColumnRecipe, ...]
    named: bool = True
    """Whether the table named its columns; else they are found by position."""
    unseen: str = "error"
    """What becomes of values that the recipe was not made for, unless `encode` is told otherwise: one of UNSEEN."""

    @property
    def outputs(self) -> tuple[Column, ...]:
        """Every column that is made."""
        return tuple(output for recipe in self.columns for output in recipe.outputs)

    @property
    def sources(self) -> tuple[int, ...]:
        """For each output, the place of the column that it is made of."""
        return tuple(j for j, recipe in enumerate(self.columns) for _ in recipe.outputs)

    def encode(self, X: Any, unseen: str | None = None, *, used: Collection[int] | None = None) -> Array:
        """(m, p) uint8: the codes of new rows by `outputs`; see `ColumnRecipe.codes`.

        A table's columns are found by name, further ones are ignored; an array must have them all. `unseen`: in place
        of the recipe's own. `used`: only these outputs are read, and a table need but have the columns that they are
        made of; the others are 0. Raises InputError for columns that are not there.
        """
        policy = self.unseen if unseen is None else unseen
        sources = self.sources
        wanted = set(range(len(self.columns))) if used is None else {sources[output] for output in used}
        n_rows, read = self.raw_columns(X, wanted)
        made = np.zeros((n_rows, len(sources)), dtype=np.uint8)
        end = 0
        for j, recipe in enumerate(self.columns):
            begin, end = end, end + len(recipe.outputs)
            if j in wanted and begin < end:
                made[:, begin:end] = recipe.codes(read(j), policy)
        return made

    def dataset(
        self, codes: Array, y: Any = None, *, sample_weight: Any = None, frequency: Any = None, **row_data: Any
    ) -> Dataset:
        """The rows of `codes`, which `encode` gave, with labels, weights and all else as by `Dataset.make`."""
        bare = Dataset.make(codes[:, :0], y, sample_weight=sample_weight, frequency=frequency, **row_data)
        if bare.n_rows < len(codes):
            codes = codes[np.flatnonzero(np.asarray(frequency))]
        outputs = self.outputs
        coded = {j: output for j, output in enumerate(outputs) if not output.is_plain}
        return attrs.evolve(
            bare,
            X=codes,
            names=tuple(output.name for output in outputs),
            coded=coded,
            categorical=tuple(j for j, output in coded.items() if output.multiway),
            recipe=self,
        )

    def raw_columns(self, X: Any, wanted: Collection[int]) -> tuple[int, Callable[[int], Values]]:
        """(how many rows a table has, a function that reads one of the columns that are wanted, by its number).

        Raises InputError for columns that are not there.
        """
        return raw_columns(X, [recipe.name for recipe in self.columns], wanted, named=self.named)

    def report(self) -> list[dict[str, Any]]:
        """One entry per column: its name, kind, what was found, and the questions that were made of it."""
        return [
            {
                "column": recipe.name,
                "kind": recipe.kind.value,
                "found": recipe.note,
                "questions": [output.name for output in recipe.outputs],
            }
            for recipe in self.columns
        ]

    def to_text(self) -> str:
        """The report, a line per column."""
        width = max((len(recipe.name) for recipe in self.columns), default=0)
        return "\n".join(f"{recipe.name:<{width}}  {recipe.note}: {_listed(recipe)}" for recipe in self.columns)


def _listed(recipe: ColumnRecipe, most: int = 4) -> str:
    outputs = recipe.outputs
    if not outputs:
        return "left out"
    if recipe.multiway:
        (output,) = outputs
        return f"one child for each of {', '.join(map(str, output.categories[:most]))}" + (
            f", ... ({len(output.categories)})" if len(output.categories) > most else ""
        )
    names = [output.name for output in outputs]
    if len(names) > most:
        names = [*names[: most - 1], "...", names[-1]]
    return f"{len(outputs)} question{'s' if len(outputs) > 1 else ''}, {', '.join(names)}"
