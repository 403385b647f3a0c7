"""The sets of rows over which near-optimal trees are counted, with all leaves and splits that tell trees apart.

A leaf counts under every label, and two splits are one only where they part all rows alike. What the sides of splits
cost at least, the native search tells.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Cut, Dataset
from streed.data.questions import Questions
from streed.dp.count import FITS, Histogram
from streed.dp.recursion import StopMonitor
from streed.dp.states import Cell, Found, States
from streed.drivers import DepthFirst
from streed.exact import Array, writable
from streed.kernels.counting.equal_rows import find_classes
from streed.problem import Problem, SearchLimits
from streed.problem.linear_oracle import FixedCosts, RowSet
from streed.rashomon.question import Question, exact_leaf
from streed.tables.counts import count_shallow, count_three
from streed.tables.packing import Packing
from streed.tables.row_sets import PackedRowSets
from streed.task import State, Task

NUMBERS = FixedCosts(np.zeros((1, 1), np.int64), 0)
"""A task whose order and (+) are those of numbers."""


@final
@attrs.frozen(eq=False)
class Asked:
    """A question about a column, and the rows by its answers."""

    column: int
    cut: Cut | None
    children: tuple[int, ...]
    """By child the set of its rows, a whole number whose bit i is row i."""


def chosen(leaves: list[Found], radix: int) -> list[Found]:
    """The leaf of least cost, the first of these; a key // radix is its cost."""
    return [min(leaves, key=lambda leaf: leaf[0] if radix == 1 else leaf[0] // radix)] if leaves else []


@final
class TaskCells(States):
    """Cells whose leaves are asked of a task in exact numbers, or have keys of any size."""

    engine: ClassVar[None] = None

    def __init__(self, question: Question, banned: Collection[int] = (), packed: Packing | None = None) -> None:
        data, task, price, radix = question.data, question.bound, question.split, 1
        if packed is not None:  # costs that have the weights of rows in them
            data = attrs.evolve(data, weights=None, sample_weight=None)
            price, radix = packed.split[0], packed.radix
            task = FixedCosts(packed.costs[:, :, 0], price)
        super().__init__(Problem(data, task, question.max_depth, None, question.min_leaf), StopMonitor())
        self.values = NUMBERS
        self._price, self._radix = price, radix if question.labels == "best" else 0
        alike: dict[tuple[int, ...], list[int]] = {}
        for split, (_, literals) in enumerate(self._literals):
            parts = tuple(sorted(part for part in literals if part))
            if len(parts) > 1 and self.columns[split] not in banned:
                alike.setdefault(parts, []).append(split)
        distinct = question.columns == "distinct"
        self._alike = {first: [first] if distinct else [first, *rest] for first, *rest in alike.values()}
        self.used = list(self._alike)

    def asked(self, split: int) -> list[Asked]:
        """The questions that make the split, and count."""
        return [Asked(self.columns[q], self.cut_of(q), tuple(self.literals(q))) for q in self._alike[split]]

    def price(self, cell: Cell, path: tuple[int, ...], split: int) -> Any:
        return self._price

    def floor(self, cell: Cell) -> None:
        return None

    def _ask(self, state: State, members: Array | None) -> list[Found]:
        if not all(limit.allows(state) for limit in self.limits):
            return []
        leaves: list[Found] = [(exact_leaf(self.task, self.cost(state, members, k)), k, None) for k in self.labels]
        return chosen(leaves, self._radix) if self._radix else leaves

    def _known(self, parts: tuple[Any, ...], seen: set[tuple[Any, ...]]) -> bool:
        return False


@final
@attrs.define(eq=False)
class RowCells:
    """Cells of splits into two, whose leaves' keys are sums over rows in packed words: what the kernels read."""

    question: Question
    questions: Questions
    member: Array
    """(q,) by question the split it makes; -1 of those that make none, or do not count."""
    same: Array
    """(q,) whether rows answer it as the first question of its split, or else the other way round."""
    sets: Array
    """(m, words) uint64: by split the rows that answer its first question with 1."""
    multipliers: Array
    """(g, 1 + K) int64: the copies of a row of each kind, and what it costs by label."""
    members: Array
    """(g, words) uint64: the rows of each kind."""
    everything: int
    cost: int
    """What a branching node costs, a key."""
    radix: int
    """A key // radix is its cost."""
    engine: Engine | None
    """What tells bounds, where that helps."""
    is_sum: ClassVar[bool] = True
    values: ClassVar[Task] = NUMBERS
    _cells: dict[int, Cell] = attrs.field(factory=dict, init=False)
    _asked: dict[int, list[Asked]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, question: Question, packing: Packing, banned: Collection[int], *, bounded: bool) -> RowCells | None:
        """The cells for keys of packed sums and columns that are not banned, with the engine if it is to bound them.

        None where a question has more answers than two.
        """
        data, questions, costs = question.data, Questions.of(question.data), packing.costs[:, :, 0]
        if questions.data.categorical:
            return None
        codes = writable(questions.data.X)
        kept = np.flatnonzero(~np.isin(questions.column, list(banned)))
        # a column and its complement agree on which rows answer as the first one does
        apart = packed_sets(codes[:, kept] ^ codes[:1, kept])
        found, alike = find_classes(apart.view(np.uint8))
        parts, firsts = apart[found].any(axis=1), kept[found]
        member, same = np.full(codes.shape[1], -1, np.int64), np.ones(codes.shape[1], bool)
        same[kept] = codes[0, kept] == codes[0, firsts[alike]]
        first = firsts[parts]
        if question.columns == "distinct":
            member[first] = np.arange(len(first))
        else:
            member[kept] = np.where(parts, np.cumsum(parts) - 1, -1)[alike]
        copies = np.ones(len(costs), np.int64) if data.frequency is None else data.frequency
        told_apart = np.ascontiguousarray(np.column_stack([copies, costs]))
        one, kinds = find_classes(told_apart.view(np.uint8))
        multipliers, columns, price = told_apart[one], np.ascontiguousarray(codes[:, first]), packing.split[0]
        engine = Engine.of(question, columns, kinds, multipliers, price) if bounded and len(first) else None
        if engine is not None:
            rows = engine.sets, multipliers, engine.members, engine.everything
        else:
            rows = packed_sets(columns), multipliers, members_of(kinds, len(multipliers)), (1 << data.n_rows) - 1
        return cls(question, questions, member, same, *rows, price, packing.radix, engine)

    @property
    def root(self) -> Cell:
        return self.cell(self.everything)

    def cell(self, rows: int) -> Cell:
        """The cell of a set of rows."""
        found = self._cells.get(rows)
        if found is None:
            found = self._cells[rows] = Cell(rows, rows.bit_count(), 1, None)
        return found

    def leaves(self, cell: Cell) -> list[Found]:
        """The leaves that may stand there, by their labels."""
        if cell.leaves is None:
            totals, size = [0] * self.question.n_labels, 0
            for members, (copies, *keys) in self._groups:
                count = (members & cell.rows).bit_count()
                if count:
                    size += count * copies
                    totals = [total + count * key for total, key in zip(totals, keys, strict=True)]
            found: list[Found] = [(total, k, None) for k, total in enumerate(totals)]
            found = found if size >= self.question.min_leaf else []
            cell.leaves = chosen(found, self.radix) if self.question.labels == "best" else found
        return cell.leaves

    def splits(self, cell: Cell, *, last: bool = False) -> Iterator[tuple[int, tuple[Cell, ...]]]:
        """The splits that separate the cell's rows, with the children."""
        for split, ones in enumerate(self.ones):
            sides = cell.rows & ~ones, cell.rows & ones
            if all(sides):
                yield split, tuple(map(self.cell, sides))

    def asked(self, split: int) -> list[Asked]:
        """The questions that make the split, and count."""
        if split not in self._asked:
            questions, sides = self.questions, (self.everything ^ self.ones[split], self.ones[split])
            self._asked[split] = [
                Asked(int(questions.column[q]), questions.cut(q), sides if self.same[q] else sides[::-1])
                for q in np.flatnonzero(self.member == split).tolist()
            ]
        return self._asked[split]

    def below(self, path: tuple[int, ...], split: int) -> tuple[int, ...]:
        """Costs depend on no columns above."""
        return ()

    def price(self, cell: Cell, path: tuple[int, ...], split: int) -> int:
        """What a branching node costs."""
        return self.cost

    def floor(self, cell: Cell) -> None:
        """Nothing is known of the least key."""

    def count(self, rows: int) -> int:
        """How many rows the set has, each as often as its frequency says."""
        if self.question.data.frequency is None:
            return rows.bit_count()
        return sum(copies * (members & rows).bit_count() for members, (copies, *_) in self._groups)

    def paid(self, rows: int) -> int:
        """What every tree of the rows pays."""
        return sum(least * (members & rows).bit_count() for members, least in self._least)

    # -- by the kernels --------------------------------------------------------------------------------------------

    def shallow(self, rows: int, depth: int, bound: int, *, counts: bool) -> tuple[int, Histogram | None]:
        """The least key of trees of depth two or less, and, if asked for, the trees of keys <= bound."""
        check = np.zeros(1)
        least, found = count_shallow(self._arrays, self._bits(rows), depth, bound, counts, check)
        return int(least), _histogram(found, check)

    def three(self, rows: int, splits: list[int], bound: int) -> Histogram | None:
        """The trees of depth three and keys <= bound that begin with one of the splits, or are a leaf."""
        check = np.zeros(1)
        asked = np.array(splits, np.int64)
        return _histogram(count_three(self._arrays, self._bits(rows), asked, bound, check), check)

    def _bits(self, rows: int) -> Array:
        return np.frombuffer(rows.to_bytes(8 * self.members.shape[1], "little"), np.uint64)

    @functools.cached_property
    def _arrays(self) -> tuple[Any, ...]:
        """What the kernels read: see `tables/counts.py`."""
        question, member = self.question, self.member
        # a split is the rows of its last part; which side a kernel calls the first is no matter to its counts
        multiple = np.bincount(member[member >= 0], minlength=len(self.sets))
        options = np.array([question.min_leaf, self.radix, question.labels == "best", question.trivial], np.int64)
        rule = np.arange(1, question.n_labels + 1), np.array([self.cost], np.int64), options
        return np.ascontiguousarray(self.sets.T), self.members, self.multipliers, multiple, rule

    @functools.cached_property
    def _groups(self) -> list[tuple[int, list[int]]]:
        """By kind of rows their set, and copies of each row with the keys by label."""
        return list(zip(as_numbers(self.members), self.multipliers.tolist(), strict=True))

    @functools.cached_property
    def _least(self) -> list[tuple[int, int]]:
        """Rows that pay something whatever their label, and what."""
        return [(members, min(keys)) for members, (_, *keys) in self._groups if min(keys)]

    @functools.cached_property
    def ones(self) -> list[int]:
        """By split the rows of its last child."""
        return as_numbers(self.sets)


def _histogram(found: Array, check: Array) -> Histogram | None:
    """The keys and counts (m, 2) of a kernel; None where that may have been too much for its integers."""
    return None if check[0] >= float(FITS) else Histogram.made(*np.ascontiguousarray(found.T))


_WORD = 64


def packed_sets(columns: Array) -> Array:
    """(m, words) uint64: by column of a 0/1 array (n, m) the rows with 1; bit i is row i."""
    n, m = columns.shape
    held = np.zeros((m, -(-n // _WORD) * _WORD // 8), np.uint8)
    held[:, : -(-n // 8)] = np.packbits(np.ascontiguousarray(columns.T, np.uint8), axis=1, bitorder="little")
    return held.view(np.uint64)


def as_numbers(sets: Array) -> list[int]:
    """Sets of rows (m, words) uint64 as whole numbers."""
    width, held = 8 * sets.shape[1], np.ascontiguousarray(sets).tobytes()
    return [int.from_bytes(held[at : at + width], "little") for at in range(0, width * len(sets), width or 1)]


def members_of(kinds: Array, n_kinds: int) -> Array:
    """(n_kinds, words) uint64: the rows of each kind, by that of each row (n,); bit i is row i."""
    row = np.arange(len(kinds))
    members = np.zeros((n_kinds, -(-len(row) // _WORD)), np.uint64)
    np.bitwise_or.at(members, (kinds, row // _WORD), np.uint64(1) << (row % _WORD).astype(np.uint64))
    return members


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
    _entries: tuple[Array, Array]
    _flipped: list[bool]
    _bounds: PackedRowSets | None = None
    _runs: bool = False

    @classmethod
    def of(cls, question: Question, columns: Array, kinds: Array, multipliers: Array, price: int) -> Engine | None:
        """The engine for splits, the answers (n, m) to the first question of each, and keys not below 0; None if it
        takes no such.
        """
        coded = Dataset.make(columns, frequency=question.data.frequency)
        costs = np.ascontiguousarray(multipliers[:, 1:])
        problem = Problem(coded, question.bound, question.depth, None, question.min_leaf)
        oracle: Any = DepthFirst().linear_oracle(problem, kinds, costs.shape[1], price > 0, SearchLimits())
        packed = getattr(oracle, "packed", None)
        if packed is None or packed.n_columns < columns.shape[1]:
            return None
        rows = oracle.rows
        flipped = packed.flipped.astype(bool)
        sets = packed.column_rows ^ np.where(flipped[:, None], rows, np.uint64(0))
        members = np.zeros((len(costs), len(rows)), np.uint64)
        ends = packed.groups.words.tolist()
        for kind, (begin, end) in enumerate(itertools.pairwise(ends)):
            members[kind, begin:end] = rows[begin:end]
        entries = np.stack([costs, np.zeros_like(costs)], axis=2)
        return cls(
            oracle, sets, members, int.from_bytes(rows.tobytes(), "little"),
            (entries, np.array([price, 0], np.int64)), flipped.tolist(),
        )  # fmt: skip

    def run(self, work: Callable[[], None], limits: SearchLimits) -> None:
        """Has the work done, until time is up or Ctrl-C ends it; raises SearchStopped then."""
        self._bounds, self._runs = self.oracle.row_sets(*self._entries, limits.time_limit), True
        try:
            self._bounds.run(work)
        finally:
            self._bounds, self._runs = None, False

    def splits(self, rows: int, depth: int, budget: int, base: int) -> Iterator[tuple[int, int, int]]:
        """(split, least, least): splits of keys <= budget, and what the parts without and with cost beyond `base`."""
        sets = self._bounds = self._bounds or self.oracle.row_sets(*self._entries, None)
        assert sets is not None
        room = (budget - base) // sets.unit
        if room < 0:
            return
        bits = np.frombuffer(rows.to_bytes(8 * self.sets.shape[1], "little"), np.uint64).copy()
        found = functools.partial(sets.splits, RowSet(bits, depth), room)
        for column, (without, having) in found() if self._runs else sets.run(lambda: list(found())):
            least = (having, without) if self._flipped[column] else (without, having)
            yield column, sets.unit * least[0], sets.unit * least[1]
