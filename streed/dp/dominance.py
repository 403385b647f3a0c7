"""What is nondominated (STreeD, Eq. 3): by sorting where the order is componentwise, else by comparing pairs.

Of solutions of one value the first is kept, and the order of the solutions is kept too.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from streed.exact import Array
from streed.task import COMPONENTWISE, Task
from streed.task.algebra import objective

if TYPE_CHECKING:
    from streed.dp.states import Found
    from streed.dp.stop_monitor import StopMonitor
    from streed.task import Value

_LARGEST = 2**50
"""Whole numbers below this add up exactly, as int64 and as float64 beside real numbers."""

_BLOCK = 2**20
"""Combinations of two fronts that are looked at together."""

_MANY = 2**12
"""Values of three or more components that are filtered together."""

_WORTH = 0.7
"""Filtering by parts is worth another round if it leaves less than this."""

_FEW = 64
"""Fewer combinations than this are quicker one by one."""

_BATCH = 2**12
"""Solutions that are taken in together."""


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
    rest = [task.at_root(value) for value in values]
    if sorts(task) and rest and all(type(value) is tuple and len(value) == 2 for value in rest):
        return _first_nondominated(rest)
    kept: list[int] = []
    for at, value in enumerate(rest):
        if any(rest[old] == value or task.better_at_root(rest[old], value) for old in kept):
            continue
        kept = [old for old in kept if not task.better_at_root(value, rest[old])]
        kept.append(at)
    return kept


def sorts(task: Task) -> bool:
    """Whether the order of the task's values is the componentwise one, with nothing of the task's own about it."""
    inner = objective(task)
    return task.order == COMPONENTWISE and not inner.overrides("better")


@final
class Front:
    """Nondominated solutions."""

    __slots__ = ("_array", "found")

    def __init__(self, found: list[Found], array: Array | None = None) -> None:
        self.found = found
        self._array: Any = self if array is None else array

    def array(self) -> Array | None:
        """The values (f, c) as int64 or float64 in which they add up exactly as in Python; None if there is no such."""
        if self._array is self:
            self._array = _array([each[0] for each in self.found])
        return self._array  # type: ignore[no-any-return]


def _array(values: Sequence[Any]) -> Array | None:
    if not values or not all(isinstance(value, tuple) and value for value in values):
        return None
    if not {type(x) for value in values for x in value} <= {int, float}:
        return None
    try:
        array = np.array(values)
    except (OverflowError, ValueError):
        return None
    if array.ndim != 2 or array.dtype.kind not in "if" or not np.isfinite(array).all():
        return None
    whole = array.dtype.kind == "i" or any(type(x) is int for value in values for x in value)
    return None if whole and float(np.abs(array).max()) >= _LARGEST else array


@final
class Gathering:
    """A front in the making: solutions come in, dominated ones go."""

    def __init__(self, task: Task, monitor: StopMonitor, leaves: list[Found]) -> None:
        inner = objective(task)
        self._task = task
        self._monitor = monitor
        self._sorts = sorts(task)
        self.adds = self._sorts and inner.adds_values
        self._combine = _add if self.adds else task.combine
        self._constrained = inner.overrides("feasible")
        self.front = Front(leaves)

    def add(self, found: Sequence[Found]) -> None:
        """Takes in feasible solutions."""
        if not found:
            return
        if not self._sorts:
            self._compare(found)
            return
        together = [*self.front.found, *found]
        array = _array([each[0] for each in together])
        if array is not None:
            kept = nondominated_rows(array).tolist()
        else:
            kept = _first_nondominated([each[0] for each in together])
        self.front = Front([together[at] for at in kept])

    def merge(self, split: int, thetas: Sequence[Front], cost: Any) -> None:
        """Takes in every choice of one solution per child, merged (Eq. 7), as far as feasible."""
        combinations = math.prod(len(theta.found) for theta in thetas)
        if combinations == 0:
            return
        if self.adds and not self._constrained and combinations > _FEW:
            arrays = [theta.array() for theta in thetas]
            added = None if cost is None else _array([cost])
            if all(array is not None for array in arrays) and (added is None) == (cost is None):
                self._merge_arrays(split, thetas, arrays, cost, added)
                return
        self._merge_one_by_one(split, thetas, cost)

    def _merge_one_by_one(self, split: int, thetas: Sequence[Front], cost: Any) -> None:
        solutions = self.combined(split, [theta.found for theta in thetas], cost)
        while block := list(itertools.islice(solutions, _BATCH)):
            self.add(block)
            if not self._monitor.look():
                return

    def combined(self, split: int, parts: Sequence[Sequence[Found]], cost: Any) -> Iterator[Found]:
        """The feasible solutions that branch on the column, for every choice of one solution per child."""
        for choice in itertools.product(*parts):
            solution = self.solution(split, choice, cost)
            if not self._constrained or self._task.feasible(solution[0]):
                yield solution

    def _merge_arrays(
        self, split: int, thetas: Sequence[Front], arrays: Sequence[Any], cost: Any, added: Array | None
    ) -> None:
        def solution(row: Array) -> Found:
            choice = tuple(theta.found[at] for theta, at in zip(thetas, row.tolist(), strict=True))
            return self.solution(split, choice, cost)

        step = max(1, _BLOCK // math.prod(len(array) for array in arrays[1:]))
        for begin in range(0, len(arrays[0]), step):
            values: Array = arrays[0][begin : begin + step]
            choices = np.arange(begin, begin + len(values))[:, None]
            for array in arrays[1:]:
                values, choices = self._sums(values, choices, array)
            if added is not None:
                values = values + added
            self._take(values, choices, solution)
            if not self._monitor.look():
                return

    def _sums(self, a: Array, choices: Array, b: Array) -> tuple[Array, Array]:
        """The sums of one row of each, (k, c), and the choices that they are of.

        What is dominated among sums stays so whatever is added, and goes.
        """
        values = (a[:, None, :] + b[None, :, :]).reshape(-1, b.shape[1])
        rows = nondominated_rows(values)
        first, second = np.divmod(rows, len(b))
        return values[rows], np.concatenate([choices[first], second[:, None]], axis=1)

    def _take(self, values: Array, choices: Array, solution: Callable[[Array], Found]) -> None:
        """Takes in these choices (k, ...) of values (k, c), and makes solutions of the nondominated ones only."""
        front = self.front.array()
        if front is None and self.front.found:
            self.add([solution(row) for row in choices])
            return
        # what the front has stays before what comes, so that it wins where values are equal
        together = values if front is None else np.concatenate([front, values])
        known = len(self.front.found)
        kept = nondominated_rows(together)
        old, new = kept[kept < known], kept[kept >= known] - known
        solutions = [self.front.found[at] for at in old.tolist()] + [solution(row) for row in choices[new]]
        self.front = Front(solutions, together[kept])

    def solution(self, split: int, choice: tuple[Found, ...], cost: Any) -> Found:
        """The solution that branches on the column, with one solution per child that has rows."""
        return self._value(choice, cost), split, choice

    def _value(self, choice: Sequence[Found], cost: Any) -> Value:
        combine = self._combine
        value = combine(choice[0][0], choice[1][0])
        for part in choice[2:]:
            value = combine(value, part[0])
        return value if cost is None else combine(value, cost)

    def _compare(self, found: Sequence[Found]) -> None:
        better = self._task.better
        front = self.front.found
        for new in found:
            if not any(old[0] == new[0] or better(old[0], new[0]) for old in front):
                front = [old for old in front if not better(new[0], old[0])]
                front.append(new)
        self.front = Front(front)


def _add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sum of tuples entry by entry: `Task.combine` of tuples, quicker."""
    return tuple(map(operator.add, a, b))


def _first_nondominated(values: Sequence[Any]) -> list[int]:
    """The places of the first of each nondominated value, by the componentwise order, of numbers of any kind."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    kept: list[int] = []
    if values and len(values[0]) == 2:
        least = None
        for at in order:
            if least is None or values[at][1] < least:
                kept.append(at)
                least = values[at][1]
    else:
        for at in order:
            value = values[at]
            if not any(all(x <= y for x, y in zip(values[old], value, strict=True)) for old in kept):
                kept.append(at)
    return sorted(kept)
