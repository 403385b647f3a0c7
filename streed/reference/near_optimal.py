"""Every near-optimal tree by exhaustion: all trees are built, the definitions are applied to each; for tiny data only.

Two trees differ if a column, a cut or a label differs anywhere. Three options say which count:

- `labels`: "all", or "best": at every leaf the label that costs its rows least, the first of these.
- `trivial`: False leaves out trees with a split all of whose children with rows are leaves of one label.
- `columns`: "all", or "distinct": of splits that part the rows of the data alike, only the first one is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streed.reference.enumerate import every_tree
from streed.reference.evaluation import Evaluation, Visit
from streed.reference.splits import Split, children, every_split
from streed.task import Totals
from streed.tree import Branch, Leaf, Node

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task import Task, Value


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
