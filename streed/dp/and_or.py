"""Best-first search of a totally ordered task in Python: AO* over sets of rows (Branches, Section 4.2).

Go down by the best edge of every node to one that was not expanded yet, expand it, and take what was learnt up the same
path. An edge is as good as (+) of the lower bounds of its sides; where one of them has none, it may be as good as any.
"""

from __future__ import annotations

from typing import Any, final

import attrs

from streed.dp.recursion import Limits, Path, Recursion
from streed.dp.solutions import Deepening, may_improve
from streed.dp.states import Cell, Found
from streed.problem import Problem
from streed.task import Value

_LOOK = 2
"""Levels of the exact trees from which the first tree takes its splits."""


@final
@attrs.define(eq=False)
class _Edge:
    """A split, with a way to share the branching nodes among its sides."""

    split: int
    sides: tuple[_Node, ...]
    cost: Value | None
    lower: Value | None = None
    """No tree that begins with it is better; None where nothing is known."""


@final
@attrs.define(eq=False)
class _Node:
    """A cell with what is left to it."""

    cell: Cell
    limits: Limits
    path: Path
    best: Found | None
    lower: Value | None
    solved: bool = False
    edges: list[_Edge] | None = None


@final
class AndOrSearch:
    """The search for one problem; `run` it once."""

    def __init__(self, recursion: Recursion, problem: Problem) -> None:
        self.recursion = recursion
        """By which the first tree is found."""
        self._task, self._monitor = recursion.values, recursion.monitor
        self._deepening, cell = Deepening(recursion, problem, None), recursion.states.root
        self._root = self._node(cell, recursion.useful(cell, problem.max_depth, problem.max_nodes), ())

    def run(self) -> bool:
        """Searches until the answer is proved, which it says, or the monitor stops it."""
        root = self._root
        if not root.solved:
            for ahead in self._deepening.look_ahead(root.cell, root.limits, (), _LOOK):
                if root.best is None or self._task.better(ahead[0], root.best[0]):
                    root.best = ahead
        while not root.solved:
            if not self._monitor.visit():
                return False
            self._step(root)
        return True

    @property
    def solutions(self) -> list[Found]:
        """What is known of the answer."""
        return [] if self._root.best is None else [self._root.best]

    def bound(self) -> Value | None:
        """A value that no tree is better than, or None."""
        return self._root.lower

    def _node(self, cell: Cell, limits: Limits, path: Path) -> _Node:
        """The node, made if need be."""
        key = (AndOrSearch, limits, path)
        node: _Node | None = cell.memo.get(key)
        if node is None:
            leaves, floor = self.recursion.states.leaves(cell), self.recursion.states.floor(cell)
            node = cell.memo[key] = _Node(cell, limits, path, leaves[0] if leaves else None, floor)
            if limits[0] == 0 or not may_improve(self.recursion, cell, None if node.best is None else node.best[0]):
                _settle(node)
        return node

    def _step(self, node: _Node) -> None:
        """Expands one node below an unsolved one, or this one itself, and brings the bounds of those between up."""
        if node.edges is None:
            node.edges = []
            for option in self.recursion.options(node.cell, node.limits, node.path):
                pairs = zip(option.children, option.limits, strict=True)
                sides = tuple(self._node(child, limits, option.path) for child, limits in pairs)
                node.edges.append(_Edge(option.split, sides, option.cost))
                if not self._monitor.look():
                    return
        elif open_sides := [side for side in node.edges[0].sides if not side.solved]:  # or solved below another node
            self._step(min(open_sides, key=lambda each: each.cell.n_rows))
        if not self._monitor.stopped:
            self._conclude(node)

    def _conclude(self, node: _Node) -> None:
        """Brings the node's solution and bound to what its edges know, and the edge of the best bound to the front."""
        for edge in node.edges or ():
            self._take(node, edge)
        edges = node.edges = [edge for edge in node.edges or () if self._may_serve(node, edge)]
        for at, edge in enumerate(edges):
            first = edges[0].lower
            if first is not None and (edge.lower is None or self._task.better(edge.lower, first)):
                edges.insert(0, edges.pop(at))
        if not edges:
            _settle(node)
        elif (lower := edges[0].lower) is not None and (node.lower is None or self._task.better(node.lower, lower)):
            node.lower = lower

    def _take(self, node: _Node, edge: _Edge) -> None:
        """Brings the edge's bound, and the node's best solution, to what its sides know."""
        lowers = [side.lower for side in edge.sides]
        if None not in lowers:
            edge.lower = self.recursion.merged(lowers, edge.cost)
        parts: tuple[Any, ...] = tuple(side.best for side in edge.sides)
        if None not in parts:
            value = self.recursion.merged([part[0] for part in parts], edge.cost)
            if (node.best is None or self._task.better(value, node.best[0])) and self._task.feasible(value):
                node.best = (value, edge.split, parts)

    def _may_serve(self, node: _Node, edge: _Edge) -> bool:
        """Whether a better solution for the node may begin with the edge."""
        if all(side.solved for side in edge.sides) or any(side.solved and side.best is None for side in edge.sides):
            return False
        return node.best is None or edge.lower is None or bool(self._task.better(edge.lower, node.best[0]))


def _settle(node: _Node) -> None:
    """Marks the node as solved by its best solution."""
    node.solved = True
    node.edges = []
    if node.best is not None:
        node.lower = node.best[0]
