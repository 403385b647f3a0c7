"""The value that a solve is to beat: what the caller gives, or what a tree that is known already is worth."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from streed.errors import InputError
from streed.exact import Range, readable
from streed.task import TOTAL, Task, Totals, Value
from streed.task.base import objective

_VALUE = Range(optional=True, meaning="a value of the task")


def read_upper_bound(upper_bound: Any) -> int | float | Fraction | None:
    """The value to beat, in the units of the task's score; None for none.

    A float stays one, as it may be what a result shows of a value that no float equals. Raises InputError
    for what is no finite number.
    """
    exact: Any = _VALUE.read("upper_bound", upper_bound)
    return float(upper_bound) if isinstance(upper_bound, (float, np.floating)) else exact


def beats(task: Task, score: Any, goal: Any) -> bool:
    """Whether a score is better than the one to beat; one that reads as the same float is not.

    Raises InputError where scores are tuples of which none need be better.
    """
    if isinstance(score, tuple) and (task.order != TOTAL or not isinstance(goal, tuple)):
        remedy = "leave it out, or limit one of them, as in A.subject_to(B <= 0.1)"
        argument = "warm_start" if isinstance(goal, tuple) else "upper_bound"
        raise InputError(argument, f"the values of {type(objective(task)).__name__} are tuples", remedy)
    if isinstance(goal, float):
        score = readable(score, real=True)
    return bool(score > goal if task.larger_is_better else score < goal)


def value_of_score(task: Task, score: int | Fraction, totals: Totals) -> Value | None:
    """The value that the task shows as this score; None where its score is no affine function of the value."""
    if task.order != TOTAL:
        return None
    if not task.overrides("score"):
        return score
    try:
        at_zero, at_one = (Fraction(task.score(value, totals)) for value in (Fraction(0), Fraction(1)))
        if at_zero == at_one:
            return None
        value = (score - at_zero) / (at_one - at_zero)
        return value if task.score(value, totals) == score else None
    except (ArithmeticError, TypeError, ValueError):
        return None
