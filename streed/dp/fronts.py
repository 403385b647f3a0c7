"""All nondominated solutions of a task: STreeD's recursion with fronts (Eq. 8 and 51), memoised on sets of rows.

The limit on the depth rises one by one; behind depth two a rolling lookahead makes points of the whole depth, which a
stopped search returns beside the fronts of lower trees. Nothing is pruned: of two solutions neither of which is
better, either may be part of the best whole. Of solutions of one value the first is kept: a leaf before a branch,
smaller labels and columns before larger ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from streed.dp.budgets import Budgets
from streed.dp.dominance import Front, Gathering
from streed.dp.states import Cell, Found, States

if TYPE_CHECKING:
    from streed.dp.stop_monitor import StopMonitor
    from streed.problem import Problem

_FIRST_DEPTHS = 3
"""Where the depth is not limited, trees of less depth than this are looked for first."""

_LOOK, _TRIED = 2, 3
"""Levels of the exact fronts from which a lookahead takes its splits, and how many of these it tries at each node."""


@final
class FrontSearch:
    """The search for one problem; `run` it once."""

    def __init__(self, problem: Problem, states: States, budgets: Budgets, monitor: StopMonitor) -> None:
        self.pruned = 0
        self._task = states.task
        self._problem = problem
        self._states = states
        self._budgets = budgets
        self._monitor = monitor
        self._finished: list[Found] = []
        """The front of the last depth that was searched to the end."""
        self._ahead: Gathering | None = None
        """The front of a lookahead, maybe in the making."""
        self._root: Gathering | None = None
        """The front of all rows in the making."""

    def run(self) -> bool:
        """Searches until the front is complete, which it says, or the monitor stops it.

        The limit on the depth rises one by one, so that a search that is stopped knows the fronts of lower trees.
        """
        root, problem = self._states.root, self._problem
        deepest, nodes = self._budgets.useful(root.most_leaves, problem.max_depth, problem.max_nodes)
        for depth in [*range(_FIRST_DEPTHS if deepest is None else deepest), deepest]:
            limits = self._budgets.useful(root.most_leaves, depth, nodes)
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
        """The nondominated solutions that are known."""
        known = Gathering(self._task, self._monitor, self._finished)
        for making in (self._ahead, self._root):
            known.add([] if making is None else making.front.found)
        return known.front.found

    def bound(self) -> None:
        """None: many values are nondominated, and the bound on them is the ideal point (`ideal_point.py`)."""
        return

    def _look_ahead(self, cell: Cell, depth: int | None, nodes: int | None, path: tuple[int, ...]) -> Front:
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
            cost = self._task.branching_cost(cell.n_rows, path, self._states.column_of(split))
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

    def _solve(self, cell: Cell, depth: int | None, nodes: int | None, path: tuple[int, ...]) -> Front:
        """The front within the useful limits; once the search is stopped, what is known of it."""
        key = (depth, nodes, path)
        known = cell.memo.get(key)
        if known is not None:
            return known  # type: ignore[no-any-return]
        gathering = Gathering(self._task, self._monitor, self._states.leaves(cell))
        if cell is self._states.root:
            self._root = gathering
        if depth != 0 and self._monitor.visit():
            if depth == 1 and nodes is None:
                self._stumps(cell, path, gathering)
            else:
                self._branch(cell, depth, nodes, path, gathering)
        if not self._monitor.stopped:
            cell.memo[key] = gathering.front
        return gathering.front

    def _branch(
        self, cell: Cell, depth: int | None, nodes: int | None, path: tuple[int, ...], gathering: Gathering
    ) -> None:
        below = None if depth is None else depth - 1
        for split, children in self._states.splits(cell):
            cost = self._task.branching_cost(cell.n_rows, path, self._states.column_of(split))
            under = self._states.below(path, split)
            for shares in self._budgets.shares(
                [c.most_leaves for c in children], below, None if nodes is None else nodes - 1
            ):
                thetas = []
                for child, share in zip(children, shares, strict=True):
                    thetas.append(self._solve(child, *self._budgets.useful(child.most_leaves, below, share), under))
                    if not thetas[-1].found:
                        break
                else:
                    gathering.merge(split, thetas, cost)
                if self._monitor.stopped:
                    return

    def _stumps(self, cell: Cell, path: tuple[int, ...], gathering: Gathering) -> None:
        first: dict[Any, Found] = {}
        for split, leaves in self._states.stumps(cell):
            cost = self._task.branching_cost(cell.n_rows, path, self._states.column_of(split))
            for found in gathering.combined(split, leaves, cost):
                first.setdefault(found[0], found)
        gathering.add(list(first.values()))
