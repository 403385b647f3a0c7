"""`A + B`, `w * A` and `A - B`, each by what its sides are: minimised, maximised, or a score of several sums."""

from __future__ import annotations

from typing import Any

from streed.errors import TaskError
from streed.task.algebra.directions import as_costs
from streed.task.algebra.gains import add_gains, scale_gain, take_from
from streed.task.algebra.parts import check_operand, name
from streed.task.algebra.penalties import penalize
from streed.task.algebra.sums import multiple_of, sum_of, weight_of
from streed.task.base import Task


def add(a: Task, b: Task) -> Task:
    """a + b, both minimised or both maximised; raises TaskError for one of each, and where values are not added up."""
    for task in (a, b):
        check_operand(task, "+")
    a, b = as_costs(a), as_costs(b)
    if not (_is_gain(a) or _is_gain(b)):
        return sum_of(a, b)
    if _is_gain(a) and _is_gain(b):
        return add_gains(a, b)
    gain, cost = (a, b) if _is_gain(a) else (b, a)
    raise TaskError(
        f"{name(gain)} is maximised and {name(cost)} minimised, so their sum is neither; write gain - cost, as in "
        f"{_written(gain)} - {_written(cost)}, which is maximised"
    )


def scale(weight: Any, task: Task) -> Task:
    """weight * task, the weight an exact number >= 0 (a float is the decimal it prints as)."""
    check_operand(task, "*")
    task = as_costs(task)
    return scale_gain(weight_of(weight), task) if _is_gain(task) else multiple_of(weight, task)


def subtract(a: Task, b: Task) -> Task:
    """a - b: what is maximised minus what is minimised, or a score such as F1 minus a price of splits."""
    for task in (a, b):
        check_operand(task, "-", "takes a price such as 0.01 * Splits() from a task")
    a, b = as_costs(a), as_costs(b)
    if not _is_gain(a):
        return penalize(a, b)
    if b.larger_is_better:
        raise TaskError(
            f"{name(a)} and {name(b)} are both maximised, so neither is a cost; add them by +, or write the second "
            "without maximize"
        )
    return take_from(a, b)


def _is_gain(task: Task) -> bool:
    """Whether the task is maximised, and no score of several sums, which has operators of its own."""
    form = task.vector_form
    return task.larger_is_better and (form.components is None or form.objective is not task)


def _written(task: Task) -> str:
    """The task as one writes it, or its name where that is long."""
    text = repr(task)
    return text if len(text) <= 40 else name(task)
