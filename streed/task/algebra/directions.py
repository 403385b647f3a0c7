"""`minimize(A)` and `maximize(A)`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.algebra.parts import name
from streed.task.analysis.linear_form import adds
from streed.task.base import TOTAL, Task
from streed.task.composable import Term, indented
from streed.task.constrained import Holding, leaf_limits, limited, objective
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Negated(Holding):
    """A task whose sums are to be as large as can be: the search minimises minus them."""

    @property
    def larger_is_better(self) -> bool:
        return True

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        return self.task.maximize and self.task.superadditive

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return self.task.maximize and self.task.worsening

    def bind(self, data: Dataset) -> Task:
        bound = self.task.bind(data)
        return bound if bound.larger_is_better and not bound.maximize else Negated(bound)

    def leaf_cost(self, s: State, k: int) -> Any:
        return -self.task.leaf_cost(s, k)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return _minus(self.task.branching_cost(rows, path, split))

    def lower_bound(self, s: State) -> Any:
        return _minus(self.task.lower_bound(s)) if self.task.maximize else None

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        return _minus(self.task.exact_cost(data, rows, k))

    def score(self, value: Any, totals: State) -> Any:
        return self.task.score(-value, totals)

    def overrides(self, name: str) -> bool:
        asked = name in ("branching_cost", "exact_cost", "lower_bound")
        return self.task.overrides(name) if asked else super().overrides(name)

    def written_terms(self, weight: Fraction = Fraction(1), prefix: str = "") -> tuple[Term, ...]:
        return self.task.written_terms(-weight, prefix)

    def outline(self) -> list[str]:
        return ["maximum of", *indented(self.task.outline())]


def _minus(value: Any) -> Any:
    return None if value is None else -value


def minimize(task: Task) -> Task:
    """The task itself, which is minimised already; the word is for the reader of a composed objective.

    Raises TaskError for a task that is maximised.
    """
    if not isinstance(task, Task):
        raise TaskError(f"minimize takes a Task, not {name(task)}; write 0.01 * Splits() + Accuracy()")
    if task.larger_is_better:
        raise TaskError(f"{name(task)} is maximised, so minimize cannot be said of it; leave minimize out")
    return task


def maximize(task: Task) -> Task:
    """The task of the largest value of an additive task; one that is maximised already is itself.

    Raises TaskError for tasks whose values are not added up: order need not be preserved when it is turned round.
    """
    if not isinstance(task, Task):
        raise TaskError(f"maximize takes a Task, not {name(task)}")
    if task.larger_is_better:
        return as_costs(task)
    inner = objective(task)
    if not adds(inner):
        raise TaskError(
            f"maximize takes tasks whose values are added up, and {name(inner)} has a combine, order or feasible of "
            "its own; declare that it is maximised by `maximize = True` instead"
        )
    return limited(Negated(inner), leaf_limits(task))


def gain_sign(task: Task) -> int:
    """1 if the task's values are gains, of which larger ones are better, -1 if they are minus gains, 0 if costs."""
    inner = objective(task)
    if isinstance(inner, Negated):
        return -1
    return int(inner.larger_is_better and not inner.overrides("score"))


def as_costs(task: Task) -> Task:
    """The task; of one whose values are gains that are added up, the same in costs, which searches are quickest with.

    Others that are maximised are searched by their own order.
    """
    from streed.task.analysis.facts import is_larger_better

    inner = objective(task)
    adds_gains = inner.maximize and inner.order == TOTAL and inner.adds_values and not inner.overrides("feasible")
    if not (adds_gains and is_larger_better(inner)):
        return task
    return limited(Negated(inner), leaf_limits(task))
