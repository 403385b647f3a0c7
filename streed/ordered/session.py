"""A session of the ordered search: its memory, how it is run, and the tree of its plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import attrs
import numpy as np

from streed.bnb import runner
from streed.exact import Array
from streed.kernels.buffers import address_of
from streed.kernels.compilation import clock
from streed.kernels.control import LOWER, NODES, ROWS_OF_CONTROL, UPPER
from streed.kernels.ordered.record import INFEASIBLE, SPLITS
from streed.kernels.ordered.sorting import sort_rows
from streed.ordered import units
from streed.ordered.layout import UNLIMITED, WORDS
from streed.ordered.problem import SearchedRows
from streed.ordered.worker import Worker

_SHORT = 5e5
"""Rows times columns times splits: a search of depth two so small is over in a moment."""


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


@final
@attrs.frozen
class Fan:
    """A branching node of a categorical column: a child for each code that its rows have."""

    column: int
    children: tuple[tuple[int, OrderedNode], ...]
    """(code, child), by code."""


OrderedNode = Cut | Fan | Ending


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
        self._n_ordered = int((differ < len(rows.ranks) - rows.categories).sum())
        self._orders = sort_rows(self._ranks)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.worker = Worker(rows, self._ranks, self._n_columns, self._n_ordered, self.control)

    def solve(
        self,
        max_depth: int | None = None,
        max_nodes: int | None = None,
        *,
        below: int | None = None,
        time_limit: float | None = None,
        memory: int | None = None,
        look: Callable[[int, int | None, int], str | None] = lambda lower, upper, nodes: None,
    ) -> OrderedAnswer:
        """The best tree of at most `max_depth` levels and `max_nodes` branching nodes (None: any).

        `below`: trees that do not cost less need not be found. `memory`: bytes of the nodes of a path. `look` is told
        (lower, upper, splits scored) every now and then, and may give a reason to stop.
        """
        rows = self.rows
        n = rows.n_rows
        depth = min(n - 1, UNLIMITED if max_depth is None else max_depth)
        splits = UNLIMITED if max_nodes is None else max_nodes
        budget = INFEASIBLE if below is None else max(0, min(-((rows.base - below) // rows.divisor), INFEASIBLE))
        worker = self.worker
        self.control[:] = 0
        self.control[UPPER] = INFEASIBLE
        plan = np.zeros(1 + WORDS * (2 * n + 2), np.int64)
        found = np.array([0, INFEASIBLE], np.int64)  # as of a search that is stopped before it begins
        names = np.arange(self._n_columns, dtype=np.int64)

        def search(deepest: int = depth) -> None:
            units.search_tree(self.address, deepest, splits, budget, self._orders, names, plan, found)

        reason = None
        try:
            worker.begin(min(depth, splits), memory)
            if n * self._n_columns * SPLITS < _SHORT and depth <= 2:
                search()
            else:
                deadline = None if time_limit is None else clock() + time_limit
                reason = runner.run([search], self.control, deadline, lambda: look(*self.bounds()))
            if reason == "time" and found[1] >= INFEASIBLE:
                search(0)  # it was stopped before it began: a leaf is a tree
                found[0] = 0
            lower, upper = found.tolist()
            if worker.sign("raised") or worker.sign("inexact"):
                raise Inexact
            if worker.sign("unsettled"):
                raise Unsettled
            stopped = (reason or "memory") if lower < min(upper, budget) else None
            bound = rows.base + rows.divisor * lower
            nodes = self.counters()["splits"]
            if upper >= INFEASIBLE:
                return OrderedAnswer(bound, None, None, stopped, nodes)
            tree = _Planting(self, plan).tree()
        finally:
            worker.end()
        return OrderedAnswer(bound, rows.base + rows.divisor * upper, tree, stopped, nodes)

    @property
    def address(self) -> int:
        """Of the record."""
        return address_of(self.worker.record)

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
        self.worker.fill(rows)

    def counters(self) -> dict[str, int]:
        """What was done, by name."""
        return self.worker.counters()


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
            if rank < 0:
                return self._fan(orders, n, names, local, False)
            in_order = self._session._ranks[column, orders[local, :n] & np.uint32(2**31 - 1)]
            return self._cut(orders, n, names, local, int(np.searchsorted(in_order, rank, side="right")), False)
        if rank == 0 or not len(names):
            return self._ending(orders, n)
        answer = np.zeros(4, np.int64)
        units.find_stump(
            self._session.address, orders, n, len(names), int((names < self._session._n_ordered).sum()), answer
        )
        leaf, cost, best, position = answer.tolist()
        if cost + self._session.rows.price >= leaf:
            return self._ending(orders, n)
        if names[best] >= self._session._n_ordered:
            return self._fan(orders, n, names, best, True)
        return self._cut(orders, n, names, best, position, True)

    def _fan(self, orders: Array, n: int, names: Array, local: int, last: bool) -> OrderedNode:
        """The tree of a split with a child for each value; `last`: they are leaves."""
        session = self._session
        here = orders[:, :n] & np.uint32(2**31 - 1)
        codes = session._ranks[names[local]]
        children: list[tuple[int, OrderedNode]] = []
        for code in np.unique(codes[here[local]]).tolist():
            chosen = np.stack([each[codes[each] == code] for each in here[: len(names)]])
            m = chosen.shape[1]
            found = session._ranks[names[:, None], chosen]
            differ = np.flatnonzero(found[:, 0] != found[:, -1])
            shaped = np.zeros((max(len(differ), 1), m + 1), np.uint32)
            shaped[: max(len(differ), 1), :m] = chosen[differ] if len(differ) else chosen[:1]
            shaped[: len(differ), 1:m] |= np.where(
                found[differ, 1:] != found[differ, :-1], np.uint32(2**31), np.uint32(0)
            )
            child = self._ending(shaped, m) if last else self._grow(shaped, m, names[differ])
            children.append((code, child))
        return Fan(int(session._columns[names[local]]), tuple(children))

    def _cut(self, orders: Array, n: int, names: Array, local: int, position: int, last: bool) -> OrderedNode:
        """The tree of a split; `last`: its sides are leaves."""
        session, columns = self._session, max(len(names), 1)
        sides = [np.empty(columns * (rows + 1), np.uint32) for rows in (position, n - position)]
        kept = [np.empty(columns, np.int64) for _ in range(2)]
        side = np.zeros(session.rows.n_rows, np.uint8)
        widths = units.split_rows(
            session.address,
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
