"""The columns of a data set as the ordered search reads them, and its thresholds as branching nodes and questions."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.column import Column
from streed.data.ordered import NO_LIMIT
from streed.data.questions import Questions
from streed.encoding.ordered import Ranks, ranks_of
from streed.exact import Array
from streed.ordered.rebuild import Split
from streed.tree import Branch


@final
@attrs.frozen(eq=False)
class Features:
    """The columns of a data set as the search reads them: ordered ones, binary ones, which have one threshold, and
    categorical ones, whose ranks are codes.
    """

    ranks: Array
    """(F, n) int32."""
    ordered: Ranks
    binary: Array
    """(b,) int64: the binary columns."""
    categorical: tuple[int, ...]
    """The categorical columns."""

    @classmethod
    def of(cls, data: Dataset) -> Features:
        """The features of the data."""
        ordered = ranks_of(data)
        binary = np.array(
            [j for j in range(data.n_columns) if j not in data.ordered and j not in data.categorical], np.int64
        )
        coded = data.X[:, [*binary.tolist(), *data.categorical]].T.astype(np.int32)
        ranks = np.concatenate([ordered.ranks, coded])
        return cls(np.ascontiguousarray(ranks, np.int32), ordered, binary, data.categorical)

    @property
    def thresholds(self) -> int:
        """How many there are in all."""
        return int(np.maximum(self.ordered.sizes - 1, 0).sum()) + len(self.binary)

    @property
    def categories(self) -> int:
        """How many features, the last ones, are categorical."""
        return len(self.categorical)

    def branch(self, data: Dataset, feature: int, rank: int, rows: int) -> Branch:
        """A branching node without children."""
        if feature >= len(self.ordered.ranks):
            coded = (*self.binary.tolist(), *self.categorical)
            return Branch(int(coded[feature - len(self.ordered.ranks)]), (), rows)
        column, limit, gaps = self.ordered.question(feature, rank)
        return Branch(column, (), rows, data.ordered[column].cut(limit, gaps))

    def is_turned(self, feature: int, rank: int) -> bool:
        """Whether the question's child 0 is for what is above the threshold: gaps come first, and are asked for."""
        if feature >= len(self.ordered.ranks):
            return False
        return not self.ordered.gaps_last[feature] and int(self.ordered.limits[feature][rank]) == NO_LIMIT

    def children_of(self, node: Split, column: Column) -> tuple[Split | None, ...]:
        """Those of a split on a column of the data, by the answers to its question."""
        if node.rank < 0:
            return (*node.children, *[None] * (len(column.categories) - len(node.children)))
        return node.children[::-1] if self.is_turned(node.column, node.rank) else node.children

    def questions(self, questions: Questions) -> tuple[Array, ...]:
        """For each feature (its thresholds,) int64: which question each threshold is; one of a categorical feature."""
        pairs = (questions.column, questions.limit, questions.gaps)
        number = {key: q for q, key in enumerate(zip(*(each.tolist() for each in pairs), strict=True))}
        found = []
        for feature, limits in enumerate(self.ordered.limits):
            asked = [number[self.ordered.question(feature, rank)] for rank in range(len(limits))]
            found.append(np.array(asked, np.int64))
        return (*found, *(np.array([number[j, 0, 0]]) for j in (*self.binary.tolist(), *self.categorical)))
