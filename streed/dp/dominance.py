"""The algebra of all nondominated trees (STreeD, Eq. 3 and 7): by sorting or by comparing pairs.

Nothing is pruned: of two trees neither of which is better, either may be part of the best whole. Of trees of one value
the first is kept, and their order is kept too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from streed.dp.recursion import Algebra, Option, Recursion
from streed.exact import Array
from streed.task import COMPONENTWISE, Task
from streed.task.algebra import objective
from streed.task.objective import record_of

if TYPE_CHECKING:
    from streed.dp.states import Cell, Found
    from streed.task import Value

_BATCH = 2**12
"""Combinations of fronts that are looked at together."""

_MANY = 2**12
"""Values of three or more components that are filtered together."""

_WORTH = 0.7
"""Filtering by parts is worth another round if it leaves less than this."""


def nondominated_rows(values: Array) -> Array:
    """(f,) int64, ascending: the first row of each nondominated value of `values` (k, c), smaller being better."""
    if values.shape[1] == 2:
        order = np.lexsort((values[:, 1], values[:, 0]))
        second = values[order, 1]
        keep = np.ones(len(order), dtype=bool)
        keep[1:] = second[1:] < np.minimum.accumulate(second)[:-1]
        return np.sort(order[keep])
    if len(values) > _MANY:
        # parts first: most of what is dominated is so within its part, where looking is cheap
        parts = range(0, len(values), _MANY)
        ahead = np.concatenate([begin + nondominated_rows(values[begin : begin + _MANY]) for begin in parts])
        if len(ahead) < _WORTH * len(values):
            return ahead[nondominated_rows(values[ahead])]
    order = np.lexsort(values.T[::-1])
    rest, kept = values[order], []
    while len(order):
        # lexicographically first, so nothing that is left dominates it
        kept.append(int(order[0]))
        others = (rest < rest[0]).any(axis=1)
        order, rest = order[others], rest[others]
    return np.sort(np.array(kept, dtype=np.int64))


def nondominated_at_root(task: Task, values: Sequence[Value]) -> list[int]:
    """The places of the values of whole trees that none is better than, the first of each, by what counts at the root.

    Fronts of two components are sorted, as long as all of them counts.
    """
    record = record_of(objective(task))
    rest = [record.at_root(value) for value in values]
    if sorts(task) and rest and all(type(value) is tuple and len(value) == 2 for value in rest):
        return list(nondominated_rows(_places(rest)).tolist())
    return _undominated(rest, record.better_at_root)


def _undominated(values: Sequence[Value], better: Any) -> list[int]:
    """The places of the values that none is better than, the first of each, by comparing pairs."""
    kept: list[int] = []
    for at, value in enumerate(values):
        if not any(values[old] == value or better(values[old], value) for old in kept):
            kept = [old for old in kept if not better(value, values[old])]
            kept.append(at)
    return kept


def sorts(task: Task) -> bool:
    """Whether the order of the task's values is the componentwise one, with nothing of the task's own about it."""
    return task.order == COMPONENTWISE and not objective(task).overrides("better")


def _places(values: Sequence[Any]) -> Array:
    """(k, c) int64: in place of every number, of any kind, its place among those of its component."""
    columns = []
    for column in zip(*values, strict=True):
        place = {number: at for at, number in enumerate(sorted(set(column)))}
        columns.append([place[number] for number in column])
    return np.array(columns, np.int64).reshape(len(columns), len(values)).T


@final
class Front(Algebra):
    """Nondominated trees: others come in, dominated ones go."""

    looks = (2,)

    def __init__(self, recursion: Recursion, cell: Cell, bound: Any) -> None:
        super().__init__(recursion, cell, bound)
        self._constrained = objective(recursion.values).overrides("feasible")
        self.found: list[Found] = recursion.states.leaves(cell)

    @property
    def kept(self) -> list[Found]:
        return self.found

    def add(self, found: Sequence[Found]) -> None:
        """Takes in feasible trees."""
        if found:
            self.found = nondominated(self.recursion.values, [*self.found, *found])

    def put(self, option: Option, parts: Sequence[Sequence[Found]]) -> None:
        """Takes in every choice of one tree per child, merged (Eq. 7), as far as feasible."""
        choices = itertools.product(*parts)
        for block in iter(lambda: list(itertools.islice(choices, _BATCH)), []):
            merged = [self._merged(option, choice) for choice in block]
            allows = self.recursion.values.feasible
            self.add([each for each in merged if allows(each[0])] if self._constrained else merged)
            if not self.recursion.monitor.look():
                return

    def _merged(self, option: Option, choice: Sequence[Found]) -> Found:
        return self.recursion.merged([found[0] for found in choice], option.cost), option.split, tuple(choice)


def nondominated(task: Task, found: list[Found]) -> list[Found]:
    """The trees that none is better than, the first one of each value."""
    if len(found) < 2:
        return found
    values = [each[0] for each in found]
    if sorts(task):
        kept = nondominated_rows(_places(values)).tolist()
    else:
        kept = _undominated(values, task.better)
    return found if len(kept) == len(found) else [found[at] for at in kept]
