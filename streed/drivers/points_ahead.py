"""Points of fronts of deep trees, at once: a rolling lookahead for one weighted sum of the components after another.

The front engine raises the depth level by level, so that a search that is stopped knows whole fronts of lower trees
only. What is left of its time finds deeper trees: of two components between every two neighbours that are known, in the
direction of their line; of more in drawn directions, the same ones every time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

import attrs
import numpy as np

from streed.dp.dominance import nondominated_at_root
from streed.enumerate.vector_trees import EvaluatedTree, Trees, Vector
from streed.kernels.records import SHALLOW
from streed.pareto.search import check_solution, search_vectors
from streed.pareto.trees import measured
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped, Solution
from streed.task.analysis.vector_form import VectorCosts, vector_costs

_SEARCH, _AHEAD = 0.65, 0.15
"""Of the time: the engine's search, and if that is stopped, the scalar solves; the rest is for finding its trees."""

_STEEP = 64
"""So many times another component, by how far labels move each, one component weighs in the steepest direction."""

_DRAWN = 256
"""Directions, of three components or more."""


def search_fronts(problem: Problem, search_limits: SearchLimits, driver: Driver) -> Outcome | None:
    """The front by the engine, and where that is stopped by its time, points of deeper trees; None as of the engine.

    A point that is the least in every component is the whole front.
    """
    seconds = search_limits.time_limit
    if seconds is None or (problem.max_depth is not None and problem.max_depth <= SHALLOW):
        return search_vectors(problem, search_limits)
    outcome = search_vectors(problem, attrs.evolve(search_limits, time_limit=_SEARCH * seconds))
    if outcome is None or outcome.stopped != "time":
        return outcome
    costs = vector_costs(problem.task, problem.data)
    assert costs is not None
    ahead = _ahead(problem, costs, driver, attrs.evolve(search_limits, time_limit=_AHEAD * seconds, report=None))
    known = [*outcome.solutions, *ahead]
    known.sort(key=lambda solution: solution.value)
    kept = tuple(known[at] for at in nondominated_at_root(problem.task, [solution.value for solution in known]))
    least = [each["bound"] for each in outcome.stats["missing"]]  # those of single components come first
    if len(kept) == 1 and all(x <= bound for x, bound in zip(kept[0].value, least, strict=False)):
        stats = {key: value for key, value in outcome.stats.items() if key != "missing"}
        return attrs.evolve(outcome, solutions=kept, stopped=None, stats=stats, score_bound=None)
    return attrs.evolve(outcome, solutions=kept)


def _ahead(problem: Problem, costs: VectorCosts, driver: Driver, search_limits: SearchLimits) -> Iterator[Solution]:
    """Trees of small weighted sums that keep the limits, as many as are found in time."""
    found: dict[Vector, EvaluatedTree] = {}
    trees = Trees(problem, costs.costs, costs.splits, driver, search_limits)
    try:
        with trees.ahead():
            for weights in _directions(trees, found):
                tree = trees.cheapest(weights) if trees.is_summable(weights) else None
                if tree is not None:
                    found.setdefault(tree.vector, tree)
    except SearchStopped as stop:
        if stop.tree is not None:
            found.setdefault(stop.tree.vector, stop.tree)
    except KeyboardInterrupt:
        pass  # what is found stands, and the search is called stopped anyhow
    finally:
        trees.close()
    for vector, tree in found.items():
        if all(cap is None or x <= cap for x, cap in zip(vector, costs.caps, strict=True)):
            solution = measured(problem, costs, tree.root)
            check_solution(problem, solution, costs.value(vector), exact=True)
            yield solution


def _directions(trees: Trees, found: Mapping[Vector, EvaluatedTree]) -> Iterator[list[int]]:
    """Weights of the components, whole numbers of 1 or more, by what was found so far."""
    moved = [max(most - least, 1) for least, most in trees.value_ranges]
    unit = [_STEEP * max(moved) // each for each in moved]
    width = len(unit)
    for steep in range(width):
        yield [each * (_STEEP if at == steep else 1) for at, each in enumerate(unit)]
    if width > 2:
        for drawn in np.random.default_rng(0).uniform(-1, 1, (_DRAWN, width)):
            yield [max(1, int(each * _STEEP**x)) for each, x in zip(unit, drawn.tolist(), strict=True)]
        return
    ends = sorted(found)
    segments = deque([(ends[0], ends[-1])] if len(ends) > 1 else [])
    while segments:
        a, b = segments.popleft()
        known = set(found)
        yield [max(a[1] - b[1], 1), max(b[0] - a[0], 1)]
        for c in sorted(set(found) - known):
            segments += [(a, c)] if a[0] < c[0] and a[1] > c[1] else []
            segments += [(c, b)] if c[0] < b[0] and c[1] > b[1] else []
