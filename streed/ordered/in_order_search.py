"""The search for trees whose leaves are in order (`in_order.py`), from problem to outcome."""

from __future__ import annotations

import time
from typing import Any

import attrs
import numpy as np

from streed.bnb import runner
from streed.errors import MismatchError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.stopping import NODES, ROWS_OF_CONTROL, STOP
from streed.ordered.features import Features, branch_at
from streed.ordered.in_order import COLUMN, COST, LABEL, LEFT, POSITION, RIGHT, solve_in_order
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.task.base import objective
from streed.task.bounded_sums import exact_costs
from streed.task.joint import IN_ORDER, TaskInOrder
from streed.tree import Leaf, Node
from streed.whole_costs import IntegerCosts

_NO_TREE = 2**62

_SPARE = 0.5
"""Seconds to find the tree of a search that was stopped."""


def search_in_order(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes costs per row and label that fit 64 bits exactly, of leaves in order, under a limit on the depth alone.
    """
    begin, task, data = time.perf_counter(), problem.task, problem.data
    asked = objective(task)
    depth = problem.max_depth
    is_free = depth is not None and (problem.max_nodes is None or problem.max_nodes >= 2**depth - 1)
    if not isinstance(asked, TaskInOrder) or not is_free or any(limit.support is None for limit in task.limits):
        return None
    costs = exact_costs(asked.row_task(data), data)
    if costs.wide is not None:
        return None
    search = _Search(problem, costs, np.array(asked.signs))
    search.solve(search.found, depth=min(1, search.depth))
    deadline = None if search_limits.time_limit is None else clock() + search_limits.time_limit

    least = int(costs.costs.min(axis=1).sum())

    def look() -> str | None:
        if search_limits.report is not None:
            best, bound = ((costs.value(least + more), 0, 0, IN_ORDER) for more in (int(search.found[COST]), 0))
            search_limits.report(best, bound, int(search.control[NODES]), "searching")
        return None

    found = search.found
    stopped = runner.run([lambda: search.solve(found)], search.control, deadline, look)
    searched = time.perf_counter()
    search.ends = None if stopped is None else clock() + _SPARE
    solution = search.solution()
    lower = solution.value if stopped is None else (costs.value(least), *solution.value[1:])
    stats = {
        "search": name,
        "route": "in order",
        "threads": 1,
        "seconds_search": searched - begin,
        "seconds_check": time.perf_counter() - searched,
        "nodes": int(search.control[NODES]),
        "peak_bytes": process_memory.peak(),
        "columns": len(search.features.ranks),
        "exact": True,
        "rounding": 0,
    }
    if data.size < problem.min_leaf:
        return Outcome((), None, stopped, stats)
    return Outcome((solution,), lower, stopped, stats, 1, costs.unit.denominator > 1)


class _Search:
    """One search: its arrays, and how what it finds becomes a tree."""

    def __init__(self, problem: Problem, costs: IntegerCosts, signs: Array) -> None:
        data = self.data = problem.data
        self.shown = problem.task.objective_of
        self.features, self.costs, self.depth = Features.of(data), costs, problem.max_depth or 0
        ranks = self.features.ranks
        columns = [*self.features.ordered.column.tolist(), *self.features.binary.tolist(), *data.categorical]
        least = costs.costs.min(axis=1, keepdims=True)
        price = min(costs.split, int((costs.costs - least).max(axis=1).sum()) + 1)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.orders = np.argsort(ranks, axis=1, kind="stable").astype(np.int32)
        self.work: tuple[Any, ...] = (
            ranks, signs[np.array(columns, np.int64)], costs.costs - least, data.counts,
            len(ranks) - len(data.categorical), price, problem.min_leaf, self.control,
        )  # fmt: skip
        self.found = np.full(6, _NO_TREE, np.int64)
        self.ends: float | None = None

    def solve(self, found: Array, orders: Array | None = None, depth: int | None = None, *within: int) -> None:
        """Writes what is found of some rows, of all by default; `within`: the labels, and a budget."""
        rows, deepest = self.orders if orders is None else orders, self.depth if depth is None else depth
        low, high, budget = within or (0, self.costs.costs.shape[1] - 1, _NO_TREE)
        given = (self.work, np.ascontiguousarray(rows), deepest, low, high, budget, found)
        if self.ends is None:
            solve_in_order(*given)
        else:
            self.control[STOP] = 0
            runner.run([lambda: solve_in_order(*given)], self.control, self.ends, lambda: None)

    def solution(self) -> Solution:
        """The tree that was found, measured on the raw rows: (cost, least label, largest label, in order).

        Raises MismatchError if it does not cost what the search claimed, unless that was stopped: then its sides are
        solved again for a moment only.
        """
        total, labels, data = 0, set[int](), self.data
        ranks = self.work[0]

        def grow(rows: Array, orders: Array, found: Array, depth: int, low: int, high: int) -> Node:
            nonlocal total
            f = int(found[COLUMN])
            if f < 0:
                sums = self.costs.costs[rows].sum(axis=0)
                label = low + int(sums[low : high + 1].argmin())
                total += int(sums[label])
                labels.add(label)
                return Leaf(label, len(rows), self.shown((self.costs.value(int(sums[label])), label, label, IN_ORDER)))
            total += self.costs.split
            is_cut = f < self.work[4]
            rank = int(ranks[f, orders[f, found[POSITION] - 1]]) if is_cut else 0
            branch, _ = branch_at(self.features, data, f, rank, rows)
            if not is_cut:
                codes = range(len(data.column(branch.column).categories))
                sides = [(ranks[f] == code, low, high, _NO_TREE) for code in codes]
            else:
                sides = [(ranks[f] <= rank, *self._side(f, found, low, high, left=True))]
                sides.append((ranks[f] > rank, *self._side(f, found, low, high, left=False)))
            usual = low + int(self.costs.costs[rows].sum(axis=0)[low : high + 1].argmin())
            empty = Leaf(usual, 0, self.shown((0, usual, usual, IN_ORDER)))
            children: list[Node] = []
            for is_here, first, last, budget in sides:
                if not is_here[rows].any():
                    children.append(empty)
                    continue
                part, below = _of_rows(orders, is_here), np.empty(6, np.int64)
                self.solve(below, part, depth - 1, first, last, budget)
                children.append(grow(rows[is_here[rows]], part, below, depth - 1, first, last))
            if is_cut and self.features.is_turned(f, rank):
                children.reverse()
            return attrs.evolve(branch, children=tuple(children))

        high = self.costs.costs.shape[1] - 1
        root = grow(np.arange(data.n_rows), self.orders, self.found, self.depth, 0, high)
        claimed = int(self.found[COST] + self.costs.costs.min(axis=1).sum())
        if total != claimed and self.ends is None:
            raise MismatchError(f"the tree costs {total}, the search claimed {claimed}; please report this")
        return Solution((self.costs.value(total), min(labels), max(labels), IN_ORDER), root)

    def _side(self, f: int, found: Array, low: int, high: int, *, left: bool) -> tuple[int, int, int]:
        """(least label, largest label, a budget that the best tree is below) of a side of the split that was found."""
        sign, c = int(self.work[1][f]), int(found[LABEL])
        first, last = (low, high) if sign == 0 else (low, c) if (sign > 0) == left else (c, high)
        return first, last, int(found[LEFT if left else RIGHT]) + 1


def _of_rows(orders: Array, is_here: Array) -> Array:
    """The orders (F, m) of some rows, which a mask (n,) tells."""
    chosen: Array = is_here[orders]
    return orders[chosen].reshape(len(orders), -1)
