"""Tasks of several sums: values that are tuples of sums over rows, with a score of them.

Every component of a value is a sum over rows of a cost per row and label, and the score is monotone in each; if it
moreover is a fraction of two affine functions, `fraction` says so: facts that a search may use beyond the contract.
"""

from __future__ import annotations

import abc
import math
import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import Array, exact_number
from streed.task.analysis.linear_form import adds
from streed.task.base import COMPONENTWISE, RowCostTask, Task, Value
from streed.task.joint import name
from streed.task.states import State


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
    def price(self) -> Fraction | None:
        """What every branching node, the last component, takes from the score of what is `rated`; None without one."""
        return None

    @property
    def rated(self) -> SumTask:
        """What the score is of, without the price."""
        return self

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


NODES = "branching_nodes"


@final
@attrs.frozen
class Penalized(SumTask):
    """A score of two sums minus a cost that only branching nodes have: their number is one more sum."""

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


def check_summed(task: Task, why: str) -> None:
    """Raises TaskError unless the values of the task are numbers that are added up, or a score of such."""
    if task.reads_rows:
        raise TaskError(
            f"{why}, which needs costs that add up row by row, and {type(task).__name__} asks a function of all rows "
            "of a leaf what it costs; use a task of costs per row, such as Accuracy"
        )
    if task.components is None and not adds(task):
        raise TaskError(
            f"{why}, which needs a task whose values are sums over rows and nodes, and {type(task).__name__} is none; "
            "subclass RowCostTask or SumTask"
        )
