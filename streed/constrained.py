"""A task over the trees that meet further limits, and the base of tasks that are another one with a thing changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task import Limit, State, Task, Value, has_statistics

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

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Value | None:
        return self.task.exact_cost(data, rows, k)

    def leaf_label(self, s: State, k: int) -> Any:
        return self.task.leaf_label(s, k)

    def score(self, value: Value, totals: State) -> Any:
        return self.task.score(value, totals)

    def objective_of(self, value: Value) -> Value:
        return self.task.objective_of(value)

    def at_root(self, value: Value) -> Value:
        return self.task.at_root(value)

    def better_at_root(self, a: Value, b: Value) -> bool:
        return self.task.better_at_root(a, b)

    def has_weights(self, name: str) -> bool:
        return self.task.has_weights(name)


def read_through(view: State, whole: State, name: str, name_in_whole: str) -> Any:
    """An attribute of a state that is seen by other names; raises TaskError, by these names, for what is not there.

    The weight of the rows is the whole's, unless there is a statistic of that name.
    """
    try:
        return getattr(whole, name_in_whole)
    except TaskError:
        return whole.weight if name == "weight" else State.__getattr__(view, name)


def unprefixed(whole: State, prefix: str) -> list[str]:
    """The names in the whole that begin with the prefix, without it."""
    return [name.removeprefix(prefix) for name in whole.names() if name.startswith(prefix)]


@final
class LimitState(State):
    """The state as a limit with statistics of its own knows it: these alone, by their own names."""

    def __init__(self, whole: State, prefix: str) -> None:
        super().__init__(whole.rows)
        self.__dict__["_whole"] = (whole, prefix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        whole, prefix = self.__dict__["_whole"]
        return read_through(self, whole, name, prefix + name)

    def names(self) -> list[str]:
        whole, prefix = self.__dict__["_whole"]
        return ["rows", *unprefixed(whole, prefix)]


@final
@attrs.frozen
class OwnLimit(Limit):
    """A limit that has statistics of its own, on the states of the constrained task."""

    limit: Limit
    number: int

    @property
    def prefix(self) -> str:
        """What its statistics' names begin with in the whole."""
        return f"limit{self.number}_"

    def allows(self, s: State) -> bool:
        return self.limit.allows(self.seen(s))

    def seen(self, s: State) -> State:
        """The state as the limit knows it."""
        return LimitState(s, self.prefix)


@final
@attrs.frozen
class Constrained(Wrapping):
    """A task over the trees that meet all limits; everything but these and their statistics is the inner task's."""

    further: tuple[Limit, ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        return self.task.limits + tuple(
            OwnLimit(limit, number) if has_statistics(limit) else limit for number, limit in enumerate(self.further)
        )

    def bind(self, data: Dataset) -> Task:
        further = tuple(limit.bind(data) for limit in self.further)
        return attrs.evolve(self, task=self.task.bind(data), further=further)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        own = {
            limit.prefix + name: values
            for limit in self.limits
            if isinstance(limit, OwnLimit)
            for name, values in limit.limit.statistics(data).items()
        }
        return {**self.task.statistics(data), **own}

    def has_weights(self, name: str) -> bool:
        own = any(isinstance(limit, OwnLimit) and name.startswith(limit.prefix) for limit in self.limits)
        return not own and self.task.has_weights(name)


def objective(task: Task) -> Task:
    """The task without the limits of `subject_to`."""
    return task.task if isinstance(task, Constrained) else task
