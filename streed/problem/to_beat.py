"""What a solve is to beat: a value that the caller gives, or a tree that is known already."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Range, readable
from streed.problem.problem import Problem, Solution
from streed.task import TOTAL, Task, Totals, Value
from streed.task.constrained import objective
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.evaluation import Evaluation, inspect


def read_upper_bound(upper_bound: Any) -> int | float | Fraction | None:
    """The value to beat, in the units of the task's score; None for none.

    A float stays one, as it may be what a result shows of a value that no float equals. Raises InputError
    for what is no finite number.
    """
    exact: Any = Range(optional=True, meaning="a value of the task").read("upper_bound", upper_bound)
    return float(upper_bound) if isinstance(upper_bound, (float, np.floating)) else exact


def beats(task: Task, score: Any, goal: Any) -> bool:
    """Whether a score is better than the one to beat; one that reads as the same float is not.

    Raises InputError where scores are tuples of which none need be better.
    """
    if isinstance(score, tuple) and (task.order != TOTAL or not isinstance(goal, tuple)):
        remedy = "leave it out, or limit one of them, as in A.subject_to(B <= 0.1)"
        argument = "warm_start" if isinstance(goal, tuple) else "upper_bound"
        raise InputError(argument, f"the values of {type(objective(task)).__name__} are tuples", remedy)
    if isinstance(goal, float):
        score = readable(score, real=True)
    return bool(score > goal if task.larger_is_better else score < goal)


def value_of_score(task: Task, score: int | Fraction, totals: Totals) -> Value | None:
    """The value that the task shows as this score; None where its score is no affine function of the value."""
    if task.order != TOTAL:
        return None
    if not task.overrides("score"):
        return score
    try:
        at_zero, at_one = (Fraction(task.score(value, totals)) for value in (Fraction(0), Fraction(1)))
        if at_zero == at_one:
            return None
        value = (score - at_zero) / (at_one - at_zero)
        return value if task.score(value, totals) == score else None
    except (ArithmeticError, TypeError, ValueError):
        return None


def adopt(known: Any, problem: Problem) -> Solution:
    """The tree on the problem's data, with what it is worth there, measured from the raw rows.

    Its columns are found by name. Raises InputError where the data lacks one, where a leaf shows what is no label of
    the task, and where the tree breaks a limit.
    """
    if not isinstance(known, Tree):
        raise InputError("warm_start", f"{known!r} is no tree", "give a streed.Tree, such as result.tree")
    data, task = problem.data, problem.task
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
    labels = tuple(task.labels(data))
    of_label = _label_numbers(known, task, labels)
    tree = Tree.grown(_moved(known.root, places, of_label), data, labels)
    seen = inspect(tree, task, data)
    _check_limits(tree, seen, problem)
    return Solution(seen.value, _measured(tree.root, iter(seen.rows), iter(seen.leaf_costs)))


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
    kept = {
        f"depth {tree.depth}": problem.max_depth is None or tree.depth <= problem.max_depth,
        f"{tree.n_branches} branching nodes": problem.max_nodes is None or tree.n_branches <= problem.max_nodes,
        f"a leaf of {smallest} rows": smallest >= problem.min_leaf,
        "a leaf that breaks a limit": not seen.broken,
        "a value that breaks a limit": bool(problem.task.feasible(seen.value)),
    }
    for what, holds in kept.items():
        if not holds:
            remedy = "give a tree that keeps the limits of this solve, or leave it out"
            raise InputError("warm_start", f"the tree has {what}, which the limits forbid", remedy)
