"""The algebra of one best tree, of totally ordered values: branch and bound over sets of rows.

What is asked of a set of rows is a tree better than a given value; the answer, or that there is none, is remembered. A
split is left as soon as it cannot be better than the best tree so far, whatever stands in the children that are not yet
solved. That holds by the order that (+) preserves (Def. 4.4), by `subtract` and by lower bounds; nothing else is taken
for granted of a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, final

from streed.dp.recursion import CLOSED, Algebra, Limits, Option, Path, Recursion

if TYPE_CHECKING:
    from streed.dp.states import Cell, Found
    from streed.task import Value


@final
class Least(Algebra):
    """The best tree below the bound, in a list of one; an empty one where there is none."""

    looks = (2, 3)

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
        """What a child must be better than; None where nobody can tell.

        The node's value is ((before (+) child) (+) after) (+) cost, so `subtract` takes away what stands on the right
        one by one; what stands on the left it can take away only where (+) is the sum.
        """
        recursion, room = self.recursion, self.bound
        if room is None:
            return None
        before, rest = [part[0][0] for part in parts], lows[len(parts) :]
        if None not in rest and not recursion.values.better(recursion.merged([*before, *rest], option.cost), room):
            recursion.pruned += 1
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
    if floor is None or recursion.values.better(floor, bound):
        return True
    recursion.pruned += 1
    return False
