"""The ideal point of a front: no tree is better than it in any component, whatever the search has not seen yet.

A component that is a sum of costs per row is at least what rows that no column tells apart cost with the label that is
best for them (the equivalent points bound); that of another task is at least its own bound of all rows. The score of
the ideal point bounds the scores of all trees, because no score rises with what a component costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streed.dp.states import States
from streed.dp.stop_monitor import StopMonitor
from streed.exact import Array
from streed.problem import Problem, SearchLimits
from streed.task import TOTAL, Task, Totals, Value
from streed.task.algebra import objective
from streed.task.analysis.vector_form import VectorCosts, vector_costs
from streed.task.objective import record_of


def ideal_score(problem: Problem) -> Any | None:
    """The score of the ideal point of the problem's bound task; None where nothing is known of some component."""
    task, data = objective(problem.task), problem.data
    record, costs = record_of(task), vector_costs(problem.task, data)
    value: Any = None
    if costs is not None and min(costs.splits, default=0) >= 0:
        value = costs.value([int(each.min(axis=1).sum()) for each in costs_of_equal_rows(costs, data.X)])
    elif not (record.is_plain or record.sum_limits or record.gaps):
        value = tuple(_least(part, problem) for part in record.parts)
    return None if value is None or None in value else record.ideal_score(value, Totals(task, data))


def costs_of_equal_rows(costs: VectorCosts, codes: Array) -> Array:
    """(m, groups, K) int64: what each set of equal rows of `codes` (n, p) costs in every component, by label."""
    _, first, groups = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    width, _, labels = costs.costs.shape
    summed = np.zeros((width, len(first), labels), np.int64)
    for j in range(width):
        np.add.at(summed[j], groups.reshape(-1), costs.costs[j])
    return summed


def _least(part: Task, problem: Problem) -> Value | None:
    """A value that no tree of one part of a product is better than; None where nothing is known."""
    if part.order != TOTAL:
        return None
    alone = Problem(problem.data, part, problem.max_depth, problem.max_nodes, problem.min_leaf)
    states = States(alone, StopMonitor(SearchLimits(), None))
    return states.floor(states.root)
