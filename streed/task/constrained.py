"""A task over the trees that meet further limits, and the base of tasks that are another one with a thing changed."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.exact import Array
from streed.task.base import Limit, Task, Value
from streed.task.composable import _ONE, Term, VectorForm
from streed.task.states import State, StateOfPart

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen
class Holding(Task):
    """A task that has the statistics, labels and limits of another, `task`, if not its values."""

    stands_alone: ClassVar[bool] = False

    task: Task

    @property
    def larger_is_better(self) -> bool:
        return self.task.larger_is_better

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return self.task.reads_rows

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return self.task.any_label

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

    def leaf_label(self, s: State, k: int) -> Any:
        return self.task.leaf_label(s, k)

    def has_weights(self, name: str) -> bool:
        return self.task.has_weights(name)


@attrs.frozen
class Wrapping(Holding):
    """A task that is `task` in all that it does not say itself."""

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
    def worsening(self) -> bool:  # type: ignore[override]
        return self.task.worsening

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

    def score(self, value: Value, totals: State) -> Any:
        return self.task.score(value, totals)

    def objective_of(self, value: Value) -> Value:
        return self.task.objective_of(value)

    def at_root(self, value: Value) -> Value:
        return self.task.at_root(value)

    def better_at_root(self, a: Value, b: Value) -> bool:
        return self.task.better_at_root(a, b)

    # -- what is asked of compositions -----------------------------------------------------------------------------

    def overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(Wrapping, name) or self.task.overrides(name)

    @property
    def adds_values(self) -> bool:
        return self._leaves("combine") and self.task.adds_values

    @property
    def plain_order(self) -> bool:
        return self._leaves("better", "dominates") and self.task.plain_order

    def value_caps(self, width: int) -> Sequence[Any] | None:
        return self.task.value_caps(width) if self._leaves("feasible") else None

    @property
    def value_parts(self) -> tuple[Task, ...] | None:
        return self.task.value_parts

    @property
    def value_limits(self) -> tuple[tuple[Task, Any], ...]:
        return self.task.value_limits

    def written_terms(self, weight: Fraction = _ONE, prefix: str = "") -> tuple[Term, ...]:
        if self._leaves("leaf_cost", "branching_cost", "combine", "better", "feasible", "subtract", "lower_bound"):
            return self.task.written_terms(weight, prefix)
        return super().written_terms(weight, prefix)

    @property
    def vector_form(self) -> VectorForm:
        form = self.task.vector_form
        # a score of sums that is shown otherwise is another score: the form would rate trees by the inner one
        return form if form.components is None or self._leaves("score") else super().vector_form

    def ideal_score(self, value: Value, totals: State) -> Any | None:
        return self.task.ideal_score(value, totals) if self._leaves("score") else super().ideal_score(value, totals)

    def outline(self) -> list[str]:
        return self.task.outline()

    def _leaves(self, *names: str) -> bool:
        """Whether it leaves these members to the task that it wraps."""
        return all(getattr(type(self), name) is getattr(Wrapping, name) for name in names)


@attrs.frozen
class LimitOfPart(Limit):
    """A limit on the states of a whole that is about one part of it, whose statistics have a prefix there."""

    limit: Limit
    number: int

    @property
    @abc.abstractmethod
    def prefix(self) -> str:
        """What the names of the part's statistics begin with in the whole."""

    def allows(self, s: State) -> bool:
        return self.limit.allows(self.seen(s))

    def seen(self, s: State) -> State:
        """The state as the limit knows it."""
        return StateOfPart(s, self.prefix)


@final
@attrs.frozen
class OwnLimit(LimitOfPart):
    """A limit that has statistics of its own, on the states of the constrained task."""

    @property
    def prefix(self) -> str:
        return f"limit{self.number}_"


@final
@attrs.frozen
class Constrained(Wrapping):
    """A task over the trees that meet all limits; everything but these and their statistics is the inner task's."""

    further: tuple[Limit, ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        return self.task.limits + tuple(
            OwnLimit(limit, number) if limit.has_statistics else limit for number, limit in enumerate(self.further)
        )

    @property
    def own_limits(self) -> tuple[OwnLimit, ...]:
        """Those of the limits that have statistics of their own."""
        return tuple(OwnLimit(limit, number) for number, limit in enumerate(self.further) if limit.has_statistics)

    def bind(self, data: Dataset) -> Task:
        further = tuple(limit.bind(data) for limit in self.further)
        return attrs.evolve(self, task=self.task.bind(data), further=further)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        own = {
            limit.prefix + name: values
            for limit in self.own_limits
            for name, values in limit.limit.statistics(data).items()
        }
        return {**self.task.statistics(data), **own}

    def has_weights(self, name: str) -> bool:
        return not any(name.startswith(limit.prefix) for limit in self.own_limits) and self.task.has_weights(name)

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
