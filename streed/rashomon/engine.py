"""What the sides of splits cost at least, as the native search tells it, for sets of rows that are whole numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.drivers.depth_first import DepthFirst
from streed.enumerate.packed_rows import PackedRowSets
from streed.exact import Array
from streed.problem import Problem, SearchLimits
from streed.problem.row_sets import RowSet
from streed.rashomon.splits import Split
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
    groups: Sequence[tuple[int, int, tuple[int, ...]]]
    places: Array
    """(n,) the bit of each row."""
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
        splits: Sequence[Split],
        groups: Sequence[tuple[int, int, tuple[int, ...]]],
        depth: int,
        min_leaf: int,
        price: int,
    ) -> Engine | None:
        """The engine for splits and groups of rows that are sets of the numbers of rows; None if it takes no such.

        Keys are not below 0.
        """
        n = data.n_rows
        kinds = np.zeros(n, np.int64)
        for g, (members, _, _) in enumerate(groups):
            kinds[_bits(members, n)] = g
        columns = np.stack([_bits(split.parts[1], n) for split in splits], axis=1).astype(np.uint8)
        coded = Dataset.make(np.ascontiguousarray(columns), frequency=data.frequency)
        costs = np.array([keys for _, _, keys in groups], np.int64)
        problem = Problem(coded, task, depth, None, min_leaf)
        oracle: Any = DepthFirst().linear_oracle(problem, kinds, costs.shape[1], price > 0, SearchLimits())
        packed = getattr(oracle, "packed", None)
        if packed is None or packed.n_binary < packed.n_columns or len(packed.column) != len(splits):
            return None
        pairs = packed.groups.places.reshape(-1, 2)
        places = np.empty(n, np.int64)
        places[pairs[:, 0]] = pairs[:, 1]
        entries = np.stack([costs, np.zeros_like(costs)], axis=2)
        column = packed.column.tolist()
        return cls(
            oracle, groups, places, len(oracle.rows), (entries, np.array([price, 0], np.int64)),
            dict(enumerate(column)), {at: bool(each) for at, each in enumerate(packed.flipped)},
        )  # fmt: skip

    def placed(self, sets: Sequence[int], n_rows: int) -> list[int]:
        """Sets of numbers of rows as sets of their places."""
        held = np.zeros((len(sets), 64 * self.words), np.uint8)
        size = -(-n_rows // 8)
        given = np.frombuffer(b"".join(rows.to_bytes(size, "little") for rows in sets), np.uint8)
        held[:, self.places] = np.unpackbits(given.reshape(len(sets), size), axis=1, count=n_rows, bitorder="little")
        packed = np.packbits(held, axis=1, bitorder="little")
        return [int.from_bytes(each.tobytes(), "little") for each in packed]

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


def _bits(rows: int, n_rows: int) -> Array:
    """(n_rows,) bool: which rows are in a set."""
    held = np.frombuffer(rows.to_bytes(-(-n_rows // 8), "little"), np.uint8)
    return np.unpackbits(held, count=n_rows, bitorder="little").astype(bool)
