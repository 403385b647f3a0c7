"""What the sides of splits cost at least, as the native search tells it, for sets of rows that are whole numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.drivers.depth_first import DepthFirst
from streed.enumerate.packed_rows import PackedRowSets
from streed.exact import Array
from streed.problem import Problem, SearchLimits
from streed.problem.row_sets import RowSet
from streed.rashomon.kinds import Kinds
from streed.rashomon.splits import Places
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
    places: Places
    words: int
    _entries: tuple[Array, Array]
    _columns: dict[int, int]
    """By column of the engine the place of the split."""
    _flipped: dict[int, bool]
    _sets: PackedRowSets | None = None
    _runs: bool = False

    @classmethod
    def of(
        cls,
        task: Task,
        data: Dataset,
        columns: Array,
        kinds: Kinds,
        depth: int,
        min_leaf: int,
        price: int,
    ) -> Engine | None:
        """The engine for distinct 0/1 columns (n, m), a split each, and keys not below 0; None if it takes no such."""
        coded = Dataset.make(columns, frequency=data.frequency)
        costs = np.array(kinds.keys, np.int64)
        problem = Problem(coded, task, depth, None, min_leaf)
        oracle: Any = DepthFirst().linear_oracle(problem, kinds.of_row, costs.shape[1], price > 0, SearchLimits())
        packed = getattr(oracle, "packed", None)
        if packed is None or packed.n_binary < packed.n_columns or len(packed.column) != columns.shape[1]:
            return None
        pairs = packed.groups.places.reshape(-1, 2)
        places = np.empty(data.n_rows, np.int64)
        places[pairs[:, 0]] = pairs[:, 1]
        entries = np.stack([costs, np.zeros_like(costs)], axis=2)
        column = packed.column.tolist()
        return cls(
            oracle, Places(places, 64 * len(oracle.rows)), len(oracle.rows), (entries, np.array([price, 0], np.int64)),
            dict(enumerate(column)), {at: bool(each) for at, each in enumerate(packed.flipped)},
        )  # fmt: skip

    def begin(self, limits: SearchLimits) -> None:
        """From now on these limits hold."""
        entries, split = self._entries
        self._sets = self.oracle.row_sets(entries, split, limits)

    def end(self) -> None:
        """From now on no limits hold."""
        self._sets = None

    def run(self, work: Callable[[], None]) -> None:
        """Has the work done, until time is up or Ctrl-C ends it; raises SearchStopped then."""
        assert self._sets is not None
        self._runs = True
        try:
            self._sets.run(work)
        finally:
            self._runs = False

    def splits(self, rows: int, depth: int, budget: int, base: int) -> Iterator[tuple[int, int, int]]:
        """(place, least, least): the splits of trees of keys <= budget, and what the parts without and with cost.

        `base` is what every tree of the rows pays.
        """
        if self._sets is None:
            self.begin(SearchLimits())
        sets = self._sets
        assert sets is not None
        room = (budget - base) // sets.unit
        if room < 0:
            return
        bits = np.frombuffer(rows.to_bytes(8 * self.words, "little"), np.uint64).copy()
        found = functools.partial(sets.splits, RowSet(bits, depth, _ANY_PATH), room)
        for column, (without, having) in found() if self._runs else sets.run(lambda: list(found())):
            least = (having, without) if self._flipped[column] else (without, having)
            yield self._columns[column], sets.unit * least[0], sets.unit * least[1]
