"""The one check at the end of every route: whether its bound proves its tree; where rounding left that open, a proof.

Native code adds integers of 64 bits, or real numbers. Where it had to round costs, the bounds that it proves stay apart
by the rounding, though the tree is nearly always the best. On a small problem the general route, whose integers have
any size, proves the optimum of the exact costs.
"""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from streed.dp.search import search_general
from streed.encoding.ordered import settle_gaps
from streed.problem import Outcome, Problem, SearchLimits
from streed.task import TOTAL

_FEW_ROWS = 2_000
"""Of more rows than this, the time to split a set grows with them."""

_MOST_STEPS = 300_000
"""Splits that the general route may have to look at, if no bound helps: a second or two."""

_FEW_STEPS = 120
"""As many as take some milliseconds, where bounds meet but for the rounding of real numbers, at a hundred rows each."""

GENERAL = "general"


def checked(problem: Problem, outcome: Outcome, time_limit: float | None) -> Outcome:
    """The outcome; where rounding keeps its bounds apart, closed exactly or, if that is not possible, so stopped.

    Bounds of real numbers that are as near as rounding lets them be are closed where that takes a moment. Elsewhere
    they are one number as far as real numbers can tell: the value is the bound, and how far apart they were is said.
    """
    if outcome.stopped not in (None, "rounding") or outcome.meets:
        return outcome
    is_proved = outcome.is_proved
    seconds = None if time_limit is None else time_limit - outcome.stats.get("seconds_search", 0.0)
    most = _FEW_STEPS / max(1.0, problem.data.n_rows / 100) if is_proved else _MOST_STEPS
    is_long = _steps(problem) > most or (seconds is not None and seconds <= 0)
    may_close = problem.task.order == TOTAL and not is_long and outcome.stats.get("route") != GENERAL
    if may_close and (not is_proved or _is_exact(problem)):
        found = search_general(problem, SearchLimits(time_limit=seconds))
        if found.solutions and found.stopped is None and (found.meets or found.is_proved > is_proved):
            stats = {**outcome.stats, "exact": found.stats["exact"], "rounding": found.stats["rounding"]}
            solutions = tuple(attrs.evolve(each, root=settle_gaps(each.root, problem.data)) for each in found.solutions)
            same = found.solutions[0].value == outcome.solutions[0].value
            solutions = outcome.solutions if same else solutions
            return attrs.evolve(found, solutions=solutions, stats={**stats, "closed": GENERAL}, real=outcome.real)
    if not is_proved:
        return attrs.evolve(outcome, stopped="rounding")
    value = outcome.solutions[0].value
    apart = max(abs(value - outcome.lower), outcome.stats.get("rounding") or 0)
    return attrs.evolve(outcome, lower=value, stats={**outcome.stats, "rounding": float(apart)})


def _is_exact(problem: Problem) -> bool:
    """Whether a leaf of all rows costs an exact number by the task's methods; of real numbers nothing is closed."""
    task, data = problem.task, problem.data
    cost = None if task.reads_rows else task.exact_cost(data, np.arange(data.n_rows), 0)
    return isinstance(cost, Fraction)


def _steps(problem: Problem) -> float:
    """At most so many splits of sets of rows are looked at, roughly: of all sets above the leaves."""
    data = problem.data
    sides, paths, levels = 0, 1.0, 0
    for j in range(data.n_columns):
        asked = data.ordered[j].n_questions if j in data.ordered else 1
        children = len(data.column(j).categories) if j in data.categorical else 2
        sides += children * asked
        paths *= children + 1 if asked == 1 else (asked + 1) * (asked + 2) / 2
        levels += asked
    limits = [each for each in (problem.max_depth, problem.max_nodes) if each is not None]
    depth = min([levels, data.n_rows, *limits])
    sets, level = 0.0, 1.0
    for _ in range(max(depth, 1)):
        sets, level = sets + level, level * sides
        if sets > _MOST_STEPS:
            break
    return min(sets, paths, 2.0 ** min(data.n_rows, 64)) * sides * max(1.0, data.n_rows / _FEW_ROWS)
