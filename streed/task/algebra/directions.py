"""`minimize(A)` and `maximize(A)`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, final

import attrs

from streed.errors import TaskError
from streed.task.algebra.parts import name
from streed.task.analysis.linear_form import adds
from streed.task.base import Task
from streed.task.composable import Term, indented
from streed.task.constrained import Holding, leaf_limits, limited, objective
from streed.task.states import State


@final
@attrs.frozen
class Negated(Holding):
    """An additive task whose sums are to be as large as can be: the search minimises minus them."""

    maximize: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        return -self.task.leaf_cost(s, k)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        cost = self.task.branching_cost(rows, path, split)
        return None if cost is None else -cost

    def score(self, value: Any, totals: State) -> Any:
        return self.task.score(-value, totals)

    def written_terms(self, weight: Fraction = Fraction(1), prefix: str = "") -> tuple[Term, ...]:
        return self.task.written_terms(-weight, prefix)

    def outline(self) -> list[str]:
        return ["maximum of", *indented(self.task.outline())]


def minimize(task: Task) -> Task:
    """The task itself, which is minimised already; the word is for the reader of a composed objective.

    Raises TaskError for a task that is maximised.
    """
    if not isinstance(task, Task):
        raise TaskError(f"minimize takes a Task, not {name(task)}; write 0.01 * Splits() + Accuracy()")
    if task.maximize:
        raise TaskError(f"{name(task)} is maximised, so minimize cannot be said of it; leave minimize out")
    return task


def maximize(task: Task) -> Task:
    """The task of the largest value of an additive task; one whose score is maximised already is itself.

    Raises TaskError for tasks whose values are not added up: order need not be preserved when it is turned round.
    """
    if not isinstance(task, Task):
        raise TaskError(f"maximize takes a Task, not {name(task)}")
    if task.maximize:
        return task
    inner = objective(task)
    if not adds(inner):
        raise TaskError(
            f"maximize takes tasks whose values are added up, and {name(inner)} has a combine, order or feasible of "
            "its own; give it a `better` of its own instead"
        )
    return limited(Negated(inner), leaf_limits(task))
