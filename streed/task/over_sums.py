"""Tasks over sums of the whole tree: under limits on them, and trade-offs with gaps between them.

A limit keeps signed sums in intervals; a gap is the largest of |sum| / size over some. Either way a value is the
objective's with two worsening sums for every signed one (`streed.task.bounded_sums`). Between two gaps no dominance
holds at a node, for what one part is ahead another may make up; of a whole tree only the gap counts (`at_root`), so
that the front of the root is that of the objective and the gaps (STreeD, Eq. 3 and 11, Prop. A.4).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import COMPONENTWISE, Task, Value
from streed.task.bounded_sums import (
    BoundedSum,
    Gap,
    SumLimit,
    integer_weights,
    worsening_costs,
    worsening_statistics,
)
from streed.task.composable import VectorForm
from streed.task.constrained import Holding
from streed.task.row_sums import Totals
from streed.task.states import State
from streed.task.sums import check_summed

if TYPE_CHECKING:
    from streed.data import Dataset

_PREFIX = "gap_"
"""What the names of the gaps' statistics begin with."""


@final
@attrs.frozen
class OverSums(Holding):
    """A task whose values are added up, over the trees that keep limits on sums, and the front of it and gaps if any.

    Without gaps the score is the inner task's.
    """

    sum_limits: tuple[SumLimit, ...] = ()
    gaps: tuple[Gap, ...] = ()

    order: ClassVar[str] = COMPONENTWISE

    def bind(self, data: Dataset) -> Task:
        bound = self.task.bind(data)
        inner = bound if bound.vector_form.width else row_cost_form(bound, data) or bound
        sums = tuple(each for limit in self._checked(inner, data) for each in limit.bounded_sums(data))
        for each in sums:
            if each.costs.shape[1] != len(inner.labels(data)):
                raise TaskError(f"{self.sum_limits!r} are about the classes of y, which the task does not predict")
        found = BoundSums(inner, self.sum_limits, sums, data, self.gaps, self.task)
        found.vector_form.width  # noqa: B018 - sums that are too large are an error now
        return found

    def _checked(self, inner: Task, data: Dataset) -> tuple[SumLimit, ...]:
        """The limits; raises TaskError for one about classes of a task that predicts none."""
        labels = tuple(inner.labels(data))
        for limit in self.sum_limits:
            if limit.of_classes and len(labels) != data.n_classes:
                raise TaskError(
                    f"{limit!r} is about which classes are predicted, and the leaves of {type(self.task).__name__} "
                    f"show {', '.join(map(repr, labels[:3]))}, no classes of y; use a task that predicts the "
                    "classes, such as Accuracy"
                )
        return self.sum_limits

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.bind(data).statistics(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        raise TaskError("bind a task over sums of the whole tree to its data before you ask for costs")

    def score(self, value: Value, totals: State) -> Any:
        # how many components a score has may be known on the data only
        if self.gaps or self.vector_form.components:
            return totals.bound.score(value, totals)
        return self.task.score(value[0], totals)

    @functools.cached_property
    def vector_form(self) -> VectorForm:
        return attrs.evolve(self.task.vector_form, limits=self.sum_limits, gaps=self.gaps)


@final
@attrs.frozen(eq=False)
class BoundSums(Holding):
    """An `OverSums` on its data: the objective's value, then two worsening sums for every signed one."""

    sum_limits: tuple[SumLimit, ...]
    bounded_sums: tuple[BoundedSum, ...]
    """Those that the limits keep in intervals."""
    data: Dataset
    gaps: tuple[Gap, ...] = ()
    scored: Task | None = None
    """The objective before it is bound, which knows the score of what `task` calls costs where these are by row."""

    order: ClassVar[str] = COMPONENTWISE

    def bind(self, data: Dataset) -> Task:
        return self

    @functools.cached_property
    def unit(self) -> Fraction:
        """What one of the weights' whole numbers is worth in a value."""
        return integer_weights(self.data)[1]

    @functools.cached_property
    def caps(self) -> tuple[Fraction, ...]:
        """The most that the worsening sums of the limits may be, two for each."""
        weights, found = integer_weights(self.data)[0], []
        for each in self.bounded_sums:
            least, most = each.spread(weights)
            found += [self.unit * (each.most - least), self.unit * (most - each.least)]
        return tuple(found)

    @functools.cached_property
    def imbalances(self) -> tuple[tuple[int, int, BoundedSum], ...]:
        """The number of its gap, what it is divided by, and the sum, of every signed sum of the gaps."""
        weights, found = integer_weights(self.data)[0], []
        for number, gap in enumerate(self.gaps):
            for ratio in gap.ratios(self.data):
                total = ratio.most(weights)
                found.append((number, ratio.size, BoundedSum(ratio.costs, -total, total, ratio.on)))
        return tuple(found)

    @functools.cached_property
    def totals(self) -> State:
        """Of the objective, on all rows."""
        return Totals(self.task, self.data)

    @functools.cached_property
    def _signed(self) -> tuple[BoundedSum, ...]:
        return tuple(each for _, _, each in self.imbalances)

    @functools.cached_property
    def _width(self) -> int:
        """How many entries of a value are the objective's."""
        return self.task.vector_form.width or 1

    def statistics(self, data: Dataset) -> dict[str, Array]:
        own = worsening_statistics(self.bounded_sums, data) | worsening_statistics(self._signed, data, _PREFIX)
        return {**self.task.statistics(data), **own}

    def leaf_cost(self, s: State, k: int) -> Value:
        own = _as_tuple(self.task.leaf_cost(s, k))
        limited = worsening_costs(s, k, len(self.bounded_sums))
        return (*own, *limited, *worsening_costs(s, k, len(self._signed), _PREFIX))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        cost = self.task.branching_cost(rows, path, split)
        if cost is None and not any(each.split for each in self.bounded_sums):
            return None
        own = (0,) * self._width if cost is None else _as_tuple(cost)
        limited = [x for each in self.bounded_sums for x in (self.unit * each.split, 0)]
        return (*own, *limited, *[0] * (2 * len(self._signed)))

    def feasible(self, value: Value) -> bool:
        return all(x <= cap for x, cap in zip(value[self._width :], self.caps, strict=False))

    def objective_of(self, value: Value) -> Value:
        return self.vector_form.objective_part(value)

    def gaps_of(self, value: Value) -> tuple[Fraction, ...]:
        """The gaps of a whole tree's value."""
        found = [Fraction(0)] * len(self.gaps)
        above = value[len(value) - 2 * len(self._signed) :: 2]
        for (number, size, each), beyond in zip(self.imbalances, above, strict=True):
            signed = Fraction(beyond) / self.unit + each.least_total(self.data)
            found[number] = max(found[number], abs(signed) / size)
        return tuple(found)

    def at_root(self, value: Value) -> Value:
        own = self.objective_of(value)
        return (self.vector_form.loss(own, self.totals), *self.gaps_of(value)) if self.gaps else own

    def better_at_root(self, a: Value, b: Value) -> bool:
        if not self.gaps:
            return self.task.better(a, b)
        return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))

    def objective_score(self, value: Value) -> Any:
        """The objective's score of a whole tree's value."""
        return self.score_of(self.task.score(self.objective_of(value), self.totals))

    def score_of(self, found: Any) -> Any:
        """The objective's score, of the score that `task` gives: of costs by row, these costs."""
        if self.scored is None or self.task.vector_form.width:
            return found
        return self.scored.score(found, Totals(self.scored, self.data))

    def score(self, value: Value, totals: State) -> Any:
        """The objective's score, and the gaps as floats if there are any."""
        if self.gaps:
            return (self.objective_score(value), *map(float, self.gaps_of(value)))
        return self.task.score(self.objective_of(value), totals)

    def value_caps(self, width: int) -> Sequence[Any] | None:
        free = 2 * len(self._signed)
        inner = self.task.value_caps(width - free - len(self.caps))
        return None if inner is None else [*inner, *self.caps, *[None] * free]

    @functools.cached_property
    def vector_form(self) -> VectorForm:
        return attrs.evolve(
            self.task.vector_form,
            limits=self.sum_limits,
            intervals=self.bounded_sums,
            caps=self.caps,
            gaps=self.gaps,
            trade=self if self.gaps else None,
        )

    def ideal_score(self, value: Value, totals: State) -> Any | None:
        if not self.gaps:
            return self.task.ideal_score(self.objective_of(value), totals)
        first = self.task.ideal_score(self.objective_of(value), self.totals)
        return first if first is None else (self.score_of(first), *[0.0] * len(self.gaps))

    def with_gap_below(self, below: Fraction | None) -> Task:
        """The objective alone over the trees whose gap is less than `below` (None: any)."""
        sums = list(self.bounded_sums)
        for _, size, each in self.imbalances:
            most = each.most if below is None else math.ceil(below * size) - 1
            sums.append(BoundedSum(each.costs, -most, most, each.on))
        return BoundSums(self.task, self.sum_limits, tuple(sums), self.data)


def with_sum_limits(task: Task, limits: Sequence[SumLimit]) -> OverSums:
    """The task under limits on sums; raises TaskError for tasks whose values are not added up."""
    if isinstance(task, OverSums):
        return attrs.evolve(task, sum_limits=task.sum_limits + tuple(limits))
    check_summed(task, f"{limits[0]!r} limits a sum over the whole tree")
    return OverSums(task, tuple(limits))


def with_gap(task: Task, gap: Gap) -> OverSums:
    """The front of the task and the gap; raises TaskError for tasks whose values are not sums."""
    if isinstance(task, OverSums):
        return attrs.evolve(task, gaps=(*task.gaps, gap))
    check_summed(task.vector_form.objective, f"{gap!r} is a gap between sums over the whole tree")
    return OverSums(task, (), (gap,))


def _as_tuple(value: Value) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
