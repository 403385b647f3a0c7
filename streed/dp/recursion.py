"""One recursion over sets of rows for any task (STreeD, Eq. 8 and 51); an algebra says what is kept of their trees.

    trees(S, limits, bound) = what is known, if S was asked with these limits and a bound as loose
                              leaves(S), then for each split of S, and each way to share the branching nodes:
                                  put the product of trees(child, ..., room) over the children of S, and what it costs

`solutions.py` keeps the best tree below a value or the nondominated ones, `count.py` how many there are of each key. Of
solutions of one value the first is kept: a leaf before a branch, smaller labels and columns before larger ones.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

import attrs

from streed.kernels.compilation import clock
from streed.problem import SearchLimits, process_memory

if TYPE_CHECKING:
    from streed.dp.states import Cell
    from streed.task import Value


Limits = tuple[int | None, int | None]
"""How deep a subtree may be, and how many branching nodes it may have; None: any."""


@attrs.frozen
class Budgets:
    """The limits of subtrees of one problem, written so that equal sets of trees have equal limits."""

    n_splits: int
    most_children: int

    def useful(self, leaves: int, depth: int | None, nodes: int | None) -> Limits:
        """The limits at a set whose trees have at most `leaves` leaves with rows, one more than branching nodes.

        None where they exclude no tree, (0, None) where only a leaf is left. No path meets a split twice.
        """
        most = leaves - 1
        if nodes is not None and (depth is None or nodes < depth):
            depth = nodes
        if most <= 0 or depth == 0:
            return 0, None
        if depth is not None and depth >= min(most, self.n_splits):
            depth = None
        if nodes is not None and nodes >= self._most_nodes(most, depth):
            nodes = None
        return depth, nodes

    def shares(self, leaves: Sequence[int], depth: int | None, nodes: int | None) -> Iterator[tuple[int | None, ...]]:
        """How `nodes` branching nodes can be shared among children of so many leaves at most, with a use for them."""
        caps = [] if nodes is None else [self._most_nodes(max(most - 1, 0), depth) for most in leaves]
        if nodes is None or sum(caps) <= nodes:
            yield (None,) * len(leaves)
        else:
            yield from _shares(nodes, caps)

    def _most_nodes(self, most: int, depth: int | None) -> int:
        if depth is None or depth >= most:
            return most
        full: int = sum(self.most_children**level for level in range(depth))
        return min(most, full)


def _shares(total: int, caps: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to share the total, at least 0 and at most its cap each, the first one's share rising."""
    if len(caps) == 1:
        yield (total,)
        return
    rest = sum(caps[1:])
    for first in range(max(0, total - rest), min(total, caps[0]) + 1):
        for others in _shares(total - first, caps[1:]):
            yield (first, *others)


Path = tuple[int, ...]
"""The columns tested above a set of rows, where costs depend on them."""

CLOSED = object()
"""The room of a child where nothing that begins with the split is worth keeping."""


class Option(NamedTuple):
    """A split of a cell, and a way to share the branching nodes among its children."""

    split: int
    children: Sequence[Cell]
    limits: Sequence[Limits]
    """Of each child."""
    path: Path
    """Of the children."""
    cost: Any
    lows: Sequence[Any] | None = None
    """What each child costs at least, where that is known already."""


class Algebra(abc.ABC):
    """What is kept of the trees for one set of rows, in the making: made of the leaves, split by split from then on."""

    looks: ClassVar[tuple[int, ...]] = ()
    """Levels of the exact trees from which lookaheads take their splits."""

    def __init__(self, recursion: Recursion, cell: Cell, bound: Any) -> None:
        self.recursion = recursion
        self.cell = cell
        self.bound = bound
        """Trees that are no better need not be kept; None: all are wanted."""

    @property
    @abc.abstractmethod
    def kept(self) -> Any:
        """What is remembered of the set of rows."""

    @staticmethod
    def recall(recursion: Recursion, kept: Any, bound: Any) -> Any:
        """The trees within a bound, by what is remembered, false if there are none; None if that does not tell."""
        return kept

    def is_open(self) -> bool:
        """Whether a tree that branches may be worth keeping."""
        return True

    def lows(self, option: Option) -> Sequence[Any] | None:
        """Lower bounds of the children, as `room` reads them; None where nothing that begins so is worth keeping."""
        return ()

    def room(self, option: Option, lows: Sequence[Any], parts: Sequence[Any]) -> Any:
        """The bound of the next child, behind those whose trees are known; CLOSED: nothing is worth keeping."""
        return None

    @abc.abstractmethod
    def put(self, option: Option, parts: Sequence[Any]) -> None:
        """Takes in the product of the trees of the children, and the cost of the split."""


class Recursion:
    """The trees of sets of rows by one algebra, remembered by the cells."""

    def __init__(self, states: Any, algebra: type[Algebra], budgets: Budgets, monitor: StopMonitor) -> None:
        self.states = states
        """The cells: `States`, or what gives their leaves, splits and prices likewise."""
        self.algebra = algebra
        self.budgets = budgets
        self.monitor = monitor
        self.values = states.values
        """The task whose order and (+) the values have."""
        self.whole: Any = None
        """What is in the making for all rows."""

    def trees(self, cell: Cell, limits: Limits, path: Path = (), bound: Any = None) -> Any:
        """What is kept of the trees within the useful limits and the bound; of a stopped search, what is known."""
        key = (self.algebra, limits, path)
        kept = cell.memo.get(key)
        found = None if kept is None else self.algebra.recall(self, kept, bound)
        if found is None:
            kept = self.make(cell, limits, path, bound)
            if not self.monitor.stopped:
                cell.memo[key] = kept
            found = self.algebra.recall(self, kept, bound)
        return found

    def make(self, cell: Cell, limits: Limits, path: Path, bound: Any) -> Any:
        """What is to be remembered of the trees."""
        making = self.algebra(self, cell, bound)
        if cell is self.states.root:
            self.whole = making
        if limits[0] != 0 and self.monitor.visit() and making.is_open():
            for option in self.options(cell, limits, path, bound):
                parts = self.parts(making, option)
                if parts is not None:
                    making.put(option, parts)
                if self.monitor.stopped:
                    break
        return making.kept

    def parts(self, making: Algebra, option: Option) -> list[Any] | None:
        """The trees of each child; None where none that begins with the split is worth keeping."""
        lows = making.lows(option)
        if lows is None:
            return None
        parts: list[Any] = []
        for child, limits in zip(option.children, option.limits, strict=True):
            room = making.room(option, lows, parts)
            part = None if room is CLOSED else self.trees(child, limits, option.path, room)
            if not part:
                return None
            parts.append(part)
        return parts

    def useful(self, cell: Cell, depth: int | None, nodes: int | None) -> Limits:
        """The limits at the cell, written so that equal sets of trees have equal limits."""
        return self.budgets.useful(cell.most_leaves, depth, nodes)

    def options(self, cell: Cell, limits: Limits, path: Path, bound: Any = None) -> Iterator[Option]:
        """The splits of a cell within the limits; those under which no tree is within the bound may be left out."""
        depth, nodes = limits
        below, left = None if depth is None else depth - 1, None if nodes is None else nodes - 1
        for split, children in self.states.splits(cell, last=depth == 1):
            cost, under = self.states.price(cell, path, split), self.states.below(path, split)
            for shares in self.budgets.shares([child.most_leaves for child in children], below, left):
                each = [self.useful(child, below, share) for child, share in zip(children, shares, strict=True)]
                yield Option(split, children, each, under, cost)

    def merged(self, values: Sequence[Value], cost: Value | None) -> Value:
        """The value of a tree whose children have these, and whose root costs that."""
        value = functools.reduce(self.values.combine, values)
        return value if cost is None else self.values.combine(value, cost)


_NO_LIMITS = SearchLimits()

_INTERVAL = 0.02
"""Seconds between looks at the memory and reports."""


@final
class StopMonitor:
    """Counts nodes, and says when to stop: by the limits, or when `report` says that the gap is small enough."""

    def __init__(self, search_limits: SearchLimits = _NO_LIMITS, report: Callable[[int], bool] | None = None) -> None:
        now = clock()
        self.nodes = 0
        self.stopped: str | None = None
        """None, "time", "memory" or "gap"."""
        self._deadline = None if search_limits.time_limit is None else now + search_limits.time_limit
        self._memory_limit = search_limits.memory_limit
        self._report = report
        self._next = now

    def remaining(self) -> float | None:
        """The seconds that are left, None without a limit."""
        return None if self._deadline is None else max(0.0, self._deadline - clock())

    def visit(self) -> bool:
        """Counts a node; whether the search is to go on."""
        self.nodes += 1
        return self.look()

    def look(self) -> bool:
        """Whether the search is to go on."""
        if self.stopped is not None:
            return False
        now = clock()
        if self._deadline is not None and now >= self._deadline:
            self.stopped = "time"
        elif now >= self._next:
            self._next = now + _INTERVAL
            if self._memory_limit is not None and process_memory.resident() > self._memory_limit:
                self.stopped = "memory"
            elif self._report is not None and self._report(self.nodes):
                self.stopped = "gap"
        return self.stopped is None
