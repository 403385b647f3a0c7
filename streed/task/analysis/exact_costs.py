"""A task of costs per row in whole numbers of a common unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streed.errors import TaskError
from streed.exact import Array
from streed.task.base import RowCostTask, Task
from streed.task.constrained import objective
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
