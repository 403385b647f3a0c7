"""The native route to fronts: tasks whose values are tuples of sums (STreeD, Eq. 3, 6, 7, 8).

Up to depth two a set of rows is one call of a kernel; above that one column follows the other. Trees are found again
from the fronts of their parts, and measured from the raw rows.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from streed.dp.solutions import costs_of_equal_rows, ideal_score, nondominated_at_root
from streed.encoding.certificate import check_limits, nest_preorder
from streed.errors import InputError, MismatchError
from streed.exact import Array, in_whole, writable
from streed.kernels.compilation import clock
from streed.kernels.records import LEAF
from streed.kernels.routing import route_rows
from streed.kernels.stopping import NODES, ROWS_OF_CONTROL, STOP, run_stoppable
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.tables.front_pairs import front_of_node
from streed.tables.nondominated import close_front, merge, open_front
from streed.tables.packing import Packed, pack_fronts
from streed.tables.vector_trees import Preorder, joined
from streed.task.base import objective
from streed.task.bounded_sums import RowSum, values_of
from streed.task.states import sums_by, sums_by_node
from streed.tree.nodes import depth_of

Front = tuple[Array, Array]
"""Nondominated keys in ascending order, and the root column of the tree of each, or `LEAF` less its label."""

_UNIT = 2
"""Up to this depth fronts are made by the engine alone."""

_ENTRY = 400
"""Bytes of a front that is remembered, beside its rows and points."""


_MOST_BYTES = 2**30
"""Of fronts that are remembered, where the caller sets no limit."""

_FINDING = 0.3
"""Of the time limit, or of a second without one: what the trees of a front may take that is not whole."""


@final
class FrontEngine:
    """The search of one problem, its subproblems solved, and what it knows when it is stopped."""

    def __init__(self, packed: Packed, search_limits: SearchLimits) -> None:
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self._packed, self._search_limits, limit = packed, search_limits, search_limits.memory_limit
        self._rows = packed.rows
        self._layout = packed.rows.layout
        self._scratch = packed.scratch()
        self._room = (
            _MOST_BYTES if limit is None else min(_MOST_BYTES, max(0, (limit - process_memory.resident()) // 2))
        )
        """Bytes that are left for what is remembered."""
        self._memo: dict[tuple[bytes, int], Front] = {}
        self._trees: dict[tuple[bytes, int, int], Preorder] = {}
        self._buckets: dict[int, tuple[Array, Array]] = {}
        if packed.problem.max_depth is None or packed.problem.max_depth > _UNIT:
            # compiled before the time is counted
            nothing, buckets = (np.zeros(0, np.int64), np.zeros(0, np.int32)), self._empty_buckets(0)
            open_front(self._layout, *nothing, *buckets)
            merge(self._layout, *nothing, nothing[0], nothing[0], 0, *buckets)
            close_front(self._layout, *nothing, *buckets)
        self.reason: str | None = None
        """What ended the search early, None if nothing did."""
        self._root = packed.root
        self._fronts: list[tuple[int, Front]] = [(0, self.solve(self._root, 0))]
        """By depth: the last one that is whole, and behind it what is known of a deeper one."""

    @property
    def stopped(self) -> bool:
        """Whether the search is to end; fronts then may lack points."""
        return bool(self.control[STOP])

    @property
    def kept(self) -> int:
        """Fronts that are remembered."""
        return len(self._memo)

    def solve(self, node: Array, depth: int, known: Front | None = None) -> Front:
        """The front of trees of so much depth at the rows (W,) uint64; of the root, `known` is what is known of it."""
        depth = min(depth, self._useful(node))
        if depth < _UNIT:
            return self._shallow(node, depth)
        name = (node.tobytes(), depth)
        found = self._memo.get(name)
        if found is None:
            found = self._shallow(node, depth) if depth == _UNIT else self._deep(node, depth, known)
            size = _ENTRY + len(name[0]) + found[0].nbytes + found[1].nbytes
            if not self.stopped and size <= self._room:
                self._room -= size
                self._memo[name] = found
        return found

    def children(self, node: Array, column: int) -> tuple[Array, Array]:
        """The rows that have the bit column, and those that do not."""
        side = node & self._rows.column_rows[column]
        return side, node ^ side

    def _useful(self, node: Array) -> int:
        """The depth that trees at the node can have."""
        if self._rows.min_leaf == 1:
            return max(0, int.from_bytes(node.tobytes(), "little").bit_count() - 1)
        return self._packed.problem.most_branches

    def _shallow(self, node: Array, depth: int) -> Front:
        self.control[NODES] += 1
        found: Front = front_of_node(self._rows, self._scratch, node, depth)
        return found

    def _deep(self, node: Array, depth: int, known: Front | None) -> Front:
        layout = self._layout
        keys, columns = self._shallow(node, 0) if known is None else known
        best, origins = self._empty_buckets(depth)
        open_front(layout, keys, columns, best, origins)
        promising = dict.fromkeys(column for column in columns.tolist() if column > LEAF)
        for column in [*promising, *(f for f in range(len(self._rows.column_rows)) if f not in promising)]:
            if self.stopped or (best[0] == 0 if layout.buckets else len(keys) == 1 and keys[0] == 0):
                break  # or a tree costs no more than any tree must
            a, b = self.children(node, column)
            if not a.any() or not b.any():
                continue
            left, right = self.solve(a, depth - 1)[0], self.solve(b, depth - 1)[0]
            keys, columns = merge(layout, keys, columns, left, right, column, best, origins)
        found: Front = close_front(layout, keys, columns, best, origins)
        return found

    def _empty_buckets(self, depth: int) -> tuple[Array, Array]:
        if depth not in self._buckets:
            size = max(self._layout.buckets, 1)
            self._buckets[depth] = np.full(size, np.iinfo(np.int64).max, np.int64), np.zeros(size, np.int32)
        return self._buckets[depth]

    # -- from a key to a tree --------------------------------------------------------------------------------------

    def tree(self, node: Array, depth: int, key: int, column: int) -> Preorder:
        """A tree at the rows, in the caller's columns, that is worth the key, or dominates it; its root is known."""
        if column <= LEAF:
            return [LEAF], [LEAF - column]
        name = (node.tobytes(), depth, key)
        if name not in self._trees:
            sides, packed = self.children(node, column), self._packed
            fronts = [self.solve(side, depth - 1) for side in sides]
            places = self._addends(fronts[0][0], fronts[1][0], key - self._layout.split)
            one, zero = (
                self.tree(side, depth - 1, int(keys[at]), int(columns[at]))
                for side, (keys, columns), at in zip(sides, fronts, places, strict=True)
            )
            parts = (one, zero) if packed.flipped[column] else (zero, one)
            self._trees[name] = joined(int(packed.columns[column]), parts)
        return self._trees[name]

    def _addends(self, left: Array, right: Array, key: int) -> tuple[int, int]:
        """The places of two keys that add up to the key, or to one that dominates it."""
        places = np.minimum(np.searchsorted(right, key - left), len(right) - 1)
        hits = np.flatnonzero(right[places] == key - left)
        if len(hits):
            return int(hits[0]), int(places[hits[0]])
        # a part was stopped before its front was whole, and what it lacked then dominates what it had
        guards = self._layout.guards
        for i, value in enumerate(left.tolist()):
            hits = np.flatnonzero(((key | guards) - (right + value)) & guards == guards)
            if len(hits):
                return i, int(hits[0])
        raise MismatchError("a point of a front has no tree; please report this")

    # -- all rows --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Searches until the front is whole, or an order says stop."""
        limits = self._search_limits

        def look() -> str | None:
            if limits.report is not None:
                limits.report(None, None, int(self.control[NODES]), "searching")
            over = limits.memory_limit is not None and process_memory.resident() > limits.memory_limit
            return "memory" if over else None

        deadline = None if limits.time_limit is None else clock() + limits.time_limit
        self.reason = run_stoppable([self._rise], self.control, deadline, look)
        self.control[STOP] = 0

    def _rise(self) -> None:
        """The limit on the depth rises, so that a search that is stopped knows the fronts of lower trees."""
        problem = self._packed.problem
        limits = len(self._packed.columns), problem.most_branches, problem.max_depth
        most = min(each for each in limits if each is not None)
        for depth in range(min(most, 2), most + 1):
            front = self.solve(self._root, depth, self._fronts[-1][1])
            self._fronts = [*(self._fronts if self.stopped else []), (depth, front)]
            if self.stopped or (len(front[0]) == 1 and front[0][0] == 0):
                return

    def solutions(self) -> tuple[Solution, ...]:
        """The trees of the points that count at the root, measured from the raw rows."""
        task, sums = self._packed.problem.task, self._packed.problem.vector_costs
        if self._packed.is_empty or sums is None:
            return ()
        found: dict[Any, Solution] = {}
        try:
            self._measure(sums, found)
        except KeyboardInterrupt:
            self.reason = "interrupt"
            if not found:
                self._measure(sums, found, most=1)
        if self.reason is None:
            return tuple(found.values())
        known = sorted(found.values(), key=lambda solution: solution.value)
        return tuple(known[at] for at in nondominated_at_root(task, [each.value for each in known]))

    def _measure(self, sums: Sequence[RowSum], found: dict[Any, Solution], most: int = sys.maxsize) -> None:
        """Puts the trees of the points that count into `found`, by value, until there are so many."""
        task, problem, limit = self._packed.problem.task, self._packed.problem, self._search_limits.time_limit
        deadline = clock() + _FINDING * (1.0 if limit is None else limit)
        for depth, front in self._fronts:
            values = [values_of(sums, self._packed.vector(key)) for key in front[0].tolist()]
            for at in nondominated_at_root(task, values):
                if values[at] in found:
                    continue
                if len(found) >= most:
                    return
                if found and depth > self._fronts[0][0] and clock() > deadline:
                    break  # parts of this front may be as much work as what the search did not come to
                tree = self.tree(self._root, depth, int(front[0][at]), int(front[1][at]))
                solution = measured(problem, sums, tree, values[at], exact=self.reason is None)
                found[solution.value] = solution


def measured(problem: Problem, sums: Sequence[RowSum], tree: Any, claimed: Sequence[Any], *, exact: bool) -> Solution:
    """The solution of a tree in the caller's columns, (preorder, labels of its nodes), counted from the raw rows.

    Raises MismatchError if the tree is worth less than what the search claimed, or `exact` and more, or breaks a limit.
    """
    preorder, labels = map(np.asarray, tree)
    data, columns, show = problem.data, preorder.tolist(), problem.task.objective_of
    leaf_of, end = route_rows(preorder, writable(data.X), data.category_counts)
    rows = sums_by_node(leaf_of, data.counts, end).tolist()
    chosen = np.arange(data.n_rows), labels[leaf_of]
    costs = sums_by(leaf_of, np.stack([each.costs[chosen] for each in sums], axis=1), len(columns))
    known = zip(columns, rows, costs.tolist(), strict=True)
    shown = [show(values_of(sums, cost)) if column == LEAF and size else 0 for column, size, cost in known]
    root = nest_preorder(columns, data.category_counts, labels.tolist(), rows, shown)
    branches = check_limits(problem, columns, rows, depth_of(root))
    value = values_of(sums, (costs.sum(axis=0) + [branches * each.split for each in sums]).tolist())
    worse = any(x > y for x, y in zip(value, claimed, strict=False))
    if worse or (exact and tuple(value) != tuple(claimed)):
        raise MismatchError(f"the tree's sums are {value}, the search claimed {claimed}; please report this")
    return Solution(value, root)


def search_vectors(problem: Problem, search_limits: SearchLimits) -> Outcome | None:
    """The front of a task of several sums; None if the engine cannot take the task (see `pack_fronts`)."""
    begin = time.perf_counter()
    if objective(problem.task).order == "total":
        return None
    packed = pack_fronts(problem)
    if packed is None:
        return None
    limit = search_limits.memory_limit
    if limit is not None and limit <= (held := process_memory.resident()):
        raise InputError("memory_limit", f"{limit:,} bytes; this process holds {held:,} already", "raise the limit")
    search = FrontEngine(packed, search_limits)
    prepared = time.perf_counter()
    if not packed.is_empty:
        search.run()
    searched = time.perf_counter()
    solutions = search.solutions()
    stats: dict[str, Any] = {"route": "fronts", "threads": 1, "exact": True, "peak_bytes": process_memory.peak()}
    stats |= {"seconds_setup": prepared - begin, "seconds_search": searched - prepared}
    stats |= {"seconds_check": time.perf_counter() - searched, "nodes": int(search.control[NODES])}
    stats |= {"subproblems": search.kept, "columns": len(packed.columns)}
    if search.reason is not None:
        stats["missing"] = [{"weights": w, "bound": bound} for w, bound in missing_bounds(packed)]
    ideal = None if search.reason is None else ideal_score(problem)
    return Outcome(solutions, None, search.reason, stats, score_bound=ideal)


def missing_bounds(packed: Packed) -> list[tuple[tuple[float, ...], float]]:
    """Half-planes that hold every tree's value v, known or not: weights . v >= bound, by component and all together."""
    sums = packed.problem.vector_costs or ()
    by_group = costs_of_equal_rows(sums, packed.problem.data.X)
    width = len(sums)
    found = []
    for weights in (*np.eye(width, dtype=np.int64).tolist(), [1] * width):
        whole, scale = in_whole([w * each.unit for w, each in zip(weights, sums, strict=True)])
        together = sum(w * part.astype(object) for w, part in zip(whole, by_group, strict=False))
        least = int(np.asarray(together).min(axis=1).sum()) / scale
        near = float(least)
        found.append((tuple(map(float, weights)), near if near <= least else math.nextafter(near, -math.inf)))
    return found
