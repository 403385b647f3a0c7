"""The sets of rows of a general search: their sums, what they cost as leaves, and how questions split them.

A set of rows is a Python integer whose bit i says whether row i is in it. The sums over all children of a set come from
one matrix product: of the statistics of its rows with the indicators of all columns' codes.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from streed.data.questions import Questions
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.task import TOTAL, RowCostTask, State, Task, beside_sums
from streed.task.analysis.facts import reads
from streed.task.base import objective
from streed.task.states import ExactSums

if TYPE_CHECKING:
    from streed.data import Cut, Dataset
    from streed.dp.recursion import StopMonitor
    from streed.problem import Problem
    from streed.task import Value

Found = tuple[Any, int, Any]
"""A solution: its value; its label or its split; None, or the solutions of the children with rows."""

Sums = tuple[Any, ...]
"""The rows of a set, then the sums of all statistics over it, flat."""

_SHARE_OF_FLOORS = 0.25
"""Of a time limit, for the bounds of groups of equal rows."""

_MOST_LEAVES = 200_000
"""Leaves that are remembered by their sums or rows; sets at the last level are as many as all others together."""

_UNASKED = object()
"""In place of a bound that nobody has asked for yet."""

_FLOAT_BITS = 53
"""Below 2**53 float64 adds whole numbers exactly, and matrix products of it are quick."""

_BLOCK = 2**22
"""Numbers of a block of a matrix product."""


@final
class RowSetSums:
    """The statistics of all rows times their weights, as whole numbers, in digits that float64 adds exactly."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self._named: list[tuple[str, int | None, int]] = []
        """Of every statistic its name, how many sums it has (None: a number), and what these are to be divided by."""
        columns = [data.counts.astype(object)[None, :]]
        sums = ExactSums(task, data)
        for name, (values, unit) in sums.items():
            columns.append(values.reshape(data.n_rows, -1).T.astype(object) * unit.numerator)
            width = None if values.ndim == 1 else len(columns[-1])
            self._named.append((name, width, unit.denominator))
        whole = np.concatenate(columns).T
        self._bits, digits = _FLOAT_BITS - 1 - data.n_rows.bit_length(), []
        while max(np.abs(whole).sum(axis=0)) >= 2**_FLOAT_BITS:
            digits.append(whole & ((1 << self._bits) - 1))
            whole = whole >> self._bits
        self._digits = np.concatenate([*digits, whole], axis=1).astype(np.float64)
        """(n, digits * sums): the least ones of all sums first; the last have the signs."""
        self._width = whole.shape[1]
        self.exact = sums.takes_fractions
        """Whether sums are given exactly; else they are rounded once, where they are no whole numbers."""

    def total(self, members: Array) -> tuple[Any, ...]:
        """The number of these rows (m,), then their sums, flat."""
        return self._joined(self._digits[members].sum(axis=0)[None, :])[0]

    def by_literal(self, members: Array, codes: Array) -> list[tuple[Any, ...]]:
        """The sums over the rows (m,) that have each literal; `codes` (n, L) uint8 says which row has which."""
        digits = np.zeros((codes.shape[1], self._digits.shape[1]))
        block = max(1, _BLOCK // max(1, codes.shape[1]))
        for begin in range(0, len(members), block):
            rows = members[begin : begin + block]
            digits += codes[rows].astype(np.float64).T @ self._digits[rows]
        return self._joined(digits)

    def _joined(self, digits: Array) -> list[tuple[int, ...]]:
        """The whole numbers that have these digits (m, ...)."""
        if digits.shape[1] == self._width:
            return list(map(tuple, digits.astype(np.int64).tolist()))
        found = np.zeros((len(digits), self._width), object)
        for begin in reversed(range(0, digits.shape[1], self._width)):
            found = (found << self._bits) + digits[:, begin : begin + self._width].astype(np.int64)
        return list(map(tuple, found.tolist()))

    def named(self, sums: Sequence[Any]) -> dict[str, Any]:
        """The sums by the names of the statistics; see `exact`."""
        begin, found = 1, {}
        for name, width, denominator in self._named:
            numbers: Sequence[Any] = sums[begin : begin + (1 if width is None else width)]
            begin += len(numbers)
            if denominator > 1:
                divided = Fraction if self.exact else int.__truediv__
                numbers = [divided(x, denominator) for x in numbers]
            found[name] = numbers[0] if width is None else tuple(numbers)
        return found

    def state(self, sums: Sequence[Any]) -> State:
        """The state that has these sums."""
        return State(sums[0], **self.named(sums))


@final
class Cell:
    """A set of rows, and what is known of it."""

    __slots__ = ("floor", "leaves", "memo", "most_leaves", "n_rows", "rows", "splits", "sums")

    def __init__(self, rows: int, n_rows: int, min_leaf: int, sums: Sums | None) -> None:
        self.rows = rows
        self.n_rows = n_rows
        """How many rows it has, each as often as its frequency says."""
        self.most_leaves = min(rows.bit_count(), n_rows // min_leaf)
        """No tree has more leaves with rows: each has a row of the data, and `min_leaf` by their frequencies."""
        self.sums = sums
        self.leaves: list[Found] | None = None
        self.splits: list[tuple[int, tuple[Cell, ...]]] | None = None
        self.floor: Any = _UNASKED
        """A value that no tree is better than, or None."""
        self.memo: dict[Any, Any] = {}


class States:
    """The cells of one problem."""

    def __init__(self, problem: Problem, monitor: StopMonitor) -> None:
        data, task = problem.data, problem.task
        self.task = task
        self.values: Task = task
        """The task whose order and (+) the values have."""
        self.data = data
        self.min_leaf = problem.min_leaf
        self.labels = range(len(task.labels(data)))
        self.limits = [limit for limit in task.limits if limit.support is None]
        inner = objective(task)
        self.is_sum = inner.adds_values
        self.is_cost = inner.adds_values and not inner.overrides("better")
        self.free = isinstance(inner, RowCostTask) or not inner.overrides("branching_cost")
        """Whether no split costs anything, or all the same."""
        self.path_counts = not self.free and reads(inner, "path")
        self.column_counts = not self.free and reads(inner, "split")
        self._monitor = monitor
        self._questions = Questions.of(data)
        """Splits are numbered as they are: ordered columns have many."""
        self.columns: list[int] = self._questions.column.tolist()
        """By split."""
        self._literals, self._codes = _indicators(self._questions.data)
        self.used: Sequence[int] = range(len(self._literals))
        """The splits that trees may have."""
        self._sums = RowSetSums(task, data)
        self.exact = self._sums.exact
        """Whether the task is given all sums exactly."""
        everyone = np.arange(data.n_rows)
        self._apart = inner.overrides("exact_cost") and task.exact_cost(data, everyone, 0) is not None
        self._by_row_sets = task.reads_rows or self._apart
        """Whether the sums of a set of rows do not tell what it costs as a leaf."""
        self._known_leaves: dict[Any, list[Found]] = {}
        self.cells: dict[int, Cell] = {}
        everything = (1 << data.n_rows) - 1
        self.root = self._cell(everything, self._sums.total(everyone))

    def below(self, path: tuple[int, ...], split: int) -> tuple[int, ...]:
        """The columns tested above a split's children, () where no cost depends on them; `path`: those above it."""
        return tuple(sorted({*path, self.columns[split]})) if self.path_counts else ()

    def price(self, cell: Cell, path: tuple[int, ...], split: int) -> Value | None:
        """What a branching node of the cell costs."""
        if self.free:
            return self._free
        return self.task.branching_cost(cell.n_rows, path, self.columns[split])

    @functools.cached_property
    def _free(self) -> Any:
        """What every split costs where all cost the same."""
        return self.task.branching_cost(1, (), 0)

    def cut_of(self, split: int) -> Cut | None:
        """The cut of a split; None where its column is not ordered."""
        return self._questions.cut(split)

    def literals(self, split: int) -> list[int]:
        """The rows of each child of the split."""
        return self._literals[split][1]

    def count(self, rows: int) -> int:
        """How many rows the set has, each as often as its frequency says."""
        return rows.bit_count() if self.data.frequency is None else self.data.count(self.members(rows))

    def members(self, rows: int) -> Array:
        """(m,) int64: the numbers of the rows in the set, in ascending order."""
        n = self.data.n_rows
        packed = np.frombuffer(rows.to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
        return np.flatnonzero(np.unpackbits(packed, count=n, bitorder="little"))

    # -- leaves ----------------------------------------------------------------------------------------------------

    def leaves(self, cell: Cell) -> list[Found]:
        """The feasible leaf solutions of the cell that no other one is better than, one of each value."""
        if cell.leaves is not None:
            return cell.leaves
        key: Any = cell.rows if self._by_row_sets else cell.sums
        if key not in self._known_leaves:
            self._monitor.look()
            if len(self._known_leaves) >= _MOST_LEAVES:
                self._known_leaves.clear()
            members = self.members(cell.rows) if self._apart else None
            self._known_leaves[key] = self._ask(self.state(cell), members) if cell.n_rows >= self.min_leaf else []
        cell.leaves = self._known_leaves[key]
        return cell.leaves

    def cost(self, state: State, members: Array | None, k: int) -> Value:
        """What a leaf at this state costs with a label; exactly, by its rows (m,), where they are given."""
        exact = None if members is None else self.task.exact_cost(self.data, members, k)
        found = self.task.leaf_cost(state, k) if exact is None else exact
        if found is None:
            said = f"a leaf of {state.rows} rows costs None by {type(self.task).__name__}"
            raise TaskError(f"{said}; return a number at every state (is a `return` missing?)")
        return found

    def _ask(self, state: State, members: Array | None) -> list[Found]:
        task = self.task
        if not all(limit.allows(state) for limit in self.limits):
            return []
        found: list[Found] = []
        for k in self.labels:
            value = self.cost(state, members, k)
            if task.feasible(value) and not any(old[0] == value or task.better(old[0], value) for old in found):
                found = [old for old in found if not task.better(value, old[0])]
                found.append((value, k, None))
        return found

    def state_of_rows(self, members: Array) -> State:
        """The state of these rows (m,) with all that the task may ask of it."""
        sums = self._sums.named(self._sums.total(members))
        return State(self.data.count(members), **sums, **beside_sums(self.task, self.data, members))

    def state(self, cell: Cell) -> State:
        """The state of the cell."""
        if self._by_row_sets or cell.sums is None:
            return self.state_of_rows(self.members(cell.rows))
        return self._sums.state(cell.sums)

    # -- splits ----------------------------------------------------------------------------------------------------

    def splits(self, cell: Cell, *, last: bool = False) -> list[tuple[int, tuple[Cell, ...]]]:
        """The splits that part the cell's rows in different ways, with the children; those of the `last` are leaves."""
        if cell.splits is not None:
            return cell.splits
        sums = None if self._by_row_sets else self._sums.by_literal(self.members(cell.rows), self._codes)
        found: list[tuple[int, tuple[Cell, ...]]] = []
        seen: set[tuple[int, ...]] = set()
        rows, make = cell.rows, self._made if last else self._cell
        for split in self.used:
            begin, literals = self._literals[split]
            parts = [(rows & literal, at) for at, literal in enumerate(literals, begin)]
            parts = [part for part in parts if part[0]]
            if len(parts) < 2 or self._known(tuple(part for part, _ in parts), seen):
                continue
            found.append((split, tuple(make(part, None if sums is None else sums[at]) for part, at in parts)))
        if not last:
            cell.splits = found
        return found

    def _known(self, parts: tuple[Any, ...], seen: set[tuple[Any, ...]]) -> bool:
        """Whether a split into these parts, in any order where (+) is the sum, was seen before."""
        key, before = tuple(sorted(parts)) if self.is_sum else parts, len(seen)
        seen.add(key)
        return len(seen) == before and not (self.column_counts or self.path_counts)

    def _cell(self, rows: int, sums: Sums | None) -> Cell:
        cell = self.cells.get(rows)
        if cell is None:
            cell = self.cells[rows] = self._made(rows, sums)
        return cell

    def _made(self, rows: int, sums: Sums | None) -> Cell:
        return Cell(rows, self.count(rows) if sums is None else sums[0], self.min_leaf, sums)

    # -- bounds ----------------------------------------------------------------------------------------------------

    def floor(self, cell: Cell) -> Value | None:
        """A value that no tree on the cell's rows is better than, or None; for total orders.

        The task's own bound, or the equivalent points bound: what groups of equal rows cost as leaves. Where adding
        never makes a value better, no value of a branching tree is below 0.
        """
        if cell.floor is _UNASKED:
            cell.floor = None
            inner = objective(self.task)
            if inner.overrides("lower_bound"):
                cell.floor = self.task.lower_bound(self.state(cell))
            if cell.floor is None and self.is_cost and inner.worsening and self.task.order == TOTAL:
                leaves = self.leaves(cell)
                if not leaves or not isinstance(leaves[0][0], tuple):
                    cell.floor = min(0, leaves[0][0]) if leaves else 0
            if self._floors is not None:
                floors = self._floors[self.members(cell.rows)]
                groups = sum(floors[floors != 0].tolist())
                if cell.floor is None or self.task.better(cell.floor, groups):
                    cell.floor = groups
        return cell.floor

    @functools.cached_property
    def _floors(self) -> Array | None:
        """(n,) objects: at the first row of each group of equal rows what the group costs as a leaf, else 0.

        Groups are asked for a part of the time limit. The others count as 0, where no cost is below that.
        """
        inner = objective(self.task)
        is_free = not inner.overrides("branching_cost") or inner.worsening
        never_pays = is_free or (isinstance(inner, RowCostTask) and inner.split_cost() >= 0)
        if not (self.task.superadditive and self.is_cost and never_pays):
            return None
        data = self.data
        packed = np.packbits(self._codes, axis=1)
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
        floors = np.zeros(data.n_rows, dtype=object)
        order, left = np.argsort(groups, kind="stable"), self._monitor.remaining()
        until = math.inf if left is None else clock() + _SHARE_OF_FLOORS * left
        for place, rows in zip(first.tolist(), np.split(order, np.cumsum(np.bincount(groups))[:-1]), strict=True):
            if clock() > until:
                return floors if inner.worsening else None
            state = self.state_of_rows(rows)
            best = min(self.cost(state, rows if self._apart else None, k) for k in self.labels)
            if isinstance(best, tuple):
                return None
            floors[place] = best
        return floors


def _indicators(data: Dataset) -> tuple[list[tuple[int, list[int]]], Array]:
    """By split the number of its first literal and the rows of each; and which row has which literal, (n, L) uint8."""
    widths = [len(data.column(j).categories) if j in data.categorical else 2 for j in range(data.n_columns)]
    begins = [0, *itertools.accumulate(widths)]
    codes = np.zeros((begins[-1], data.n_rows), dtype=np.uint8)
    for j, width in enumerate(widths):
        codes[begins[j] : begins[j] + width] = data.X[:, j] == np.arange(width)[:, None]
    sets = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(codes, axis=1, bitorder="little")]
    literals = [(begin, sets[begin : begin + width]) for begin, width in zip(begins, widths, strict=False)]
    return literals, np.ascontiguousarray(codes.T)
