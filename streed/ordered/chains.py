"""Binary columns that are thresholds of a few numbers, such as a binarizer makes: searched as the numbers.

The columns of one number are nested: the rows for which one is 1 are among those of the next. So a run of neighbouring
columns of which each contains the one before is a number, whatever it was made of: how many of them are 0. The search
over thresholds finds the same optimum in it, and needs no counts of pairs of columns, of which there are many.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.ordered import choice
from streed.ordered.search import search_ordered
from streed.problem import Outcome, Problem, SearchLimits
from streed.tree import Branch

LENGTH = 25
"""Columns that a chain must have on average."""

_DEPTHS = (3, 4)
"""Where both ways were measured. At less, counts are ready at once; without a limit, that search has more bounds."""


@final
@attrs.frozen(eq=False)
class Chains:
    """Chains of nested columns, as the features of a search over thresholds."""

    ranks: Array
    """(F, n) int32: how many columns of the chain are 0."""
    columns: tuple[Array, ...]
    """For each chain the columns, each of which is 1 wherever the one before is."""

    @classmethod
    def of(cls, data: Dataset) -> Chains | None:
        """The chains of binary columns; None if they are short."""
        bits = np.packbits(data.X, axis=0)
        rises: Array = np.logical_not((bits[:, :-1] & ~bits[:, 1:]).any(axis=0))
        falls: Array = np.logical_not((bits[:, 1:] & ~bits[:, :-1]).any(axis=0))
        most = data.n_columns // LENGTH
        runs: list[Array] = []
        begin = 0
        while begin < data.n_columns:
            ends = [begin + int(np.argmin(np.append(goes[begin:], False))) for goes in (rises, falls)]
            end = max(ends)
            run = np.arange(begin, end + 1)
            runs.append(run if ends[0] == end else run[::-1])
            begin = end + 1
            if len(runs) > most:
                return None
        ranks = np.stack([len(run) - data.X[:, run.min() : run.max() + 1].sum(axis=1, dtype=np.int32) for run in runs])
        return cls(np.ascontiguousarray(ranks, np.int32), tuple(runs))

    categories = 0

    @property
    def thresholds(self) -> int:
        """How many there are in all."""
        return sum(map(len, self.columns))

    def branch(self, data: Dataset, feature: int, rank: int, rows: int) -> Branch:
        """A branching node without children."""
        return Branch(int(self.columns[feature][rank]), (), rows)

    def is_turned(self, feature: int, rank: int) -> bool:
        """Always: the rows of small ranks have a 1."""
        return True


def search_chains(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes costs per row and label, without a price per split, on many columns that are thresholds of a few numbers.
    """
    data = problem.data
    if problem.questions is not None or data.categorical or data.ordered or problem.min_leaf > 1:
        return None
    if data.n_columns < choice.FEWEST or problem.max_depth not in _DEPTHS:
        return None
    chains = Chains.of(data)
    return None if chains is None else search_ordered(problem, search_limits, name, chains)
