"""The native route to fronts: tasks whose values are tuples of sums, by the engine's units (STreeD, Eq. 3, 6, 7, 8)."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np

from streed.bnb import runner
from streed.dp.dominance import nondominated_at_root
from streed.dp.ideal_point import costs_of_equal_rows, ideal_score
from streed.errors import MismatchError
from streed.kernels.compilation import clock
from streed.kernels.stopping import NODES, ROWS_OF_CONTROL, STOP
from streed.pareto.fronts import Front, FrontEngine
from streed.pareto.packing import Packed, pack_fronts
from streed.pareto.trees import FrontTrees
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.task.base import objective
from streed.tree import Leaf
from streed.tree.nodes import depth_of, walk
from streed.tree.predictions import count_branches

_MOST_BYTES = 2**30
"""Of fronts that are remembered, where the caller sets no limit."""

_FINDING = 0.3
"""Of the time limit, or of a second without one: what the trees of a front may take that is not whole."""


def search_vectors(problem: Problem, search_limits: SearchLimits) -> Outcome | None:
    """The front of a task of several sums; None if the engine cannot take the task (see `pack_fronts`)."""
    begin = time.perf_counter()
    if objective(problem.task).order == "total":
        return None
    packed = pack_fronts(problem)
    if packed is None:
        return None
    search = _Search(packed, search_limits)
    prepared = time.perf_counter()
    if not packed.keys.is_empty(packed.costs):
        search.run(clock())
    searched = time.perf_counter()
    solutions = search.solutions()
    stats = {
        "route": "fronts",
        "threads": 1,
        "seconds_setup": prepared - begin,
        "seconds_search": searched - prepared,
        "seconds_check": time.perf_counter() - searched,
        "nodes": int(search.control[NODES]),
        "subproblems": search.engine.kept,
        "peak_bytes": process_memory.peak(),
        "columns": len(packed.columns),
        "components": len(packed.costs.splits),
        "exact": True,
    }
    if search.stopped is not None:
        stats["missing"] = [{"weights": w, "bound": bound} for w, bound in missing_bounds(packed)]
    ideal = None if search.stopped is None else ideal_score(problem)
    return Outcome(solutions, None, search.stopped, stats, score_bound=ideal)


@final
class _Search:
    """One search, and what it knows when it is stopped."""

    def __init__(self, packed: Packed, search_limits: SearchLimits) -> None:
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        room = _MOST_BYTES
        if search_limits.memory_limit is not None:
            room = min(room, max(0, (search_limits.memory_limit - process_memory.resident()) // 2))
        self.engine = FrontEngine(packed, self.control, room)
        self.stopped: str | None = None
        self._packed = packed
        self._search_limits = search_limits
        self._root = packed.root
        self._fronts: list[tuple[int, Front]] = [(0, self.engine.solve(self._root, 0))]
        """By depth: the last one that is whole, and behind it what is known of a deeper one."""

    def run(self, begin: float) -> None:
        """Searches until the front is whole, or an order says stop."""
        search_limits = self._search_limits
        deadline = None if search_limits.time_limit is None else begin + search_limits.time_limit
        over = [False]

        def look() -> None:
            if search_limits.memory_limit is not None and process_memory.resident() > search_limits.memory_limit:
                over[0] = True
                self.control[STOP] = 1
            if search_limits.report is not None:
                search_limits.report(None, None, int(self.control[NODES]), "searching")

        reason = runner.run([self._rise], self.control, deadline, look)
        self.stopped = reason or ("memory" if over[0] else None)
        self.control[STOP] = 0

    def _rise(self) -> None:
        """The limit on the depth rises, so that a search that is stopped knows the fronts of lower trees."""
        problem = self._packed.problem
        most = min(len(self._packed.columns), min(problem.data.n_rows, problem.data.size // problem.min_leaf) - 1)
        most = max(0, most if problem.max_depth is None else min(most, problem.max_depth))
        for depth in range(min(most, 2), most + 1):
            front = self.engine.solve(self._root, depth, self._fronts[-1][1])
            self._fronts = [*(self._fronts if self.engine.stopped else []), (depth, front)]
            if self.engine.stopped or (len(front[0]) == 1 and front[0][0] == 0):
                return

    def solutions(self) -> tuple[Solution, ...]:
        """The trees of the points that count at the root, measured from the raw rows."""
        task, problem, keys = self._packed.problem.task, self._packed.problem, self._packed.keys
        if keys.is_empty(self._packed.costs):
            return ()
        trees = FrontTrees(self._packed, self.engine)
        limit = self._search_limits.time_limit
        deadline = clock() + _FINDING * (1.0 if limit is None else limit)
        found: dict[Any, Solution] = {}
        for depth, front in self._fronts:
            values = [self._packed.costs.value(keys.vector(key)) for key in front[0].tolist()]
            for at in nondominated_at_root(task, values):
                if values[at] in found:
                    continue
                if found and depth > self._fronts[0][0] and clock() > deadline:
                    break  # parts of this front may be as much work as what the search did not come to
                shape = trees.shape(self._root, depth, int(front[0][at]), int(front[1][at]))
                solution = trees.tree(shape)
                check_solution(problem, solution, values[at], exact=self.stopped is None)
                found[solution.value] = solution
        if self.stopped is None:
            return tuple(found.values())
        known = sorted(found.values(), key=lambda solution: solution.value)
        return tuple(known[at] for at in nondominated_at_root(task, [each.value for each in known]))


def check_solution(problem: Problem, solution: Solution, claimed: Sequence[Any], *, exact: bool) -> None:
    """Raises MismatchError if the tree is not worth what the search claimed, or breaks a limit."""
    value, root = solution.value, solution.root
    worse = any(x > y for x, y in zip(value, claimed, strict=False))
    if worse or (exact and tuple(value) != tuple(claimed)):
        raise MismatchError(f"the tree's sums are {value}, the search claimed {claimed}; please report this")
    smallest = min(node.rows for node in walk(root) if isinstance(node, Leaf) and node.rows)
    broken = problem.broken_by(depth_of(root), count_branches(root), smallest)
    if broken is not None:
        raise MismatchError(f"the tree has {broken}, which the limits forbid; please report this")


def missing_bounds(packed: Packed) -> list[tuple[tuple[float, ...], float]]:
    """Half-planes that hold every tree's value v, known or not: weights . v >= bound, by component and all together.

    Rows that are alike in every column get one label from every tree (the equivalent points bound).
    """
    costs = packed.costs
    by_group = costs_of_equal_rows(costs, packed.problem.data.X)
    width = len(costs.units)
    found = []
    for weights in (*np.eye(width, dtype=np.int64).tolist(), [1] * width):
        units = [Fraction(w * unit) for w, unit in zip(weights, costs.units, strict=True)]
        common = math.lcm(*(unit.denominator for unit in units))
        whole = [int(unit * common) for unit in units]
        together = sum(w * part.astype(object) for w, part in zip(whole, by_group, strict=False))
        least = Fraction(int(np.asarray(together).min(axis=1).sum()), common)
        found.append((tuple(map(float, weights)), _float_below(least)))
    return found


def _float_below(x: Fraction) -> float:
    """The largest float that is not above x, or the one before it."""
    near = float(x)
    return near if Fraction(near) <= x else math.nextafter(near, -math.inf)
