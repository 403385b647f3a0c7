"""Sets of rows to enumerate trees over: bits of a packed problem, or numbers of distinct rows for all else.

Of a packed problem they are asked in the workspace of a native linear oracle, whose search tells bounds: what children
cost at least is their optimum, or what the budget leaves; the work units tell it, up to depth three. Costs are codes of
the engine, beyond what every tree pays. The numbers are for any driver, many kinds of rows, and columns of categories.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
from numba import int16, int64

from streed.bnb.bounds import bound_by_node
from streed.bnb.branch_cache import extend_branch, literal
from streed.bnb.expand import ask
from streed.bnb.native_search import NativeOracle
from streed.bnb.nodes import write_side
from streed.bnb.session import search_fully
from streed.bnb.workspace import Workspace
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.compiled import entry
from streed.kernels.counting.pair_counts import count_pairs as count_column_pairs
from streed.kernels.counting.rows import units_of
from streed.kernels.records import BELOW, INFINITE, LANES, NONE, SHALLOW, UNLIMITED
from streed.kernels.stopping import STOP, run_stoppable, stopped
from streed.kernels.values import LOWER0, LOWER1, OPTIMUM0, OPTIMUM1, ROWS_OF_VALUES, UNKNOWN
from streed.kernels.views import call, engine_at, matrix, native, vector
from streed.problem import Problem, SearchStopped
from streed.problem.linear_oracle import FixedCosts, RowSet, RowSets
from streed.tables.entries import COST
from streed.tables.shallow import least_shallow
from streed.tables.vector_trees import Trees
from streed.task.states import sums_by


@entry
def count_pairs(engine, rows, depth, weights, base, sums):  # type: ignore[no-untyped-def]
    """(active columns (m,), P, total (L,), least (width,)) of the rows; writes their pairs (L * P, P) to `sums`.

    `weights` (G, L) int64 are the multipliers of the row groups that make profits of counts (rows, then for every label
    but the first what it adds to an entry beyond the first label's), `base` (G, width) the entries of the first label.
    """
    e = engine_at(engine)
    e.asked_rows = rows.ctypes.data
    e.asked_depth = 2
    call(e.load, e)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    total = np.zeros(weights.shape[1], np.int64)
    least = np.zeros(base.shape[1], np.int64)
    for g in range(e.groups):
        size = group_rows[g + 1] - group_rows[g]
        for p in range(len(total)):
            total[p] += weights[g, p] * size
        for c in range(len(least)):
            least[c] += base[g, c] * size
    columns = e.n_active if depth > 0 else 0
    if columns > 0:
        words = matrix(e.words, e.n_words, e.stride, int16)
        begins = vector(e.group_begins, e.groups + 1, int64)
        pairs = matrix(sums.ctypes.data, len(total) * e.stride, e.stride, int64)
        count_column_pairs(words, begins, e.groups, columns, weights, len(total), pairs, units_of(e))
    return vector(e.active, e.width, int64)[:columns].copy(), int64(e.stride), total, least


@native
def _rank_deep(e, rows, budget, split, branch, active, separates, least):  # type: ignore[no-untyped-def]
    """Writes what the children of every column cost at depth three (2, m), as far as the budget asks for it."""
    size = len(active)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    bound_by_node(e, values, e.upper)
    lower1 = np.zeros(size, np.int64)
    lower0 = np.zeros(size, np.int64)
    key = np.full(size, int64(INFINITE), np.int64)
    for k in range(size):
        if separates[k] and values[OPTIMUM1, k] != UNKNOWN and values[OPTIMUM0, k] != UNKNOWN:
            key[k] = min(values[OPTIMUM1, k] + values[OPTIMUM0, k], int64(INFINITE))
        lower1[k] = max(int64(0), values[LOWER1, k])
        lower0[k] = max(int64(0), values[LOWER0, k])
    child = np.empty(e.row_words, np.uint64)
    for k in np.argsort(key):
        if not separates[k] or lower1[k] + lower0[k] + split[COST] > budget or stopped(e):
            continue
        write_side(e, rows, active[k], 0, child)
        room = budget + 1 - split[COST]
        ask(e, child, int64(SHALLOW), room - lower0[k], int64(0), extend_branch(branch, branch, literal(active[k], 1)))
        lower1[k] = max(lower1[k], int64(e.lower))
        if lower1[k] + lower0[k] >= room:
            continue
        write_side(e, rows, active[k], 1, child)
        ask(e, child, int64(SHALLOW), room - lower1[k], int64(0), extend_branch(branch, branch, literal(active[k], 0)))
        lower0[k] = max(lower0[k], int64(e.lower))
        least[0, k] = lower1[k]
        least[1, k] = lower0[k]


@entry
def rank_columns(engine, rows, depth, branch, budget, split):  # type: ignore[no-untyped-def]
    """(m, 4) int64: (cost, column, with, without), what trees that split on the column and their sides cost at least.

    All first columns of trees of depth three or four that cost at most `budget` are among them. `branch`: both words of
    the one that leads to the rows.
    """
    e = engine_at(engine)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    # children of columns that may be below the target are solved to depth three, those of others stay UNKNOWN
    values[OPTIMUM1 : OPTIMUM0 + 1] = UNKNOWN
    target = budget + 1 if depth == SHALLOW else int64(INFINITE)
    ask(e, rows, int64(SHALLOW), target, int64(0), (branch, branch), which=BELOW)
    size = int64(e.n_active)
    local = vector(e.active, e.width, int64)
    active = np.empty(size, np.int64)
    for k in range(size):
        active[k] = local[k]
    ones = vector(e.ones, e.width, int64)
    separates = np.empty(size, np.bool_)
    for k in range(size):
        separates[k] = 0 < ones[k] < e.n_rows
    least = np.full((2, size), int64(INFINITE), np.int64)
    if depth == SHALLOW:
        for k in range(size):
            if separates[k] and values[OPTIMUM1, k] != UNKNOWN and values[OPTIMUM0, k] != UNKNOWN:
                least[0, k] = values[OPTIMUM1, k]
                least[1, k] = values[OPTIMUM0, k]
    else:
        _rank_deep(e, rows, budget, split, branch, active, separates, least)
    ranked = np.empty((size, 4), np.int64)
    count = 0
    for k in range(size):
        if least[0, k] < INFINITE and least[1, k] < INFINITE:
            total = least[0, k] + least[1, k] + split[COST]
            if total <= budget:
                ranked[count, 0], ranked[count, 1] = total, active[k]
                ranked[count, 2], ranked[count, 3] = least[0, k], least[1, k]
                count += 1
    return ranked[:count]


_FEW_COLUMNS = 72
"""With no more columns than this, trees of depth two take a moment: between these, Python sees to it that a search
ends, so they need no thread."""

_NO_BRANCH: Any = np.uint64(2**64 - 1)
"""What a branch is that is not cached, as of rows that many branches lead to."""


@final
class PackedRowSets(RowSets):
    """Rows as (W,) uint64. Costs in units are codes of the engine, which tells what children cost up to depth four."""

    direct_depth = 2

    def __init__(self, oracle: NativeOracle, entries: Array, split: Array, time_limit: float | None) -> None:
        self._packed, self.control = oracle.packed, oracle.control
        self._deadline = None if time_limit is None else clock() + time_limit
        self._oracle = oracle
        self._costs = np.ascontiguousarray(entries[:, :, COST])
        self._split_cost = int(split[COST])
        self.base, self.unit = oracle.set_costs(self._costs, self._split_cost, self)
        entries = entries.copy()
        entries[:, :, COST] = (self._costs - self._costs.min(axis=1, keepdims=True)) // self.unit
        self.split = split.copy()
        self.split[COST] = self._split_cost // self.unit
        profits = (entries[:, 1:] - entries[:, :1]).reshape(len(entries), -1)
        self._weights = np.ascontiguousarray(np.concatenate([oracle.packed.groups.profits[:, -1:], profits], axis=1))
        self._least = np.ascontiguousarray(entries[:, 0])
        columns = oracle.workspace.engine["width"]
        self._pairs = np.empty(self._weights.shape[1] * columns * columns, np.int64)
        depth = oracle.workspace.limits[0]
        self._whole = RowSet(oracle.rows, None if depth >= UNLIMITED else depth)

    @property
    def workspace(self) -> Workspace:
        """Where rows are searched."""
        return self._oracle.workspace

    def whole(self) -> RowSet:
        return self._whole

    def caller_column(self, column: int) -> tuple[int, bool]:
        return int(self._packed.column[column]), bool(self._packed.flipped[column])

    def pair_sums(self, rows: RowSet) -> tuple[Array, Array, Array, Array]:
        columns, stride, total, least = count_pairs(
            self.workspace.engine.address, rows.rows, np.int64(_depth(rows)), self._weights, self._least, self._pairs
        )
        return columns, self._pairs[: len(total) * stride**2].reshape(len(total) * stride, stride), total, least

    def children(self, rows: RowSet, column: int) -> list[RowSet | None]:
        bits = self._packed.column_rows[column]
        sides = rows.rows & ~bits, rows.rows & bits
        return [rows.child(side) if side.any() else None for side in sides]

    def splits(self, rows: RowSet, budget: int) -> Iterator[tuple[int, list[int]]]:
        if rows.is_within(SHALLOW + 1):
            branch = np.uint64(0) if rows.rows is self._whole.rows else _NO_BRANCH
            ranked = rank_columns(self.workspace.engine.address, rows.rows, _depth(rows), branch, budget, self.split)
            self.check_time()
            ranked = ranked[np.argsort(ranked[:, 0], kind="stable")]
            yield from ((column, [without, having]) for _, column, having, without in ranked.tolist())
            return
        room = budget - int(self.split[COST])
        for column in range(self._packed.n_columns):
            without, having = self.children(rows, column)
            if without is None or having is None:
                continue
            least1 = self._bound(having, room + 1)
            if least1 > room:
                continue
            least0 = self._bound(without, room + 1 - least1)
            if least1 + least0 <= room:
                yield column, [least0, least1]

    def _bound(self, rows: RowSet, target: int) -> int:
        """A lower bound on what the rows cost: the optimum if that is below the target."""
        if target <= 0:
            return target
        self.check_time()
        workspace, engine = self.workspace, self.workspace.engine
        if engine["node_count"] + 2 >= workspace.space.nodes:
            self._oracle.set_costs(self._costs, self._split_cost, self)  # which forgets them
        # a tree below the target has no more nodes than it pays for
        paid = (target - 1) // int(self.split[COST]) if self.split[COST] else UNLIMITED
        depth = _depth(rows)
        workspace.node_rows[engine["node_count"]] = rows.rows
        asked = {"root_depth": min(depth, paid) if paid <= SHALLOW else depth, "root_budget": UNLIMITED}
        engine.write({"root": NONE, **asked, "root_target": target, "root_high": -1, "root_low": -1})
        search_fully(workspace)
        return workspace.root_bounds[0]

    def check_time(self) -> None:
        """Raises SearchStopped if the time is over."""
        if self._deadline is not None and clock() >= self._deadline:
            self.control[STOP] = 1
        if self.control[STOP]:
            raise SearchStopped("time")

    def run(self, work: Callable[[], Any]) -> Any:
        """What the work gives, in a thread of its own if it may take long."""
        if self._oracle.costs_of is not self:
            self._oracle.set_costs(self._costs, self._split_cost, self)
        self.control[STOP], depth = 0, self._whole.depth
        if depth is not None and depth <= SHALLOW and self._packed.n_columns <= _FEW_COLUMNS:
            try:
                return work()
            except KeyboardInterrupt:
                raise SearchStopped("interrupt") from None
        found: list[Any] = []

        def run() -> None:
            try:
                found.append(work())
            except SearchStopped as stop:  # the runner knows better why
                found.append(stop)

        reason = run_stoppable([run], self.control, self._deadline, lambda: None)
        if reason is not None:
            raise SearchStopped(reason)
        if isinstance(found[0], SearchStopped):
            raise found[0]
        return found[0]


def _depth(rows: RowSet) -> int:
    return UNLIMITED if rows.depth is None else min(rows.depth, UNLIMITED)


@final
class EnumeratingOracle(NativeOracle):
    """A native linear oracle whose trees can be enumerated."""

    def row_sets(self, entries: Array, split: Array, time_limit: float | None) -> PackedRowSets | None:
        """None where columns are categorical, or neither depth nor nodes are limited."""
        if (self.workspace.limits[0] == UNLIMITED and not split[COST]) or self.packed.n_binary < self.packed.n_columns:
            return None
        return PackedRowSets(self, entries, split, time_limit)


Ranked = tuple[int, int, list[int]]
"""What a split costs at least, its column, and what each child with rows costs at least."""


@final
class NumberedRowSets(RowSets):
    """Rows as (m,) int64 numbers of distinct rows. Children's bounds are optima, by pair sums or searches."""

    unit = 1

    def __init__(self, trees: Trees, entries: Array, split: Array, *, in_pairs: bool) -> None:
        self._trees = trees
        self.split = split
        self._widths = trees.arity.tolist()
        """Of every column how many categories it has, 0 for a binary one."""
        self.direct_depth = 2 if in_pairs and not any(self._widths) else 0
        least = entries[:, :, COST].min(axis=1, keepdims=True)
        self.base = int(trees.sizes @ least[:, 0])
        entries = entries.copy()
        entries[:, :, COST] -= least
        self._costs = entries[:, :, COST]
        first, self._member = trees.distinct_rows
        self._codes = trees.data.X[first]
        counts = sums_by(self._member, trees.data.counts, len(first))
        self._sums = trees.merged(entries)
        profits = (self._sums[:, 1:] - self._sums[:, :1]).reshape(len(first), -1)
        self._profits = np.concatenate([counts[:, None], profits], axis=1)
        self._cost_profits = np.concatenate([counts[:, None], profits[:, COST :: len(split)]], axis=1)
        self._exact = float if np.abs(self._profits).sum() < 2**53 else np.int64  # floats add up sooner
        self._least: dict[tuple[bytes, int | None], int] = {}
        self._ranked: dict[tuple[bytes, int | None], list[Ranked]] = {}

    def whole(self) -> RowSet:
        return RowSet(np.arange(len(self._codes)), self._trees.problem.max_depth)

    def children(self, rows: RowSet, column: int) -> list[RowSet | None]:
        here = self._codes[rows.rows, column]
        parts = (rows.rows[here == code] for code in range(self._widths[column] or 2))
        return [rows.child(part) if len(part) else None for part in parts]

    def pair_sums(self, rows: RowSet) -> tuple[Array, Array, Array, Array]:
        columns = self._separating(rows) if rows.depth and self.direct_depth else np.empty(0, np.int64)
        pairs, total = self._sums_of(rows, columns, self._profits)
        return columns, pairs, total, self._sums[rows.rows, 0].sum(axis=0)

    def _separating(self, rows: RowSet) -> Array:
        """The columns that some of the rows have, and some do not."""
        ones = self._codes[rows.rows].sum(axis=0, dtype=np.int64)
        return np.flatnonzero((ones > 0) & (ones < len(rows.rows)))

    def _sums_of(self, rows: RowSet, columns: Array, profits: Array) -> tuple[Array, Array]:
        """(pairs, total): the sums of profits (n, planes) over the rows that have two of the columns, and over all."""
        having = np.zeros((len(rows.rows), -(-len(columns) // LANES) * LANES), self._exact)
        having[:, : len(columns)] = self._codes[rows.rows[:, None], columns]
        profits = profits[rows.rows]
        by_column = having[:, None] * profits.astype(self._exact)[:, :, None]
        return (by_column.reshape(len(having), -1).T @ having).astype(np.int64), profits.sum(axis=0)

    def splits(self, rows: RowSet, budget: int) -> Iterator[tuple[int, list[int]]]:
        name = _name(rows)
        if name not in self._ranked:
            self._ranked[name] = sorted(self._rank(rows), key=operator.itemgetter(0))
        for total, column, bounds in self._ranked[name]:
            if total > budget:
                return
            yield column, bounds

    def check_time(self) -> None:
        self._trees.remaining()

    def _rank(self, rows: RowSet) -> Iterator[Ranked]:
        bounds_of = self._bounds
        if self.direct_depth and rows.is_within(self.direct_depth + 1):
            columns = self._separating(rows)
            bounds_of = functools.partial(self._pair_bounds, columns, self._sums_of(rows, columns, self._cost_profits))
        for column in range(len(self._widths)):
            children = [child for child in self.children(rows, column) if child is not None]
            if len(children) > 1:
                self.check_time()
                bounds = bounds_of(children)
                if max(bounds) < INFINITE:
                    yield sum(bounds) + int(self.split[COST]), column, bounds

    def _pair_bounds(self, columns: Array, whole: tuple[Array, Array], children: list[RowSet]) -> list[int]:
        """The least costs of shallow trees: the sums of the larger child are its parent's without the other's."""
        if any(_name(child) not in self._least for child in children):
            less = min(children, key=lambda child: len(child.rows))
            sums = self._sums_of(less, columns, self._cost_profits)
            split, min_leaf = self.split[: COST + 1], self._trees.problem.min_leaf
            for child in children:
                pairs, total = sums if child is less else map(np.subtract, whole, sums)
                found = least_shallow(pairs, total, len(columns), split, child.depth, min_leaf)
                first = self._sums[child.rows, 0, COST].sum()
                self._least[_name(child)] = int(found + first if found < INFINITE else INFINITE)
        return [self._least[_name(child)] for child in children]

    def _bounds(self, children: list[RowSet]) -> list[int]:
        """The least costs of trees for the children; INFINITE where none is allowed."""
        for child in children:
            if _name(child) not in self._least:
                self._least[_name(child)] = self._search(child)
        return [self._least[_name(child)] for child in children]

    def _search(self, rows: RowSet) -> int:
        of = self._trees.problem
        if rows.is_within(0):
            present = self._profits[rows.rows, 0].sum() >= of.min_leaf
            return int(self._sums[rows.rows, :, COST].sum(axis=0).min()) if present else INFINITE
        members = np.flatnonzero(np.isin(self._member, rows.rows))
        costs = FixedCosts(self._costs[self._trees.kinds[members]], int(self.split[COST]))
        most = None if of.max_nodes is None else max(0, of.max_nodes - 1)
        solved = self._trees.search(Problem(self._trees.data.subset(members), costs, rows.depth, most, of.min_leaf))
        return solved.solutions[0].value if solved.solutions else INFINITE


def _name(rows: RowSet) -> tuple[bytes, int | None]:
    return rows.rows.tobytes(), rows.depth
