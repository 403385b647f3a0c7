"""The one check at the end of every route: whether its bound proves its tree; where rounding left that open, a proof.

Where native code had to round costs, a better tree is within the rounding of the one found by rounded costs too: of
such trees there are few, and they are enumerated with what rounding took from their costs as further sums. On a small
problem the general route, whose integers have any size, proves the optimum of the exact costs.
"""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from streed.dp.search import search_general
from streed.encoding.certificate import measure_widely
from streed.encoding.ordered import settled
from streed.errors import MismatchError
from streed.exact import Array
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped
from streed.tables.entries import VALUE
from streed.tables.near_optimal import NearOptimalTrees
from streed.tables.vector_trees import Trees
from streed.task import TOTAL
from streed.task.analysis.linear_form import row_cost_form
from streed.task.bounded_sums import exact_costs
from streed.whole_costs import WideCosts

_FEW_ROWS = 2_000
"""Of more rows than this, the time to split a set grows with them."""

_MOST_STEPS = 300_000
"""Splits that the general route may have to look at, if no bound helps: a second or two."""

_FEW_STEPS = 120
"""As many as take some milliseconds, where bounds meet but for the rounding of real numbers, at a hundred rows each."""

_MOST_EFFORT = 1e10
"""Numbers that are added up for the trees of depth two whose costs bound those within the rounding, roughly."""

_BITS = 58
"""Of what rounding took from a sum over all rows, at most in one number."""

GENERAL, NEAR_OPTIMAL = "general", "near-optimal trees"
"""What `stats["closed"]` says."""


def checked(problem: Problem, outcome: Outcome, time_limit: float | None) -> Outcome:
    """The outcome; where rounding keeps its bounds apart, closed exactly or, if that is not possible, so stopped.

    Bounds of real numbers that are as near as rounding lets them be are closed where that takes a moment, else taken
    for one number, and how far apart they were is said.
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
            solutions = tuple(attrs.evolve(each, root=settled(each.root, problem.data)) for each in found.solutions)
            same = found.solutions[0].value == outcome.solutions[0].value
            solutions = outcome.solutions if same else solutions
            outcome = attrs.evolve(found, solutions=solutions, stats={**stats, "closed": GENERAL}, real=outcome.real)
            is_proved = True
    if outcome.meets:
        return outcome
    if not is_proved:
        return attrs.evolve(outcome, stopped="rounding")
    value = outcome.solutions[0].value
    apart = max(abs(value - outcome.lower), outcome.stats.get("rounding") or 0)
    return attrs.evolve(outcome, lower=value, stats={**outcome.stats, "rounding": float(apart)})


def close_by_near_optimal(problem: Problem, outcome: Outcome, search_limits: SearchLimits, driver: Driver) -> Outcome:
    """The outcome with bounds that meet, of costs per row under a limit on the depth; as it is if that cannot be."""
    data, depth, limit = problem.data, problem.max_depth, search_limits.time_limit
    form = row_cost_form(problem.task, data)
    if form is None or depth is None or data.categorical or (limit is not None and limit <= 0):
        return outcome
    costs = exact_costs(form, data)
    wide = costs.wide
    if wide is None:
        return outcome
    (last, low, low_split), *others = _low_parts(wide, data.n_rows)
    effort = float(data.n_rows * costs.costs.shape[1]) * (len(others) + 2) * data.n_columns ** min(depth, 3)
    if effort > _MOST_EFFORT:
        return outcome
    # of trees whose other sums are equal, the one of the least last part
    parts = [low, costs.costs, *(part for _, part, _ in others)]
    splits = (low_split, costs.split, *(split for _, _, split in others))
    trees = Trees(problem, np.stack(parts, axis=-1).transpose(2, 0, 1), splits, driver, search_limits)
    own, keys = outcome.solutions[0], range(1, len(parts))
    multipliers, anything = [1, *[0] * len(others)], [(-(2**61), 2**61)] * len(keys)
    try:
        near_optimal = NearOptimalTrees(trees, [1], keys, 0, multipliers, anything)
        entries = near_optimal.every(costs.above(own.value) - 1)
        solution = own
        if len(entries):
            places = [wide.shift, *(place for place, _, _ in others), last]
            sums = np.concatenate([near_optimal.sums_of(entries)[:, : len(keys)], entries[:, [VALUE]]], axis=1)
            exact = [sum(x << place for x, place in zip(each, places, strict=True)) for each in sums.tolist()]
            best = entries[exact.index(min(exact))]
            solution = measure_widely(problem, costs, wide, near_optimal.tree(best).preorder)
    except SearchStopped:
        return outcome
    finally:
        trees.close()
    if solution.value > own.value:
        raise MismatchError(f"a tree is worth {own.value}, the best of all {solution.value}; please report this")
    stats = {**outcome.stats, "exact": True, "rounding": 0, "closed": NEAR_OPTIMAL}
    return Outcome((solution,), solution.value, None, stats, wide.unit, real=True)


def _low_parts(wide: WideCosts, n_rows: int) -> list[tuple[int, Array, int]]:
    """What rounding took from the costs: pieces of their bits, each with its place, of rows by label and of a split."""
    rests = wide.rests - wide.rests.min(axis=1, keepdims=True)
    split = min(wide.split_rest, (1 << wide.shift) - 1)  # beyond that no split pays
    width = _BITS - n_rows.bit_length()
    found = []
    for place in range(0, max(wide.shift, 1), width):
        mask = (1 << min(width, wide.shift - place)) - 1
        found.append((place, ((rests >> place) & mask).astype(np.int64), (split >> place) & mask))
    return found


def _is_exact(problem: Problem) -> bool:
    """Whether a leaf of all rows costs an exact number by the task's methods; of real numbers nothing is closed."""
    task, data = problem.task, problem.data
    cost = None if task.reads_rows else task.exact_cost(data, np.arange(data.n_rows), 0)
    return isinstance(cost, Fraction)


def _steps(problem: Problem) -> float:
    """At most so many splits of sets of rows are looked at, roughly: of all sets above the leaves."""
    data, sides, paths = problem.data, 0, 1.0
    for j in range(data.n_columns):
        asked = data.ordered[j].n_questions if j in data.ordered else 1
        children = len(data.column(j).categories) if j in data.categorical else 2
        sides += children * asked
        paths *= children + 1 if asked == 1 else (asked + 1) * (asked + 2) / 2
    limits = [each for each in (problem.max_depth, problem.max_nodes, data.n_rows, 32) if each is not None]
    sets = min(paths, float(max(sides, 2)) ** max(min(limits) - 1, 0), 2.0 ** min(data.n_rows, 64))
    return sets * sides * max(1.0, data.n_rows / _FEW_ROWS)
