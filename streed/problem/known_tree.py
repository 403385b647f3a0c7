"""What is known before a solve: a tree, of an earlier solve, a file or scikit-learn; and the value to be beaten."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.data import Cut
from streed.errors import InputError, brief
from streed.exact import Range, readable
from streed.problem import Problem, Solution
from streed.task import TOTAL, Task, Totals, Value, state_of
from streed.task.base import objective
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.evaluation import Evaluation, Inspector
from streed.tree.nodes import flatten, nest, visits_in


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
    places: dict[int, int] = {}
    for j, column in known.columns.items():
        place = _place(data.names, column.name)
        if data.column(place).categories != column.categories or (place in data.ordered) != (column.scale is not None):
            found = f"column {column.name!r} has other values in the tree than in the data"
            raise InputError("warm_start", found, "give a tree on these columns")
        places[j] = place
    numbers: dict[int, int] = {}
    for leaf in known.leaves():
        label = known.labels[leaf.label]
        if label not in labels:
            remedy = f"the labels are {labels!r}"[:200]
            raise InputError("warm_start", f"a leaf shows {label!r}, which is no label of the task", remedy)
        numbers[leaf.label] = labels.index(label)
    moved = [
        Leaf(numbers[x.label], 0, 0) if isinstance(x, Leaf) else attrs.evolve(x, column=places[x.column])
        for x in flatten(known.root)
    ]
    return worth(nest(moved), problem)


def worth(root: Node, problem: Problem) -> Solution:
    """The tree with its value, measured from the raw rows; raises InputError where it breaks a limit."""
    tree = Tree.grown(root, problem.data, tuple(problem.task.labels(problem.data)))
    seen = Inspector(problem.task, problem.data).inspect(tree)
    broken = broken_limit(problem, tree, seen)
    if broken is not None:
        remedy = "give a tree that keeps the limits of this solve, or leave it out"
        raise InputError("warm_start", f"the tree has {broken}, which the limits forbid", remedy)
    return Solution(seen.value, with_costs(root, seen))


def broken_limit(problem: Problem, tree: Tree, seen: Evaluation, exact: bool = True) -> str | None:
    """What a tree has that a limit forbids, None if it keeps them all; only an `exact` value is asked for."""
    broken = problem.broken_by(tree.depth, tree.n_branches, min(rows for rows in seen.leaf_rows if rows))
    if broken is None and (seen.broken or (exact and not problem.task.feasible(seen.value))):
        broken = f"a {'leaf' if seen.broken else 'value'} that breaks a limit"
    return broken


def with_costs(root: Node, seen: Evaluation) -> Node:
    """The nodes with the rows that they have, and what their leaves cost."""
    costs, sized = iter(seen.leaf_costs), zip(flatten(root), seen.rows, strict=True)
    return nest([Leaf(x.label, n, next(costs)) if isinstance(x, Leaf) else attrs.evolve(x, rows=n) for x, n in sized])


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
    task, data, flat = problem.task, problem.data, flatten(root)
    for place, visit in enumerate(visits_in(root, data)):
        if isinstance(visit.node, Leaf) and len(visit.rows):
            state = state_of(problem.sums, visit.rows, data, task)
            costs = [task.leaf_cost(state, k) for k in range(len(task.labels(data)))]
            best = functools.reduce(lambda a, b: b if task.better(costs[b], costs[a]) else a, range(len(costs)))
            flat[place] = Leaf(best, 0, 0)
    return nest(flat)


_VALUE = Range(optional=True, meaning="a value of the task")


def read_upper_bound(upper_bound: Any) -> int | float | Fraction | None:
    """The value to beat, in the units of the task's score; None for none.

    A float stays one, as it may be what a result shows of a value that no float equals. Raises InputError
    for what is no finite number.
    """
    exact: Any = _VALUE.read("upper_bound", upper_bound)
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
