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

from streed.errors import NotSeparableError, TaskError
from streed.exact import Array, Range
from streed.task.algebra.directions import as_costs
from streed.task.algebra.parts import name, part_state
from streed.task.algebra.products import Product
from streed.task.analysis.exact_costs import exact_costs
from streed.task.analysis.linear_form import adds, row_cost_form
from streed.task.base import TOTAL, Limit, Task
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights
from streed.task.composable import indented
from streed.task.constrained import Constrained, Wrapping, leaf_limits, objective
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Threshold:
    """A limit on the value of a task: no worse than `limit`."""

    task: Task
    limit: Any


@final
@attrs.frozen
class Thresholded(Wrapping):
    """The first part of a product over the trees whose other parts are within their limits."""

    task: Product
    most: tuple[Any, ...]
    """The limits of the parts from the second on."""

    @property
    def parts(self) -> tuple[Task, ...]:
        return self.task.parts

    def bind(self, data: Dataset) -> Task:
        bound = self.task.bind(data)
        assert isinstance(bound, Product)
        for part in bound.parts[1:]:
            if not worsens(part, data):
                raise _not_worsening(part, "its costs may be negative")
        return Thresholded(bound, self.most)

    def feasible(self, value: Any) -> bool:
        """Eq. 29, for every threshold, and the parts' own; equal to the limit is within it."""
        within = zip(self.parts[1:], self.most, value[1:], strict=True)
        return self.task.feasible(value) and not any(part.better(limit, x) for part, limit, x in within)

    def objective_of(self, value: Any) -> Any:
        return value[0]

    def at_root(self, value: Any) -> Any:
        return value[0]

    def better_at_root(self, a: Any, b: Any) -> bool:
        return self.parts[0].better(a, b)

    def score(self, value: Any, totals: State) -> Any:
        return self.parts[0].score(value[0], part_state(totals, 0))

    def value_caps(self, width: int) -> Sequence[Any] | None:
        free = self.task.value_caps(width)
        return None if free is None else [free[0], *self.most]

    @property
    def value_limits(self) -> tuple[tuple[Task, Any], ...]:
        return tuple(zip(self.parts[1:], self.most, strict=True))

    def ideal_score(self, value: Any, totals: State) -> Any:
        return self.score(value, totals)

    def outline(self) -> list[str]:
        lines = [*self.parts[0].outline(), "subject to"]
        for part, most in self.value_limits:
            *first, last = part.outline()
            lines += indented([*first, f"{last} <= {most}"])
        return lines


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
        raise _not_worsening(task, "its combine is its own and it does not declare `worsening`")
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
        inner = inner.under_sum_limits(on_sums)
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


def worsens(task: Task, data: Dataset) -> bool:
    """Whether combining never makes a value of the bound task better (Def. A.2): declared, or by costs >= 0."""
    if task.worsening:
        return True
    form = row_cost_form(task, data)
    if form is None:
        terms = task.summands
        return terms[0][1] is not task and all(weight >= 0 and worsens(part, data) for weight, part in terms)
    costs = exact_costs(form, data)
    return bool(costs.costs.min(initial=0) >= 0) and costs.split >= 0


def _thresholded(task: Task, thresholds: Sequence[Threshold]) -> Task:
    most = tuple(threshold.limit for threshold in thresholds)
    tasks = tuple(threshold.task for threshold in thresholds)
    if isinstance(task, Thresholded):
        return Thresholded(Product(task.parts + tasks), task.most + most)
    if task.order != TOTAL:
        raise TaskError(
            f"a limit on a value joins tasks whose order is total, and that of {name(task)} is {task.order}"
        )
    return Thresholded(Product((task, *tasks)), most)


def _not_worsening(task: Task, why: str) -> NotSeparableError:
    return NotSeparableError(
        f"a limit on {name(task)} is not anti-monotone, because its combining is not worsening (STreeD, Def. A.2): "
        f"{why}; a tree within the limit may have parts beyond it"
    )
