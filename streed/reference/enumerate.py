"""The optimum by exhaustion: every tree is built, evaluated whole by Eq. 4 and compared; for tiny data only.

No dynamic programming and nothing of the recursion's: an independent judge of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streed.data import Dataset
from streed.reference.definition import Split, children, every_split, width
from streed.reference.evaluation import Evaluation, Visit
from streed.task import Task, Totals, Value
from streed.tree import Branch, Leaf, Node


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
