"""The ordered route for a task whose costs are made of sums by its own methods, from problem to outcome."""

from __future__ import annotations

import time

import attrs
import numpy as np

from streed.encoding.certificate import measure_exactly, measure_task
from streed.encoding.generated import TOLERANCE
from streed.errors import MismatchError, StreedError
from streed.exact import Array, as_float, fraction_of
from streed.kernels.compilation import clock
from streed.ordered.features import Features
from streed.ordered.generated import GeneratedRows, generated_rows
from streed.ordered.planting import Planted
from streed.ordered.search import Run
from streed.ordered.session import Inexact
from streed.problem import Outcome, Problem, SearchLimits, Solution
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import objective


def search_generated(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes tasks whose values are added, with nothing but sums in their methods, that say what a row costs at worst.
    """
    begin, started = time.perf_counter(), clock()
    data = problem.data
    if data.categorical:
        return None
    features = Features.of(data)
    rows = generated_rows(problem, features.ranks)
    outcome = None if rows is None else _searched(problem, search_limits, name, features, rows, (begin, started))
    if outcome is not None and outcome.stopped is None and not outcome.is_proved:
        rows = generated_rows(problem, features.ranks, outcome.solutions[0].value)
        finer = None if rows is None else _searched(problem, search_limits, name, features, rows, (begin, started))
        outcome = outcome if finer is None or not finer.solutions else finer
    return outcome


def _searched(
    problem: Problem,
    search_limits: SearchLimits,
    name: str,
    features: Features,
    rows: GeneratedRows,
    clocks: tuple[float, float],
) -> Outcome | None:
    """The outcome on the grid of the rows; `clocks` are when all began, by both clocks."""
    began, started = clocks
    run = Run(problem, search_limits, features, rows, rows)
    try:
        answer = run.search(started)
    except Inexact:
        return None
    solutions: tuple[Solution, ...] = ()
    lower, rounding = rows.lower(answer.lower), 0.0
    if answer.cost is not None:
        planted = Planted.of(answer.tree, features, problem.data)
        solution = _worth(planted.asked(problem), problem, planted.preorder, planted.codes)
        solutions = (attrs.evolve(solution, root=planted.in_columns(solution.root)),)
        claimed = rows.lower(answer.cost)
        apart = abs(solution.value - claimed)
        steps = (2 * len(planted.branches) + 1) * rows.lower(2)
        if apart > (0 if rows.whole else max(steps, TOLERANCE * max(abs(solution.value), abs(claimed)))):
            raise MismatchError(
                f"the tree is worth {as_float(solution.value)!r} by the task's Python methods and "
                f"{as_float(claimed)!r} by its native ones; a method that depends on more than the sums could be why"
            )
        if not rows.whole:
            lower = min(fraction_of(lower), fraction_of(solution.value))
            rounding = as_float(apart)
        elif answer.stopped is None:
            lower = solution.value
    stats = {**run.stats(name, answer, began, np.float64, rounding), "exact": rows.whole}
    real = not rows.whole or rows.scale != 1.0
    # costs per row and label that are too fine for 64 bits are exact numbers, however they are searched
    rounds = rows.is_real and not rows.whole and row_cost_form(problem.task, problem.data) is None
    return Outcome(solutions, lower, answer.stopped, stats, 1, real, size=0 if rounds else None)


def _worth(asked: Problem, problem: Problem, preorder: Array, codes: Array) -> Solution:
    """The tree with its value, exact wherever the task's methods take fractions."""
    data = problem.data
    whole = all(values.dtype.kind in "iu" for values in problem.sums.values())
    if whole and not objective(problem.task).overrides("exact_cost"):
        return measure_task(asked, preorder, codes, problem.sums, data.counts)
    try:
        return measure_exactly(asked, preorder, codes, problem.exact_sums, data.counts)
    except StreedError:
        raise
    except Exception:  # noqa: BLE001 - methods that need floats, such as those that call numpy, get floats
        return measure_exactly(asked, preorder, codes, problem.exact_sums, data.counts, exact=False)
