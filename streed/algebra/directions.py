"""`minimize(A)` and `maximize(A)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.algebra.parts import name
from streed.constrained import Constrained, objective
from streed.errors import TaskError
from streed.exact import Array
from streed.task import Limit, State, Task
from streed.tracing import adds

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Negated(Task):
    """An additive task whose sums are to be as large as can be: the search minimises minus them."""

    task: Task
    maximize: ClassVar[bool] = True

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return self.task.reads_rows

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return self.task.any_label

    def bind(self, data: Dataset) -> Task:
        return Negated(self.task.bind(data))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.task.statistics(data)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.task.labels(data)

    def leaf_cost(self, s: State, k: int) -> Any:
        return -self.task.leaf_cost(s, k)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        cost = self.task.branching_cost(rows, path, split)
        return None if cost is None else -cost

    @property
    def limits(self) -> tuple[Limit, ...]:
        return self.task.limits

    @property
    def shows_labels(self) -> bool:
        return self.task.shows_labels

    def leaf_label(self, s: State, k: int) -> Any:
        return self.task.leaf_label(s, k)

    def score(self, value: Any, totals: State) -> Any:
        return self.task.score(-value, totals)


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
    return Constrained(Negated(inner), task.further) if isinstance(task, Constrained) else Negated(inner)
