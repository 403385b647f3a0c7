"""Where no kernels can be made for a task: a front by the engine, or else the general route."""

from __future__ import annotations

from streed.dp.search import search_general
from streed.pareto.search import search_vectors
from streed.problem import Driver, Outcome, Problem, SearchLimits


def search_otherwise(problem: Problem, search_limits: SearchLimits, scalar: Driver) -> Outcome:
    """The outcome for a problem that is not packed; `scalar` answers what a front asks of a single sum."""
    outcome = search_vectors(problem, search_limits, scalar)
    return search_general(problem, search_limits) if outcome is None else outcome
