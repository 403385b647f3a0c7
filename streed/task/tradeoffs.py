"""Trade-offs: an objective and gaps as a front, such as errors against unfairness.

A gap is the largest of |sum| / size over signed sums of the whole tree. Between two such sums no dominance holds at a
node, for what one part is ahead another may make up; of a whole tree only the gap counts (`at_root`), so that the front
of the root is that of the objective and the gaps (STreeD, Eq. 3 and 11, Prop. A.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.base import COMPONENTWISE, State, Task, Totals, Value
from streed.task.sums import (
    Bounded,
    BoundedSum,
    BoundTask,
    Gap,
    SumLimit,
    SumTask,
    bind_summed,
    bound_sums,
    check_summed,
    integer_weights,
    sums_of_values,
    worsening_statistics,
)

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class BiObjective(Task):
    """A task and gaps, whose nondominated pairs of score and gaps form the front."""

    task: Task
    gaps: tuple[Gap, ...]

    order: ClassVar[str] = COMPONENTWISE

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.task.maximize

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

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.task.labels(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        raise TaskError("bind a trade-off to its data before you ask for costs")

    def score(self, value: Value, totals: State) -> Any:
        return totals.bound.score(value, totals)

    def under(self, sum_limits: Sequence[SumLimit]) -> BiObjective:
        """The trade-off over the trees that keep the limits."""
        return BiObjective(bound_sums(self.task, sum_limits), self.gaps)


@final
@attrs.frozen(eq=False)
class BoundTrade(Task):
    """A `BiObjective` task on its data: the objective's value, then two worsening sums for every signed one."""

    task: Task
    """Bound, too."""
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

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.task.maximize

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {**self.task.statistics(data), **worsening_statistics(self.sums, data, "gap_")}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.task.labels(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        return (*sums_of_values(self.task.leaf_cost(s, k)), *self._worsening(s, k))

    def _worsening(self, s: State, k: int) -> list[Any]:
        return [getattr(s, f"gap_{side}{j}")[k] for j in range(len(self.sums)) for side in ("above", "below")]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        cost = self.task.branching_cost(rows, path, split)
        return None if cost is None else (*sums_of_values(cost), *[0] * (2 * len(self.sums)))

    def feasible(self, value: Value) -> bool:
        return self.task.feasible(self.inner_value(value))

    def inner_value(self, value: Value) -> Value:
        """The objective's part of a value."""
        first = value[: len(value) - 2 * len(self.sums)]
        return first if isinstance(self.task, (SumTask, BoundTask)) else first[0]

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
        task = self.task.task if isinstance(self.task, BoundTask) else self.task
        first = -task.rank(inner, self.totals) if isinstance(task, SumTask) else inner
        return (first, *self.gaps_of(value))

    def better_at_root(self, a: Value, b: Value) -> bool:
        return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))

    def score(self, value: Value, totals: State) -> Any:
        """(the objective's score, the gaps as floats)."""
        return (self.task.score(self.inner_value(value), self.totals), *map(float, self.gaps_of(value)))


def bi_objective(task: Task, gap: Gap) -> BiObjective:
    """The front of the task and the gap; raises TaskError for tasks whose values are not sums."""
    if isinstance(task, BiObjective):
        return BiObjective(task.task, (*task.gaps, gap))
    inner = task.task if isinstance(task, Bounded) else task
    check_summed(inner, f"{gap!r} is a gap between sums over the whole tree")
    return BiObjective(task, (gap,))
