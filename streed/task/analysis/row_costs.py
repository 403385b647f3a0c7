"""Costs of a task of costs per row in whole numbers of a common unit, and what follows from them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import Array, exact_number
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import RowCostTask, Task
from streed.task.bounded_sums import RowSum
from streed.task.row_sums import weight_array
from streed.whole_costs import IntegerCosts, integer_costs


def exact_costs(task: RowCostTask, data: Dataset) -> IntegerCosts:
    """The bound task's costs and its cost per split as integers with one common unit; raises TaskError if it has none.

    Raises InputError where exact integers overflow.
    """
    shape = (data.n_rows, len(task.labels(data)))
    terms = [(weight, checked_costs(costs, task, shape)) for weight, costs in task.cost_terms(data)]
    return integer_costs(terms, task.split_cost(), weight_array(data))


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


def row_sum(task: Task, data: Dataset, most: Any = None) -> RowSum | None:
    """The sum that is the value of a bound task, at most `most`; None where it is none."""
    form = row_cost_form(task, data)
    if form is None:
        return None
    costs = exact_costs(form, data)
    given: Any = costs if costs.exact else costs.wide
    cap = None if most is None else math.floor(Fraction(exact_number(most)) / given.unit)
    # not `given.split`, which is cut off where no optimum can have a split, and other trees can
    split = Fraction(form.split_cost()) / given.unit
    return RowSum(given.costs, int(split), given.unit, None, cap)
