"""The one check at the end of every route: whether its bound proves its tree; where rounding left that open, a proof.

Where native code had to round costs, a better tree is within the rounding of the one found by rounded costs too: of
such trees there are few, and they are enumerated with what rounding took from their costs as further sums. On a small
problem the general route, whose integers have any size, proves the optimum of the exact costs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.dp.search import search_general
from streed.encoding.certificate import measure_widely, settled
from streed.errors import MismatchError
from streed.exact import LARGEST_TOTAL, Array
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped
from streed.tables.entries import VALUE
from streed.tables.near_optimal import NearOptimalTrees
from streed.tables.vector_trees import EvaluatedTree, Trees, Window
from streed.task import TOTAL
from streed.whole_costs import IntegerCosts, WideCosts

_FEW_ROWS = 100
"""Of more rows than this, the time to split a set grows with them."""

_AT_LEAST = 30.0
"""Seconds that closing may take, or as long as the search before it."""

_MOST_STEPS = 300_000
"""Splits that the general route may have to look at, if no bound helps: a second or two."""

_FEW_STEPS = 120
"""As many as take some milliseconds, where bounds meet but for the rounding of real numbers."""

_MOST_EFFORT = 1e10
"""Numbers that are added up for the trees of depth two whose costs bound those within the rounding, roughly."""

_BITS = 58
"""Of what rounding took from a sum over all rows, at most in one number."""

GENERAL, NEAR_OPTIMAL = "general", "near-optimal trees"
"""What `stats["closed"]` says."""


@attrs.frozen(eq=False)
class Further:
    """A sum that is beside the cost of a tree."""

    costs: Array
    """(n, K) int64."""
    split: int
    """What a branching node adds."""
    multiplier: int
    """A weight, by which trees outside of the interval cost more than those inside."""
    interval: Window


def checked(problem: Problem, outcome: Outcome, time_limit: float | None) -> Outcome:
    """The outcome; where rounding keeps its bounds apart, closed exactly or, if that is not possible, so stopped.

    Bounds of real numbers that are as near as rounding lets them be are closed where that takes a moment, else taken
    for one number, and how far apart they were is said.
    """
    if outcome.stopped not in (None, "rounding") or outcome.meets:
        return outcome
    is_proved = outcome.is_proved
    took = outcome.stats.get("seconds_search", 0.0)
    limits = shortened(SearchLimits(time_limit=time_limit).after(took), took)
    most = _FEW_STEPS if is_proved else _MOST_STEPS
    is_long = _steps(problem) > most or limits.time_limit == 0
    may_close = problem.task.order == TOTAL and not is_long and outcome.stats.get("route") != GENERAL
    if may_close and (not is_proved or _is_exact(problem)):
        found = search_general(problem, limits)
        if found.solutions and found.stopped is None and (found.meets or found.is_proved > is_proved):
            stats = {**outcome.stats, "exact": found.stats["exact"], "rounding": found.stats["rounding"]}
            same = found.solutions[0].value == outcome.solutions[0].value
            solutions = outcome.solutions if same else settled(found, problem.data).solutions
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
    data, depth = problem.data, problem.max_depth
    if depth is None or data.categorical or search_limits.time_limit == 0:
        return outcome
    costs = problem.row_costs
    wide = None if costs is None else costs.wide
    if costs is None or wide is None:
        return outcome
    numbers = costs.costs.size * len(_low_parts(wide, data.n_rows))
    if float(numbers) * data.n_columns ** min(depth, 3) > _MOST_EFFORT:
        return outcome
    own, took = outcome.solutions[0], outcome.stats.get("seconds_search", 0.0)
    try:
        found = best_within_rounding(problem, costs, own.value, driver, shortened(search_limits, took))
    except SearchStopped:
        return outcome
    best = own if found is None else measure_widely(problem, wide, found.preorder)
    solution = min(best, own, key=operator.attrgetter("value"))
    if not math.isclose(best.value, solution.value):  # methods may round, as those that multiply by floats
        raise MismatchError(f"a tree is worth {own.value}, the best of all {best.value}; please report this")
    stats = {**outcome.stats, "exact": True, "rounding": 0, "closed": NEAR_OPTIMAL}
    return Outcome((solution,), solution.value, None, stats, real=True)


def shortened(search_limits: SearchLimits, took: float) -> SearchLimits:
    """The limits of what closes a search that took so many seconds."""
    most = max(took, _AT_LEAST)
    left = most if search_limits.time_limit is None else min(search_limits.time_limit, most)
    return attrs.evolve(search_limits, time_limit=left)


def best_within_rounding(
    problem: Problem,
    costs: IntegerCosts,
    value: Any,
    driver: Driver,
    search_limits: SearchLimits,
    further: Sequence[Further] = (),
    scale: int = 1,
) -> EvaluatedTree | None:
    """A tree of least exact cost of those whose rounded cost may be below the value; None where there is none.

    Only trees whose `further` sums are in their intervals count. With its multipliers, and the cost times `scale`,
    these bound what is enumerated. Raises SearchStopped.
    """
    assert costs.wide is not None
    (last, low, low_split), *others = _low_parts(costs.wide, problem.data.n_rows)
    # of trees whose other sums are equal, the one of the least last part
    parts = [low, costs.costs, *(part for _, part, _ in others), *(each.costs for each in further)]
    splits = (low_split, costs.split, *(split for _, _, split in others), *(each.split for each in further))
    trees = Trees(problem, np.stack(parts, axis=-1).transpose(2, 0, 1), splits, driver, search_limits)
    multipliers = [scale, *[0] * len(others), *(each.multiplier for each in further)]
    intervals = [(-(2**61), 2**61)] * (1 + len(others)) + [each.interval for each in further]
    try:
        near_optimal = NearOptimalTrees(trees, [1], range(1, len(parts)), 0, multipliers, intervals)
        allowance = sum(max(each.multiplier * end for end in each.interval) for each in further)
        budget = scale * (costs.above(value) - 1) + allowance
        if abs(budget) >= LARGEST_TOTAL:
            raise SearchStopped("rounding")
        entries = near_optimal.every(budget)
        if not len(entries):
            return None
        places = [costs.wide.shift, *(place for place, _, _ in others), last]
        sums = np.concatenate([near_optimal.sums_of(entries)[:, : len(others) + 1], entries[:, [VALUE]]], axis=1)
        exact = [sum(x << place for x, place in zip(each, places, strict=True)) for each in sums.tolist()]
        return near_optimal.tree(entries[exact.index(min(exact))])
    finally:
        trees.close()


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
