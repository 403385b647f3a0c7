"""Trees whose leaves rise, or fall, with chosen columns (docs/explanation/search.md), natively: rows that cost so
much under each label, over all thresholds.

V(rows, depth, a, b), the least cost of a tree in order whose labels lie within a..b, is that of a leaf, or of a split:

    min over c in a..b  V(left, depth - 1, a, c) + V(right, depth - 1, c, b)     along a column that leaves rise with,
    V(left, depth - 1, a, b) + V(right, depth - 1, a, b)                         along any other.

Thresholds of a column are halved: what lies between two that are solved costs at least V of what is left of the first,
and of what is right of the second, since fewer rows cost no more (if leaves may be of any size).

Plans are those of `cache.py`, of all nodes: of a threshold the column, the rank up to which rows go left, and the label
c; of a categorical column the column, -1 and 0; of a leaf -1, 0 and 0.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import int64

from streed.encoding.certificate import settled
from streed.errors import MismatchError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.compiled import entry
from streed.kernels.ordered import INFEASIBLE, WORDS
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import NODES, ROWS_OF_CONTROL, STOP, run_stoppable
from streed.kernels.views import native
from streed.ordered.cache import append, append_entry, begin_plan, copy_plan, part_of_recursion
from streed.ordered.rows import Features
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.task.base import objective
from streed.task.bounded_sums import exact_costs
from streed.task.joint import IN_ORDER, TaskInOrder
from streed.tree import Branch, Leaf, Node
from streed.whole_costs import IntegerCosts


@native
def _floors(costs, rows, sign, low, high, left):  # type: ignore[no-untyped-def]
    """(K,) for each c: the least that the rows cost on a side, left or right, of a split of this sign."""
    found = np.zeros(high + 1, np.int64)
    for row in rows:
        for c in range(low, high + 1):
            first, last = _range(sign, low, high, c, left)
            least = costs[row, first]
            for k in range(first + 1, last + 1):
                least = min(least, costs[row, k])
            found[c] += least
            if sign == 0:
                break
    return found


@native
def _range(sign, low, high, c, left):  # type: ignore[no-untyped-def]
    """The labels of a side."""
    if sign == 0:
        return low, high
    return (low, c) if (sign > 0) == left else (c, high)


@native
def _best_leaf(sums, first, last):  # type: ignore[no-untyped-def]
    least = sums[first]
    for k in range(first + 1, last + 1):
        least = min(least, sums[k])
    return least


@native
def _count(counts, rows):  # type: ignore[no-untyped-def]
    found = int64(0)
    for row in rows:
        found += counts[row]
    return found


@native
def _solve_stump(w, orders, depth, low, high, plan):  # type: ignore[no-untyped-def]
    """The cost of the best tree of depth one, or of none if `depth` is 0, which it plans."""
    ranks, signs, costs, counts, ordered, price, min_leaf, _ = w
    n_columns, m = orders.shape
    labels = costs.shape[1]
    total, left, right = np.zeros(labels, np.int64), np.empty(labels, np.int64), np.empty(labels, np.int64)
    size = _count(counts, orders[0])
    for row in orders[0]:
        for k in range(labels):
            total[k] += costs[row, k]
    best = _best_leaf(total, low, high)
    begin_plan(plan, -1, 0, 0)
    if depth <= 0 or low == high or (min_leaf > 1 and size < 2 * min_leaf):
        return best
    for f in range(ordered):
        sign = signs[f]
        left[:] = 0
        count = int64(0)
        for r in range(m - 1):
            row = orders[f, r]
            count += counts[row]
            for k in range(labels):
                left[k] += costs[row, k]
            if ranks[f, row] == ranks[f, orders[f, r + 1]] or count < min_leaf or size - count < min_leaf:
                continue
            for k in range(labels):
                right[k] = total[k] - left[k]
            for c in range(low, high + 1 if sign else low + 1):
                here = _best_leaf(left, *_range(sign, low, high, c, True))
                there = _best_leaf(right, *_range(sign, low, high, c, False))
                if here + there + price < best:
                    best = here + there + price
                    begin_plan(plan, f, int64(ranks[f, row]), c)
                    append_entry(plan, -1, 0, 0)
                    append_entry(plan, -1, 0, 0)
    for f in range(ordered, n_columns):
        cost, begin = price, 0
        while begin < m and cost < best:
            end = _end_of_value(ranks, orders, f, begin)
            left[:] = 0
            for row in orders[f, begin:end]:
                for k in range(labels):
                    left[k] += costs[row, k]
            enough = _count(counts, orders[f, begin:end]) >= min_leaf
            cost += _best_leaf(left, low, high) if enough else best
            begin = end
        if cost < best:
            best, begin = cost, 0
            begin_plan(plan, f, -1, 0)
            while begin < m:
                append_entry(plan, -1, 0, 0)
                begin = _end_of_value(ranks, orders, f, begin)
    return best


@native
def _end_of_value(ranks, orders, f, begin):  # type: ignore[no-untyped-def]
    end = begin + 1
    while end < orders.shape[1] and ranks[f, orders[f, end]] == ranks[f, orders[f, begin]]:
        end += 1
    return end


@native
def _part(orders, f, begin, end, marks, space):  # type: ignore[no-untyped-def]
    """The orders of the rows that column f has in begin..end, written to `space`."""
    for r in range(begin, end):
        marks[orders[f, r]] = 1
    for g in range(orders.shape[0]):
        at = 0
        for row in orders[g]:
            if marks[row]:
                space[g, at] = row
                at += 1
    for r in range(begin, end):
        marks[orders[f, r]] = 0
    return space[:, : end - begin]


@native
def _cuts_of(w, orders, f):  # type: ignore[no-untyped-def]
    """The positions of the column at which both sides have rows enough."""
    ranks, _, _, counts, _, _, min_leaf, _ = w
    m = orders.shape[1]
    size, count, cuts = _count(counts, orders[f]), int64(0), 0
    found = np.empty(m, np.int64)
    for r in range(m - 1):
        count += counts[orders[f, r]]
        if ranks[f, orders[f, r]] != ranks[f, orders[f, r + 1]] and count >= min_leaf and size - count >= min_leaf:
            found[cuts] = r + 1
            cuts += 1
    return found[:cuts]


@native
def _solve(w, work, orders, depth, low, high, budget, plan):  # type: ignore[no-untyped-def]
    """The cost of the best tree of that depth, which it plans; where none costs less than the budget, of any."""
    ranks, signs, costs, _, ordered, price, min_leaf, control = w
    spaces, marks = work
    best = _solve_stump(w, orders, depth, low, high, plan)
    if depth <= 1 or low == high:
        return best
    floor = _floors(costs, orders[0], int64(0), low, high, True)[low]
    m = orders.shape[1]
    below = np.empty((2, _words(m)), np.int64)
    for f in range(orders.shape[0]):
        if f >= ordered:
            if _end_of_value(ranks, orders, f, 0) < m:
                best = _solve_values(w, work, orders, f, depth, (low, high, budget, best), plan, below)
            continue
        sign, cuts = signs[f], _cuts_of(w, orders, f)
        options = high + 1 if sign else low + 1
        ends, bounds = np.empty((64, 2), np.int64), np.zeros((64, 2, high + 1), np.int64)
        ends[0, 0], ends[0, 1] = -1, len(cuts)
        size = 1
        while size > 0:
            size -= 1
            limit = min(best, budget) - price
            if floor >= limit or load_atomic(control, STOP) != 0:
                return best
            least = (bounds[size, 0, low:options] + bounds[size, 1, low:options]).min()
            if ends[size, 1] - ends[size, 0] < 2 or (min_leaf <= 1 and least >= limit):
                continue
            middle = (ends[size, 0] + ends[size, 1]) // 2
            position = cuts[middle]
            control[NODES] += 1
            here = _floors(costs, orders[f, :position], sign, low, high, True)
            there = _floors(costs, orders[f, position:], sign, low, high, False)
            left = _part(orders, f, 0, position, marks, spaces[depth, 0])
            right = _part(orders, f, position, m, marks, spaces[depth, 1])
            for c in range(low, options):
                for side in range(2):
                    mine, other, rows = (here, there, left) if side == 0 else (there, here, right)
                    if here[c] + there[c] < limit:
                        a, b = _range(sign, low, high, c, side == 0)
                        cost = _solve(w, work, rows, depth - 1, a, b, limit - other[c], below[side])
                        mine[c] = max(mine[c], min(cost, limit - other[c]))
                # else sides are not the best
                if here[c] + there[c] < limit and load_atomic(control, STOP) == 0:
                    limit = here[c] + there[c]
                    best = limit + price
                    begin_plan(plan, f, int64(ranks[f, orders[f, position - 1]]), c)
                    append(plan, below[0])
                    append(plan, below[1])
            # the two halves of the interval in its place, and behind it
            bounds[size + 1, 0], bounds[size + 1, 1] = here, bounds[size, 1]
            ends[size + 1, 0], ends[size + 1, 1] = middle, ends[size, 1]
            bounds[size, 1], ends[size, 1] = there, middle
            size += 2
    return best


@part_of_recursion
def _solve_values(w, work, orders, f, depth, within, plan, below):  # type: ignore[no-untyped-def]
    """The cost of the best tree so far or, if that is better and then planned, of the split of a categorical column."""
    ranks, _, _, counts, _, price, min_leaf, control = w
    spaces, marks = work
    low, high, budget, best = within
    cost, begin, limit = price, 0, min(best, budget)
    begin_plan(below[1], f, -1, 0)
    while begin < orders.shape[1] and cost < limit:
        end = _end_of_value(ranks, orders, f, begin)
        rows = _part(orders, f, begin, end, marks, spaces[depth, 0])
        if _count(counts, orders[f, begin:end]) < min_leaf:
            return best
        cost += _solve(w, work, rows, depth - 1, low, high, limit - cost, below[0])
        append(below[1], below[0])
        begin = end
    if cost < limit and load_atomic(control, STOP) == 0:
        copy_plan(plan, below[1])
        best = cost
    return best


@native
def _words(rows):  # type: ignore[no-untyped-def]
    """Those of the largest plan of so many rows."""
    return 1 + WORDS * 2 * rows


@entry
def solve_in_order(w, orders, depth, low, high, budget, plan):  # type: ignore[no-untyped-def]
    """Plans a tree of the rows whose places in each column are `orders` (F, m) int32; what it costs.

    `w`: ranks (F, n) int32, signs (F,) of the columns, costs (n, K) int64 from 0 on, counts (n,), the number of ordered
    columns, the price of a split, the rows of a leaf, and the words of control.
    """
    spaces = np.empty((max(depth, 0) + 1, 2, orders.shape[0], orders.shape[1]), np.int32)
    marks = np.zeros(w[0].shape[1], np.uint8)
    return _solve(w, (spaces, marks), orders[:, : orders.shape[1]], depth, low, high, budget, plan)


def search_in_order(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes costs per row and label that fit 64 bits exactly, of leaves in order, under a limit on the depth alone.
    """
    begin, task, data = time.perf_counter(), problem.task, problem.data
    asked, depth = objective(task), problem.max_depth
    if depth is None or (problem.max_nodes is not None and problem.max_nodes < 2**depth - 1):
        return None
    if not isinstance(asked, TaskInOrder) or any(limit.support is None for limit in task.limits):
        return None
    costs = exact_costs(asked.row_task(data), data)
    if costs.wide is not None:
        return None
    search = _Search(problem, costs, np.array(asked.signs))
    seconds = search_limits.time_limit
    deadline = None if seconds is None else clock() + seconds
    least = int(costs.costs.min(axis=1).sum())

    def look() -> str | None:
        if search_limits.report is not None:
            best, bound = ((costs.value(least + more), 0, 0, IN_ORDER) for more in (search.cost, 0))
            search_limits.report(best, bound, int(search.control[NODES]), "searching")
        return None

    levels = *range(2, min(6, depth)), depth  # those of few levels take little
    stopped = run_stoppable([lambda: search.search(*levels)], search.control, deadline, look)
    searched = time.perf_counter()
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
    return settled(Outcome((solution,), lower, stopped, stats, costs.unit.denominator > 1), data)


class _Search:
    """One search: its arrays, and how what it finds becomes a tree."""

    def __init__(self, problem: Problem, costs: IntegerCosts, signs: Array) -> None:
        data = self.data = problem.data
        self.shown = problem.task.objective_of
        self.features, self.costs = Features.of(data), costs
        ranks = self.features.ranks
        least = costs.costs.min(axis=1, keepdims=True)
        price = min(costs.split, int((costs.costs - least).max(axis=1).sum()) + 1)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.orders = np.argsort(ranks, axis=1, kind="stable").astype(np.int32)
        self.work: tuple[Any, ...] = (
            ranks, signs[self.features.column], costs.costs - least, data.counts,
            len(ranks) - len(data.categorical), price, problem.min_leaf, self.control,
        )  # fmt: skip
        self.cost, self.plan = INFEASIBLE, np.zeros(0, np.int64)
        """The best tree, and what it costs."""
        self.search(min(1, problem.max_depth or 0))

    def search(self, *levels: int) -> None:
        """Finds the best tree of ever more levels, so that a search that is stopped knows those of few."""
        for depth in levels:
            plan, last = np.zeros(_words.py_func(self.data.n_rows), np.int64), self.costs.costs.shape[1] - 1
            cost = int(solve_in_order(self.work, self.orders, depth, 0, last, self.cost, plan))
            if cost < self.cost:
                self.cost, self.plan = cost, plan

    def solution(self) -> Solution:
        """The tree that was found, measured on the raw rows: (cost, least label, largest label, in order).

        Raises MismatchError if it does not cost what the search claimed.
        """
        total, labels, data, ranks = 0, set[int](), self.data, self.work[0]
        entries = iter(self.plan[1:].reshape(-1, WORDS).tolist())

        def grow(rows: Array, low: int, high: int) -> Node:
            nonlocal total
            (f, rank, c), sums = next(entries), self.costs.costs[rows].sum(axis=0)
            label = low + int(sums[low : high + 1].argmin())
            if f < 0:
                total += int(sums[label])
                labels.add(label)
                return Leaf(label, len(rows), self.shown((self.costs.value(int(sums[label])), label, label, IN_ORDER)))
            total += self.costs.split
            column, limit, gaps = self.features.question(f, rank)
            cut, here = data.ordered[column].cut(limit, gaps) if column in data.ordered else None, ranks[f, rows]
            if rank < 0:
                sides = [(here == code, low, high) for code in range(len(data.column(column).categories))]
            else:
                left, right = (_range.py_func(int(self.work[1][f]), low, high, c, side) for side in (True, False))
                sides = [(here <= rank, *left), (here > rank, *right)]
            empty = Leaf(label, 0, self.shown((0, label, label, IN_ORDER)))
            children = [grow(rows[side], *within) if side.any() else empty for side, *within in sides]
            if self.features.is_turned(f, rank):
                children.reverse()
            return Branch(column, tuple(children), len(rows), cut)

        root = grow(np.arange(data.n_rows), 0, self.costs.costs.shape[1] - 1)
        claimed = self.cost + int(self.costs.costs.min(axis=1).sum())
        if total != claimed:
            raise MismatchError(f"the tree costs {total}, the search claimed {claimed}; please report this")
        return Solution((self.costs.value(total), min(labels), max(labels), IN_ORDER), root)
