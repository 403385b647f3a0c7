"""The recursion over sets of rows (STreeD, Eq. 8 and 51), of which the best solution and the front are two algebras.

The limit on the depth rises one by one, so that a search that is stopped knows lower trees; behind depth two or three a
rolling lookahead makes trees of the whole depth. Of solutions of one value the first is kept: a leaf before a branch,
smaller labels and columns before larger ones.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from streed.dp.budgets import Budgets, Limits
from streed.dp.states import Cell, Found, States

if TYPE_CHECKING:
    from streed.dp.stop_monitor import StopMonitor
    from streed.problem import Problem
    from streed.task import Value

Path = tuple[int, ...]
"""The columns tested above a set of rows, where costs depend on them."""

_FIRST_DEPTHS = 3
"""Where the depth is not limited, trees of less depth than this are looked for first."""


class Option(NamedTuple):
    """A split of a cell, and a way to share the branching nodes among its children."""

    split: int
    children: tuple[Cell, ...]
    limits: list[Limits]
    """Of each child."""
    path: Path
    """Of the children."""
    cost: Value | None


class Recursion(abc.ABC):
    """A search for one problem; `run` it once."""

    def __init__(self, problem: Problem, states: States, budgets: Budgets, monitor: StopMonitor) -> None:
        self.pruned = 0
        self._task = states.task
        self._problem = problem
        self._states = states
        self._budgets = budgets
        self._monitor = monitor

    @abc.abstractmethod
    def run(self) -> bool:
        """Searches until the answer is proved, which it says, or the monitor stops it."""

    @property
    @abc.abstractmethod
    def solutions(self) -> list[Found]:
        """What is known of the answer."""

    @abc.abstractmethod
    def bound(self) -> Value | None:
        """A value that no tree is better than, or None; for a search that was stopped."""

    def _limits(self) -> Limits:
        """The useful limits of the root."""
        problem = self._problem
        return self._budgets.useful(self._states.root.most_leaves, problem.max_depth, problem.max_nodes)

    def _rising(self) -> Iterator[tuple[int | None, Limits]]:
        """The depths that are searched one after another, with the limits of the root; the whole one last."""
        deepest, nodes = self._limits()
        for depth in [*range(_FIRST_DEPTHS if deepest is None else deepest), deepest]:
            yield depth, self._budgets.useful(self._states.root.most_leaves, depth, nodes)

    def _options(self, cell: Cell, limits: Limits, path: Path) -> Iterator[Option]:
        """The splits of a cell within the limits."""
        depth, nodes = limits
        below, left = None if depth is None else depth - 1, None if nodes is None else nodes - 1
        for split, children in self._states.splits(cell, last=depth == 1):
            cost, under = self._cost(cell, path, split), self._states.below(path, split)
            for shares in self._budgets.shares([child.most_leaves for child in children], below, left):
                each = [
                    self._budgets.useful(child.most_leaves, below, share)
                    for child, share in zip(children, shares, strict=True)
                ]
                yield Option(split, children, each, under, cost)

    def _cost(self, cell: Cell, path: Path, split: int) -> Value | None:
        if self._states.free:
            return self._free
        return self._task.branching_cost(cell.n_rows, path, self._states.column_of(split))

    @functools.cached_property
    def _free(self) -> Any:
        """What every split costs where all cost the same."""
        return self._task.branching_cost(1, (), 0)
