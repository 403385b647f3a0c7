"""The judge of all kinds: an answer of `streed.solve` beside the reference in plain Python, apart from the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.exact import readable
from streed.reference import Evaluation, optimal_front
from streed.task import PARTIAL, Task, Totals

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
