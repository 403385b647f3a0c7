"""Ordered columns for every driver: which way a problem that has them is searched.

Where there are many thresholds, a task of costs per row goes to the ordered search (`streed/ordered/`). Otherwise the
columns become questions, `x <= t` for every threshold, which any driver searches as 0/1 columns. A task whose costs
depend on the columns goes the general route, which knows ordered columns itself.
"""

from __future__ import annotations

import time
from typing import ClassVar, final

import attrs

from streed.drivers.native import Auto, Native, by_thresholds
from streed.encoding.ordered import ask, can_ask, settled
from streed.errors import InputError
from streed.ordered.in_order_search import search_in_order
from streed.problem import Driver, Outcome, Problem, SearchLimits, process_memory
from streed.task import Task
from streed.task.objective import record_of

_MOST_QUESTIONS = 2_000
"""So many are asked once more, where rounding left open over thresholds which tree is the best."""

_ENTRY = 4
"""Bytes of an entry of a search's pair counts, which has one for every two questions and label."""


@final
@attrs.frozen(eq=False)
class OverOrdered(Driver):
    """Another driver, for data that have ordered columns; `plain` takes what cannot be asked as 0/1 columns."""

    driver: Driver
    plain: Driver
    name: ClassVar[str] = "ordered"

    def knows_gap(self, task: Task) -> bool:
        return self.driver.knows_gap(task)

    def check(self, task: Task) -> None:
        self.driver.check(task)

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """Raises InputError where there are so many thresholds that their questions do not fit into memory."""
        began = time.perf_counter()
        if not problem.data.ordered:
            return self.driver.search(problem, search_limits)
        is_native = isinstance(self.driver, (Native, Auto))
        ahead = search_in_order(problem, search_limits, self.driver.name) if is_native else None
        if ahead is not None:
            return ahead
        if self.driver is self.plain or not can_ask(problem):
            outcome = self.plain.search(problem, search_limits)
            solutions = [attrs.evolve(each, root=settled(each.root, problem.data)) for each in outcome.solutions]
            return attrs.evolve(outcome, solutions=tuple(solutions))
        ahead = by_thresholds(problem, search_limits, self.driver.name) if is_native else None
        if ahead is not None:
            if ahead.is_proved or ahead.stopped or problem.data.n_questions > _MOST_QUESTIONS:
                return ahead
            search_limits = search_limits.after(time.perf_counter() - began)
        _check_size(problem, search_limits)
        asked, questions = ask(problem)
        outcome = self.driver.search(asked, search_limits)
        found = [attrs.evolve(each, root=settled(each.root, problem.data, questions)) for each in outcome.solutions]
        route = f"{outcome.stats.get('route', 'reduction')} by questions"
        stats = {**outcome.stats, "route": route, "questions": asked.data.n_columns}
        return attrs.evolve(outcome, solutions=tuple(found), stats=stats)


def _check_size(problem: Problem, search_limits: SearchLimits) -> None:
    """Raises InputError where the questions, or the counts of their pairs where they will be made, take too much."""
    questions, needed = problem.data.n_questions, problem.data.n_rows * problem.data.n_questions
    if problem.max_depth not in (0, 1) and not record_of(problem.task).of_sums:
        needed += _ENTRY * questions**2 * max(len(problem.task.labels(problem.data)) - 1, 1)
    limit, room = search_limits.memory_limit, process_memory.free()
    allowed = room if limit is None else min(room, limit - process_memory.resident())
    found = f"{questions:,} questions take about {needed / 1e9:.1f} GB, and {max(allowed, 0) / 1e9:.1f} are free"
    if needed > room:
        raise InputError("max_cuts", found, "give the most thresholds of a column, such as 50, or fewer columns")
    if needed > allowed:
        remedy = "raise it, or give fewer thresholds (max_cuts) or columns"
        raise InputError("memory_limit", f"{limit:,} bytes; {found}", remedy)
