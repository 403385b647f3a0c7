"""`A <= limit` and `subject_to`: limits on the value of a whole tree (STreeD, Prop. A.3), and on its leaves.

A tree within a limit on B must have parts within it, if combining never makes a value of B better (Def. A.2). So
`A.subject_to(B <= limit)` is the task of A and B at once (Prop. A.4) over the trees whose B is within the limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import TaskError
from streed.exact import Array, Range
from streed.task.algebra.directions import as_costs
from streed.task.algebra.parts import name
from streed.task.algebra.products import Product, not_worsening
from streed.task.analysis.exact_costs import exact_costs
from streed.task.analysis.linear_form import adds, row_cost_form
from streed.task.base import TOTAL, Limit, Task
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights
from streed.task.constrained import Constrained, leaf_limits, objective
from streed.task.over_sums import with_sum_limits

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Threshold:
    """A limit on the value of a task: no worse than `limit`."""

    task: Task
    limit: Any


def at_most(task: Task, limit: Any) -> Threshold:
    """task <= limit, the limit an exact number (a float is the decimal it prints as).

    Raises NotSeparableError where combining may make a value better, TaskError where the value is not what is shown.
    """
    inner = objective(task)
    if inner is not task:
        raise TaskError("put subject_to last: a limit is on the value of an objective, not of a constrained task")
    if task.order != TOTAL:
        raise TaskError(f"a limit is on one number, and the order of {name(task)} is {task.order}; limit its entries")
    if task.maximize or task.overrides("score"):
        raise TaskError(
            f"the score of {name(task)} is not the value that is minimised, so <= would not limit what is shown; write "
            "the limit on a task whose value is meant"
        )
    if not adds(task) and not task.worsening:
        raise not_worsening(task, "its combine is its own and it does not declare `worsening`")
    return Threshold(task, Range().read("limit", limit))


def constrain(task: Task, limits: Sequence[Limit | Threshold]) -> Task:
    """The task over the trees that meet `limits`; raises TaskError for anything that is neither kind of limit."""
    for limit in limits:
        if not isinstance(limit, (Limit, Threshold)):
            raise TaskError(f"subject_to takes limits such as MinSupport(5) or Splits() <= 3, not {limit!r}")
    inner = objective(as_costs(task))
    if inner.vector_form.of_sums or any(isinstance(limit, SumLimit) for limit in limits):
        limits = [_on_sum(limit) if isinstance(limit, Threshold) else limit for limit in limits]
    thresholds = [limit for limit in limits if isinstance(limit, Threshold)]
    if thresholds:
        inner = _thresholded(inner, thresholds)
    on_sums = [limit for limit in limits if isinstance(limit, SumLimit)]
    if on_sums:
        inner = with_sum_limits(inner, on_sums)
    on_leaves = (limit for limit in limits if isinstance(limit, Limit) and not isinstance(limit, SumLimit))
    further = leaf_limits(task) + tuple(on_leaves)
    return Constrained(inner, further) if further or not limits else inner


@final
@attrs.frozen
class SumThreshold(SumLimit):
    """A limit on the value of a task that is a cost per row and label, beside other limits on sums."""

    of_classes: ClassVar[bool] = False

    threshold: Threshold

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        bound = self.threshold.task.bind(data)
        costs = exact_costs(row_cost_form(bound, data) or bound, data)
        weights, _ = integer_weights(data)
        if costs.split < 0 or not costs.exact:
            what = "a branching node is paid for" if costs.exact else "its costs are real numbers"
            raise TaskError(
                f"a limit on {name(self.threshold.task)} beside sums over the whole tree needs whole costs of rows and "
                f"nodes, and {what}"
            )
        by_row = costs.costs if weights is None else costs.costs // np.maximum(weights, 1)[:, None]
        found = BoundedSum(by_row, 0, 0, None, costs.split)
        most = math.floor(Fraction(self.threshold.limit) / costs.unit)
        return (attrs.evolve(found, least=found.spread(weights)[0], most=most),)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        bound = self.threshold.task.bind(data)
        costs = exact_costs(row_cost_form(bound, data) or bound, data)
        # exact, since a tree may be just within the limit
        value = costs.unit * (int(costs.costs[np.arange(data.n_rows), predicted].sum()) + costs.split * nodes)
        most = Fraction(self.threshold.limit)
        return {
            "limit_on": name(self.threshold.task),
            "value": float(value),
            "limit": float(most),
            "holds": value <= most,
            "rates": {},
        }


def _on_sum(threshold: Threshold) -> SumThreshold:
    return SumThreshold(threshold)


def _thresholded(task: Task, thresholds: Sequence[Threshold]) -> Task:
    most = tuple(threshold.limit for threshold in thresholds)
    tasks = tuple(threshold.task for threshold in thresholds)
    if isinstance(task, Product) and task.most:
        return Product(task.parts + tasks, task.most + most)
    if task.order != TOTAL:
        raise TaskError(
            f"a limit on a value joins tasks whose order is total, and that of {name(task)} is {task.order}"
        )
    return Product((task, *tasks), most)
