"""All nondominated solutions of a task: STreeD's recursion with fronts (Eq. 8 and 51), memoised on sets of rows.

A stopped search returns the points of a lookahead beside the fronts of lower trees. Nothing is pruned: of two solutions
neither of which is better, either may be part of the best whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from streed.dp.budgets import Budgets
from streed.dp.dominance import Front, Gathering
from streed.dp.recursion import Path, Recursion
from streed.dp.states import Cell, Found, States

if TYPE_CHECKING:
    from streed.dp.stop_monitor import StopMonitor
    from streed.problem import Problem

_LOOK, _TRIED = 2, 3
"""Levels of the exact fronts from which a lookahead takes its splits, and how many of these it tries at each node."""


@final
class FrontSearch(Recursion):
    """The search for one problem; `run` it once."""

    def __init__(self, problem: Problem, states: States, budgets: Budgets, monitor: StopMonitor) -> None:
        super().__init__(problem, states, budgets, monitor)
        self._finished: list[Found] = []
        """The front of the last depth that was searched to the end."""
        self._ahead: Gathering | None = None
        """The front of a lookahead, maybe in the making."""
        self._root: Gathering | None = None
        """The front of all rows in the making."""

    def run(self) -> bool:
        root, (deepest, nodes) = self._states.root, self._limits()
        for depth, limits in self._rising():
            front = self._solve(root, *limits, ())
            if self._monitor.stopped:
                return False
            self._finished, self._root = front.found, None
            if depth == deepest:
                self._ahead = None
            elif depth == _LOOK:
                self._look_ahead(root, deepest, nodes, ())
                if self._monitor.stopped:
                    return False
        return True

    @property
    def solutions(self) -> list[Found]:
        known = Gathering(self._task, self._monitor, self._finished)
        for making in (self._ahead, self._root):
            known.add([] if making is None else making.front.found)
        return known.front.found

    def bound(self) -> None:
        """None: many values are nondominated, and the bound on them is the ideal point (`ideal_point.py`)."""
        return

    def _look_ahead(self, cell: Cell, depth: int | None, nodes: int | None, path: Path) -> Front:
        """Points within the useful limits: trees split as some of the exact front of two levels are, and rolled on.

        Branching nodes are shared by rows.
        """
        levels = _LOOK if depth is None else min(depth, _LOOK)
        exact = self._solve(cell, *self._budgets.useful(cell.most_leaves, levels, nodes), path)
        tried = [found[1] for found in exact.found if found[2] is not None]
        if not tried or levels == depth or self._monitor.stopped:
            return exact
        key = ("ahead", depth, nodes, path)
        if key in cell.memo:
            return cell.memo[key]  # type: ignore[no-any-return]
        gathering = Gathering(self._task, self._monitor, exact.found)
        if cell is self._states.root:
            self._ahead = gathering
        below = None if depth is None else depth - 1
        chosen = {tried[at * (len(tried) - 1) // (_TRIED - 1)] for at in range(_TRIED)}
        for split, children in [each for each in self._states.splits(cell) if each[0] in chosen]:
            cost = self._cost(cell, path, split)
            under = self._states.below(path, split)
            shares = [None if nodes is None else (nodes - 1) * child.n_rows // cell.n_rows for child in children]
            thetas = [
                self._look_ahead(child, *self._budgets.useful(child.most_leaves, below, share), under)
                for child, share in zip(children, shares, strict=True)
            ]
            gathering.merge(split, thetas, cost)
            if self._monitor.stopped:
                return gathering.front
        cell.memo[key] = gathering.front
        return gathering.front

    def _solve(self, cell: Cell, depth: int | None, nodes: int | None, path: Path) -> Front:
        """The front within the useful limits; once the search is stopped, what is known of it."""
        key = (depth, nodes, path)
        known = cell.memo.get(key)
        if known is not None:
            return known  # type: ignore[no-any-return]
        gathering = Gathering(self._task, self._monitor, self._states.leaves(cell))
        if cell is self._states.root:
            self._root = gathering
        if depth != 0 and self._monitor.visit():
            for split, children, limits, under, cost in self._options(cell, (depth, nodes), path):
                thetas = []
                for child, limit in zip(children, limits, strict=True):
                    thetas.append(self._solve(child, *limit, under))
                    if not thetas[-1].found:
                        break
                else:
                    gathering.merge(split, thetas, cost)
                if self._monitor.stopped:
                    break
        if not self._monitor.stopped:
            cell.memo[key] = gathering.front
        return gathering.front
