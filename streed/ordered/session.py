"""The search of all rows: a good tree (incumbent.py), then the recursion, at once or below one budget after the other.

A search below a budget of b prices meets no tree of b splits or more. So where splits have a price, a tree that costs
several prices is proved from below: nothing costs less than five prices, than six, and so on, until a tree is found.
Each search begins with what the one before found of row sets (`cache.py`). Where a price is small beside the costs,
there would be many. Behind it is the session: the memory of a search, and how it is run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np
from numba import int64

from streed.exact import Array
from streed.kernels import compilation, record_proxy
from streed.kernels.compilation import clock
from streed.kernels.compiled import entry, ready, unit, was_kept
from streed.kernels.ordered import (
    INFEASIBLE,
    INTERVAL,
    MOST_PRICES,
    RECORD,
    SPLITS,
    UNLIMITED,
    WORDS,
    record_at,
    sort_rows,
)  # fmt: skip
from streed.kernels.record_proxy import RecordProxy, address_of
from streed.kernels.routing import compile_measuring
from streed.kernels.stopping import LOWER, NODES, ROWS_OF_CONTROL, UPPER, run_stoppable
from streed.kernels.views import KERNEL, call, native, vector
from streed.ordered.branch import solve, solve_side
from streed.ordered.cache import Node, asked, copy_plan, is_stopped, part_of_recursion, solve_by
from streed.ordered.depth_two import solve_asked
from streed.ordered.incumbent import COST, take_turn, write_plan
from streed.ordered.intervals import find_best_stump
from streed.ordered.rows import SearchedRows
from streed.problem import SearchLimits, process_memory


@native
def grows(depth, splits, rows):  # type: ignore[no-untyped-def]
    """Whether a tree of so many levels and splits for so many rows is grown beside the search."""
    return depth > 3 and splits > 3 and rows > 3


@native
def search_all(e, node, depth, splits, budget, plan, answer):  # type: ignore[no-untyped-def]
    """Writes the bounds of all rows to `answer` (2,), and a tree of the upper one to the plan."""
    price = e.split_cost
    depth = min(depth, splits)
    e.told = 1
    e.sparse = 0
    e.incumbent = INFEASIBLE
    e.tree = 0
    e.turn = e.pause = INFEASIBLE
    if not grows(depth, splits, node.n):
        answer[0], answer[1] = solve_by(e, e.deep, node, depth, splits, budget, int64(0), plan)
        return
    other = np.empty(len(plan), np.int64)
    e.depth, e.most_splits = depth, splits
    e.patience = 32 if depth == 4 else 1
    call(e.improve, e)
    answer[0] = max(answer[0], e.least)
    answer[1] = e.incumbent
    control = vector(e.control, UPPER + 1, int64)
    e.sparse = 1 if price > 0 and e.incumbent <= e.least + MOST_PRICES * price else 0
    e.told = 1 - e.sparse
    goal = e.least + 4 * price
    while answer[0] < min(answer[1], budget) and not is_stopped(e):
        goal = min(goal + price, answer[1], budget) if e.sparse == 1 else min(answer[1], budget)
        low, upper = solve_by(e, e.deep, node, depth, splits, goal, answer[0], other)
        answer[0] = max(answer[0], min(low, goal))
        if upper < answer[1]:
            answer[1] = upper
            copy_plan(plan, other)
        answer[1] = min(answer[1], e.incumbent)
        control[UPPER] = min(control[UPPER], answer[1])
        control[LOWER] = max(control[LOWER], answer[0])
    if e.tree > 0 and answer[1] == vector(e.grown, e.grown_space, int64)[e.tree + COST]:
        plan[0] = 0
        write_plan(e, e.tree, plan)


_STUMP = "(int64, uint32[:, ::1], int64, int64[::1], int64[::1])"
"""The signature of `find_stump`."""


@part_of_recursion
def solve_deep(e):  # type: ignore[no-untyped-def]
    """Solves the node that `solve_by` asks about, of any depth: that of some rows by what is kept of them."""
    node, plan = asked(e)
    depth, splits, budget = e.node_depth, e.node_splits, e.node_budget
    if node.n == e.rows:
        e.node_lower, e.node_upper = solve(e, node, depth, splits, budget, e.node_lower, plan)
    else:
        e.node_lower, e.node_upper = solve_side(e, node, depth, splits, budget, e.node_lower, plan)


@functools.cache
def kernel(work: Any) -> int:
    """The address of a function of the record, for `call`: compiled by itself, once for all that call it."""

    @unit(KERNEL)
    def search_kernel(address):  # type: ignore[no-untyped-def]
        work(record_at(address))

    return int(search_kernel.address)


@functools.cache
def link(grows: bool) -> dict[str, int]:
    """Compiles what a search needs, part of it by a second process; its kernels' addresses, by the record's names.

    `grows`: a tree is grown beside the search.
    """
    is_made = was_kept(find_stump, _STUMP)
    code = f"from streed.ordered.session import compile_shared; compile_shared({grows})"
    with compilation.plan(None if is_made else code):
        found = {"deep": kernel(solve_deep), "shallow": kernel(solve_asked)}
        ready(search_tree, "(int64, int64, int64, int64, uint32[:, ::1], int64[::1], int64[::1], int64[::1])")
        return found | ({"improve": kernel(take_turn)} if grows else {})


def compile_shared(grows: bool) -> None:
    """What the second process does."""
    kernel(solve_asked)
    if grows:
        kernel(take_turn)
    ready(find_stump, _STUMP)
    compile_measuring()


@entry
def search_tree(address, depth, splits, budget, orders, ids, plan, answer):  # type: ignore[no-untyped-def]
    """Searches all rows, by their orders; answer (2,): lower and upper bound, the latter of the tree of the plan."""
    e = record_at(address)
    node = Node(int64(orders.ctypes.data), e.rows, e.columns, ids)
    search_all(e, node, depth, splits, budget, plan, answer)


@entry
def find_stump(address, orders, rows, ids, answer):  # type: ignore[no-untyped-def]
    """Asks for the best single split of some rows; answer (4,): the leaf's cost, the split's, its column and place.

    Of a categorical column, there is no place.
    """
    e = record_at(address)
    find_best_stump(e, Node(int64(orders.ctypes.data), int64(rows), int64(len(ids)), ids), True)
    answer[0] = e.found_leaf
    answer[1] = e.found_cost
    answer[2] = e.found_column
    answer[3] = e.found_position


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

_GROWN = 2**23
"""Words of the pool of grown trees, at most."""

_SPARE = 2**22
"""Bytes that the nodes of a path are given in any case."""

_AT_ZERO = ("draws", "splits", "full", "unsettled", "raised", "inexact", "arena_used")
"""What a search begins with."""


@final
@attrs.frozen
class OrderedAnswer:
    """What the search found."""

    lower: int
    """No allowed tree costs less."""
    cost: int | None
    """Of the tree; None if no tree is allowed."""
    plan: Array
    """Of the tree, see `cache.py`."""
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
        differ = np.flatnonzero(rows.ranks.max(axis=1, initial=0) > rows.ranks.min(axis=1, initial=0))
        self.columns = differ if len(differ) else np.zeros(1, np.int64)
        """(columns,): which of the rows' columns are searched, those in which they differ."""
        ranks = rows.ranks[self.columns] if len(rows.ranks) else np.zeros((1, rows.n_rows), np.int32)
        self.ranks = np.ascontiguousarray(ranks)
        self.n_columns = len(differ)
        self.n_ordered = int((differ < len(rows.ranks) - rows.categories).sum())
        self.orders = sort_rows(self.ranks)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.record = RecordProxy(RECORD)
        self.arrays: dict[str, Array] = {}
        """What the record points to, by name."""
        self.reprice(rows)

    def reprice(self, rows: SearchedRows) -> None:
        """Gives the same rows other costs; their ranks, frequencies and limits must be those of before."""
        self.rows = rows
        n, columns = rows.n_rows, max(self.n_columns, 1)
        heap_space = columns + 4 * SPLITS + 8 + min(_HEAP, columns * n)
        worst = rows.worst
        is_uniform = bool((worst == worst[0]).all()) and worst[0] > 0
        arrays = self.arrays = {
            "ranks": self.ranks,
            "worst": worst,
            **rows.arrays,
            "control": self.control,
            "mask": np.zeros(n, np.uint32),
            "scratch": _aligned(rows.scratch_vectors * SPLITS, rows.lane),
            "prefix": np.zeros((1, 1) if is_uniform else (columns, n + 1), np.int64),
            "heap": np.empty((heap_space, INTERVAL), np.int64),
        }
        for name in ("split_columns", "split_positions", "leaf_left", "leaf_right", "stump_left", "stump_right"):
            arrays[name] = np.zeros(SPLITS, np.int64)
        sizes = {
            "rows": n,
            "columns": self.n_columns,
            "ordered": self.n_ordered,
            "labels": rows.labels,
            "most_children": rows.most_children,
            "split_cost": rows.price,
            "min_leaf": rows.min_leaf,
            "restrictable": int(rows.min_leaf <= 1),
            "relaxing": int(rows.min_leaf > 1),
            "relaxed": 0,
            "bounded": int(rows.bounded),
            "uniform": int(worst[0]) if is_uniform else 0,
            "least": 0,
            "asked_fan": -1,
            "whole": int(rows.whole),
            "leaf_costs": 0,
            "heap_space": heap_space,
            "scratch_space": rows.scratch_vectors,
            "score": rows.kernels[0],
            "stump": rows.kernels[1],
        }
        self.record.write(sizes | {name: address_of(each) for name, each in arrays.items()})

    def solve(
        self,
        max_depth: int | None,
        max_nodes: int | None,
        search_limits: SearchLimits,
        *,
        below: int | None = None,
        ahead: bool = False,
        look: Callable[[int, int | None, int], str | None] = lambda lower, upper, nodes: None,
    ) -> OrderedAnswer:
        """The best tree of at most `max_depth` levels and `max_nodes` branching nodes (None: any).

        `below`: trees that do not cost less need not be found. `ahead`: only the tree of the lookahead is. `look` is
        told (lower, upper, splits scored) every now and then, and may give a reason to stop.
        """
        rows = self.rows
        n = rows.n_rows
        depth = min(n - 1, UNLIMITED if max_depth is None else max_depth)
        splits = UNLIMITED if max_nodes is None else max_nodes
        budget = INFEASIBLE if below is None else max(0, min(-((rows.base - below) // rows.divisor), INFEASIBLE))
        budget = 0 if ahead else budget
        self.control[:] = 0
        self.control[UPPER] = INFEASIBLE
        plan = np.zeros(1 + WORDS * (2 * n + 2), np.int64)
        found = np.array([0, INFEASIBLE], np.int64)  # as of a search that is stopped before it begins
        ids = np.arange(self.n_columns, dtype=np.int64)
        found_at = {"orders": address_of(self.orders), "ids": address_of(ids)}
        self.record.write({**link(grows.py_func(depth, splits, n)), **found_at, "depth": depth})

        def search(deepest: int = depth) -> None:
            search_tree(self.record.address, deepest, splits, budget, self.orders, ids, plan, found)

        reason = None
        limit, seconds = search_limits.memory_limit, search_limits.time_limit
        memory = None if limit is None else max(_SPARE, limit - process_memory.resident())
        arena = self._begin(min(depth, splits), memory)
        try:
            if n * self.n_columns * SPLITS < _SHORT and depth <= 2:
                search()
            else:
                deadline = None if seconds is None else clock() + seconds
                reason = run_stoppable([search], self.control, deadline, lambda: look(*self.bounds()))
            if reason == "time" and found[1] >= INFEASIBLE:
                search(0)  # it was stopped before it began: a leaf is a tree
                found[0] = 0
            lower, upper = found.tolist()
            if self.record["raised"] or self.record["inexact"]:
                raise Inexact
            if self.record["unsettled"]:
                raise Unsettled
            stopped = (reason or "memory") if lower < min(upper, budget) else None
        finally:
            record_proxy.give_back(arena)
            self._cache: tuple[Array, ...] = ()
        cost = None if upper >= INFEASIBLE else rows.base + rows.divisor * upper
        return OrderedAnswer(rows.base + rows.divisor * lower, cost, plan, stopped, self.record["splits"])

    def bounds(self) -> tuple[int, int | None, int]:
        """(lower, upper, splits scored) of the search that is running; upper is None as long as no tree is known."""
        lower, upper, nodes = self.control[[LOWER, UPPER, NODES]].tolist()
        rows = self.rows
        best = None if upper >= INFEASIBLE else rows.base + rows.divisor * upper
        return rows.base + rows.divisor * lower, best, nodes

    def _begin(self, depth: int, memory: int | None) -> Array:
        """Makes room for a search to this depth, of `memory` bytes at most; the buffer of its nodes."""
        space = self._arena_bytes(depth, memory)
        arena = record_proxy.borrow(space)
        deep = depth > _UNKEPT and self.n_columns > 0
        words_kept = _POOL if memory is None else min(_POOL, memory // 16)
        pool = np.empty(words_kept if deep else 1, np.int64)
        table = np.zeros(_PLACES if deep else 1, np.int64)
        key = np.zeros(self.n_columns + 1, np.int64)
        gains = np.empty(self.rows.n_rows if depth > 3 else 1, np.int64)
        grown = np.empty(self._grown_words(depth, memory) if depth > 3 else 1, np.int64)
        self._cache = (pool, table, key, gains, grown)
        words = {
            "arena": address_of(arena),
            "arena_space": space,
            "cache": address_of(pool) if deep else 0,
            "cache_table": address_of(table),
            "cache_key": address_of(key),
            "cache_space": len(pool),
            "cache_places": len(table),
            "cache_used": 1,
            "cache_entries": 0,
            "gains": address_of(gains),
            "grown": address_of(grown),
            "grown_space": len(grown),
        }
        self.record.write(words | dict.fromkeys(_AT_ZERO, 0))
        return arena

    def _grown_words(self, depth: int, memory: int | None) -> int:
        """What the pool of grown trees needs."""
        places = 2 * self.rows.n_rows if depth > 30 else min(2 * self.rows.n_rows, self.rows.most_children**depth)
        each = 64 + WORDS * self.rows.most_children
        return int(min(16 * each * (places + 8), _GROWN if memory is None else max(memory // 128, 4096)))

    def _arena_bytes(self, depth: int, memory: int | None) -> int:
        """What the nodes of a path need together, at most `memory`."""
        n, columns = self.rows.n_rows, max(self.n_columns, 1)
        plan = 1 + WORDS * (2 * n + 1)
        if depth < 30:
            plan = min(plan, 1 + WORDS * (self.rows.most_children**depth + 1))
        level = columns * (20 * n + 32) + 24 * plan + n + 8 * 64
        grown = columns * (4 * n + 32) + n + 4 * 64
        most = level * max(0, depth - 2) + (level + depth * grown if depth > 3 else 64)
        return int(min(most, 2**31 if memory is None else memory))


def _aligned(size: int, dtype: Any) -> Array:
    """Zeros that begin at a multiple of 64 bytes, where vectors are loaded fastest."""
    width = np.dtype(dtype).itemsize
    buffer = np.zeros(size * width + 64, np.uint8)
    skip = -address_of(buffer) % 64
    return buffer[skip : skip + size * width].view(dtype)
