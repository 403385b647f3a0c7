"""The optimum by exhaustion: every tree is built, evaluated whole by Eq. 4 and compared; for tiny data only.

No dynamic programming and nothing of the recursion's: an independent judge of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streed.reference.evaluation import Evaluation
from streed.reference.splits import children, every_split, width
from streed.tree import Branch, Leaf, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streed.data import Dataset
    from streed.task import Task, Value


def every_tree(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None
) -> Iterator[Node]:
    """Every tree within the limits whose splits separate rows, with every label at every leaf that has rows.

    Leaves carry cost 0 and, where they have no rows, label 0: neither matters to Eq. 4. There are doubly exponentially
    many trees in the depth.
    """
    labels = range(len(task.bind(data).labels(data)))
    splits = [(split, width(data, split), children(data, split)) for split in every_split(data)]

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
