"""What the sides of splits cost at least, as the native search tells it, for sets of rows that are whole numbers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.dp.count import Count, Counting, Depths
from streed.dp.recursion import Limits, Option, Path, Recursion, StopMonitor
from streed.dp.solutions import Least
from streed.dp.states import Cell
from streed.drivers import DepthFirst
from streed.exact import Array
from streed.kernels.records import INFINITE
from streed.problem import Problem, SearchLimits
from streed.problem.linear_oracle import RowSet
from streed.rashomon.cells import BinarySplits, Kinds, RowCells, TaskCells
from streed.rashomon.question import Question
from streed.tables.row_sets import PackedRowSets

LEAST_DEPTH = 3
"""For trees of fewer levels the engine has no bounds; one call of a kernel counts so many."""

LARGEST_COST = 2**50
"""Keys of trees beyond this are not given to the engine."""

_ANY_PATH = ((0, 0),) * 9
"""Of rows that any path may lead to: nothing is remembered by the path."""


@final
@attrs.define(eq=False)
class Engine:
    """The native search over the distinct splits of some rows, in bits of its own, under the keys as costs."""

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
        question: Question,
        binary: BinarySplits,
        kinds: Kinds,
        price: int,
    ) -> Engine | None:
        """The engine for splits, and keys not below 0; None if it takes no such."""
        columns = np.ascontiguousarray(binary.codes[:, binary.first])
        coded = Dataset.make(columns, frequency=question.data.frequency)
        costs = np.ascontiguousarray(kinds.multipliers[:, 1:])
        problem = Problem(coded, question.bound, question.depth, None, question.min_leaf)
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
        """(place, least, least): splits of keys <= budget, and what the parts without and with cost beyond `base`."""
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


def counting(cells: RowCells | TaskCells, monitor: StopMonitor, engine: Engine | None, *, trivial: bool) -> Counting:
    """The recursion that counts trees over the cells; `engine`: what tells the least keys of the sides of splits."""
    is_native = isinstance(cells, RowCells)
    found = (_NativeCounting if is_native else Counting)(cells, Count, Depths(), monitor)
    found.least = (_NativeLeast if is_native else Recursion)(cells, Least, Depths(), monitor)
    found.trivial, found.small = trivial, is_native
    if isinstance(found, _NativeCounting):
        found.engine = engine
    return found


@final
class _NativeLeast(Recursion):
    def make(self, cell: Cell, limits: Limits, path: Path, bound: Any) -> Any:
        depth = limits[0] or 0
        if depth >= LEAST_DEPTH:
            return super().make(cell, limits, path, bound)
        least = self.states.shallow(cell.rows, depth, 0, counts=False)[0]
        return ([], None) if least >= INFINITE else ([(least, 0, None)], least)


@final
class _NativeCounting(Counting):
    """The native search tells what splits may begin trees of three levels and more, and what their sides cost."""

    engine: Engine | None

    def make(self, cell: Cell, limits: Limits, path: Path, bound: Any) -> Any:
        depth, found = limits[0] or 0, None
        if 0 < depth < LEAST_DEPTH and self.monitor.visit():
            found = self.states.shallow(cell.rows, depth, bound, counts=True)[1]
        elif depth == LEAST_DEPTH and self.engine is not None and self.monitor.visit():
            splits = [place for place, *_ in self.engine.splits(cell.rows, depth, bound, self.states.paid(cell.rows))]
            found = self.states.three(cell.rows, splits, bound) if splits else Count(self, cell, bound).kept[1]
        if found is None:  # counts beyond int64 are made of those of smaller trees
            return super().make(cell, limits, path, bound)
        return bound, found if self.enough is None else found.first(self.enough)

    def options(self, cell: Cell, limits: Limits, path: Path, bound: Any = None) -> Iterator[Option]:
        depth, cells = limits[0] or 0, self.states
        if self.engine is None or depth < LEAST_DEPTH:
            yield from super().options(cell, limits, path, bound)
            return
        for split, *lows in self.engine.splits(cell.rows, depth, bound, cells.paid(cell.rows)):
            if not self.monitor.look():
                return
            children = cell.rows & ~cells.ones[split], cell.rows & cells.ones[split]
            if all(children):
                lows = [low + cells.paid(child) for low, child in zip(lows, children, strict=True)]
                made = [cells.cell(child) for child in children]
                yield Option(split, made, [self.useful(child, depth - 1, None) for child in made], (), cells.cost, lows)
