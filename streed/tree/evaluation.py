"""The value of a given tree from the raw data: the certificate that every result must pass.

`inspect` follows the definition (STreeD, Eq. 4) with exact numbers for any task, and routes the rows anew.
"""

from __future__ import annotations

import functools
from typing import Any

import attrs

from streed.data import Dataset
from streed.exact import Array
from streed.task import ExactSums, Limit, Task, Value, beside_sums, quick_sums, state_of
from streed.tree.nodes import Branch, Leaf, Node, Visit, fold, visits
from streed.tree.rows import TreeRows, sides_in
from streed.tree.tree import Tree


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
        task, data = self._task, self._data
        read = TreeRows.of(data, tree.columns, tree.n_columns, tree.recipe)
        found = list(visits(tree.root, read.sides, data.n_rows))
        sizes = tuple(data.count(visit.rows) for visit in found)
        costs: list[Value] = []
        broken: list[tuple[int, Limit]] = []
        leaves = [(visit, size) for visit, size in zip(found, sizes, strict=True) if isinstance(visit.node, Leaf)]
        for number, (visit, size) in enumerate(leaves):
            label = visit.node.label  # type: ignore[union-attr]
            if not size:
                costs.append(0)
                continue
            state, cost = self._sums.state(visit.rows), task.exact_cost(data, visit.rows, label)
            costs.append(task.leaf_cost(state, label) if cost is None else cost)
            broken.extend((number, limit) for limit in task.limits if not limit.allows(state))
        left = costs.copy()

        def value(visit: Visit, parts: list[Any]) -> Any:
            """The value at a node; None without rows, which have no part in any value."""
            own = left.pop() if isinstance(visit.node, Leaf) else None
            if not len(visit.rows):
                return None
            return own if isinstance(visit.node, Leaf) else merged(task, parts, data.count(visit.rows), visit)

        shown = (task.objective_of(cost) if size else 0 for cost, (_, size) in zip(costs, leaves, strict=True))
        leaf_rows = tuple(size for _, size in leaves)
        return Evaluation(fold(found, value), sizes, tuple(shown), leaf_rows, tuple(broken))


def merged(task: Task, parts: list[Any], rows: int, visit: Visit) -> Value:
    """The value of a branching node: those of its children that have one, and what it costs itself, combined."""
    value = functools.reduce(task.combine, [part for part in parts if part is not None])
    cost = task.branching_cost(rows, tuple(sorted(set(visit.path))), visit.node.column)  # type: ignore[union-attr]
    return value if cost is None else task.combine(value, cost)


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
    found = _visits(tree.root, data)
    shown = []
    for visit in found:
        if isinstance(visit.node, Leaf):
            seen = visit.rows if len(visit.rows) else found[visit.parent].rows
            shown.append(task.leaf_label(state_of(sums, seen, data, beside_sums(task, data, seen)), visit.node.label))
    return tuple(shown)


def count_rows(root: Node, data: Dataset) -> Node:
    """The nodes of a tree on `data` with their numbers of rows, each as often as its frequency says."""

    def counted(visit: Visit, children: list[Node]) -> Node:
        node = attrs.evolve(visit.node, rows=data.count(visit.rows))
        return attrs.evolve(node, children=tuple(children)) if isinstance(node, Branch) else node

    return root if data.frequency is None else fold(_visits(root, data), counted)


def _visits(root: Node, data: Dataset) -> list[Visit]:
    return list(visits(root, functools.partial(sides_in, data), data.n_rows))
