"""A score of several sums minus a price of splits: the number of nodes is one more sum, which the score falls with.

So the task stays one of nondominated values (STreeD, Eq. 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.errors import TaskError
from streed.exact import Array, exact_number
from streed.task.algebra.sums import combination
from streed.task.base import Composition, RowCostTask, Task, Value
from streed.task.joint import name
from streed.task.states import State
from streed.task.sums import SumTask

if TYPE_CHECKING:
    from streed.data import Dataset

NODES = "branching_nodes"


@final
@attrs.frozen
class Penalized(SumTask):
    """A score of two sums minus a cost that only branching nodes have; `penalize` makes it."""

    task: SumTask
    penalty: RowCostTask

    @property
    def value_unit(self) -> str:
        return f"{self.task.value_unit} - {float(self.price):.6g} * branching nodes"

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.task.components, NODES)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> tuple[int, ...]:
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
    def rated(self) -> SumTask:
        return self.task


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
        total = combination([(Fraction(1), task.penalty), (Fraction(1), penalty)])
        assert isinstance(total, RowCostTask)
        return Penalized(task.task, total)
    if any(task.shown(rank) != rank for rank in (Fraction(1, 4), Fraction(3, 4))):
        raise TaskError(
            f"trees are not compared by the score of {name(task)} itself but by a power of it, from which no price can "
            "be taken exactly; limit max_nodes instead"
        )
    return Penalized(task, penalty)
