"""Branching costs that are prices per row, less where columns tested above make a test cheaper; and trees in order."""

from __future__ import annotations

import abc
from fractions import Fraction
from typing import Any

from streed.data import Dataset
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import RowCostTask, Task
from streed.task.joint import WeightedSum


class TaskWithTests(Task):
    """A task whose leaves cost what a task of costs per row says, and branching nodes, at `rows` rows,

    rows * price_unit * min(full[split], min over the columns f tested above of given[f, split]).
    """

    full: Any
    """(p,) int64 >= 0: the price of every column where nothing was tested above, a field that is bound."""
    given: Any
    """(p, p) int64 >= 0: given[f, split], the price of `split` where f was tested above."""
    price_unit: Any

    @abc.abstractmethod
    def row_task(self, data: Dataset) -> RowCostTask:
        """The bound task of what leaves cost."""

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        price = self.full[split]
        for column in path:
            price = min(price, self.given[column, split])
        return rows * price * self.price_unit


def with_tests(task: Task, data: Dataset) -> tuple[RowCostTask, TaskWithTests, Fraction] | None:
    """The bound task as costs per row, the term of it that has tests, and what its prices are worth; None if it is not.

    Of a sum one term has tests, for a sum of prices is no least of them.
    """
    found = [(weight, part) for weight, part in task.terms if isinstance(part, TaskWithTests)]
    if len(found) != 1:
        return None
    costs: list[tuple[Fraction, RowCostTask]] = []
    for weight, part in task.terms:
        form = part.row_task(data) if isinstance(part, TaskWithTests) else row_cost_form(part, data)
        if form is None or weight < 0:
            return None
        costs.append((weight, form))
    weight, tests = found[0]
    return WeightedSum(tuple(costs)), tests, weight * tests.price_unit


IN_ORDER = 3
"""Of leaves side by side: 1 if their labels do not fall, 2 if they do not rise, 3 both, or a tree in order."""


class TaskInOrder(Task):
    """A task of trees whose leaves rise with some columns and fall with others (`streed.tasks.accuracy`).

    Values are (cost, least label, largest label, IN_ORDER).
    """

    signs: Any
    """(p,) of every column: 1 where leaves rise with it, -1 where they fall, 0 elsewhere; a field that is bound."""

    @abc.abstractmethod
    def row_task(self, data: Dataset) -> RowCostTask:
        """The bound task of what rows and splits cost."""
