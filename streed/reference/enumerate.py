"""The value of a given tree, and the optimum by exhaustion: every tree is built, evaluated whole by Eq. 4 and compared.

Shares nothing with the recursion but how rows are added up and parted, so that it can judge it; for tiny data only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np

from streed.data import Dataset
from streed.errors import MismatchError
from streed.reference.recursion import Split, children, every_split, merged, width
from streed.task import ExactSums, State, Task, Totals, Value
from streed.task.base import objective
from streed.tree import Branch, Leaf, Node


class Visit(NamedTuple):
    """A node of a tree with the rows that reach it and the columns of the splits above it."""

    node: Node
    rows: list[int]
    path: tuple[int, ...]


@final
class Evaluation:
    """Evaluates trees on one task and one data set."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self.task = task.bind(data)
        self.data = data
        self.labels = tuple(self.task.labels(data))
        self.root_rows = list(range(data.n_rows))
        self._sums = ExactSums(self.task, data)
        self._counts = data.counts.tolist()
        self._children: dict[Split, list[int]] = {}

    def cost(self, node: Node, rows: list[int] | None = None, path: tuple[int, ...] = ()) -> Value:
        """Eq. 4: g(s, l(u)) at a leaf, C(left) (+) C(right) (+) ... (+) g(s, b(u)) at a branch; else MismatchError."""
        rows = self.root_rows if rows is None else rows
        if isinstance(node, Leaf):
            if not 0 <= node.label < len(self.labels):
                raise MismatchError(f"the leaf at {path} has label {node.label}, and there are {len(self.labels)}")
            return self.task.leaf_cost(self.state(rows), node.label)
        below = [
            self.cost(child, part, (*path, node.column))
            for child, part in zip(node.children, self._parts(node, rows), strict=True)
            if part
        ]
        if len(below) < 2:
            raise MismatchError(f"the split on column {node.column} after {path} separates no rows")
        return merged(self.task, below, self.n_rows(rows), path, node.column)

    def visits(self, node: Node, rows: list[int] | None = None, path: tuple[int, ...] = ()) -> Iterator[Visit]:
        """Every node, from the root down and left to right, with its rows and path."""
        rows = self.root_rows if rows is None else rows
        yield Visit(node, rows, path)
        if isinstance(node, Branch):
            for child, part in zip(node.children, self._parts(node, rows), strict=True):
                yield from self.visits(child, part, (*path, node.column))

    def state(self, rows: list[int]) -> State:
        """The sums of the task's statistics over the rows, at least one, and the rows if the task reads them."""
        return self._sums.state(np.array(sorted(rows), np.int64))

    def n_rows(self, rows: list[int]) -> int:
        """How many rows these rows of the data stand for, by their frequencies."""
        return sum(self._counts[row] for row in rows)

    def shape(self, root: Node) -> tuple[int, int, int]:
        """Depth, branching nodes and leaves, those without rows included."""
        visits = list(self.visits(root))
        leaves = [visit for visit in visits if isinstance(visit.node, Leaf)]
        return max(len(leaf.path) for leaf in leaves), len(visits) - len(leaves), len(leaves)

    def broken_limits(
        self, root: Node, *, max_depth: int | None = None, max_nodes: int | None = None, min_leaf: int = 1
    ) -> list[str]:
        """What is wrong with a tree beside its value: each broken limit, in words; empty if it keeps them all."""
        broken = []
        depth, branches, _ = self.shape(root)
        if max_depth is not None and depth > max_depth:
            broken.append(f"depth {depth} is more than {max_depth}")
        if max_nodes is not None and branches > max_nodes:
            broken.append(f"{branches} branching nodes are more than {max_nodes}")
        if objective(self.task).overrides("feasible") and not self.task.feasible(self.cost(root)):
            broken.append(f"its value {self.cost(root)!r} is not feasible")
        for node, rows, path in self.visits(root):
            if isinstance(node, Branch) or not rows:
                continue
            if self.n_rows(rows) < min_leaf:
                broken.append(f"the leaf at {path} has {self.n_rows(rows)} rows, fewer than {min_leaf}")
            s = self.state(rows)
            broken += [f"the leaf at {path} breaks {limit!r}" for limit in self.task.limits if not limit.allows(s)]
        return broken

    def _parts(self, node: Branch, rows: list[int]) -> list[list[int]]:
        split = Split(node.column, node.cut)
        if split not in self._children:
            self._children[split] = children(self.data, split)
        parts: list[list[int]] = [[] for _ in range(width(self.data, split.column))]
        for row in rows:
            parts[self._children[split][row]].append(row)
        if len(parts) != len(node.children):
            raise MismatchError(f"column {node.column} has {len(parts)} children, the tree {len(node.children)}")
        return parts


def every_tree(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None
) -> Iterator[Node]:
    """Every tree within the limits whose splits separate rows, with every label at leaves with rows, else label 0."""
    labels = range(len(task.bind(data).labels(data)))
    splits = [(split, width(data, split.column), children(data, split)) for split in every_split(data)]

    def subtrees(rows: list[int], depth: int, nodes: int) -> Iterator[tuple[Node, int]]:
        """Every subtree for these rows with its number of branching nodes."""
        if not rows:
            yield Leaf(0, 0, 0), 0
            return
        for label in labels:
            yield Leaf(label, len(rows), 0), 0
        if depth == 0 or nodes == 0:
            return
        for split, count, child_of in splits:
            parts = [[row for row in rows if child_of[row] == child] for child in range(count)]
            if sum(part != [] for part in parts) < 2:
                continue
            for below, used in forests(parts, depth - 1, nodes - 1):
                yield Branch(split.column, below, len(rows), split.cut), used + 1

    def forests(parts: list[list[int]], depth: int, nodes: int) -> Iterator[tuple[tuple[Node, ...], int]]:
        """Every choice of one subtree for each part, with the number of their branching nodes together."""
        if not parts:
            yield (), 0
            return
        for first, used in subtrees(parts[0], depth, nodes):
            for others, more in forests(parts[1:], depth, nodes - used):
                yield (first, *others), used + more

    unlimited = data.n_rows
    depth = unlimited if max_depth is None else max_depth
    nodes = unlimited if max_nodes is None else max_nodes
    for tree, _ in subtrees(list(range(data.n_rows)), depth, nodes):
        yield tree


def best_trees(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None, min_leaf: int = 1
) -> list[tuple[Value, Node]]:
    """Every nondominated value of a feasible tree, with the first tree that has it; empty if none is feasible."""
    evaluation = Evaluation(task, data)
    first: dict[Value, Node] = {}
    for tree in every_tree(task, evaluation.data, max_depth=max_depth, max_nodes=max_nodes):
        if not evaluation.broken_limits(tree, min_leaf=min_leaf):
            first.setdefault(evaluation.cost(tree), tree)
    better = evaluation.task.better
    return [(value, tree) for value, tree in first.items() if not any(better(other, value) for other in first)]


def counted_trees(
    task: Task,
    data: Dataset,
    *,
    max_depth: int | None = None,
    min_leaf: int = 1,
    labels: str = "all",
    trivial: bool = True,
    columns: str = "distinct",
) -> Iterator[tuple[Any, Value, Node]]:
    """(score, value, tree) of every feasible tree that the options count, in no order."""
    evaluation = Evaluation(task, data)
    totals = Totals(task, data)
    first = set(_first_splits(evaluation.data)) if columns == "distinct" else None
    for tree in every_tree(task, evaluation.data, max_depth=max_depth):
        visits = list(evaluation.visits(tree))
        if first is not None and not all(
            Split(visit.node.column, visit.node.cut) in first for visit in visits if isinstance(visit.node, Branch)
        ):
            continue
        if not trivial and any(_is_trivial(evaluation, visit) for visit in visits):
            continue
        if labels == "best" and not all(_is_best(evaluation, visit) for visit in visits):
            continue
        if evaluation.broken_limits(tree, min_leaf=min_leaf):
            continue
        value = evaluation.task.objective_of(evaluation.cost(tree))
        yield task.score(evaluation.cost(tree), totals), value, tree


def _first_splits(data: Dataset) -> Iterator[Split]:
    """Of the splits that part the rows alike, the first."""
    seen = set()
    for split in every_split(data):
        sides: dict[int, set[int]] = {}
        for row, child in enumerate(children(data, split)):
            sides.setdefault(child, set()).add(row)
        parts = frozenset(map(frozenset, sides.values()))
        if parts not in seen:
            seen.add(parts)
            yield split


def _is_trivial(evaluation: Evaluation, visit: Visit) -> bool:
    """Whether the node is a split into leaves of one label."""
    if isinstance(visit.node, Leaf):
        return False
    below = [each.node for each in evaluation.visits(visit.node, visit.rows, visit.path) if each.rows][1:]
    return all(isinstance(node, Leaf) for node in below) and len({node.label for node in below}) == 1  # type: ignore[union-attr]


def _is_best(evaluation: Evaluation, visit: Visit) -> bool:
    """Whether the node is no leaf with rows, or one of the least label that costs least there."""
    if isinstance(visit.node, Branch) or not visit.rows:
        return True
    state = evaluation.state(visit.rows)
    costs = [evaluation.task.leaf_cost(state, k) for k in range(len(evaluation.labels))]
    return visit.node.label == costs.index(min(costs))
