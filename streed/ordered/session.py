"""A session of the ordered search: its memory, how it is run, and the tree of its plan."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from streed.bnb import runner
from streed.exact import Array
from streed.kernels import buffers
from streed.kernels.buffers import address_of
from streed.kernels.compilation import clock
from streed.kernels.control import LOWER, NODES, ROWS_OF_CONTROL, UPPER
from streed.kernels.ordered.record import INFEASIBLE, PLACE, RECORD, SPLITS
from streed.kernels.ordered.sorting import sort_rows
from streed.ordered import entries
from streed.ordered.layout import FREE, ROWS_OF_HEAP, UNLIMITED, WORDS
from streed.ordered.problem import SearchedRows

_SHORT = 5e5
"""Rows times columns times splits: a search of depth two so small is over in a moment."""

_HEAP = 2**16
"""Intervals that are kept at once, beside one for each column."""

_UNKEPT = 4
"""Up to this depth nothing is kept of row sets."""

_POOL = 2**23
"""Words that are kept of row sets,"""

_PLACES = 2**19
"""and places of the table that leads to them."""


@final
@attrs.frozen
class Cut:
    """A branching node: rows whose rank in the column is at most `rank` go left."""

    column: int
    rank: int
    left: OrderedNode
    right: OrderedNode


@final
@attrs.frozen
class Ending:
    """A leaf."""

    label: int
    cost: int
    """Of its rows, as given."""
    rows: int
    """How many, by their frequencies."""


OrderedNode = Cut | Ending


@final
@attrs.frozen
class OrderedAnswer:
    """What the search found."""

    lower: int
    """No allowed tree costs less."""
    cost: int | None
    """Of the tree; None if no tree is allowed."""
    tree: OrderedNode | None
    stopped: str | None
    """None, or what ended the search: "time", "interrupt", "memory", or what `look` said."""
    nodes: int
    """Splits scored."""


class Unsettled(Exception):
    """The bounds of a subproblem did not meet: an error of the search."""


class Inexact(Exception):
    """A method of a task raised an error, or a cost that was to be a whole number is none."""


@final
class OrderedSession:
    """The memory of a search of the rows of a problem; it can be searched again under other costs."""

    def __init__(self, rows: SearchedRows) -> None:
        rows.check()
        self.rows = rows
        differ = np.flatnonzero(rows.ranks.max(axis=1, initial=0) > rows.ranks.min(axis=1, initial=0))
        self._columns = differ if len(differ) else np.zeros(1, np.int64)
        ranks = rows.ranks[self._columns] if len(rows.ranks) else np.zeros((1, rows.n_rows), np.int32)
        self._ranks = np.ascontiguousarray(ranks)
        self._n_columns = len(differ)
        self._orders = sort_rows(self._ranks)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self._record: Array = np.zeros(len(RECORD.names or ()), np.int64)
        self._kept: dict[str, Array] = {}
        self._fill()

    def solve(
        self,
        max_depth: int | None = None,
        max_nodes: int | None = None,
        *,
        below: int | None = None,
        time_limit: float | None = None,
        memory: int | None = None,
        look: Callable[[], str | None] = lambda: None,
    ) -> OrderedAnswer:
        """The best tree of at most `max_depth` levels and `max_nodes` branching nodes (None: any).

        `below`: trees that do not cost less need not be found. `memory`: bytes of the nodes of a path.
        """
        rows = self.rows
        n = rows.n_rows
        depth = min(n - 1, UNLIMITED if max_depth is None else max_depth)
        splits = UNLIMITED if max_nodes is None else max_nodes
        budget = INFEASIBLE if below is None else min(-((rows.base - below) // rows.divisor), INFEASIBLE)
        space = self._arena_bytes(min(depth, splits), memory)
        arena = buffers.borrow(space)
        plan = np.zeros(1 + WORDS * (2 * n + 2), np.int64)
        answer = np.array([0, INFEASIBLE], np.int64)  # as of a search that is stopped before it begins
        self.control[:] = 0
        self.control[UPPER] = INFEASIBLE
        words = self._record
        words[
            [
                PLACE[name]
                for name in (
                    *("batches", "splits", "nodes", "recalled", "full", "unsettled", "raised", "inexact"),
                    "arena_used",
                )
            ]
        ] = 0
        words[PLACE["arena"]], words[PLACE["arena_space"]] = address_of(arena), space
        kept = self._keep(min(depth, splits), memory)
        names = np.arange(self._n_columns, dtype=np.int64)
        search = functools.partial(
            entries.search_tree,
            *(address_of(words), depth, splits, max(budget, 0), 0, self._orders, names, plan, answer),
        )
        reason = None
        try:
            if n * self._n_columns * SPLITS < _SHORT and depth <= 2:
                search()
            else:
                deadline = None if time_limit is None else clock() + time_limit
                reason = runner.run([search], self.control, deadline, look)
            lower, upper = int(answer[0]), int(answer[1])
            if words[PLACE["raised"]] or words[PLACE["inexact"]]:
                raise Inexact
            if words[PLACE["unsettled"]]:
                raise Unsettled
            stopped = (reason or "memory") if lower < min(upper, budget) else None
            bound = rows.base + rows.divisor * lower
            nodes = int(words[PLACE["splits"]])
            if upper >= INFEASIBLE:
                return OrderedAnswer(bound, None, None, stopped, nodes)
            tree = _Planting(self, plan).tree()
        finally:
            buffers.give_back(arena)
            del kept
        return OrderedAnswer(bound, rows.base + rows.divisor * upper, tree, stopped, nodes)

    def bounds(self) -> tuple[int, int | None, int]:
        """(lower, upper, splits scored) of the search that is running; upper is None as long as no tree is known."""
        lower, upper, nodes = self.control[[LOWER, UPPER, NODES]].tolist()
        rows = self.rows
        best = None if upper >= INFEASIBLE else rows.base + rows.divisor * upper
        return rows.base + rows.divisor * lower, best, nodes

    def reprice(self, rows: SearchedRows) -> None:
        """Gives the same rows other costs; their ranks, frequencies and limits must be those of before."""
        rows.check()
        self.rows = rows
        self._fill()

    def counters(self) -> dict[str, int]:
        """What was done, by name."""
        return {name: int(self._record[PLACE[name]]) for name in ("batches", "splits", "nodes", "recalled")}

    def _fill(self) -> None:
        """Writes the record."""
        rows, n = self.rows, self.rows.n_rows
        counts = rows.min_leaf > 1
        columns = max(self._n_columns, 1)
        vectors = rows.scratch_vectors
        worst = rows.worst
        heap_space = columns + 4 * SPLITS + 8 + min(_HEAP, columns * n)
        heap = np.empty((ROWS_OF_HEAP, heap_space), np.int64)
        heap[FREE] = np.arange(heap_space)[::-1]
        is_uniform = bool((worst == worst[0]).all()) and worst[0] > 0
        arrays = self._kept = {
            "ranks": self._ranks,
            "worst": worst,
            **rows.summands(),
            "control": self.control,
            "mask": np.zeros(n, np.uint32),
            "scratch": _aligned(vectors * SPLITS, rows.lane),
            "prefix": np.zeros((1, 1) if is_uniform else (columns, n + 1), np.int64),
            "heap": heap,
        }
        found_costs = rows.costs_by_label
        if found_costs is not None and rows.price > 0:
            arrays["leaf_costs"] = found_costs
        for name in ("split_columns", "split_positions", "leaf_left", "leaf_right", "stump_left", "stump_right"):
            arrays[name] = np.zeros(SPLITS, np.int64)
        found = {
            "rows": n,
            "columns": self._n_columns,
            "labels": rows.n_labels,
            "split_cost": rows.price,
            "min_leaf": rows.min_leaf,
            "restrictable": int(not counts),
            "bounded": int(rows.bounded),
            "uniform": int(worst[0]) if is_uniform else 0,
            "least": 0,
            "whole": int(rows.whole),
            "leaf_costs": 0,
            "heap_space": heap_space,
            "scratch_space": vectors,
            "score": rows.kernels[0],
            "stump": rows.kernels[1],
            **{name: address_of(each) for name, each in arrays.items()},
        }
        for name, word in found.items():
            self._record[PLACE[name]] = word

    def _keep(self, depth: int, memory: int | None) -> tuple[Array, ...]:
        """Room for what is found of row sets, half of `memory` at most; none for shallow trees, whose sets differ."""
        deep = depth > _UNKEPT and self._n_columns > 0
        words_kept = _POOL if memory is None else min(_POOL, memory // 16)
        pool = np.empty(words_kept if deep else 1, np.int64)
        table = np.zeros(_PLACES if deep else 1, np.int64)
        key = np.zeros(self._n_columns + 1, np.int64)
        words = self._record
        for name, word in {
            "cache": address_of(pool) if deep else 0,
            "cache_table": address_of(table),
            "cache_key": address_of(key),
            "cache_space": len(pool),
            "cache_places": len(table),
            "cache_used": 1,
            "cache_entries": 0,
        }.items():
            words[PLACE[name]] = word
        return pool, table, key

    def _arena_bytes(self, depth: int, memory: int | None) -> int:
        """What the nodes of a path need together, at most `memory`."""
        n, columns = self.rows.n_rows, max(self._n_columns, 1)
        plan = 1 + WORDS * (2 * n + 1)
        if depth < 30:
            plan = min(plan, 1 + WORDS * (2**depth + 1))
        level = columns * (20 * n + 32) + 16 * plan + n + 6 * 64
        most = level * max(0, depth - 2) + 64
        return int(min(most, 2**31 if memory is None else memory))


def _aligned(size: int, dtype: Any) -> Array:
    """Zeros that begin at a multiple of 64 bytes, where vectors are loaded fastest."""
    width = np.dtype(dtype).itemsize
    buffer = np.zeros(size * width + 64, np.uint8)
    skip = -address_of(buffer) % 64
    return buffer[skip : skip + size * width].view(dtype)


@final
class _Planting:
    """The tree of a plan: what it leaves open is found again, from the rows that arrive there."""

    def __init__(self, session: OrderedSession, plan: Array) -> None:
        self._session = session
        self._entries = plan[1 : 1 + WORDS * int(plan[0])].reshape(-1, WORDS).tolist()
        self._at = 0

    def tree(self) -> OrderedNode:
        """The tree of the whole plan."""
        session = self._session
        return self._grow(session._orders, session.rows.n_rows, np.arange(session._n_columns))

    def _grow(self, orders: Array, n: int, names: Array) -> OrderedNode:
        column, rank, _ = self._entries[self._at]
        self._at += 1
        if column >= 0:
            local = int(np.flatnonzero(names == column)[0])
            in_order = self._session._ranks[column, orders[local, :n] & np.uint32(2**31 - 1)]
            return self._cut(orders, n, names, local, int(np.searchsorted(in_order, rank, side="right")), False)
        if rank == 0 or not len(names):
            return self._ending(orders, n)
        answer = np.zeros(4, np.int64)
        entries.find_stump(address_of(self._session._record), orders, n, len(names), answer)
        leaf, cost, best, position = answer.tolist()
        if cost + self._session.rows.price >= leaf:
            return self._ending(orders, n)
        return self._cut(orders, n, names, best, position, True)

    def _cut(self, orders: Array, n: int, names: Array, local: int, position: int, last: bool) -> OrderedNode:
        """The tree of a split; `last`: its sides are leaves."""
        session, columns = self._session, max(len(names), 1)
        sides = [np.empty(columns * (rows + 1), np.uint32) for rows in (position, n - position)]
        kept = [np.empty(columns, np.int64) for _ in range(2)]
        side = np.zeros(session.rows.n_rows, np.uint8)
        widths = entries.split_rows(
            address_of(session._record),
            orders,
            n,
            len(names),
            names,
            local,
            position,
            side,
            sides[0],
            kept[0],
            sides[1],
            kept[1],
        )
        found = []
        for flat, rows, kept_names, width in zip(sides, (position, n - position), kept, widths, strict=True):
            shaped = flat.reshape(columns, rows + 1)[: max(width, 1)]
            here = kept_names[:width].copy()
            found.append(self._ending(shaped, rows) if last else self._grow(shaped, rows, here))
        rank = int(session._ranks[names[local], orders[local, position - 1] & np.uint32(2**31 - 1)])
        return Cut(int(session._columns[names[local]]), rank, found[0], found[1])

    def _ending(self, orders: Array, n: int) -> Ending:
        return Ending(*self._session.rows.leaf_of(orders[0, :n] & np.uint32(2**31 - 1)))
