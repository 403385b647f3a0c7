"""What the sides of splits cost at least, as the native search tells it, for sets of rows that are whole numbers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.drivers import DepthFirst
from streed.enumerate.packed_rows import PackedRowSets
from streed.exact import Array
from streed.problem import Problem, SearchLimits
from streed.problem.row_sets import RowSet
from streed.rashomon.splits import BinarySplits, Kinds
from streed.task import Task

LEAST_DEPTH = 3
"""For trees of fewer levels the engine has no bounds."""

LARGEST_COST = 2**50
"""Keys of trees beyond this are not given to the engine."""

_ANY_PATH = ((0, 0),) * 9
"""Of rows that any path may lead to: nothing is remembered by the path."""


@final
@attrs.define(eq=False)
class Engine:
    """The native search over the distinct splits of some rows, under the keys as costs.

    Rows have places of their own here: the bits of a set are those of the engine.
    """

    oracle: Any
    sets: Array
    """(m, words) uint64: by split the rows that answer its first question with 1."""
    members: Array
    """(g, words) uint64: the rows of each kind."""
    everything: int
    words: int
    _entries: tuple[Array, Array]
    _columns: list[int]
    """By column of the engine the place of the split."""
    _flipped: list[bool]
    _bounds: PackedRowSets | None = None
    _runs: bool = False

    @classmethod
    def of(
        cls,
        task: Task,
        data: Dataset,
        binary: BinarySplits,
        kinds: Kinds,
        depth: int,
        min_leaf: int,
        price: int,
    ) -> Engine | None:
        """The engine for splits, and keys not below 0; None if it takes no such."""
        coded = Dataset.make(binary.columns, frequency=data.frequency)
        costs = np.ascontiguousarray(kinds.multipliers[:, 1:])
        problem = Problem(coded, task, depth, None, min_leaf)
        oracle: Any = DepthFirst().linear_oracle(problem, kinds.of_row, costs.shape[1], price > 0, SearchLimits())
        packed = getattr(oracle, "packed", None)
        if packed is None or packed.n_binary < packed.n_columns or len(packed.column) != len(binary.first):
            return None
        rows = oracle.rows
        flipped = packed.flipped.astype(bool)
        sets = np.empty((len(packed.column), len(rows)), np.uint64)
        sets[packed.column] = packed.column_rows ^ np.where(flipped[:, None], rows, np.uint64(0))
        members = np.zeros((len(costs), len(rows)), np.uint64)
        ends = packed.groups.words.tolist()
        for kind, (begin, end) in enumerate(itertools.pairwise(ends)):
            members[kind, begin:end] = rows[begin:end]
        entries = np.stack([costs, np.zeros_like(costs)], axis=2)
        return cls(
            oracle, sets, members, int.from_bytes(rows.tobytes(), "little"), len(rows),
            (entries, np.array([price, 0], np.int64)), packed.column.tolist(), flipped.tolist(),
        )  # fmt: skip

    def run(self, work: Callable[[], None], limits: SearchLimits) -> None:
        """Has the work done, until time is up or Ctrl-C ends it; raises SearchStopped then."""
        self._bounds, self._runs = self.oracle.row_sets(*self._entries, limits), True
        try:
            self._bounds.run(work)
        finally:
            self._bounds, self._runs = None, False

    def splits(self, rows: int, depth: int, budget: int, base: int) -> Iterator[tuple[int, int, int]]:
        """(place, least, least): the splits of trees of keys <= budget, and what the parts without and with cost.

        `base` is what every tree of the rows pays.
        """
        sets = self._bounds = self._bounds or self.oracle.row_sets(*self._entries, SearchLimits())
        assert sets is not None
        room = (budget - base) // sets.unit
        if room < 0:
            return
        bits = np.frombuffer(rows.to_bytes(8 * self.words, "little"), np.uint64).copy()
        found = functools.partial(sets.splits, RowSet(bits, depth, _ANY_PATH), room)
        for column, (without, having) in found() if self._runs else sets.run(lambda: list(found())):
            least = (having, without) if self._flipped[column] else (without, having)
            yield self._columns[column], sets.unit * least[0], sets.unit * least[1]
