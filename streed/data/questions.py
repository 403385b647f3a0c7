"""Columns as yes/no questions, a 0/1 column for each: of a raw table, fixed once for all rows to come,
and of all ordered columns of a data set, which makes every search of such columns one of theirs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.column import Column, raw_columns
from streed.data.ordered import NO_LIMIT, Cut
from streed.exact import Array


@final
@attrs.frozen(eq=False)
class Questions:
    """Every question about a data set: binary and categorical columns as they are, and all cuts of ordered ones.

    The questions of a column stand together, in the order of `OrderedValues.questions`; question q is column q of
    `data`.
    """

    source: Dataset
    data: Dataset
    """The same rows, with a column per question: no ordered ones."""
    column: Array
    """(q,) int64: the column of the source that each question is about."""
    limit: Array
    """(q,) int64: of a question about an ordered column, as `OrderedValues.questions` says; 0 of others."""
    gaps: Array
    """(q,) int64: likewise."""

    @classmethod
    def of(cls, source: Dataset) -> Questions:
        """All questions about the data."""
        ordered, single = source.ordered, np.zeros((1, 2), np.int64)
        asked = [ordered[j].questions() if j in ordered else single for j in range(source.n_columns)]
        column = np.repeat(np.arange(source.n_columns), list(map(len, asked)))
        return cls.about(source, np.column_stack([column, np.concatenate([single[:0], *asked])]))

    @classmethod
    def about(cls, source: Dataset, asked: Array) -> Questions:
        """Some of them, (q, 3) int64 by column: `column`, `limit` and `gaps` of each."""
        column, limit, gaps = np.ascontiguousarray(asked.T)
        return cls(source, _answered(source, column, limit, gaps), column, limit, gaps)

    def cut(self, question: int) -> Cut | None:
        """The cut of a question; None where its column is not ordered."""
        values = self.source.ordered.get(int(self.column[question]))
        return None if values is None else values.cut(int(self.limit[question]), int(self.gaps[question]))

    def among(self, most: int) -> Array:
        """(m,) int64: the questions about at most so many thresholds of each column, at quantiles, and all others."""
        kept = np.ones(len(self.column), bool)
        for j, values in self.source.ordered.items():
            chosen = values.fewer(self.source.X[:, j], None, most).cuts
            here = self.column == j
            kept[here] = np.isin(self.limit[here], chosen) | (self.limit[here] == NO_LIMIT)
        return np.flatnonzero(kept)


def _answered(source: Dataset, column: Array, limit: Array, gaps: Array) -> Dataset:
    """The rows with their answers, 0 for child 0 and 1 for child 1."""
    codes = np.empty((source.n_rows, len(column)), np.uint8)
    ends = np.searchsorted(column, np.arange(source.n_columns + 1)).tolist()
    for j in dict.fromkeys(column.tolist()):
        begin, end = ends[j], ends[j + 1]
        held, values = source.X[:, j, None], source.ordered.get(j)
        if values is None:
            codes[:, begin:end] = held
            continue
        np.greater(held, limit[begin:end].astype(np.int32), out=codes[:, begin:end].view(np.bool_))
        if values.has_gaps:
            codes[source.X[:, j] == values.gap_rank, begin:end] = gaps[begin:end]
            codes[source.X[:, j] != values.gap_rank, begin:end] *= limit[begin:end] != NO_LIMIT
    asked = {q: source.column(j) for q, j in enumerate(column.tolist()) if j not in source.ordered}
    coded = {q: attrs.evolve(each, name=f"q{q}") for q, each in asked.items() if not each.is_plain}
    return source.recoded(codes, coded, tuple(f"q{q}" for q in range(len(column))))


@attrs.frozen
class TableRecipe:
    """What yes/no questions are made of a table's columns, in order."""

    columns: tuple[Column, ...]
    unseen: str = "error"
    """What becomes of values that the recipe was not made for, unless `encode` is told otherwise: one of UNSEEN."""

    @property
    def outputs(self) -> tuple[Column, ...]:
        """Every column that is made."""
        return tuple(output for column in self.columns for output in column.outputs)

    @property
    def sources(self) -> tuple[int, ...]:
        """For each output, the place of the column that it is made of."""
        return tuple(j for j, column in enumerate(self.columns) for _ in column.outputs)

    def encode(self, X: Any, unseen: str | None = None, *, used: Collection[int] | None = None) -> Array:
        """(m, p) uint8: the codes of new rows by `outputs`; see `Column.answers`.

        A table's columns are found by name, further ones are ignored; an array must have them all. `unseen`: in place
        of the recipe's own. `used`: only these outputs are read, and a table need but have the columns that they are
        made of; the others are 0. Raises InputError for columns that are not there.
        """
        policy = self.unseen if unseen is None else unseen
        sources = self.sources
        wanted = set(range(len(self.columns))) if used is None else {sources[output] for output in used}
        n_rows, read = raw_columns(X, [column.name for column in self.columns], wanted)
        made = np.zeros((n_rows, len(sources)), dtype=np.uint8)
        end = 0
        for j, column in enumerate(self.columns):
            begin, end = end, end + len(column.outputs)
            if j in wanted and begin < end:
                made[:, begin:end] = column.answers(read(j), policy)
        return made

    def dataset(
        self, codes: Array, y: Any = None, *, sample_weight: Any = None, frequency: Any = None, **row_data: Any
    ) -> Dataset:
        """The rows of `codes`, which `encode` gave, with labels, weights and all else as by `Dataset.make`."""
        bare = Dataset.make(codes[:, :0], y, sample_weight=sample_weight, frequency=frequency, **row_data)
        if bare.n_rows < len(codes):
            codes = codes[np.flatnonzero(np.asarray(frequency))]
        names = tuple(output.name for output in self.outputs)
        return attrs.evolve(bare.recoded(codes, dict(enumerate(self.outputs)), names), recipe=self)

    def report(self) -> list[dict[str, Any]]:
        """One entry per column: its name, kind, what was found, and the questions that were made of it."""
        names = ("column", "kind", "found", "questions")
        held = [(x.name, x.kind.value, x.note, [out.name for out in x.outputs]) for x in self.columns]
        return [dict(zip(names, each, strict=True)) for each in held]

    def to_text(self) -> str:
        """The report, a line per column."""
        width = max((len(column.name) for column in self.columns), default=0)
        return "\n".join(f"{column.name:<{width}}  {column.note}: {_listed(column)}" for column in self.columns)


def _listed(column: Column, most: int = 4) -> str:
    names = [output.name for output in column.outputs]
    if not column.one_hot:
        n, rest = len(column.categories), ", ".join(map(str, column.categories[:most]))
        return f"one child for each of {rest}{f', ... ({n})' if n > most else ''}"
    shown = [*names[: most - 1], "...", names[-1]] if len(names) > most else names
    return f"{len(names)} question{'s' if len(names) > 1 else ''}, {', '.join(shown)}" if names else "left out"
