"""The tree that is best in every component at once, where there is one: one scalar solve tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streed.exact import LARGEST_TOTAL
from streed.pareto.trees import measured
from streed.problem import Driver, Problem, SearchLimits, Solution
from streed.problem.oracle_by_search import FixedCosts

if TYPE_CHECKING:
    from streed.pareto.packing import Packed

_MOST_ROWS_TIMES_COLUMNS = 2**24
"""On larger data the question may take longer than it saves."""

_MOST_DEPTH = 4
"""Likewise of deeper trees."""


def ideal_tree(packed: Packed, search_limits: SearchLimits, scalar: Driver) -> Solution | None:
    """A tree no component of which could be less, whatever the labels; None if there is none, or nobody asked.

    No other point is nondominated then.
    """
    problem = packed.problem
    depth = problem.max_depth
    if depth is None or not 0 < depth <= _MOST_DEPTH or problem.data.X.size > _MOST_ROWS_TIMES_COLUMNS:
        return None
    parts = packed.costs.costs - packed.costs.costs.min(axis=2)[:, :, None]
    together = parts.sum(axis=0)
    if float(together.max(axis=1).astype(np.float64).sum()) >= LARGEST_TOTAL:
        return None
    task = FixedCosts(together, sum(packed.costs.splits))
    together_problem = Problem(problem.data, task, depth, problem.max_nodes, problem.min_leaf)
    limit = None if search_limits.time_limit is None else search_limits.time_limit / 2
    outcome = scalar.search(together_problem, SearchLimits(limit, search_limits.memory_limit))
    if not outcome.solutions or outcome.solutions[0].value != 0:
        return None
    return measured(packed, outcome.solutions[0].root)
