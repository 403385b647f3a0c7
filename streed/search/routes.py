"""Which way a task is searched: by its costs per row, by kernels generated from it, or by the general route."""

from __future__ import annotations

from streed.algebra import objective
from streed.search.driver import Problem
from streed.search.measure import Measure
from streed.search.row_costs import RowCosts
from streed.search.scored import Scored, can_generate
from streed.task import RowCostTask


def measure_of(problem: Problem) -> Measure | None:
    """The problem packed for the engine; None if only the general route can take it."""
    task = problem.task
    if isinstance(objective(task), RowCostTask) and all(limit.support is not None for limit in task.limits):
        return RowCosts.of(problem)
    return Scored.of(problem) if can_generate(problem) else None
