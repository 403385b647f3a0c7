"""`A & B`: several tasks at once, whose nondominated values form a front (STreeD, Prop. A.4).

Values are tuples, one entry per task, compared entry by entry (Eq. 33) and combined entry by entry (Eq. 34). Separable
if every task is, whatever its own (+), order and limits are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs

from streed.errors import TaskError
from streed.task.algebra.directions import as_costs
from streed.task.algebra.parts import (
    Joint,
    check_operand,
    label_number,
    name,
    part_state,
)
from streed.task.analysis.linear_form import adds
from streed.task.base import COMPONENTWISE, PARTIAL, TOTAL, Task
from streed.task.bounded_sums import Gap
from streed.task.composable import indented
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Product(Joint):
    """Several totally ordered tasks, at least two, flat: no part is itself a product."""

    parts: tuple[Task, ...]

    def overrides(self, name: str) -> bool:
        """Its operators say what the parts' do, entry by entry: more than the defaults if one of the parts' does."""
        if name == "dominates":
            return any(part.overrides("better") or part.overrides("dominates") for part in self.parts)
        if name in ("better", "feasible", "branching_cost"):
            return any(part.overrides(name) for part in self.parts)
        return super().overrides(name)

    @property
    def value_parts(self) -> tuple[Task, ...]:
        return self.parts

    def ideal_score(self, value: Any, totals: State) -> Any:
        return self.score(value, totals)

    def outline(self) -> list[str]:
        return ["front of", *(line for part in self.parts for line in indented(part.outline()))]

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
        return Product(tuple(part.bind(data) for part in self.parts))

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

    def dominates(self, a: Any, b: Any) -> bool:
        """Eq. 33."""
        return bool(a != b) and all(x == y or part.better(x, y) for part, x, y in zip(self.parts, a, b, strict=True))

    def feasible(self, value: Any) -> bool:
        """Eq. 35."""
        return all(part.feasible(x) for part, x in zip(self.parts, value, strict=True))

    def subtract(self, a: Any, b: Any) -> tuple[Any, ...] | None:
        """a - b where all parts are sums; a bound by entries is none in general, for entries may be equal."""
        return tuple(x - y for x, y in zip(a, b, strict=True)) if self.adds_values else None

    def lower_bound(self, s: State) -> tuple[Any, ...] | None:
        bounds = tuple(part.lower_bound(part_state(s, number)) for number, part in enumerate(self.parts))
        return None if any(bound is None for bound in bounds) else bounds

    def score(self, value: Any, totals: State) -> tuple[Any, ...]:
        """The score of every part."""
        return tuple(
            part.score(x, part_state(totals, number))
            for number, (part, x) in enumerate(zip(self.parts, value, strict=True))
        )


def join(a: Task, b: Task | Gap) -> Task:
    """a & b: both at once; raises TaskError for tasks that are not totally ordered."""
    if isinstance(b, Gap):
        from streed.task.tradeoffs import bi_objective

        check_operand(a, "&")
        return bi_objective(a, b)
    return Product(_parts(a) + _parts(b))


def _parts(task: Task) -> tuple[Task, ...]:
    if isinstance(task, Product):
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
