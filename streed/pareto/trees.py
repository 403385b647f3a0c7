"""The trees of a front's points: found again from the fronts of the parts, and measured from the raw rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from streed.errors import MismatchError
from streed.exact import Array
from streed.pareto.fronts import FrontEngine, is_leaf
from streed.pareto.vectors import dominates
from streed.problem import Problem, Solution
from streed.task.analysis.vector_form import VectorCosts
from streed.tree import Branch, Leaf, Node

if TYPE_CHECKING:
    from streed.pareto.packing import Packed

Shape = tuple[Any, ...]
"""(column of the engine, shape with it, shape without it), or (label,)."""


@final
class FrontTrees:
    """Trees by their keys; parts that several trees share are found once."""

    def __init__(self, packed: Packed, engine: FrontEngine) -> None:
        self._packed = packed
        self._engine = engine
        self._found: dict[tuple[bytes, int, int], Shape] = {}

    def shape(self, node: Array, depth: int, key: int, column: int) -> Shape:
        """A tree at the rows that is worth the key, or dominates it, with the root column that is known to do."""
        if is_leaf(column):
            return (-1 - column,)
        name = (node.tobytes(), depth, key)
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._branch(node, depth, key, column)
        return found

    def _branch(self, node: Array, depth: int, key: int, column: int) -> Shape:
        layout = self._packed.keys.layout
        a, b = self._engine.children(node, column)
        left, left_columns = self._engine.solve(a, depth - 1)
        right, right_columns = self._engine.solve(b, depth - 1)
        wanted = key - layout.split - left
        places = np.minimum(np.searchsorted(right, wanted), len(right) - 1)
        hits = np.flatnonzero(right[places] == wanted)
        if len(hits):
            i, j = int(hits[0]), int(places[hits[0]])
        else:
            # a part was stopped before its front was whole, and what it lacked then dominates what it had
            i, j = self._dominating(left, right, key)
        return (
            column,
            self.shape(a, depth - 1, int(left[i]), int(left_columns[i])),
            self.shape(b, depth - 1, int(right[j]), int(right_columns[j])),
        )

    def _dominating(self, left: Array, right: Array, key: int) -> tuple[int, int]:
        layout = self._packed.keys.layout
        for i, value in enumerate(left.tolist()):
            hits = np.flatnonzero(dominates(layout.guards, right + value + layout.split, key))
            if len(hits):
                return i, int(hits[0])
        raise MismatchError("a point of a front has no tree; please report this")

    def tree(self, shape: Shape) -> Solution:
        """The solution of a shape, in the caller's columns, counted from the raw rows."""
        columns, flipped = self._packed.columns.tolist(), self._packed.flipped.tolist()

        def grow(shape: Shape) -> Node:
            if len(shape) == 1:
                return Leaf(shape[0], 0, 0)
            one, zero = (shape[2], shape[1]) if flipped[shape[0]] else (shape[1], shape[2])
            return Branch(columns[shape[0]], (grow(zero), grow(one)), 0)

        return measured(self._packed.problem, self._packed.costs, grow(shape))


def measured(problem: Problem, costs: VectorCosts, root: Node) -> Solution:
    """The solution of a tree in the caller's columns, counted from the raw rows."""
    data, task = problem.data, problem.task
    total = np.zeros(len(costs.splits), np.int64)

    def count(node: Node, rows: Array) -> Node:
        nonlocal total
        if isinstance(node, Leaf):
            cost = costs.costs[:, rows, node.label].sum(axis=1)
            total = total + cost
            return Leaf(node.label, data.count(rows), task.objective_of(costs.value(cost.tolist())) if len(rows) else 0)
        total = total + np.array(costs.splits)
        codes = data.X[rows, node.column]
        parts = [count(child, rows[codes == code]) for code, child in enumerate(node.children)]
        return Branch(node.column, tuple(parts), data.count(rows))

    counted = count(root, np.arange(data.n_rows))
    return Solution(costs.value(total.tolist()), counted)
