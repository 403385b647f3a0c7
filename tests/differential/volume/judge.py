"""One problem drawn, solved and judged beside the reference in plain Python; wrong answers are made smaller."""

from __future__ import annotations

import importlib
import math
import random
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.errors import InputError, StreedError, TaskError
from streed.exact import readable
from streed.reference import Evaluation, optimal_front
from streed.task import PARTIAL, Task, Totals
from tests.differential.volume.kinds import KINDS, NAMES
from tests.differential.volume.problem import Problem, draw_scaling
from tests.shipped import TOTAL_ONLY

TINY = 1e-9
"""Where numbers are rounded, values may differ by this part of their scale."""

_SHOWN = 1e-12
"""By which values may differ that are shown rounded."""


@attrs.frozen
class Verdict:
    """What came of one problem."""

    outcome: str
    """"optimal", "rounded" (optimal, and said to be rounded), "infeasible", or what was refused or raised."""
    wrong: tuple[str, ...] = ()
    """What is wrong, in words."""


def judge(
    result: streed.Result,
    task: Task,
    data: Dataset,
    limits: dict[str, Any],
    *,
    values: list[Any] | None = None,
    scale: float = 0.0,
    undone: Callable[[Any], Any] = lambda value: value,
) -> Verdict:
    """The verdict on an answer about a task and data, which may be written otherwise than what was solved.

    `values`: those that no tree's is better than, where they are known otherwise than by the reference. `scale`: of the
    numbers that are rounded; `undone`: from values of what was solved to those of the task on the data.
    """
    values = [value for value, _ in optimal_front(task, data, **limits)] if values is None else values
    totals, larger = Totals(task, data), task.larger_is_better
    scores = [readable(task.score(value, totals)) for value in values]
    if not scores:
        return Verdict("infeasible", () if result.status == "infeasible" else (f"there is no tree, but {result!r}",))
    # bounds that meet but for what rounding leaves unproved
    apart = result.status == "feasible" and result.stats.get("stopped") == "rounding"
    if result.tree is None or not (apart or result.status == "optimal"):
        return Verdict(result.status, (f"status {result.status!r}, the optimum is {scores}",))
    wrong, slack = _trees_wrong(result, task, data, limits, undone, scale), TINY * scale
    if isinstance(result.value, tuple):
        right = sorted(scores) if task.order == PARTIAL else undominated(scores, larger)
        given = sorted(value for value, _ in result.front)
        wrong += [] if alike(given, right) else [f"the front is {given}, not {right}"]
        return Verdict("optimal", tuple(wrong))
    best: Any = max(scores) if larger else min(scores)
    value, lower, upper = map(undone, (result.value, result.lower_bound, result.upper_bound))
    lower, upper = (value if bound is None else bound for bound in (lower, upper))
    # bounds that rounding leaves apart say how much better a tree there may be
    said = slack + abs(float(upper) - float(lower)) + float(result.stats.get("rounding", 0))
    if not alike([value], [best], said):
        wrong.append(f"the value is {value!r}, the optimum is {best!r}, within {said:g}")
    if not float(lower) - said - _near(best) <= float(best) <= float(upper) + said + _near(best):
        wrong.append(f"bounds {result.lower_bound!r} and {result.upper_bound!r}, the optimum is {best!r}")
    if result.status == "optimal" and float(lower) == 0 != float(value):
        wrong.append(f"optimal, and no bound but 0 on {result.value!r}")
    rounded = apart or result.stats.get("exact") is False or bool(result.stats.get("rounding"))
    return Verdict("rounded" if rounded else "optimal", tuple(wrong))


def _trees_wrong(
    result: streed.Result, task: Task, data: Dataset, limits: dict[str, Any], undone: Callable[[Any], Any], scale: float
) -> list[str]:
    """What is wrong with the trees of an answer: values, broken limits, and what they say of themselves."""
    evaluation, totals, wrong = Evaluation(task, data), Totals(task, data), list[str]()
    for value, tree in result.front:
        worth = readable(task.score(evaluation.cost(tree.root), totals))
        if not alike([worth], [value if isinstance(value, tuple) else undone(value)], TINY * scale):
            wrong.append(f"a tree is worth {worth!r}, not {value!r}")
        wrong += evaluation.broken_limits(tree.root, **limits)
        if evaluation.shape(tree.root)[:2] != (tree.depth, tree.n_branches):
            wrong.append(f"the tree says {tree.depth} and {tree.n_branches}, of {evaluation.shape(tree.root)}")
        if sum(leaf.rows for leaf in tree.leaves()) != data.size:
            wrong.append(f"the leaves do not have {data.size} rows")
    return wrong


def undominated(values: list[Any], larger: bool) -> list[Any]:
    """Those that no other is as good as in every component; of a maximised task the first one is turned."""

    def turned(value: tuple[Any, ...]) -> tuple[Any, ...]:
        return (-value[0], *value[1:]) if larger else value

    return sorted(
        value
        for value in set(values)
        if not any(
            other != value and all(a <= b for a, b in zip(turned(other), turned(value), strict=True))
            for other in set(values)
        )
    )


def alike(found: list[Any], right: list[Any], slack: float = 0.0) -> bool:
    """Whether values are the same but for the last digits of numbers that are shown, and what was rounded."""
    if len(found) != len(right):
        return False
    pairs = zip(np.ravel(found).tolist(), np.ravel(right).tolist(), strict=True)
    return all(a == b or abs(float(a) - float(b)) <= slack + _near(b) for a, b in pairs)


def _near(value: Any) -> float:
    return _SHOWN * max(1.0, abs(float(value)))


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
        module = importlib.import_module(f"tests.differential.volume.{drawn.family}")
        wrong = module.wrong(drawn.seed, drawn.number)
    except Exception:  # noqa: BLE001 - reported, with its traceback
        wrong = [traceback.format_exc()]
    return Verdict("wrong" if wrong else "right", tuple(wrong))


def judge_drawn(drawn: Drawn) -> tuple[Drawn, Verdict]:
    """The same beside what was drawn; here, and not in the command, so that other processes find it."""
    return drawn, verdict_on(drawn)


SECONDS = 20.0
"""Longest time to make a problem smaller."""


def smaller(problem: Problem, seconds: float = SECONDS) -> Problem:
    """A part of the problem that is answered wrongly in the same way, as far as there is time to look for it."""
    deadline = time.monotonic() + seconds
    kind = judged(problem).outcome
    found = True
    while found and time.monotonic() < deadline:
        found = False
        for candidate in _parts(problem):
            if time.monotonic() > deadline:
                break
            try:
                verdict = judged(candidate)
            except Exception:  # noqa: BLE001 - a part that no judge can judge is none
                continue
            if verdict.wrong and verdict.outcome == kind:
                problem, found = candidate, True
                break
    return problem


def _parts(problem: Problem) -> Iterator[Problem]:
    """Problems with less in them, the smallest first."""
    n, p = problem.X.shape
    size = n // 2
    while size >= 1:
        for first in range(0, n, size):
            if size < n:
                yield problem.without_rows(range(first, min(first + size, n)))
        size //= 2
    for column in range(p if p <= 8 else 0):
        if p > 1 and column not in problem.categorical:
            moved = tuple(other - (other > column) for other in problem.categorical)
            yield attrs.evolve(problem, X=np.delete(problem.X, column, axis=1), categorical=moved)
    if p > 8:
        yield attrs.evolve(problem, X=np.ascontiguousarray(problem.X[:, : p // 2]))
    if problem.frequency is not None:
        yield attrs.evolve(problem, frequency=None)
    if problem.sample_weight is not None:
        yield attrs.evolve(problem, sample_weight=None)
    for name, plain in (("threads", 1), ("search", "depth-first")):
        if problem.options.get(name, plain) != plain:
            yield attrs.evolve(problem, options={**problem.options, name: plain})
