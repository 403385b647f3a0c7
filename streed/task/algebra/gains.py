"""Sums of what is maximised, and costs that are taken from it: `maximize(A) + maximize(B)`, `maximize(A) - 0.5 * B`.

Such a sum is maximised and shown as it is written. The search minimises minus it, whose order is that of numbers turned
round, so that it is separable as every sum is (STreeD, Def. 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast, final

import attrs

from streed.errors import StreedError, TaskError
from streed.task.algebra.directions import Negated
from streed.task.algebra.parts import joint_labels, name
from streed.task.algebra.sums import combination
from streed.task.base import Composition, RowCostTask, Task
from streed.task.composable import weighted_outline
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset

Terms = tuple[tuple[Fraction, Composition], ...]


@final
@attrs.frozen
class NetGain(Composition):
    """The weighted sum of scores that are a constant minus costs per row, such as balanced accuracy, minus costs."""

    stands_alone: ClassVar[bool] = False

    gains: Terms
    """Weights > 0 and what is maximised."""
    costs: tuple[tuple[Fraction, RowCostTask], ...] = ()
    """Weights > 0 and what is taken from it."""

    @property
    def larger_is_better(self) -> bool:
        return True

    def compose(self, data: Dataset) -> Task:
        return combination([(weight, task.bind(data)) for weight, task in (*self.gains, *self.costs)])

    def labels(self, data: Dataset) -> Sequence[Any]:
        return joint_labels([task for _, task in (*self.gains, *self.costs)], data)

    def score(self, value: Any, totals: State) -> Any:
        return sum(weight * task.score(0, totals) for weight, task in self.gains) - value

    def outline(self) -> list[str]:
        return ["maximum of the sum of", *weighted_outline([*self.gains, *((-w, task) for w, task in self.costs)])]


def add_gains(a: Task, b: Task) -> Task:
    """a + b, of which both are maximised; raises TaskError for tasks whose scores are not values turned round."""
    if isinstance(a, Negated) and isinstance(b, Negated):
        return Negated(combination([(Fraction(1), a.task), (Fraction(1), b.task)]))
    one, other = _net(a), _net(b)
    return NetGain(one.gains + other.gains, one.costs + other.costs)


def scale_gain(weight: Fraction, task: Task) -> Task:
    """weight * task, which is maximised; the weight is at least 0."""
    if weight == 1:
        return task
    if isinstance(task, Negated):
        return Negated(combination([(weight, task.task)], "*"))
    net = _net(task)
    return NetGain(_times(weight, net.gains), _times(weight, net.costs))


def take_from(gain: Task, cost: Task) -> Task:
    """gain - cost, of which the first is maximised and the second minimised."""
    if isinstance(gain, Negated):
        return Negated(combination([(Fraction(1), gain.task), (Fraction(-1), cost)], "-"))
    net = _net(gain)
    if not isinstance(cost, RowCostTask):
        raise TaskError(
            f"from {name(gain)} costs per row and of splits can be taken, such as 0.1 * Splits(), and {name(cost)} is "
            "none; write what is gained as a task of its own, and streed.maximize(gain) - cost"
        )
    return NetGain(net.gains, (*net.costs, *cast("tuple[tuple[Fraction, RowCostTask], ...]", cost.summands)))


def _times(weight: Fraction, terms: tuple[tuple[Fraction, Any], ...]) -> Any:
    return tuple((weight * factor, task) for factor, task in terms)


def _net(task: Task) -> NetGain:
    """The task as a `NetGain`; raises TaskError unless its score is a constant minus costs per row."""
    if isinstance(task, NetGain):
        return task
    if not isinstance(task, Composition) or not _falls_with_value(task):
        raise TaskError(
            f"what is maximised by {name(task)} cannot be added to anything: its score is no constant minus its value; "
            "write what is gained as a task that is not maximised, and streed.maximize(gain)"
        )
    return NetGain(((Fraction(1), task),))


def _falls_with_value(task: Task) -> bool:
    """Whether the score is a constant minus the value, tried on a few values."""
    nothing = State(0)
    try:
        base = task.score(0, nothing)
        return all(task.score(x, nothing) == base - x for x in (1, 7, Fraction(1, 3)))
    except (StreedError, ArithmeticError, TypeError):
        return False
