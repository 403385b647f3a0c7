"""`A & B`, `A <= limit` and `subject_to`: several tasks at once (STreeD, Prop. A.4), or one within limits on others.

The nondominated values of `A & B` form a front. They are tuples, one entry per task, compared entry by entry (Eq. 33)
and combined entry by entry (Eq. 34). Separable if every task is, whatever its own (+), order and limits are.

A tree within a limit on B must have parts within it, if combining never makes a value of B better (Def. A.2). So
`A.subject_to(B <= limit)` is the task of A and B at once over the trees whose B is within the limit (Prop. A.3).
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
from streed.task.algebra.parts import (
    Joint,
    as_costs,
    check_operand,
    label_number,
    name,
    part_state,
)
from streed.task.analysis.linear_form import adds, row_cost_form
from streed.task.analysis.vector_form import exact_costs
from streed.task.base import COMPONENTWISE, PARTIAL, TOTAL, Limit, Task
from streed.task.bounded_sums import BoundedSum, Gap, SumLimit, integer_weights
from streed.task.composable import indented
from streed.task.constrained import Constrained, leaf_limits, objective
from streed.task.over_sums import with_sum_limits
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Product(Joint):
    """Several totally ordered tasks, at least two, flat: no part is itself a product.

    With limits, it is the first of them over the trees whose other parts are within theirs.
    """

    parts: tuple[Task, ...]
    most: tuple[Any, ...] = ()
    """The limits of the parts from the second on; none, and its nondominated values are a front."""

    def overrides(self, name: str) -> bool:
        """Its operators say what the parts' do, entry by entry: more than the defaults if one of the parts' does."""
        if name in ("better", "feasible", "branching_cost"):
            return (name == "feasible" and bool(self.most)) or any(part.overrides(name) for part in self.parts)
        return super().overrides(name)

    @property
    def value_parts(self) -> tuple[Task, ...]:
        return self.parts

    @property
    def value_limits(self) -> tuple[tuple[Task, Any], ...]:
        return tuple(zip(self.parts[1:], self.most, strict=True)) if self.most else ()

    def value_caps(self, width: int) -> Sequence[Any] | None:
        if any(part.overrides("feasible") for part in self.parts):
            return None
        return [None, *self.most] if self.most else [None] * width

    def ideal_score(self, value: Any, totals: State) -> Any:
        return self.score(value, totals)

    def outline(self) -> list[str]:
        if not self.most:
            return ["front of", *(line for part in self.parts for line in indented(part.outline()))]
        lines = [*self.parts[0].outline(), "subject to"]
        for part, most in self.value_limits:
            *first, last = part.outline()
            lines += indented([*first, f"{last} <= {most}"])
        return lines

    @property
    def larger_is_better(self) -> bool:
        """As the first part, whose score chooses the result's tree from the front."""
        return self.parts[0].larger_is_better

    @property
    def order(self) -> str:  # type: ignore[override]
        return PARTIAL if self.overrides("better") else COMPONENTWISE

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return all(part.worsening for part in self.parts)

    @property
    def adds_values(self) -> bool:
        return all(adds(part) for part in self.parts)

    def bind(self, data: Dataset) -> Task:
        parts = tuple(part.bind(data) for part in self.parts)
        for part in parts[1:] if self.most else ():
            if not worsens(part, data):
                raise not_worsening(part, "its costs may be negative")
        return Product(parts, self.most)

    def leaf_cost(self, s: State, k: int) -> tuple[Any, ...]:
        """Eq. 30."""
        return tuple(
            _number(part, part.leaf_cost(part_state(s, number), label_number(part, k)))
            for number, part in enumerate(self.parts)
        )

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> tuple[Any, ...] | None:
        """Eq. 31; None in the place of parts that name no cost."""
        costs = tuple(part.branching_cost(rows, path, split) for part in self.parts)
        if all(cost is None for cost in costs):
            return None
        if self.adds_values:
            return tuple(0 if cost is None else cost for cost in costs)
        return costs

    def combine(self, a: Any, b: Any) -> tuple[Any, ...]:
        """Eq. 34."""
        return tuple(x if y is None else part.combine(x, y) for part, x, y in zip(self.parts, a, b, strict=True))

    def better(self, a: Any, b: Any) -> bool:
        """Eq. 33."""
        return bool(a != b) and all(x == y or part.better(x, y) for part, x, y in zip(self.parts, a, b, strict=True))

    def feasible(self, value: Any) -> bool:
        """Eq. 35, and Eq. 29 for every limit; equal to it is within it."""
        within = all(part.feasible(x) for part, x in zip(self.parts, value, strict=True))
        capped = zip(self.parts[1:], self.most, value[1:], strict=False)
        return within and not any(part.better(most, x) for part, most, x in capped)

    def objective_of(self, value: Any) -> Any:
        return value[0] if self.most else value

    def better_at_root(self, a: Any, b: Any) -> bool:
        return self.parts[0].better(a, b) if self.most else self.better(a, b)

    def subtract(self, a: Any, b: Any) -> tuple[Any, ...] | None:
        """a - b where all parts are sums; a bound by entries is none in general, for entries may be equal."""
        return tuple(x - y for x, y in zip(a, b, strict=True)) if self.adds_values else None

    def lower_bound(self, s: State) -> tuple[Any, ...] | None:
        bounds = tuple(part.lower_bound(part_state(s, number)) for number, part in enumerate(self.parts))
        return None if any(bound is None for bound in bounds) else bounds

    def score(self, value: Any, totals: State) -> Any:
        """The score of every part, or of the first where the others are limited."""
        if self.most:
            return self.parts[0].score(value[0], part_state(totals, 0))
        return tuple(
            part.score(x, part_state(totals, number))
            for number, (part, x) in enumerate(zip(self.parts, value, strict=True))
        )


def join(a: Task, b: Task | Gap) -> Task:
    """a & b: both at once; raises TaskError for tasks that are not totally ordered."""
    if isinstance(b, Gap):
        from streed.task.over_sums import with_gap

        check_operand(a, "&")
        return with_gap(a, b)
    return Product(_parts(a) + _parts(b))


def _parts(task: Task) -> tuple[Task, ...]:
    if isinstance(task, Product) and not task.most:
        return task.parts
    check_operand(task, "&")
    task = as_costs(task)
    if task.order != TOTAL:
        raise TaskError(
            f"the operator & joins tasks whose order is total, and that of {name(task)} is {task.order}; make each of "
            "its entries a task"
        )
    return (task,)


def _number(part: Task, cost: Any) -> Any:
    """The cost; raises TaskError for a tuple, which `combine` by entries would take apart."""
    if isinstance(cost, tuple):
        raise TaskError(f"the operator & joins tasks whose values are numbers, and {name(part)} costs {cost!r}")
    return cost


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


def not_worsening(task: Task, why: str) -> NotSeparableError:
    """The error for a limit on a task that combining may make better."""
    return NotSeparableError(
        f"a limit on {name(task)} is not anti-monotone, because its combining is not worsening (STreeD, Def. A.2): "
        f"{why}; a tree within the limit may have parts beyond it"
    )


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
        limits = [SumThreshold(limit) if isinstance(limit, Threshold) else limit for limit in limits]
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
