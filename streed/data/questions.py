"""Ordered columns as yes/no questions, a 0/1 column for each: what makes every search of such columns one of theirs."""

from __future__ import annotations

import itertools
from typing import final

import attrs
import numpy as np

from streed.data.dataset import Dataset
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
        columns, limits, gaps = [], [], []
        for j in range(source.n_columns):
            asked = source.ordered[j].questions() if j in source.ordered else np.zeros((1, 2), np.int64)
            columns.append(np.full(len(asked), j, np.int64))
            limits.append(asked[:, 0])
            gaps.append(asked[:, 1])
        none = np.zeros(0, np.int64)
        column, limit, side = (np.concatenate([none, *parts]) for parts in (columns, limits, gaps))
        return cls(source, _answered(source, column, limit, side), column, limit, side)

    def cut(self, question: int) -> Cut | None:
        """The cut of a question; None where its column is not ordered."""
        values = self.source.ordered.get(int(self.column[question]))
        return None if values is None else values.cut(int(self.limit[question]), int(self.gaps[question]))

    def among(self, most: int) -> Array:
        """(m,) int64: the questions about at most so many thresholds of each ordered column, at quantiles, and others.

        Others are those about columns that are not ordered, and whether a value is missing.
        """
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
    for j, (begin, end) in enumerate(itertools.pairwise(ends)):
        held, values = source.X[:, j, None], source.ordered.get(j)
        if values is None:
            codes[:, begin:end] = held
            continue
        np.greater(held, limit[begin:end].astype(np.int32), out=codes[:, begin:end].view(np.bool_))
        if values.has_gaps:
            codes[source.X[:, j] == values.gap_rank, begin:end] = gaps[begin:end]
            codes[source.X[:, j] != values.gap_rank, begin:end] *= limit[begin:end] != NO_LIMIT
    asked = {q: j for q, j in enumerate(column.tolist()) if j not in source.ordered}
    coded = {q: attrs.evolve(source.column(j), name=f"q{q}") for q, j in asked.items() if not source.column(j).is_plain}
    names, multiway = tuple(f"q{q}" for q in range(len(column))), tuple(q for q, each in coded.items() if each.multiway)
    found = attrs.evolve(source, X=codes, names=names, coded=coded, categorical=multiway)
    return attrs.evolve(found, pair=(0, 1), ordered={})
