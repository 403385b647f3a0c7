"""The algebras of solutions: the best tree, by branch and bound, or all nondominated ones (STreeD, Eq. 3 and 7).

For one best tree a set of rows is asked for a tree better than a given value. A split is left as soon as it cannot be
better, whatever stands in the children that are not yet solved, by the order that (+) preserves (Def. 4.4), `subtract`
and lower bounds. Of a front nothing is pruned: of two trees neither of which is better, either may be part of the best
whole.

The depth rises, so that a search that is stopped knows lower trees; behind depths of up to three a rolling lookahead
makes trees of the whole depth. Of equally good trees it is the shallowest kind that is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np

from streed.dp.recursion import CLOSED, Algebra, Limits, Option, Path, Recursion, StopMonitor
from streed.dp.states import Cell, Found, States
from streed.exact import Array
from streed.problem import Problem
from streed.task import COMPONENTWISE, TOTAL, Task, Totals, Value
from streed.task.base import objective
from streed.task.bounded_sums import RowSum, values_of
from streed.task.objective import record_of
from streed.task.states import sums_by


@final
class Least(Algebra):
    """The best tree below the bound, in a list of one; an empty one where there is none."""

    looks = (1, 2, 3)

    def __init__(self, recursion: Recursion, cell: Cell, bound: Any) -> None:
        super().__init__(recursion, cell, bound)
        self.found: list[Found] = []
        self.add(recursion.states.leaves(cell))

    def add(self, found: Iterable[Found]) -> None:
        """Takes the best of some feasible trees, if it is below the bound."""
        for each in found:
            if self.bound is None or self.recursion.values.better(each[0], self.bound):
                self.found, self.bound = [each], each[0]

    @property
    def kept(self) -> tuple[list[Found], Any]:
        """The best tree; else a value that no tree is better than, None if there are no trees."""
        return self.found, self.bound

    @staticmethod
    def recall(recursion: Recursion, kept: Any, bound: Any) -> list[Found] | None:
        found, floor = kept
        better = recursion.values.better
        if found:
            return found if bound is None or better(found[0][0], bound) else []
        return [] if floor is None or (bound is not None and not better(floor, bound)) else None

    def is_open(self) -> bool:
        return may_improve(self.recursion, self.cell, self.bound)

    def lows(self, option: Option) -> Sequence[Any]:
        if self.bound is None:
            return (None,) * len(option.children)
        pairs = zip(option.children, option.limits, strict=True)
        return [self._low(child, limits, option.path) for child, limits in pairs]

    def _low(self, child: Cell, limits: Limits, path: Path) -> Value | None:
        """A value that no tree of the child is better than, or None."""
        if limits[0] == 0:
            leaf = Least(self.recursion, child, None).found
            return leaf[0][0] if leaf else None
        known = child.memo.get((Least, limits, path))
        if known is not None:
            return known[0][0][0] if known[0] else known[1]
        return self.recursion.states.floor(child)

    def room(self, option: Option, lows: Sequence[Any], parts: Sequence[Any]) -> Any:
        """What a child must be better than; None where `subtract` cannot tell, as left of it where (+) is no sum."""
        recursion, room = self.recursion, self.bound
        if room is None:
            return None
        before, rest = [part[0][0] for part in parts], lows[len(parts) :]
        if None not in rest and not recursion.values.better(recursion.merged([*before, *rest], option.cost), room):
            return CLOSED
        if None in rest[1:] or (before and not recursion.states.is_sum):
            return None
        taken = [*before, *rest[1:], *([] if option.cost is None else [option.cost])]
        for value in reversed(taken):
            room = recursion.values.subtract(room, value)
            if room is None:
                return None
        return room

    def put(self, option: Option, parts: Sequence[Any]) -> None:
        choice = tuple(part[0] for part in parts)
        value = self.recursion.merged([part[0] for part in choice], option.cost)
        if self.recursion.values.feasible(value):
            self.add([(value, option.split, choice)])


def may_improve(recursion: Recursion, cell: Cell, bound: Any) -> bool:
    """Whether the cell's lower bound leaves room for a tree better than the bound."""
    floor = None if bound is None else recursion.states.floor(cell)
    return floor is None or bool(recursion.values.better(floor, bound))


_BATCH = 2**12
"""Combinations of fronts that are looked at together."""


def nondominated_rows(values: Array) -> Array:
    """(f,) int64, ascending: the first row of each nondominated value of `values` (k, c), smaller being better."""
    if values.shape[1] == 2:
        order = np.lexsort((values[:, 1], values[:, 0]))
        second = values[order, 1]
        keep = np.ones(len(order), dtype=bool)
        keep[1:] = second[1:] < np.minimum.accumulate(second)[:-1]
        return np.sort(order[keep])
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
    pairs = all(type(value) is tuple and len(value) == 2 for value in rest)
    return _undominated(rest, record.better_at_root, by_sorting=pairs and sorts(task))


def _undominated(values: Sequence[Value], better: Any, *, by_sorting: bool) -> list[int]:
    """The places of the values that none is better than, the first of each: by sorting, or by comparing pairs."""
    if by_sorting and values:
        places: list[int] = nondominated_rows(_places(values)).tolist()
        return places
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
    kept = _undominated([each[0] for each in found], task.better, by_sorting=sorts(task))
    return found if len(kept) == len(found) else [found[at] for at in kept]


def ideal_score(problem: Problem) -> Any | None:
    """A score that no tree's is better than: that of the best of every component; None where one is not known.

    Rows that no column tells apart cost what the label that is best for them does (the equivalent points bound).
    """
    task, data = objective(problem.task), problem.data
    record, sums = record_of(task), problem.vector_costs
    value: Any = None
    if sums is not None and all(each.split >= 0 for each in sums):
        value = values_of(sums, [int(each.min(axis=1).sum()) for each in costs_of_equal_rows(sums, data.X)])
    elif not (record.is_plain or record.sum_limits or record.gaps):
        value = tuple(_least(part, problem) for part in record.parts)
    return None if value is None or None in value else record.ideal_score(value, Totals(task, data))


def costs_of_equal_rows(sums: Sequence[RowSum], codes: Array) -> Array:
    """(m, groups, K) int64: what each set of equal rows of `codes` (n, p) costs in every component, by label."""
    _, first, groups = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return np.stack([sums_by(groups.reshape(-1), each.costs, len(first)) for each in sums])


def _least(part: Task, problem: Problem) -> Value | None:
    """A value that no tree of one part of a product is better than; None where nothing is known."""
    if part.order != TOTAL:
        return None
    alone = Problem(problem.data, part, problem.max_depth, problem.max_nodes, problem.min_leaf)
    states = States(alone, StopMonitor())
    return states.floor(states.root)


_FIRST_DEPTHS = 3
"""Where the depth is not limited, trees of less depth than this are looked for first."""

_TRIED = 3
"""How many splits of its exact trees a lookahead tries at each node."""


@final
class Deepening:
    """The search for one problem by the best tree or the front; `run` it once."""

    def __init__(self, recursion: Recursion, problem: Problem, beat: Value | None) -> None:
        self.recursion = recursion
        self._beat = beat
        """Only trees of a better value than this are looked for."""
        self._root = recursion.states.root
        self._limits = recursion.useful(self._root, problem.max_depth, problem.max_nodes)
        self._found: list[Found] = []
        self._ahead: list[Any] = []
        """What every lookahead made, and is making."""

    def run(self) -> bool:
        """Searches until the answer is proved, which it says, or the monitor stops it."""
        recursion, (deepest, nodes) = self.recursion, self._limits
        for depth in [*range(_FIRST_DEPTHS if deepest is None else deepest), deepest]:
            bound = None
            if recursion.algebra is Least:
                if depth == deepest:
                    self._found = self.solutions
                bound = self._found[0][0] if self._found else self._beat
            found = recursion.trees(self._root, recursion.useful(self._root, depth, nodes), (), bound)
            self._found = nondominated(recursion.values, [*self._found, *found])
            if depth in recursion.algebra.looks and depth != deepest and not recursion.monitor.stopped:
                self.look_ahead(self._root, self._limits, (), depth)
            if recursion.monitor.stopped:
                return False
        return True

    @property
    def solutions(self) -> list[Found]:
        """What is known of the answer."""
        values, making = self.recursion.values, [*self._ahead, self.recursion.whole]
        known = [*self._found, *(found for each in making if each for found in each.found)]
        if self._beat is not None:
            known = [each for each in known if values.better(each[0], self._beat)]
        return nondominated(values, known)

    def bound(self) -> Value | None:
        """A value that no tree is better than, or None; for a search that was stopped."""
        return self.recursion.states.floor(self._root) if self.recursion.algebra is Least else None

    def look_ahead(self, cell: Cell, limits: Limits, path: Path, look: int) -> list[Found]:
        """Good trees within the useful limits: split as some of the exact ones of `look` levels are, and rolled on."""
        recursion, (depth, nodes) = self.recursion, limits
        levels = look if depth is None else min(depth, look)
        exact: list[Found] = recursion.trees(cell, recursion.useful(cell, levels, nodes), path)
        tried = [found[1] for found in exact if found[2] is not None]
        if not tried or levels == depth or recursion.monitor.stopped:
            return exact
        key = (look, limits, path)
        known: list[Found] | None = cell.memo.get(key)
        if known is not None:
            return known
        making: Any = recursion.algebra(recursion, cell, None)
        making.add(exact)
        if cell is self._root:
            self._ahead.append(making)
        below = None if depth is None else depth - 1
        chosen = {tried[at * (len(tried) - 1) // (_TRIED - 1)] for at in range(_TRIED)}
        for split, children in [each for each in recursion.states.splits(cell) if each[0] in chosen]:
            under = recursion.states.below(path, split)
            shares = [None if nodes is None else (nodes - 1) * child.n_rows // cell.n_rows for child in children]
            limited = [recursion.useful(child, below, share) for child, share in zip(children, shares, strict=True)]
            option = Option(split, children, limited, under, recursion.states.price(cell, path, split))
            parts = [self.look_ahead(*each, under, look) for each in zip(children, limited, strict=True)]
            if all(parts):
                making.put(option, parts)
            if recursion.monitor.stopped:
                break
        cell.memo[key] = known = making.found
        return known
