"""Trade-offs: an objective and gaps as a front, such as errors against unfairness.

A gap is the largest of |sum| / size over signed sums of the whole tree. Between two such sums no dominance holds at a
node, for what one part is ahead another may make up; of a whole tree only the gap counts (`at_root`), so that the front
of the root is that of the objective and the gaps (STreeD, Eq. 3 and 11, Prop. A.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
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
from streed.task.sums import bind_summed, bound_task, check_summed, sums_of_values

if TYPE_CHECKING:
    from streed.data import Dataset


_PREFIX = "gap_"
"""What the names of the gaps' statistics begin with."""


@final
@attrs.frozen
class BiObjective(Holding):
    """A task and gaps, whose nondominated pairs of score and gaps form the front."""

    gaps: tuple[Gap, ...]

    order: ClassVar[str] = COMPONENTWISE

    def bind(self, data: Dataset) -> Task:
        inner = bind_summed(self.task, data)
        weights, unit = integer_weights(data)
        sums, sizes, kinds = [], [], []
        for number, gap in enumerate(self.gaps):
            for ratio in gap.ratios(data):
                total = ratio.most(weights)
                sums.append(BoundedSum(ratio.costs, -total, total, ratio.on))
                sizes.append(ratio.size)
                kinds.append(number)
        return BoundTrade(inner, self.gaps, tuple(sums), tuple(sizes), tuple(kinds), unit, Totals(inner, data), data)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.bind(data).statistics(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        raise TaskError("bind a trade-off to its data before you ask for costs")

    def score(self, value: Value, totals: State) -> Any:
        return totals.bound.score(value, totals)

    @property
    def vector_form(self) -> VectorForm:
        return attrs.evolve(self.task.vector_form, gaps=self.gaps)

    def under_sum_limits(self, limits: Sequence[SumLimit]) -> Task:
        return BiObjective(self.task.under_sum_limits(limits), self.gaps)


@final
@attrs.frozen(eq=False)
class BoundTrade(Holding):
    """A `BiObjective` task on its data: the objective's value, then two worsening sums for every signed one."""

    gaps: tuple[Gap, ...]
    sums: tuple[BoundedSum, ...]
    sizes: tuple[int, ...]
    """What each sum is divided by."""
    kinds: tuple[int, ...]
    """The number of the gap of each sum."""
    unit: Fraction
    """What one of the weights' whole numbers is worth."""
    totals: State
    """Of the objective, on all rows."""
    data: Dataset

    order: ClassVar[str] = COMPONENTWISE

    def bind(self, data: Dataset) -> Task:
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {**self.task.statistics(data), **worsening_statistics(self.sums, data, _PREFIX)}

    def leaf_cost(self, s: State, k: int) -> Value:
        return (*sums_of_values(self.task.leaf_cost(s, k)), *worsening_costs(s, k, len(self.sums), _PREFIX))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        cost = self.task.branching_cost(rows, path, split)
        return None if cost is None else (*sums_of_values(cost), *[0] * (2 * len(self.sums)))

    def feasible(self, value: Value) -> bool:
        return self.task.feasible(self.inner_value(value))

    def inner_value(self, value: Value) -> Value:
        """The objective's part of a value."""
        width = self.task.vector_form.width
        return value[0] if width is None else value[:width]

    def gaps_of(self, value: Value) -> tuple[Fraction, ...]:
        """The gaps of a whole tree's value."""
        found = [Fraction(0)] * len(self.gaps)
        above = value[len(value) - 2 * len(self.sums) :: 2]
        for j, each in enumerate(self.sums):
            signed = Fraction(above[j]) / self.unit + each.least_total(self.data)
            found[self.kinds[j]] = max(found[self.kinds[j]], abs(signed) / self.sizes[j])
        return tuple(found)

    def objective_of(self, value: Value) -> Value:
        return self.task.objective_of(self.inner_value(value))

    def at_root(self, value: Value) -> Value:
        inner = self.task.at_root(self.inner_value(value))
        return (self.vector_form.loss(inner, self.totals), *self.gaps_of(value))

    def better_at_root(self, a: Value, b: Value) -> bool:
        return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))

    def score(self, value: Value, totals: State) -> Any:
        """(the objective's score, the gaps as floats)."""
        return (self.task.score(self.inner_value(value), self.totals), *map(float, self.gaps_of(value)))

    def value_caps(self, width: int) -> Sequence[Any] | None:
        free = 2 * len(self.sums)
        inner = self.task.value_caps(width - free)
        return None if inner is None else [*inner, *[None] * free]

    @property
    def vector_form(self) -> VectorForm:
        return attrs.evolve(self.task.vector_form, gaps=self.gaps, trade=self)

    def ideal_score(self, value: Value, totals: State) -> Any | None:
        first = self.task.ideal_score(self.inner_value(value), self.totals)
        return None if first is None else (first, *[0.0] * len(self.gaps))

    def with_gap_below(self, below: Fraction | None) -> Task:
        """The objective alone over the trees whose gap is less than `below` (None: any)."""
        sums = []
        for each, size in zip(self.sums, self.sizes, strict=True):
            most = each.most if below is None else math.ceil(below * size) - 1
            sums.append(BoundedSum(each.costs, -most, most, each.on))
        form = self.vector_form
        return bound_task(form.objective, form.limits, (*form.intervals, *sums), self.data)


def bi_objective(task: Task, gap: Gap) -> BiObjective:
    """The front of the task and the gap; raises TaskError for tasks whose values are not sums."""
    if isinstance(task, BiObjective):
        return BiObjective(task.task, (*task.gaps, gap))
    check_summed(task.vector_form.objective, f"{gap!r} is a gap between sums over the whole tree")
    return BiObjective(task, (gap,))
