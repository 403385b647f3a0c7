"""Tasks that are another one with a thing changed, of which a task over the trees that meet limits is the simplest."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, final

import attrs

from streed.exact import Array
from streed.task.base import Limit, Task, Value
from streed.task.composable import _ONE, Term
from streed.task.states import State, StateOfPart

if TYPE_CHECKING:
    from streed.data import Dataset

_Kind = TypeVar("_Kind", bound=type[Any])


def asking_the_held(*names: str) -> Callable[[_Kind], _Kind]:
    """Gives a class members of these names that are those of the task that it holds, `task`."""

    def give(kind: _Kind) -> _Kind:
        for name in names:
            setattr(kind, name, _member(name))
        return kind

    return give


def _member(name: str) -> Any:
    if not inspect.isfunction(inspect.getattr_static(Task, name)):
        return property(lambda self: getattr(self.task, name))
    return lambda self, *arguments: getattr(self.task, name)(*arguments)


@attrs.frozen
@asking_the_held("larger_is_better", "reads_rows", "any_label", "shows_labels", "labels", "leaf_label")
class Holding(Task):
    """A task that has the statistics and labels of another, `task`, if not its values."""

    stands_alone: ClassVar[bool] = False

    task: Task

    def bind(self, data: Dataset) -> Task:
        return attrs.evolve(self, task=self.task.bind(data))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.task.statistics(data)


@final
@attrs.frozen
class OwnLimit(Limit):
    """A limit that has statistics of its own, on the states of the constrained task."""

    limit: Limit
    number: int

    @property
    def prefix(self) -> str:
        """What the names of its statistics begin with in the whole."""
        return f"limit{self.number}_"

    def allows(self, s: State) -> bool:
        return self.limit.allows(self.seen(s))

    def seen(self, s: State) -> State:
        """The state as the limit knows it."""
        return StateOfPart(s, self.prefix)


@final
@attrs.frozen
@asking_the_held(
    *("maximize", "order", "superadditive", "worsening"),
    *("branching_cost", "combine", "better", "feasible", "subtract", "worst_per_row", "lower_bound", "exact_cost"),
    *("score", "objective_of", "at_root", "better_at_root", "ideal_score"),
    *("overrides", "adds_values", "value_caps", "value_parts", "value_limits", "vector_form"),
)
class Constrained(Holding):
    """A task over the trees that meet all limits; everything but these and their statistics is the inner task's."""

    further: tuple[Limit, ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        return tuple(
            OwnLimit(limit, number) if limit.has_statistics else limit for number, limit in enumerate(self.further)
        )

    @property
    def own_limits(self) -> tuple[OwnLimit, ...]:
        """Those of the limits that have statistics of their own."""
        return tuple(limit for limit in self.limits if isinstance(limit, OwnLimit))

    def bind(self, data: Dataset) -> Task:
        return Constrained(self.task.bind(data), tuple(limit.bind(data) for limit in self.further))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        own = {
            limit.prefix + name: values
            for limit in self.own_limits
            for name, values in limit.limit.statistics(data).items()
        }
        return {**self.task.statistics(data), **own}

    def leaf_cost(self, s: State, k: int) -> Value:
        return self.task.leaf_cost(s, k)

    def written_terms(self, weight: Fraction = _ONE, prefix: str = "") -> tuple[Term, ...]:
        """Those of the task; then, of weight 0, the limits that have statistics of their own."""
        watched = (Term(Fraction(0), Watched(limit.limit), prefix + limit.prefix) for limit in self.own_limits)
        return (*self.task.written_terms(weight, prefix), *watched)

    def outline(self) -> list[str]:
        return [*self.task.outline(), *(f"  with {limit!r} in every leaf" for limit in self.limits)]


@final
@attrs.frozen
class Watched(Task):
    """Costs nothing, and has the statistics of a limit."""

    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    limit: Limit

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.limit.statistics(data)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 0


def objective(task: Task) -> Task:
    """The task without the limits of `subject_to`."""
    return task.task if isinstance(task, Constrained) else task


def leaf_limits(task: Task) -> tuple[Limit, ...]:
    """The limits of `subject_to` on leaves, as they were written."""
    return task.further if isinstance(task, Constrained) else ()


def limited(task: Task, limits: Sequence[Limit]) -> Task:
    """The task over the trees whose leaves keep the limits."""
    return Constrained(task, tuple(limits)) if limits else task
