"""The one check at the end of every route: whether its bound proves its tree; where rounding left that open, a proof.

Native code adds integers of 64 bits, or real numbers. Where it had to round costs, the bounds that it proves stay apart
by the rounding, though the tree is nearly always the best. On a small problem the general route, whose integers have
any size, proves the optimum of the exact costs.
"""

from __future__ import annotations

import math

import attrs

from streed.dp.search import search_general
from streed.problem import Outcome, Problem, SearchLimits
from streed.task import TOTAL

_FEW_ROWS = 2_000
"""Of more rows than this, the time to split a set grows with them."""

_MOST_STEPS = 300_000
"""Splits that the general route may have to look at, if no bound helps: a second or two."""

GENERAL = "general"


def checked(problem: Problem, outcome: Outcome, time_limit: float | None) -> Outcome:
    """The outcome; where rounding keeps its bounds apart, closed exactly or, if that is not possible, so stopped."""
    if outcome.stopped not in (None, "rounding") or outcome.is_proved:
        return outcome
    seconds = None if time_limit is None else time_limit - outcome.stats.get("seconds_search", 0.0)
    is_long = _steps(problem) > _MOST_STEPS or (seconds is not None and seconds <= 0)
    if problem.task.order == TOTAL and not is_long and outcome.stats.get("route") != GENERAL:
        found = search_general(problem, SearchLimits(time_limit=seconds))
        if found.solutions and found.stopped is None and found.is_proved:
            stats = {**outcome.stats, "exact": found.stats["exact"], "rounding": found.stats["rounding"]}
            return attrs.evolve(found, stats={**stats, "closed": GENERAL}, real=outcome.real)
    return attrs.evolve(outcome, stopped="rounding")


def _steps(problem: Problem) -> float:
    """At most so many splits of sets of rows are looked at, roughly: of all sets above the leaves."""
    data = problem.data
    limits = [each for each in (problem.max_depth, problem.max_nodes) if each is not None]
    depth = min([data.n_columns, data.n_rows, *limits])
    widths = [len(data.column(j).categories) if j in data.categorical else 2 for j in range(data.n_columns)]
    sides = sum(widths)
    sets = sum(float(sides) ** level for level in range(max(depth, 1)))
    paths = math.prod(float(width + 1) for width in widths)
    return min(sets, paths, 2.0 ** min(data.n_rows, 64)) * sides * max(1.0, data.n_rows / _FEW_ROWS)
