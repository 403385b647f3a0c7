"""How the columns of a table become questions, fixed once, so that new rows are asked the same ones."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.binarize.raw import Kind, RawColumn, read_column
from streed.data import Dataset
from streed.data.column import Column, shown
from streed.data.moments import date_text, duration_text
from streed.data.table import read_input
from streed.data.thresholds import at_most
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array

MISSING, OTHER = "missing", "other"
UNSEEN = ("error", "warn", "ignore")


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

    @property
    def outputs(self) -> tuple[Column, ...]:
        """The columns that are made, in order; none where the column is left out."""
        if self.kind is Kind.CATEGORY and self.multiway:
            return (Column(self.name, self._children, multiway=len(self._children) > 2),) if self._children else ()
        names = [f"{self.name}<={self._written(threshold)}" for threshold in self.thresholds]
        if self.kind is Kind.BOOLEAN and self.categories:
            names.append(self.name)
        if self.kind is Kind.CATEGORY and not self.is_scale:
            names += [f"{self.name}={category}" for category in self.asked]
        if self.missing:
            names.append(f"{self.name}={self.missing_name}")
        return tuple(Column(name, (0, 1), multiway=False) for name in names)

    @property
    def is_scale(self) -> bool:
        """Whether the categories are steps of a scale, and the questions thresholds of it."""
        return self.kind is Kind.CATEGORY and bool(self.thresholds)

    def codes(self, raw: RawColumn, unseen: str) -> Array:
        """(n, k) uint8 of new values, for the k outputs.

        `unseen`, of values that the recipe was not made for: "error" raises InputError; else they are answered no, and
        "warn" says so once a column. Raises InputError for values of another kind.
        """
        if not self.outputs:
            return np.zeros((len(raw.missing), 0), dtype=np.uint8)
        if raw.missing.any() and not self.missing:
            self._unseen("a missing value", int(np.argmax(raw.missing)), int(raw.missing.sum()), unseen)
        if self.kind is Kind.CATEGORY:
            return self._category_codes(raw, unseen)
        held = self._converted(raw)
        if self.kind is Kind.BOOLEAN:
            strangers = ~(raw.missing | (held == 0) | (held == 1))
            if strangers.any():
                row = int(np.argmax(strangers))
                self._unseen(f"the value {held[row].item()!r}", row, int(strangers.sum()), unseen)
        parts = [at_most(held, threshold).astype(np.uint8)[:, None] for threshold in self.thresholds]
        if self.kind is Kind.BOOLEAN and self.categories:
            parts.append((held == 1).astype(np.uint8)[:, None])
        for part in parts:
            part[raw.missing] = 0
        if self.missing:
            parts.append(raw.missing.astype(np.uint8)[:, None])
        return np.hstack(parts)

    def _written(self, threshold: int | float) -> str:
        if self.kind is Kind.DATE:
            return date_text(int(threshold))
        if self.kind is Kind.DURATION:
            return duration_text(int(threshold))
        if self.kind is Kind.CATEGORY:
            return str(self.categories[int(threshold)])
        return repr(int(threshold)) if float(threshold).is_integer() and abs(threshold) < 1e15 else repr(threshold)

    @property
    def asked(self) -> tuple[Any, ...]:
        """The categories with a question of their own, of a column that is not multiway."""
        complete = len(self.categories) == 2 and not (self.missing or self.other)
        return self.categories[1:] if complete else self.categories

    @property
    def missing_name(self) -> str:
        return f"({MISSING})" if MISSING in self.categories else MISSING

    @property
    def _children(self) -> tuple[Any, ...]:
        other = (f"({OTHER})" if OTHER in self.categories else OTHER,) if self.other else ()
        return (*self.categories, *other, *((self.missing_name,) if self.missing else ()))

    def _category_codes(self, raw: RawColumn, unseen: str) -> Array:
        place = {category: code for code, category in enumerate(self.categories)}
        values = self._as_categories(raw)
        found = np.fromiter(
            (-1 if gap else place.get(v, -1) for v, gap in zip(values, raw.missing, strict=True)), np.int64, len(values)
        )
        strangers = (found < 0) & ~raw.missing
        if strangers.any() and self.categories and not self.other:
            row = int(np.argmax(strangers))
            self._unseen(f"the value {values[row]!r}", row, int(strangers.sum()), unseen)
        if not self.multiway:
            if self.is_scale:
                columns = [(found >= 0) & (found <= threshold) for threshold in self.thresholds]
            else:
                columns = [found == place[category] for category in self.asked]
            return np.column_stack([*columns, raw.missing] if self.missing else columns).astype(np.uint8)
        usual = place.get(self.usual, 0)
        codes = np.where(strangers, len(place) if self.other else usual, found)
        codes = np.where(raw.missing, len(self._children) - 1 if self.missing else usual, codes)
        return codes.astype(np.uint8)[:, None]

    def _as_categories(self, raw: RawColumn) -> list[Any]:
        """The values as the categories are written: numbers if those are, else texts."""
        if raw.kind is Kind.CATEGORY or not any(isinstance(category, str) for category in self.categories):
            held: list[Any] = raw.values.tolist()
            return held
        return [None if value is None else str(value) for value in raw.as_categories()]

    def _converted(self, raw: RawColumn) -> Array:
        """The values as numbers, those that are missing as any."""
        kind = raw.kind
        if raw.missing.all():
            return np.zeros(len(raw.missing))
        fits = kind is self.kind or {kind, self.kind} == {Kind.NUMBER, Kind.BOOLEAN}
        if not fits:
            example = raw.present.tolist()[0]
            raise InputError(
                "X",
                f"column {self.name!r} has values such as {example!r}, and was a {self.kind.value} before",
                "give the same kind of values",
            )
        return raw.values

    def _unseen(self, what: str, row: int, count: int, unseen: str) -> None:
        found = f"column {self.name!r} has {what} in row {row} (counted from 0), which its data did not have"
        if unseen == "error":
            raise InputError(
                "X", found, "fill it in or leave the row out, or let unseen values be answered no: unseen='ignore'"
            )
        if unseen == "warn":
            way = "take the branch of the most frequent value" if self.multiway else "are answered no"
            warnings.warn(f"{found}; {count} such values {way}", UserWarning, stacklevel=2)


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
        n_rows, raws = self.raw_columns(X, wanted)
        if not self.outputs:
            return np.zeros((n_rows, 0), dtype=np.uint8)
        parts = [
            recipe.codes(raw, policy) if raw is not None else np.zeros((n_rows, len(recipe.outputs)), dtype=np.uint8)
            for recipe, raw in zip(self.columns, raws, strict=True)
        ]
        return np.ascontiguousarray(np.hstack(parts))

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

    def raw_columns(self, X: Any, wanted: Collection[int]) -> tuple[int, Iterator[RawColumn | None]]:
        """(how many rows a table has, the columns as they stand, None for those that are not wanted).

        Raises InputError for columns that are not there.
        """
        source = read_input(X)
        n_rows = len(source) if isinstance(source, np.ndarray) else source.n_rows
        if isinstance(source, np.ndarray) or source.names is None or not self.named:
            width = source.shape[1] if isinstance(source, np.ndarray) else len(source.columns)
            if width != len(self.columns):
                raise InputError(
                    "X",
                    f"it has {width} columns, not {len(self.columns)}",
                    "give the columns of the first data, in that order",
                )
            places: list[int] = list(range(width))
        else:
            by_name = {name: place for place, name in enumerate(source.names)}
            absent = [self.columns[j].name for j in sorted(wanted) if self.columns[j].name not in by_name]
            if absent:
                raise InputError(
                    "X",
                    f"it has no column named {shown(absent)}",
                    f"its columns are {shown(source.names)}; rename them",
                )
            places = [by_name.get(recipe.name, -1) for recipe in self.columns]

        def read(j: int, place: int) -> RawColumn | None:
            if j not in wanted:
                return None
            column = source[:, place] if isinstance(source, np.ndarray) else source.columns[place]
            return read_column(column, self.columns[j].name)

        return n_rows, (read(j, place) for j, place in enumerate(places))

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
