"""A task over the trees that meet further limits, and the base of tasks that are another one with a thing changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs

from streed.exact import Array
from streed.task import Limit, State, Task, Value

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen
class Wrapping(Task):
    """A task that is `task` in all that it does not say itself."""

    task: Task

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.task.maximize

    @property
    def order(self) -> str:  # type: ignore[override]
        return self.task.order

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        return self.task.superadditive

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return self.task.reads_rows

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return self.task.any_label

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return self.task.worsening

    @property
    def shows_labels(self) -> bool:
        return self.task.shows_labels

    @property
    def limits(self) -> tuple[Limit, ...]:
        return self.task.limits

    def bind(self, data: Dataset) -> Task:
        return attrs.evolve(self, task=self.task.bind(data))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.task.statistics(data)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.task.labels(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        return self.task.leaf_cost(s, k)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        return self.task.branching_cost(rows, path, split)

    def combine(self, a: Value, b: Value) -> Value:
        return self.task.combine(a, b)

    def better(self, a: Value, b: Value) -> bool:
        return self.task.better(a, b)

    def dominates(self, a: Value, b: Value) -> bool:
        return self.task.dominates(a, b)

    def feasible(self, value: Value) -> bool:
        return self.task.feasible(value)

    def subtract(self, a: Value, b: Value) -> Value | None:
        return self.task.subtract(a, b)

    def worst_per_row(self, data: Dataset) -> Array | None:
        return self.task.worst_per_row(data)

    def lower_bound(self, s: State) -> Value | None:
        return self.task.lower_bound(s)

    def leaf_label(self, s: State, k: int) -> Any:
        return self.task.leaf_label(s, k)

    def score(self, value: Value, totals: State) -> Any:
        return self.task.score(value, totals)


@final
@attrs.frozen
class Constrained(Wrapping):
    """A task over the trees that meet all limits; everything but `limits` is the inner task's."""

    further: tuple[Limit, ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        return self.task.limits + self.further


def objective(task: Task) -> Task:
    """The task without the limits of `subject_to`."""
    return task.task if isinstance(task, Constrained) else task
