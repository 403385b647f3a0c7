"""One problem drawn, solved and judged; the families that there are."""

from __future__ import annotations

import importlib
import math
import random
import traceback
import zlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, StreedError, TaskError
from streed.reference import optimal_front
from streed.task import Task, Totals
from tests.differential.volume.draws import draw_scaling
from tests.differential.volume.judge import TINY, Verdict, judge
from tests.differential.volume.kinds import KINDS, NAMES
from tests.differential.volume.problem import Problem
from tests.searches import TOTAL_ONLY

_REAL = ("PolicyValue", "SquaredError", "QuantileError", "PoissonDeviance", "RelativeRisk", "task_class")
"""Tasks whose costs may be rounded."""

OTHERS = ("thresholds", "fronts", "near_optimal", "stops", "proofs", "claims", "exports", "hostile")
"""Modules with `wrong(seed, number)`: what is wrong, in words, with what they draw by these numbers."""


class Drawn(NamedTuple):
    """Which problem to draw."""

    family: str
    seed: int
    number: int

    def problem(self) -> Problem:
        """The problem that these belong to, always the same one; of KINDS only."""
        name = f"{self.family}/{self.seed}/{self.number}"
        rng = np.random.default_rng([self.seed, self.number, zlib.crc32(self.family.encode())])
        problem = KINDS[self.family](random.Random(name), rng)
        assert isinstance(problem, Problem)
        return attrs.evolve(problem, scaling=draw_scaling(random.Random(f"{name}/scaling"), problem))


def judged(problem: Problem, known: Callable[[Problem, Task], list[Any] | None] = lambda *_: None) -> Verdict:
    """The verdict on what `streed.solve` answers; an exception that is not the right answer is wrong.

    `known`: the best values, where they are known otherwise than by the reference.
    """
    task = eval(problem.task, dict(NAMES))
    try:
        result = problem.solve(task)
    except StreedError as error:
        kind = f"{type(error).__name__}({error.argument})" if isinstance(error, InputError) else type(error).__name__
        said = f"solve raises {type(error).__name__}: {error}"
        return Verdict(f"refused: {kind}", () if _is_right(error, problem, task) else (said,))
    except Exception as error:  # noqa: BLE001 - reported as a mismatch, with its traceback
        return Verdict(f"raised: {type(error).__name__}", (traceback.format_exc(),))
    try:
        data = problem.data()
        scale, undone = _scale(problem, task, data), problem.scaling.undone
        values = known(problem, task)
        return judge(result, task, data, dict(problem.limits), values=values, scale=scale, undone=undone)
    except Exception:  # noqa: BLE001 - one judge at fault ends no run
        return Verdict("not judged", (traceback.format_exc(),))


def _is_right(error: StreedError, problem: Problem, task: Task) -> bool:
    """Whether an error is right: the reference refuses the data, too, or sums would be too large."""
    if isinstance(error, TaskError):
        return problem.options["search"] in TOTAL_ONLY and "subject_to" in problem.task
    if getattr(error, "argument", None) == "sample_weight" and problem.sample_weight is not None:
        weights = [
            Fraction(repr(weight)) * copies for weight, copies in zip(problem.weights, problem.copies, strict=True)
        ]
        if sum(weights) * math.lcm(*(weight.denominator for weight in weights)) > 10**5:
            return True
    try:
        optimal_front(task, problem.data(), max_depth=0)
    except StreedError:
        return True
    return False


def _scale(problem: Problem, task: Task, data: Dataset) -> float:
    """The size of the numbers that were rounded; 0 where all are exact."""
    if not any(word in problem.task for word in _REAL) and not any(problem.scaling):
        return 0.0
    bound, totals = task.bind(data), Totals(task, data)
    costs = [np.ravel(bound.leaf_cost(totals, k)).astype(float) for k in range(len(bound.labels(data)))]
    statistics = [np.asarray(each, float).reshape(data.n_rows, -1) for each in bound.statistics(data).values()]
    rows = np.asarray(data.counts if data.weights is None else data.weights, float)
    added = sum(float((rows @ np.abs(each)).sum()) for each in statistics)
    # what cancels in costs is known to some last digits of the sums only
    return max(float(np.abs(costs).max()), added * 2**-48 / TINY)


def verdict_on(drawn: Drawn) -> Verdict:
    """Draws, solves and judges."""
    if drawn.family in KINDS:
        return judged(drawn.problem())
    try:
        module = importlib.import_module(f"tests.differential.volume.families.{drawn.family}")
        wrong = module.wrong(drawn.seed, drawn.number)
    except Exception:  # noqa: BLE001 - reported, with its traceback
        wrong = [traceback.format_exc()]
    return Verdict("wrong" if wrong else "right", tuple(wrong))


def judge_drawn(drawn: Drawn) -> tuple[Drawn, Verdict]:
    """The same beside what was drawn; here, and not in the command, so that other processes find it."""
    return drawn, verdict_on(drawn)
