"""`A + B`, `w * A` and `A - B`, each by what its sides are: minimised, maximised, or a score of several sums.

Sums of what is maximised, and costs that are taken from it, as in `maximize(A) - 0.5 * B`, are maximised and shown as
they are written; the search minimises minus them, whose order is that of numbers turned round (STreeD, Def. 4.4). Of a
score of several sums minus a price of splits, as in `F1() - 0.01 * Splits()`, the number of nodes is one more sum,
which the score falls with, so that the task stays one of nondominated values (Eq. 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast, final

import attrs
import numpy as np

from streed.errors import StreedError, TaskError
from streed.exact import Array, exact_number
from streed.task.algebra.parts import Negated, as_costs, check_operand, joint_labels, name
from streed.task.algebra.sums import combination, weight_of
from streed.task.base import Composition, RowCostTask, Task, Value
from streed.task.composable import VectorForm, weighted_outline
from streed.task.states import State
from streed.task.sums import SumTask

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
        return Negated(combination([(_ONE, a.task), (_ONE, b.task)]))
    one, other = _net(a), _net(b)
    return NetGain(one.gains + other.gains, one.costs + other.costs)


def scale_gain(weight: Fraction, task: Task) -> Task:
    """weight * task, which is maximised; the weight is at least 0."""
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


_ONE = Fraction(1)

NODES = "branching_nodes"


@final
@attrs.frozen
class Penalized(SumTask):
    """A score of two sums minus a cost that only branching nodes have; `penalize` makes it."""

    task: SumTask
    penalty: RowCostTask

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.task.components, NODES)

    @property
    def node_sums(self) -> tuple[int, ...]:
        return (*[0] * len(self.task.components), 1)

    @property
    def price(self) -> Fraction:
        """Of one branching node."""
        return Fraction(exact_number(self.penalty.split_cost()))

    def bind(self, data: Dataset) -> Task:
        bound = self.task.bind(data)
        if not isinstance(bound, SumTask) or len(bound.components) != 2:
            raise TaskError(f"a price of splits goes with scores of two sums, and {name(self.task)} has more here")
        if any(np.any(costs != 0) for _, costs in self.penalty.cost_terms(data)):
            raise TaskError(
                f"what is taken from a score must be a price of splits, and {name(self.penalty)} costs rows"
            )
        return Penalized(bound, self.penalty)

    def sums(self, data: Dataset) -> Mapping[str, Array]:
        inner = self.task.sums(data)
        return {**inner, NODES: np.zeros_like(next(iter(inner.values())))}

    def rank(self, value: Value, totals: State) -> Any:
        return self.task.rank(value[:-1], totals) - self.price * value[-1]

    def shown(self, rank: Any) -> Any:
        return self.task.shown(rank)

    @property
    def vector_form(self) -> VectorForm:
        return VectorForm(self, self.task, self.components, self.price)


def penalize(task: Task, penalty: Task) -> Task:
    """task - penalty; raises TaskError unless that is a score of two sums minus a price of splits."""
    if not isinstance(task, SumTask):
        raise TaskError(
            f"the operator - takes a price of splits from a score such as F1(), and {name(task)} is no score of "
            "several sums; what is minimised gets a price by +, as in Accuracy() + 3 * Splits()"
        )
    if not isinstance(penalty, RowCostTask) or isinstance(penalty, Composition) or not penalty.any_label:
        raise TaskError(
            f"what is taken from a score must be a price of splits such as 0.01 * Splits(), and {name(penalty)} is none"
        )
    if isinstance(task, Penalized):
        total = combination([(_ONE, task.penalty), (_ONE, penalty)])
        assert isinstance(total, RowCostTask)
        return Penalized(task.task, total)
    if any(task.shown(rank) != rank for rank in (Fraction(1, 4), Fraction(3, 4))):
        raise TaskError(
            f"trees are not compared by the score of {name(task)} itself but by a power of it, from which no price can "
            "be taken exactly; limit max_nodes instead"
        )
    return Penalized(task, penalty)


def add(a: Task, b: Task) -> Task:
    """a + b, both minimised or both maximised; raises TaskError for one of each, and where values are not added up."""
    for task in (a, b):
        check_operand(task, "+")
    a, b = as_costs(a), as_costs(b)
    if not (_is_gain(a) or _is_gain(b)):
        return combination([(_ONE, a), (_ONE, b)])
    if _is_gain(a) and _is_gain(b):
        return add_gains(a, b)
    gain, cost = (_written(part) for part in ((a, b) if _is_gain(a) else (b, a)))
    found = f"{gain} is maximised and {cost} minimised, so their sum is neither"
    raise TaskError(f"{found}; write gain - cost, as in {gain} - {cost}, which is maximised")


def scale(weight: Any, task: Task) -> Task:
    """weight * task, the weight an exact number >= 0 (a float is the decimal it prints as)."""
    check_operand(task, "*")
    task = as_costs(task)
    factor = weight_of(weight)
    if factor == 1:
        return task
    return scale_gain(factor, task) if _is_gain(task) else combination([(factor, task)], "*")


def subtract(a: Task, b: Task) -> Task:
    """a - b: what is maximised minus what is minimised, or a score such as F1 minus a price of splits."""
    for task in (a, b):
        check_operand(task, "-", "takes a price such as 0.01 * Splits() from a task")
    a, b = as_costs(a), as_costs(b)
    if not _is_gain(a):
        return penalize(a, b)
    if b.larger_is_better:
        raise TaskError(
            f"{name(a)} and {name(b)} are both maximised, so neither is a cost; add them by +, or write the second "
            "without maximize"
        )
    return take_from(a, b)


def _is_gain(task: Task) -> bool:
    """Whether the task is maximised, and no score of several sums, which has operators of its own."""
    form = task.vector_form
    return task.larger_is_better and (form.components is None or form.objective is not task)


def _written(task: Task) -> str:
    """The task as one writes it, or its name where that is long."""
    if isinstance(task, Negated):
        return _written(task.task) if task.task.maximize else f"maximize({_written(task.task)})"
    text = repr(task)
    return text if len(text) <= 40 else name(task)
