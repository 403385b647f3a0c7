"""The best solution of a totally ordered task: depth-first branch and bound over sets of rows (STreeD, Eq. 8 and 51).

What is asked of a subproblem is a solution better than a given value; the answer, or that there is none, is remembered.
A split is left as soon as it cannot be better than the best solution so far, whatever stands in the children that are
not yet solved. That holds by the order that (+) preserves (Def. 4.4), by `subtract` and by lower bounds; nothing else
is taken for granted of a task.

Of equally good trees it is the shallowest kind that is kept at the root.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streed.dp.budgets import Budgets, Limits
from streed.dp.recursion import Option, Path, Recursion
from streed.dp.states import Cell, Found, States

if TYPE_CHECKING:
    from streed.dp.stop_monitor import StopMonitor
    from streed.problem import Problem
    from streed.task import Value

_LOOKS = (2, 3)
"""Levels of the exact trees from which lookaheads take their splits."""


class BestSearch(Recursion):
    """The search for one problem; `run` it once."""

    def __init__(self, problem: Problem, states: States, budgets: Budgets, monitor: StopMonitor) -> None:
        super().__init__(problem, states, budgets, monitor)
        self.best: Found | None = None
        """The best solution so far of those that were looked for in order."""
        self._ahead: Found | None = None
        """The best solution of a lookahead that is better than it was."""
        self.beat: Value | None = None
        """Only solutions of a better value than this are looked for."""

    def run(self) -> bool:
        root, (deepest, nodes) = self._states.root, self._limits()
        for depth, limits in self._rising():
            if depth == deepest:
                self.best = next(iter(self.solutions), None)
            found = self._solve(root, *limits, (), self.beat if self.best is None else self.best[0])
            self.best = found or self.best
            if self._monitor.stopped:
                return False
            if depth in _LOOKS and depth != deepest:
                self._ahead = self._look_ahead(root, deepest, nodes, (), depth)
                if self._monitor.stopped:
                    return False
        return True

    @property
    def solutions(self) -> list[Found]:
        known = self._ahead
        value = self.beat if self.best is None else self.best[0]
        if known is not None and (value is None or self._task.better(known[0], value)):
            return [known]
        return [] if self.best is None else [self.best]

    def bound(self) -> Value | None:
        return self._states.floor(self._states.root)

    def _look_ahead(self, cell: Cell, depth: int | None, nodes: int | None, path: Path, look: int) -> Found | None:
        """A good solution within the useful limits: exact at `look` levels, and above them split as their best is.

        Where splits are paid for, or nodes are few, it ends where nothing is gained. Branching nodes that the exact
        trees do not need are for the larger sides first.
        """
        found = self._solve(cell, *self._budgets.useful(cell.most_leaves, _least(depth, look), nodes), path, None)
        if found is None or found[2] is None or _least(depth, look) == depth or self._monitor.stopped:
            return found
        split = found[1]
        children = next(sides for each, sides in self._states.splits(cell) if each == split)
        spare = None if nodes is None else nodes - _size(found)
        below, under = None if depth is None else depth - 1, self._states.below(path, split)
        parts = list(found[2])
        for at in sorted(range(len(children)), key=lambda k: -children[k].n_rows):
            room = None if spare is None else spare + _size(parts[at])
            limits = self._budgets.useful(children[at].most_leaves, below, room)
            better = self._look_ahead(children[at], *limits, under, look)
            if better is not None and self._task.better(better[0], parts[at][0]):
                spare = None if spare is None else spare + _size(parts[at]) - _size(better)
                parts[at] = better
        value = self._merged([part[0] for part in parts], self._cost(cell, path, split))
        gains = self._task.better(value, found[0]) and self._task.feasible(value)
        return (value, split, tuple(parts)) if gains else found

    def _solve(self, cell: Cell, depth: int | None, nodes: int | None, path: Path, upper: Any) -> Found | None:
        """The best solution within the useful limits that is better than `upper` (None: any); None if there is none.

        Once the search is stopped: the best that is known, and None if there is none.
        """
        better = self._task.better
        if depth == 0:
            leaves = self._states.leaves(cell)
            return leaves[0] if leaves and (upper is None or better(leaves[0][0], upper)) else None
        key = (depth, nodes, path)
        known = cell.memo.get(key)
        if known is not None:
            found, floor = known
            if found is not None:
                return found if upper is None or better(found[0], upper) else None
            if floor is None or (upper is not None and not better(floor, upper)):
                return None
        best: Found | None = None
        for leaf in self._states.leaves(cell):
            if upper is None or better(leaf[0], upper):
                best, upper = leaf, leaf[0]
        if not self._monitor.visit():
            return best
        if self._may_improve(cell, upper):
            best = self._branch(cell, depth, nodes, path, upper) or best
        if not self._monitor.stopped:
            cell.memo[key] = (best, upper)
        return best

    def _may_improve(self, cell: Cell, upper: Any) -> bool:
        """Whether the cell's lower bound leaves room for a solution better than `upper`."""
        if upper is None:
            return True
        floor = self._states.floor(cell)
        if floor is None or self._task.better(floor, upper):
            return True
        self.pruned += 1
        return False

    def _branch(self, cell: Cell, depth: int | None, nodes: int | None, path: Path, upper: Any) -> Found | None:
        """The best solution that branches and is better than `upper`; None if there is none."""
        best: Found | None = None
        at_root = cell is self._states.root and not path
        for option in self._options(cell, (depth, nodes), path):
            found = self._split(option, upper)
            if found is not None:
                best, upper = found, found[0]
                if at_root:
                    self.best = best
            if self._monitor.stopped:
                return best
        return best

    def _split(self, option: Option, upper: Any) -> Found | None:
        """The best solution that begins with the split and is better than `upper`; None if there is none."""
        split, children, limits, path, cost = option
        floors = [
            self._known_floor(child, limit, path) if upper is not None else None
            for child, limit in zip(children, limits, strict=True)
        ]
        parts: list[Found] = []
        for at, child in enumerate(children):
            bound = None
            if upper is not None:
                rest = floors[at:]
                if None not in rest:
                    least = self._merged([*(part[0] for part in parts), *rest], cost)
                    if not self._task.better(least, upper):
                        self.pruned += 1
                        return None
                bound = self._room([part[0] for part in parts], floors[at + 1 :], cost, upper)
            found = self._solve(child, *limits[at], path, bound)
            if found is None:
                return None
            parts.append(found)
        value = self._merged([part[0] for part in parts], cost)
        if (upper is None or self._task.better(value, upper)) and self._task.feasible(value):
            return value, split, tuple(parts)
        return None

    def _room(self, before: Sequence[Value], after: Sequence[Any], cost: Any, upper: Any) -> Value | None:
        """What a child must be better than for its split to be better than `upper`, or None where nobody can tell.

        `before` are the values of the children before it, `after` the lower bounds of those behind it. The node's value
        is ((before (+) child) (+) after) (+) cost, so `subtract` takes away what stands on the right one by one; what
        stands on the left it can take away only where (+) is the sum.
        """
        if None in after or (before and not self._states.is_sum):
            return None
        taken = [*before, *after] if cost is None else [*before, *after, cost]
        for value in reversed(taken):
            upper = self._task.subtract(upper, value)
            if upper is None:
                return None
        return upper

    def _known_floor(self, child: Cell, limits: Limits, path: Path) -> Value | None:
        """A value that no solution of the child is better than, or None."""
        if limits[0] == 0:
            leaves = self._states.leaves(child)
            return leaves[0][0] if leaves else None
        known = child.memo.get((*limits, path))
        if known is not None:
            return known[1] if known[0] is None else known[0][0]
        return self._states.floor(child)

    def _merged(self, values: Sequence[Value], cost: Any) -> Value:
        value = functools.reduce(self._task.combine, values)
        return value if cost is None else self._task.combine(value, cost)


def _least(depth: int | None, look: int) -> int:
    return look if depth is None else min(depth, look)


def _size(found: Found) -> int:
    """The branching nodes of a solution."""
    return 0 if found[2] is None else 1 + sum(map(_size, found[2]))
