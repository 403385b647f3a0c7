"""Costs of a task of costs per row in whole numbers of a common unit, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streed.errors import TaskError
from streed.exact import Array
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import RowCostTask, Task, objective
from streed.task.row_sums import weight_array
from streed.whole_costs import IntegerCosts, integer_costs

if TYPE_CHECKING:
    from streed.data import Dataset


def exact_costs(task: Task, data: Dataset) -> IntegerCosts:
    """The bound row-cost task's costs and its cost per split as integers with one common unit.

    Raises TaskError for tasks that are not described by costs per row, InputError where exact integers overflow.
    """
    inner = objective(task)
    if not isinstance(inner, RowCostTask):
        raise TaskError(f"the operator solve needs tasks with a cost per row, and {inner!r} has none")
    shape = (data.n_rows, len(task.labels(data)))
    terms = [(weight, checked_costs(costs, inner, shape)) for weight, costs in inner.cost_terms(data)]
    return integer_costs(terms, inner.split_cost(), weight_array(data))


def checked_costs(costs: Any, task: RowCostTask, shape: tuple[int, int]) -> Array:
    """The task's costs per row and label; raises TaskError for anything but an array of that shape."""
    if not isinstance(costs, np.ndarray) or costs.shape != shape:
        found = f"an array of shape {costs.shape}" if isinstance(costs, np.ndarray) else f"a {type(costs).__name__}"
        raise TaskError(f"{type(task).__name__}.row_costs gives {found}, not one of shape {shape} (rows, labels)")
    return costs


def worsens(task: Task, data: Dataset) -> bool:
    """Whether combining never makes a value of the bound task better (Def. A.2): declared, or by costs >= 0."""
    if task.worsening:
        return True
    form = row_cost_form(task, data)
    if form is None:
        terms = task.terms
        return terms[0][1] is not task and all(weight >= 0 and worsens(part, data) for weight, part in terms)
    costs = exact_costs(form, data)
    return bool(costs.costs.min(initial=0) >= 0) and costs.split >= 0
