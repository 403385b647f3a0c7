"""The value of one given tree, top-down from the raw data (STreeD, Eq. 4), and whether it keeps the limits.

Shares nothing with the recursion but how rows are added up, so that it can judge it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from streed.data import Dataset
from streed.errors import MismatchError
from streed.reference.definition import Split, children, merged, width
from streed.task import ExactSums, State, Task, Value
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
        """C(s, u) of Eq. 4: g(s, l(u)) at a leaf, C(left) (+) C(right) (+) ... (+) g(s, b(u)) at a branching node.

        Children without rows cost nothing. Raises MismatchError for labels that the task does not have and for
        branching nodes that separate no rows.
        """
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
        parts: list[list[int]] = [[] for _ in range(width(self.data, split))]
        for row in rows:
            parts[self._children[split][row]].append(row)
        if len(parts) != len(node.children):
            raise MismatchError(f"column {node.column} has {len(parts)} children, the tree {len(node.children)}")
        return parts
