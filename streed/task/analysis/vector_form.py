"""Costs in whole numbers of each component of values of several: `leaf_cost` is run on symbols, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import StreedError
from streed.exact import Array, exact_number
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import COMPONENTWISE, Task, objective
from streed.task.bounded_sums import exact_costs
from streed.task.joint import Joint
from streed.task.objective import record_of
from streed.task.row_sums import quick_sums, state_of
from streed.task.states import State

Vector = tuple[int, ...]


@final
@attrs.frozen(eq=False)
class VectorCosts:
    """A tree's value by component: unit * (sum of costs[row, label] + split * branching nodes)."""

    costs: Array
    """(m, n, K) int64, row weights multiplied in."""
    splits: Vector
    units: tuple[Fraction | int, ...]
    """What one is worth in the task's values."""
    caps: tuple[int | None, ...]
    """The most that each component may be, in whole numbers (None: any)."""

    def value(self, vector: Sequence[int]) -> tuple[Any, ...]:
        """The task's value of whole numbers."""
        return tuple(exact_number(unit * part) for unit, part in zip(self.units, vector, strict=False))


@final
@attrs.frozen
class Entry(Joint):
    """One entry of the values of a task, as a task."""

    parts: tuple[Task]
    place: int

    def leaf_cost(self, s: State, k: int) -> Any:
        return self.parts[0].leaf_cost(s, k)[self.place]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        cost = self.parts[0].branching_cost(rows, path, split)
        return None if cost is None else cost[self.place]


def vector_costs(given: Task, data: Dataset) -> VectorCosts | None:
    """The bound task, of sums in the componentwise order, as whole costs; None where it cannot be shown to be that."""
    task = objective(given)
    record = record_of(task)
    added = task.order == COMPONENTWISE and task.adds_values and not task.overrides("better")
    if task.reads_rows or not added or any(limit.support is None for limit in given.limits):
        return None
    if any(part.overrides("feasible") for part in record.parts):
        return None
    try:
        known = task.statistics(data)
        width = len(task.leaf_cost(state_of(quick_sums(task, data, known), slice(None), data), 0))
        caps = [None] * width if record.is_plain else record.caps
        forms = [row_cost_form(Entry((task,), place), data, lambda: known) for place in range(width)]
        costs = [None if form is None else exact_costs(form, data) for form in forms]
    except (StreedError, TypeError):
        return None
    found = [each for each in costs if each is not None and each.exact]
    if len(found) < width:
        return None
    return VectorCosts(
        np.stack([each.costs for each in found]),
        tuple(each.split for each in found),
        tuple(exact_number(each.unit) for each in found),
        tuple(
            None if cap is None else math.floor(Fraction(exact_number(cap)) / each.unit)
            for cap, each in zip(caps, found, strict=True)
        ),
    )
