"""The driver of the native search over shared subproblems (see `improve.py`), and STreeD's order: depth-first."""

from __future__ import annotations

import abc
import functools
import time
from typing import ClassVar, final

import attrs
import numpy as np

from streed.bnb import runner, warmup
from streed.bnb.oracle import NativeOracle
from streed.bnb.session import bounds_of, extract_best, is_short, make_workspaces, search_fully, statistics
from streed.bnb.trace import Trace
from streed.drivers.otherwise import search_otherwise
from streed.encoding.choice import encoding_of
from streed.encoding.encoding import Encoding, TooImprecise
from streed.enumerate.packed_rows import packed_rows_of
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, UPPER
from streed.kernels.counting.groups import MOST_GROUPS
from streed.kernels.records import INFINITE, LOWEST, RAISED, UNLIMITED
from streed.problem import Driver, Outcome, Problem, SearchLimits, Solution
from streed.problem.linear_oracle import LinearOracle
from streed.task import Task, Value
from streed.task.constrained import objective


@attrs.frozen
class Native(Driver):
    """The native search, in one of two orders."""

    best_first: ClassVar[bool]

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        begin = time.perf_counter()
        warmup.begin()
        encoding = encoding_of(problem)
        if encoding is None:
            return self.without_kernels(problem, search_limits)
        while encoding is not None:
            try:
                outcome = self._search(problem, encoding, search_limits, begin)
            except TooImprecise as coarse:
                encoding = coarse.finer
                continue
            if outcome is not None and outcome.stopped == "rounding":
                left = (
                    None
                    if search_limits.time_limit is None
                    else search_limits.time_limit - (time.perf_counter() - begin)
                )
                return encoding.closed(problem, outcome, left)
            if outcome is not None:
                return outcome
            encoding = encoding.less_precise()
        raise TaskError("the task's costs differ too much in size to be searched; scale them")

    @abc.abstractmethod
    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """The outcome for a task of which no kernels can be made; raises TaskError if there is none."""

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """Takes problems of few kinds of rows, for one thread."""
        if search_limits.threads > 1 or int(kinds.max(initial=0)) >= MOST_GROUPS:
            return None
        return NativeOracle(problem, kinds, n_labels, splits, search_limits, self.best_first, packed_rows_of)

    def _search(
        self, problem: Problem, encoding: Encoding, search_limits: SearchLimits, begin: float
    ) -> Outcome | None:
        """The outcome; None if the codes of the encoding are too fine for the task's values."""
        packed = encoding.packed
        depth = UNLIMITED if problem.max_depth is None else problem.max_depth
        budget = UNLIMITED if problem.max_nodes is None else problem.max_nodes
        if depth == 0 or budget == 0:
            depth, budget = 0, UNLIMITED
        elif packed.n_binary == packed.n_columns and depth < 30 and budget >= 2**depth - 1:
            budget = UNLIMITED
        free = packed.split_cost == 0
        relaxed = free and depth != UNLIMITED and budget == UNLIMITED
        control = np.zeros(ROWS_OF_CONTROL, np.int64)
        control[UPPER] = control[SHARED_UPPER] = INFINITE
        threads = 1 if is_short(packed, depth) else search_limits.threads
        workspaces = make_workspaces(problem, packed, search_limits, threads, depth, budget, relaxed, control)
        for each in workspaces:
            each.engine["best_first"] = self.best_first
        trace = Trace()
        packed_at = time.perf_counter()

        def best_of(upper: int) -> Value | None:
            return None if upper >= INFINITE else encoding.value(upper)

        def bound_of(lower: int) -> Value | None:
            return encoding.bound(lower) if lower > LOWEST else None

        def look() -> str | None:
            nodes, lower, upper = bounds_of(workspaces)
            trace.note(time.perf_counter() - packed_at, upper, lower, nodes)
            best, bound = best_of(upper), bound_of(lower)
            if search_limits.report is not None:
                search_limits.report(best, bound, nodes, "searching")
            return "gap" if lower < upper and search_limits.is_enough(best, bound) else None

        try:
            searches = [functools.partial(search_fully, each, depth, budget, threads > 1) for each in workspaces]
            reason = None
            if is_short(packed, depth):
                searches[0]()
            else:
                deadline = None if search_limits.time_limit is None else clock() + search_limits.time_limit
                reason = runner.run(searches, control, deadline, look)
            searched_at = time.perf_counter()
            nodes, lower, upper = bounds_of(workspaces)
            trace.note(searched_at - packed_at, upper, lower, nodes)
            best = min(workspaces, key=lambda each: each.root_bounds[1])
            preorder = None
            if upper < INFINITE:
                preorder = extract_best(best, packed, depth, budget)
            stats = {"search": self.name, **statistics(workspaces, packed, begin, packed_at, searched_at)}
            if self.best_first and stats["evictions"]:
                stats["frontier"] = max(each.engine["frontier"] for each in workspaces)
            stats["trace"] = trace.decoded(best_of, bound_of)
        finally:
            for each in workspaces:
                each.close()
        if any(each.engine["overflow"] & RAISED for each in workspaces):
            raise TaskError(
                f"{type(objective(problem.task)).__name__} raised an error at some state\n"
                "let its methods return a number at every state of at least one row"
            )
        if any(each.engine["overflow"] for each in workspaces):
            return None
        stopped = (reason or "memory") if lower < upper else None
        solutions: tuple[Solution, ...] = ()
        if preorder is not None:
            complete = stopped is None and stats["evictions"] == 0
            solution, is_whole = encoding.solution(problem, preorder, upper, lower, complete)
            solutions = (solution,)
            if not is_whole:
                stopped = stopped or "memory"
        bound, rounding = bound_of(lower), 0
        if solutions and preorder is not None and not encoding.exact:
            rounding = encoding.rounding(preorder)
        if solutions and stopped is None:
            value = solutions[0].value
            if encoding.settles and bound is not None and problem.task.better(bound, value):
                stopped = "rounding"
            else:
                bound = value
        stats = {**stats, "nodes": nodes, "exact": encoding.exact, "rounding": rounding, "route": encoding.route}
        return Outcome(solutions, bound, stopped, stats, encoding.unit, encoding.real)


@final
@attrs.frozen
class DepthFirst(Native):
    """Depth-first branch and bound with depth-three work units, shared subproblems and similarity bounds."""

    name: ClassVar[str] = "depth-first"
    best_first: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        """Takes every task: what no kernel can be made for is searched by the general route."""

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return search_otherwise(problem, search_limits, self)
