"""The value of a given tree from the raw data: the certificate that every result must pass.

`inspect` follows the definition (STreeD, Eq. 4) with exact numbers for any task, and routes the rows anew.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.task import ExactSums, Limit, Task, Value, beside_sums, quick_sums, state_of
from streed.tree.nodes import Branch, Leaf, Node
from streed.tree.rows import sides_in
from streed.tree.tree import Tree

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.exact import Array


@attrs.frozen
class Evaluation:
    """What a tree is worth on a data set."""

    value: Value
    """The value that the search minimises, before the task's `score`."""
    rows: tuple[int, ...]
    """How many rows every node has, parents first and children left to right (as `streed.tree.nodes.walk` goes)."""
    leaf_costs: tuple[Value, ...]
    """The cost of every leaf by the objective, left to right; 0 for an empty one."""
    leaf_rows: tuple[int, ...]
    broken: tuple[tuple[int, Limit], ...]
    """The limits that a leaf breaks, with the leaf's number."""


class Inspector:
    """What one task makes of trees on one data set; the task need not be bound."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self._task = task.bind(data)
        self._data = data
        self._sums = ExactSums(self._task, data)

    def inspect(self, tree: Tree) -> Evaluation:
        """What the tree is worth, node by node, in exact numbers.

        Raises InputError if the data lacks a column of the tree or has other categories in it.
        """
        task = self._task
        numbers = tree.apply(self._data)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(tree.n_leaves + 1)).tolist()
        leaf_rows = [self._data.count(order[start:end]) for start, end in itertools.pairwise(ends)]
        costs: list[Value] = []
        broken: list[tuple[int, Limit]] = []
        for number, leaf in enumerate(tree.leaves()):
            if not leaf_rows[number]:
                costs.append(0)
                continue
            own = order[ends[number] : ends[number + 1]]
            state, cost = self._sums.state(own), task.exact_cost(self._data, own, leaf.label)
            costs.append(task.leaf_cost(state, leaf.label) if cost is None else cost)
            broken.extend((number, limit) for limit in task.limits if not limit.allows(state))
        value, rows = _combined(tree.root, task, costs, leaf_rows)
        shown = (task.objective_of(cost) if size else 0 for cost, size in zip(costs, leaf_rows, strict=True))
        return Evaluation(value, rows, tuple(shown), tuple(leaf_rows), tuple(broken))


def evaluate(tree: Tree, task: Task, data: Dataset) -> Value:
    """The exact value of the tree on `data` (STreeD, Eq. 4), before the task's `score`; see `inspect`."""
    return inspect(tree, task, data).value


def inspect(tree: Tree, task: Task, data: Dataset) -> Evaluation:
    """What the tree is worth on `data`, node by node, in exact numbers; `task` need not be bound.

    Raises InputError if `data` lacks a column of the tree or has other categories in it.
    """
    return Inspector(task, data).inspect(tree)


def leaf_displays(
    tree: Tree, task: Task, data: Dataset, sums: dict[str, Array] | None = None
) -> tuple[Any, ...] | None:
    """What the bound task shows at every leaf, left to right: its `leaf_label` at the leaf's state on `data`.

    A leaf without rows shows what its parent's rows would. None where the task shows the labels themselves. `sums` are
    the task's statistics, as `quick_sums` gives them, where they are known.
    """
    if task.shows_labels:
        return None
    sums = quick_sums(task, data) if sums is None else sums
    shown: list[Any] = []
    stack: list[tuple[Node, Array, Array]] = [(tree.root, np.arange(data.n_rows), np.arange(data.n_rows))]
    while stack:
        node, rows, above = stack.pop()
        if isinstance(node, Leaf):
            seen = rows if len(rows) else above
            shown.append(task.leaf_label(state_of(sums, seen, data, beside_sums(task, data, seen)), node.label))
        else:
            codes = sides_in(data, node, rows)
            stack.extend((node.children[c], rows[codes == c], rows) for c in reversed(range(len(node.children))))
    return tuple(shown)


def count_rows(root: Node, data: Dataset) -> Node:
    """The nodes of a tree on `data` with their numbers of rows, each as often as its frequency says."""
    if data.frequency is None:
        return root

    def counted(node: Node, rows: Array) -> Node:
        if isinstance(node, Leaf):
            return attrs.evolve(node, rows=data.count(rows))
        codes = sides_in(data, node, rows)
        children = tuple(counted(child, rows[codes == code]) for code, child in enumerate(node.children))
        return attrs.evolve(node, children=children, rows=data.count(rows))

    return counted(root, np.arange(data.n_rows))


def _combined(root: Node, task: Task, leaf_costs: list[Value], leaf_rows: list[int]) -> tuple[Value, tuple[int, ...]]:
    """The tree's value from its leaves up, and the rows of every node, parents first."""
    nodes: list[tuple[Node, int, tuple[int, ...]]] = []
    stack: list[tuple[Node, int, tuple[int, ...]]] = [(root, -1, ())]
    while stack:
        node, parent, path = stack.pop()
        place = len(nodes)
        nodes.append((node, parent, path))
        if isinstance(node, Branch):
            stack.extend((child, place, (*path, node.column)) for child in reversed(node.children))
    rows = [0] * len(nodes)
    values: list[list[Value]] = [[] for _ in nodes]
    number = len(leaf_rows)
    for place in range(len(nodes) - 1, -1, -1):
        node, parent, path = nodes[place]
        if isinstance(node, Leaf):
            number -= 1
            rows[place] = leaf_rows[number]
            value = leaf_costs[number]
        elif not rows[place]:
            value = 0
        else:
            # Children arrive last first; an empty child has no part in the value.
            value = functools.reduce(task.combine, reversed(values[place]))
            cost = task.branching_cost(rows[place], tuple(sorted(set(path))), node.column)
            value = value if cost is None else task.combine(value, cost)
        if parent >= 0:
            rows[parent] += rows[place]
            if rows[place]:
                values[parent].append(value)
    return value, tuple(rows)
