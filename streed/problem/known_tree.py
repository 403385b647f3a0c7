"""A tree that is known already, of an earlier solve, a file or scikit-learn, as a solution of the problem at hand."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from streed.data import Cut
from streed.errors import InputError, brief
from streed.exact import Array
from streed.problem.problem import Problem, Solution
from streed.task import Task, beside_sums, state_of
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.evaluation import Evaluation, inspect
from streed.tree.rows import sides_in


def adopt(known: Any, problem: Problem) -> Solution:
    """The tree on the problem's data, with what it is worth there, measured from the raw rows.

    `known` is a tree, what has one in `tree_` (estimators of streed's and trees of scikit-learn's), or a result.
    Columns are found by name; scikit-learn's leaves get the label that costs least. Raises InputError where the data
    lacks a column, where a leaf shows what is no label of the task, and where the tree breaks a limit.
    """
    names = getattr(known, "feature_names_in_", None)
    known = held_tree(known)
    data, task = problem.data, problem.task
    labels = tuple(task.labels(data))
    if hasattr(known, "children_left"):
        return worth(_labelled(_of_sklearn(known, names, problem), problem), problem)
    if not isinstance(known, Tree):
        raise InputError("warm_start", f"{brief(known)} is no tree", "give a streed.Tree, such as result.tree")
    by_name = {name: j for j, name in enumerate(data.names)}
    places: dict[int, int] = {}
    for j, column in known.columns.items():
        place = by_name.get(column.name)
        if place is None:
            raise InputError("warm_start", f"the data has no column {column.name!r}", "give a tree on these columns")
        if data.column(place).categories != column.categories or (place in data.ordered) != (column.scale is not None):
            found = f"column {column.name!r} has other values in the tree than in the data"
            raise InputError("warm_start", found, "give a tree on these columns")
        places[j] = place
    return worth(_moved(known.root, places, _label_numbers(known, task, labels)), problem)


def worth(root: Node, problem: Problem) -> Solution:
    """The tree with its value, measured from the raw rows; raises InputError where it breaks a limit."""
    tree = Tree.grown(root, problem.data, tuple(problem.task.labels(problem.data)))
    seen = inspect(tree, problem.task, problem.data)
    _check_limits(tree, seen, problem)
    return Solution(seen.value, _measured(root, iter(seen.rows), iter(seen.leaf_costs)))


def with_costs(node: Node, costs: Iterator[Any]) -> Node:
    """The nodes with what their leaves cost, left to right."""
    if isinstance(node, Leaf):
        return attrs.evolve(node, cost=next(costs))
    return attrs.evolve(node, children=tuple(with_costs(child, costs) for child in node.children))


def held_tree(model: Any) -> Any:
    """The tree that a fitted estimator or a result holds, of streed's or scikit-learn's kind; else the model itself."""
    return getattr(model, "tree_", getattr(model, "tree", model))


def best_leaf(problem: Problem, is_better: Callable[[Solution, Solution], bool]) -> Solution | None:
    """The tree of one leaf, of those that keep the limits, that no other is better than; None where none does."""
    best: Solution | None = None
    for label in range(len(problem.task.labels(problem.data))):
        with contextlib.suppress(InputError):  # which limit it breaks
            leaf = worth(Leaf(label, 0, 0), problem)
            best = leaf if best is None or is_better(leaf, best) else best
    return best


def _of_sklearn(known: Any, names: Any, problem: Problem) -> Node:
    """The nodes of scikit-learn's tree, which sends values of at most a threshold to the left; leaves have label 0."""
    data = problem.data
    places = range(data.n_columns) if names is None else [_place(data.names, name) for name in names]
    if len(places) != known.n_features:
        found = f"a tree on {known.n_features} columns, and the data has {len(places)}"
        raise InputError("warm_start", found, "give a tree that was fitted to the same columns")

    def node(at: int) -> Node:
        left, right = int(known.children_left[at]), int(known.children_right[at])
        if left < 0:
            return Leaf(0, 0, 0)
        j, threshold = places[known.feature[at]], float(known.threshold[at])
        sides = node(left), node(right)
        if j in data.ordered:
            gaps = 0 if known.missing_go_to_left[at] else 1
            return Branch(j, sides, 0, Cut(threshold, gaps))
        children = tuple(sides[float(value) > threshold] for value in data.column(j).categories)
        return children[0] if all(child is children[0] for child in children) else Branch(j, children, 0)

    return node(0)


def _place(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise InputError("warm_start", f"the data has no column {name!r}", "give a tree on these columns")
    return names.index(name)


def _labelled(root: Node, problem: Problem) -> Node:
    """The tree with the label of least cost in every leaf."""
    task, data, sums = problem.task, problem.data, problem.sums

    def labelled(node: Node, rows: Array) -> Node:
        if isinstance(node, Branch):
            return attrs.evolve(node, children=tuple(labelled(*part) for part in sides_of(node, rows, problem)))
        if not len(rows):
            return node
        state = state_of(sums, rows, data, beside_sums(task, data, rows))
        best, least = 0, task.leaf_cost(state, 0)
        for k in range(1, len(task.labels(data))):
            cost = task.leaf_cost(state, k)
            if task.better(cost, least):
                best, least = k, cost
        return attrs.evolve(node, label=best)

    return labelled(root, np.arange(data.n_rows))


def sides_of(node: Branch, rows: Array, problem: Problem) -> Iterator[tuple[Node, Array]]:
    """The children, each with its rows."""
    sides = sides_in(problem.data, node, rows)
    return ((child, rows[sides == code]) for code, child in enumerate(node.children))


def _label_numbers(tree: Tree, task: Task, labels: tuple[Any, ...]) -> Mapping[int, int]:
    """The numbers of the tree's labels among those of the task."""
    found: dict[int, int] = {}
    for leaf in tree.leaves():
        if leaf.label in found:
            continue
        label = tree.labels[leaf.label]
        number = next((k for k, each in enumerate(labels) if each == label), None)
        if number is None:
            remedy = f"the labels are {labels!r}"[:200]
            raise InputError("warm_start", f"a leaf shows {label!r}, which is no label of the task", remedy)
        found[leaf.label] = number
    return found


def _moved(node: Node, places: Mapping[int, int], labels: Mapping[int, int]) -> Node:
    if isinstance(node, Leaf):
        return Leaf(labels[node.label], 0, 0)
    children = tuple(_moved(child, places, labels) for child in node.children)
    return attrs.evolve(node, column=places[node.column], children=children)


def _measured(node: Node, rows: Any, costs: Any) -> Node:
    """The nodes, parents first, with their rows, and leaves with their costs."""
    size = next(rows)
    if isinstance(node, Leaf):
        return Leaf(node.label, size, next(costs))
    return Branch(node.column, tuple(_measured(child, rows, costs) for child in node.children), size, node.cut)


def _check_limits(tree: Tree, seen: Evaluation, problem: Problem) -> None:
    smallest = min(rows for rows in seen.leaf_rows if rows)
    broken = problem.broken_by(tree.depth, tree.n_branches, smallest)
    if broken is None and seen.broken:
        broken = "a leaf that breaks a limit"
    if broken is None and not problem.task.feasible(seen.value):
        broken = "a value that breaks a limit"
    if broken is not None:
        remedy = "give a tree that keeps the limits of this solve, or leave it out"
        raise InputError("warm_start", f"the tree has {broken}, which the limits forbid", remedy)
