"""Re-optimising a known tree: better trees near it, by exact solves of its parts, before the search begins.

Subtrees of a few levels are replaced by exact ones, from the bottom up, and at every node above them the tree that a
rolling lookahead grows in its place is tried. What comes out is better or the same, and is what a stopped solve returns
at least.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.compilation import clock
from streed.problem import Driver, Problem, SearchLimits, Solution
from streed.problem.known_tree import sides_of, worth
from streed.task.analysis.facts import reads
from streed.task.analysis.linear_form import adds
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.evaluation import inspect
from streed.tree.nodes import depth_of, walk

_LEVELS = 3  # subtrees of so many levels are solved exactly
_SHARE = 0.25  # part of a time limit that this may take
_AT_ONCE = 1e-3  # seconds of a search that is to end


def reoptimised(
    known: Solution, problem: Problem, driver: Driver, search_limits: SearchLimits
) -> tuple[Solution, SearchLimits, bool]:
    """(a tree at least as good, by exact solves of parts of the known one; what is left; whether Ctrl-C ended that).

    Parts are as good as what they add to the value, so this is for tasks of one sum whose branching costs do not depend
    on the path; others are returned as they are.
    """
    if not adds(problem.task) or reads(problem.task, "path"):
        return known, search_limits, False
    begin, seconds = clock(), search_limits.time_limit
    reoptimising = _Reoptimising(problem, driver, search_limits)
    found = worth(reoptimising.improved(known.root), problem)
    if seconds is not None:
        seconds = max(seconds - (clock() - begin), _AT_ONCE)
    left = attrs.evolve(search_limits, time_limit=_AT_ONCE if reoptimising.interrupted else seconds)
    return found if problem.task.better(found.value, known.value) else known, left, reoptimising.interrupted


@final
class _Reoptimising:
    """Exact solves of parts of one tree."""

    def __init__(self, problem: Problem, driver: Driver, search_limits: SearchLimits) -> None:
        self._problem = problem
        self._driver = driver
        self._end = None if search_limits.time_limit is None else clock() + _SHARE * search_limits.time_limit
        self.interrupted = False
        self._solved: dict[tuple[bytes, int], Solution | None] = {}

    def improved(self, root: Node) -> Node:
        """The nodes of a better tree, as far as time allows."""
        most = self._problem.max_depth
        return self._improved(root, np.arange(self._problem.data.n_rows), depth_of(root) if most is None else most)

    def _improved(self, node: Node, rows: Array, depth: int) -> Node:
        """The node with better subtrees, or what is grown anew in its place; bottom up."""
        if not len(rows) or self._is_late():
            return node
        nodes = None if self._problem.max_nodes is None else sum(isinstance(each, Branch) for each in walk(node))
        if depth <= _LEVELS:
            found = self._exact(rows, depth, nodes)
            return node if found is None else found.root
        if isinstance(node, Branch):
            parts = sides_of(node, rows, self._problem)
            node = attrs.evolve(node, children=tuple(self._improved(*part, depth - 1) for part in parts))
        if nodes is not None:
            return node
        grown = self._grown(rows, depth)
        better = grown is not None and self._problem.task.better(self._value(grown, rows), self._value(node, rows))
        return grown if grown is not None and better else node

    def _grown(self, rows: Array, depth: int) -> Node | None:
        """A tree from the top: every node is split as the best tree of a few levels is."""
        found = self._exact(rows, min(depth, _LEVELS), None)
        if found is None:
            return None
        if depth <= _LEVELS or isinstance(found.root, Leaf):
            return found.root
        parts = sides_of(found.root, rows, self._problem)
        children = [(self._grown(below, depth - 1) if len(below) else None) or child for child, below in parts]
        return attrs.evolve(found.root, children=tuple(children))

    def _exact(self, rows: Array, depth: int, nodes: int | None) -> Solution | None:
        """The best tree of the rows; None where none keeps the limits, or time has run out."""
        key = rows.tobytes(), depth
        if key not in self._solved or nodes is not None:
            if self._is_late():
                return None
            part = self._part(rows, depth, nodes)
            left = None if self._end is None else max(self._end - clock(), _AT_ONCE)
            outcome = self._driver.search(part, SearchLimits(time_limit=left))
            self.interrupted |= outcome.stopped == "interrupt"
            self._solved[key] = outcome.solutions[0] if outcome.solutions else None
        return self._solved[key]

    def _part(self, rows: Array, depth: int, nodes: int | None) -> Problem:
        problem = self._problem
        return Problem(problem.data.subset(rows), problem.task, depth, nodes, problem.min_leaf)

    def _value(self, node: Node, rows: Array) -> Any:
        part = self._part(rows, 0, None)
        tree = Tree.grown(node, part.data, tuple(part.task.labels(part.data)))
        return inspect(tree, part.task, part.data).value

    def _is_late(self) -> bool:
        return self.interrupted or (self._end is not None and clock() > self._end)
