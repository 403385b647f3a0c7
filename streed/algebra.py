"""How tasks compose: `A + B`, `0.01 * A`, `.subject_to(...)`, `minimize(...)`.

A sum of weighted row-cost tasks is a row-cost task: costs add row by row, branching costs add per node. The weights
stay exact fractions, so a lambda of 0.01 is one hundredth.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.errors import TaskError
from streed.exact import Array, IntegerCosts, exact_number, integer_costs
from streed.sums import SumLimit, bound_sums
from streed.task import Limit, RowCostTask, Task

if TYPE_CHECKING:
    from streed.data import Dataset


_ONE = Fraction(1)


@attrs.frozen
class WeightedSum(RowCostTask):
    """The sum of weighted row-cost tasks, flat: no term is itself a sum."""

    terms: tuple[tuple[Fraction, RowCostTask], ...]

    def bind(self, data: Dataset) -> Task:
        bound = [scale(weight, term.bind(data)) for weight, term in self.terms]
        total = bound[0]
        for task in bound[1:]:
            total = add(total, task)
        return total

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.terms[0][1].labels(data)

    def row_costs(self, data: Dataset) -> Array:
        parts = [(weight, term.row_costs(data)) for weight, term in self.terms]
        total = np.zeros(parts[0][1].shape, dtype=object)
        for weight, costs in parts:
            for index, cost in np.ndenumerate(costs):
                total[index] += weight * exact_number(cost, "costs")
        return total

    def split_cost(self) -> Fraction | int:
        return sum((weight * term.split_cost() for weight, term in self.terms), Fraction(0))


@attrs.frozen
class Constrained(Task):
    """A task over the trees that meet all limits; everything but `limits` is the inner task's."""

    task: Task
    limits: tuple[Limit, ...]

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.task.maximize

    @property
    def order(self) -> str:  # type: ignore[override]
        return self.task.order

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        return self.task.superadditive

    def bind(self, data: Dataset) -> Task:
        return Constrained(self.task.bind(data), self.limits)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.task.statistics(data)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.task.labels(data)

    def leaf_cost(self, s: Any, k: int) -> Any:
        return self.task.leaf_cost(s, k)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.task.branching_cost(rows, path, split)

    def combine(self, a: Any, b: Any) -> Any:
        return self.task.combine(a, b)

    def better(self, a: Any, b: Any) -> bool:
        return self.task.better(a, b)

    def dominates(self, a: Any, b: Any) -> bool:
        return self.task.dominates(a, b)

    def feasible(self, value: Any) -> bool:
        return self.task.feasible(value)

    def subtract(self, a: Any, b: Any) -> Any:
        return self.task.subtract(a, b)

    def worst_per_row(self, data: Dataset) -> Array | None:
        return self.task.worst_per_row(data)

    def lower_bound(self, s: Any) -> Any:
        return self.task.lower_bound(s)

    def score(self, value: Any, totals: Any) -> Any:
        return self.task.score(value, totals)

    def leaf_label(self, s: Any, k: int) -> Any:
        return self.task.leaf_label(s, k)


def objective(task: Task) -> Task:
    """The task without its limits."""
    return task.task if isinstance(task, Constrained) else task


def minimize(task: Task) -> Task:
    """The task itself: every task is minimised; the word is for the reader of a composed objective."""
    if not isinstance(task, Task):
        raise TaskError(f"minimize takes a Task, not {type(task).__name__}; write 0.01 * Splits() + Accuracy()")
    return task


def add(a: Task, b: Task) -> Task:
    """a + b: the task whose costs are the sums of both; raises TaskError unless both are row-cost tasks."""
    return WeightedSum(_terms(a, "+") + _terms(b, "+"))


def weighted_sum(terms: Sequence[tuple[Fraction, RowCostTask]]) -> Task:
    """The sum of weight * task over `terms`, at least one."""
    return WeightedSum(tuple(terms))


def scale(weight: Any, task: Task) -> Task:
    """weight * task, the weight an exact number >= 0 (a float is the decimal it prints as)."""
    factor = Fraction(exact_number(weight, "weight"))
    if factor < 0:
        raise TaskError(
            f"a task's weight must not be negative, got {weight!r}: order would not be preserved (Def. 4.4)"
        )
    if factor == 1:
        return task
    return WeightedSum(tuple((factor * inner, term) for inner, term in _terms(task, "*")))


def constrain(task: Task, limits: Sequence[Limit]) -> Task:
    """The task over the trees that meet `limits`; raises TaskError for anything that is no Limit."""
    for limit in limits:
        if not isinstance(limit, Limit):
            raise TaskError(f"subject_to takes limits such as MinSupport(5), not {limit!r}")
    on_sums = tuple(limit for limit in limits if isinstance(limit, SumLimit))
    on_leaves = task.limits + tuple(limit for limit in limits if not isinstance(limit, SumLimit))
    inner = bound_sums(objective(task), on_sums) if on_sums else objective(task)
    return Constrained(inner, on_leaves) if on_leaves else inner


def _terms(task: Task, operator: str) -> tuple[tuple[Fraction, RowCostTask], ...]:
    if isinstance(task, WeightedSum):
        return task.terms
    if isinstance(task, RowCostTask):
        return ((_ONE, task),)
    if isinstance(task, Constrained):
        raise TaskError(f"put subject_to last: the operator {operator} joins objectives, not constrained tasks")
    raise TaskError(f"the operator {operator} needs tasks with a cost per row, and {task!r} has none")


def exact_costs(task: Task, data: Dataset) -> IntegerCosts:
    """The bound row-cost task's costs and its cost per split as integers with one common unit.

    Raises TaskError for tasks that are not described by costs per row, InputError where exact integers overflow.
    """
    terms = _terms(objective(task), "solve")
    shape = (data.n_rows, len(task.labels(data)))
    arrays = [(weight, _row_costs(term, data, shape)) for weight, term in terms]
    split: Fraction | int = sum(weight * term.split_cost() for weight, term in terms)
    return integer_costs(arrays, split, data.weights)


def _row_costs(task: RowCostTask, data: Dataset, shape: tuple[int, int]) -> Array:
    """The task's costs per row and label; raises TaskError for anything but an array of that shape."""
    costs = task.row_costs(data)
    if not isinstance(costs, np.ndarray) or costs.shape != shape:
        found = f"an array of shape {costs.shape}" if isinstance(costs, np.ndarray) else f"a {type(costs).__name__}"
        raise TaskError(f"{type(task).__name__}.row_costs gives {found}, not one of shape {shape} (rows, labels)")
    return costs
