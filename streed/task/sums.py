"""Tasks of several sums: values that are tuples of sums over rows, and limits on such sums over the whole tree.

What is declared here are facts that a search may use beyond the contract of `streed.task.base`:

- `SumTask`: every component of a value is a sum over rows of a cost per row and label, and the score is monotone in
  each; if it moreover is a fraction of two affine functions, `fraction` says so.
- `Bounded`: a task under limits on sums over the whole tree (`streed.task.bounded_sums`).
"""

from __future__ import annotations

import abc
import functools
import math
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.analysis.linear_form import adds, row_cost_form
from streed.task.base import COMPONENTWISE, Task, Value
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights, worsening_costs, worsening_statistics
from streed.task.composable import VectorForm, restates
from streed.task.constrained import Holding
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen
class LinearFraction:
    """The function (top - falls . v) / (base + slopes . v) of a value v; positive below on every tree's value."""

    top: Fraction | int
    falls: tuple[Fraction | int, ...]
    base: Fraction | int
    slopes: tuple[Fraction | int, ...]

    def at(self, value: Value) -> Fraction:
        """The fraction at an exact value; further entries do not count."""
        above = self.top - sum(map(operator.mul, self.falls, value))
        below = self.base + sum(map(operator.mul, self.slopes, value))
        whole = isinstance(above, int) and isinstance(below, int)
        return Fraction(above, below) if whole else Fraction(above) / Fraction(below)

    def in_units(self, unit: Fraction | int) -> LinearFraction:
        """The same function of values in units, with whole coefficients."""
        falls, slopes = [[unit * x for x in each] for each in (self.falls, self.slopes)]
        common = math.lcm(*(x.denominator for x in (self.top, *falls, self.base, *slopes)))
        return LinearFraction(
            int(common * self.top),
            tuple(int(common * x) for x in falls),
            int(common * self.base),
            tuple(int(common * x) for x in slopes),
        )


@attrs.frozen
class SumTask(Task):
    """A task whose values are tuples of sums over rows, judged on the whole tree by a score that each of them worsens.

    `rank` is that judgement in exact numbers, so that trees are compared without rounding, and `shown` what the user
    sees of it.
    """

    order: ClassVar[str] = COMPONENTWISE
    components: ClassVar[tuple[str, ...]]
    """The names of the sums, in the order of the values."""

    @property
    def larger_is_better(self) -> bool:
        return True

    @abc.abstractmethod
    def sums(self, data: Dataset) -> Mapping[str, Array]:
        """(n, K) whole numbers >= 0 by component: what giving row i the label k adds to it, before row weights."""

    @abc.abstractmethod
    def rank(self, value: Value, totals: State) -> Any:
        """What a whole tree is worth, larger is better; it never rises with a component."""

    def shown(self, rank: Any) -> Any:
        """The score of a given rank (default: as a float)."""
        return float(rank)

    @final
    def score(self, value: Value, totals: State) -> Any:
        return self.shown(self.rank(value, totals))

    def fraction(self, totals: State) -> LinearFraction | None:
        """The rank as a fraction of affine functions, or None where it is none."""
        return None

    @final
    def statistics(self, data: Dataset) -> dict[str, Array]:
        return dict(self.sums(data))

    @final
    def leaf_cost(self, s: State, k: int) -> Value:
        return tuple([getattr(s, name)[k] for name in self.components])

    @property
    def node_sums(self) -> tuple[int, ...] | None:
        """What a branching node adds to every component; None (the default) where it adds nothing."""
        return None

    @final
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> tuple[int, ...] | None:
        return self.node_sums

    @final
    @restates
    def combine(self, a: Value, b: Value) -> Value:
        return tuple([x + y for x, y in zip(a, b, strict=True)])

    @property
    def vector_form(self) -> VectorForm:
        return VectorForm(self, self, self.components)

    def ideal_score(self, value: Value, totals: State) -> Any:
        return self.score(value, totals)


@final
@attrs.frozen
class Bounded(Holding):
    """A task over the trees whose sums keep their limits: its value with two worsening sums for each limited one.

    Takes tasks whose values are added up. The score is the inner task's.
    """

    sum_limits: tuple[SumLimit, ...]

    order: ClassVar[str] = COMPONENTWISE

    def bind(self, data: Dataset) -> Task:
        inner = bind_summed(self.task, data)
        labels = tuple(inner.labels(data))
        for limit in self.sum_limits:
            if limit.of_classes and len(labels) != data.n_classes:
                raise TaskError(
                    f"{limit!r} is about which classes are predicted, and the leaves of {type(self.task).__name__} "
                    f"show {', '.join(map(repr, labels[:3]))}, no classes of y; use a task that predicts the "
                    "classes, such as Accuracy"
                )
        sums = tuple(each for limit in self.sum_limits for each in limit.bounded_sums(data))
        for each in sums:
            if each.costs.shape != (data.n_rows, len(labels)):
                raise TaskError(f"{self.sum_limits!r} are about the classes of y, and the task's labels are {labels}")
        return bound_task(inner, self.sum_limits, sums, data)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.bind(data).statistics(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        raise TaskError("bind a task with limits on sums to its data before you ask for costs")

    def score(self, value: Value, totals: State) -> Any:
        # how many components a score has may be known on the data only
        return totals.bound.score(value, totals) if self.vector_form.components else self.task.score(value[0], totals)

    @functools.cached_property
    def vector_form(self) -> VectorForm:
        inner = self.task.vector_form
        return attrs.evolve(inner, limits=inner.limits + self.sum_limits)

    def under_sum_limits(self, limits: Sequence[SumLimit]) -> Task:
        return Bounded(self.task, self.sum_limits + tuple(limits))


@final
@attrs.frozen(eq=False)
class BoundTask(Holding):
    """A `Bounded` task on its data; the task in it is bound, too."""

    sum_limits: tuple[SumLimit, ...]
    bounded_sums: tuple[BoundedSum, ...]
    caps: tuple[Fraction, ...]
    """The most that the worsening sums may be, two for every bounded sum."""
    inner_labels: tuple[Any, ...]
    unit: Fraction
    """What one of the bounded sums' whole numbers is worth in a value."""

    order: ClassVar[str] = COMPONENTWISE

    def bind(self, data: Dataset) -> Task:
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {**self.task.statistics(data), **worsening_statistics(self.bounded_sums, data)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.inner_labels

    def leaf_cost(self, s: State, k: int) -> Value:
        return (*sums_of_values(self.task.leaf_cost(s, k)), *worsening_costs(s, k, len(self.bounded_sums)))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        cost = self.task.branching_cost(rows, path, split)
        if cost is None and not any(each.split for each in self.bounded_sums):
            return None
        if cost is None:
            cost = (0,) * (self.task.vector_form.width or 1)
        return (*sums_of_values(cost), *[x for each in self.bounded_sums for x in (self.unit * each.split, 0)])

    def feasible(self, value: Value) -> bool:
        return all(x <= cap for x, cap in zip(value[-len(self.caps) :], self.caps, strict=True))

    def objective_of(self, value: Value) -> Value:
        return self.vector_form.objective_part(value)

    def better_at_root(self, a: Value, b: Value) -> bool:
        return self.task.better(a, b)

    def score(self, value: Value, totals: State) -> Any:
        return self.task.score(self.objective_of(value), totals)

    def value_caps(self, width: int) -> Sequence[Any] | None:
        inner = self.task.value_caps(width - len(self.caps))
        return None if inner is None else [*inner, *self.caps]

    @functools.cached_property
    def vector_form(self) -> VectorForm:
        return attrs.evolve(self.task.vector_form, limits=self.sum_limits, intervals=self.bounded_sums, caps=self.caps)

    def ideal_score(self, value: Value, totals: State) -> Any | None:
        return self.task.ideal_score(self.objective_of(value), totals)


def bound_task(task: Task, limits: tuple[SumLimit, ...], sums: tuple[BoundedSum, ...], data: Dataset) -> BoundTask:
    """The bound task under limits that keep these sums in their intervals."""
    weights, unit = integer_weights(data)
    caps: list[Fraction] = []
    for each in sums:
        least, most = each.spread(weights)
        above, below = each.most - least, most - each.least
        caps += [Fraction(above), Fraction(below)] if unit == 1 else [unit * above, unit * below]
    return BoundTask(task, limits, sums, tuple(caps), tuple(task.labels(data)), unit)


def bound_sums(task: Task, sum_limits: Sequence[SumLimit]) -> Bounded:
    """The task under limits on sums; raises TaskError for tasks whose values are not added up."""
    check_summed(task, f"{sum_limits[0]!r} limits a sum over the whole tree")
    return Bounded(task, tuple(sum_limits))


def check_summed(task: Task, why: str) -> None:
    """Raises TaskError unless the values of the task are numbers that are added up, or a score of such."""
    if task.reads_rows:
        raise TaskError(
            f"{why}, which needs costs that add up row by row, and {type(task).__name__} asks a function of all rows "
            "of a leaf what it costs; use a task of costs per row, such as Accuracy"
        )
    if task.vector_form.components is None and not adds(task):
        raise TaskError(
            f"{why}, which needs a task whose values are sums over rows and nodes, and {type(task).__name__} is none; "
            "subclass RowCostTask or SumTask"
        )


def bind_summed(task: Task, data: Dataset) -> Task:
    """The task on its data, as a cost per row where it is one."""
    bound = task.bind(data)
    return bound if bound.vector_form.width else row_cost_form(bound, data) or bound


def sums_of_values(value: Value) -> tuple[Any, ...]:
    """The value as a tuple of sums."""
    return value if isinstance(value, tuple) else (value,)
