"""Which way a task is searched: by its costs per row, by kernels generated from it, as a front, or in general.

Prices of splits may come to costs per row, if the task says what they are.
"""

from __future__ import annotations

from streed.encoding.encoding import Encoding
from streed.encoding.row_costs import RowCosts
from streed.problem import Problem
from streed.task.analysis.facts import can_generate


def encoding_of(problem: Problem) -> Encoding | None:
    """The problem packed for the engine; None if it is a front or only the general route can take it."""
    by_row = RowCosts.of(problem)
    if by_row is not None:
        return by_row
    task, data = problem.task, problem.data
    if task.reads_rows or not can_generate(task, data, problem.sums, lambda: problem.first_costs):
        return None
    from streed.encoding.generated import Scored

    return Scored.of(problem)
