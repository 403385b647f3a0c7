"""The certificate of an outcome: its tree, measured again from the raw codes and costs."""

from __future__ import annotations

import attrs
import numpy as np

from streed.algebra import Constrained
from streed.data import Dataset
from streed.engine.records import LEAF
from streed.engine.routing import measure_tree
from streed.engine.workspace import writable
from streed.errors import MismatchError
from streed.exact import Array
from streed.search.driver import Outcome, Problem
from streed.task import Task
from streed.tree import Branch, Leaf, Node, Tree


def certify(problem: Problem, outcome: Outcome) -> tuple[Outcome, Tree | None]:
    """The outcome with its tree; raises MismatchError if the tree does not cost what the search claimed.

    A search that was stopped, or that had to forget, may have known the cost of a tree but not all of the tree, which
    is then completed as well as can be; the outcome has the cost of that tree.
    """
    if outcome.preorder is None:
        return outcome, None
    data = problem.data
    preorder = outcome.preorder
    arity = np.zeros(data.n_columns, np.int64)
    for j in data.categorical:
        arity[j] = len(data.column(j).categories)
    labels, rows, costs, depths = measure_tree(preorder, writable(data.X), arity, writable(problem.costs.costs))
    is_leaf = preorder == LEAF
    branches = len(preorder) - int(np.count_nonzero(is_leaf))
    cost = int(costs.sum()) + problem.costs.split * branches
    root = _nest(preorder, arity, labels.tolist(), rows.tolist(), costs.tolist())
    tree = Tree.grown(
        root, data, tuple(problem.task.labels(data)), unit=problem.costs.unit, shown=_shown(problem, root)
    )
    if cost != outcome.upper:
        forgot = cost > outcome.lower and int(outcome.stats.get("evictions", 0)) > 0
        if (outcome.stopped is None and not forgot) or cost < outcome.lower:
            raise MismatchError(f"the tree costs {cost}, the search claimed {outcome.upper}; please report this")
        outcome = attrs.evolve(outcome, upper=cost, stopped=outcome.stopped or "memory")
    _check_limits(problem, int(depths.max()), branches, rows[is_leaf & (rows > 0)] if problem.min_leaf > 1 else rows)
    return outcome, tree


def _nest(preorder: Array, arity: Array, labels: list[int], rows: list[int], costs: list[int]) -> Node:
    """The nested nodes of a tree in preorder."""
    stack: list[Node] = []
    columns = preorder.tolist()
    for at in range(len(columns) - 1, -1, -1):
        if columns[at] == LEAF:
            stack.append(Leaf(labels[at], rows[at], costs[at]))
        else:
            sides = max(int(arity[columns[at]]), 2)
            children = tuple(stack[: -sides - 1 : -1])
            del stack[-sides:]
            stack.append(Branch(columns[at], children, rows[at]))
    return stack[0]


def _shown(problem: Problem, root: Node) -> tuple[object, ...] | None:
    """What leaves show where the task gives them something else than their label."""
    task = problem.task.task if isinstance(problem.task, Constrained) else problem.task
    if type(task).leaf_label is Task.leaf_label:
        return None
    from streed.evaluate import leaf_displays

    data: Dataset = problem.data
    return leaf_displays(Tree.grown(root, data, tuple(problem.task.labels(data))), problem.task, data)


def _check_limits(problem: Problem, depth: int, branches: int, leaf_rows: Array) -> None:
    """Raises MismatchError if the tree breaks a limit."""
    if problem.max_depth is not None and depth > problem.max_depth:
        raise MismatchError(f"the tree has depth {depth}, above {problem.max_depth}; please report this")
    if problem.max_nodes is not None and branches > problem.max_nodes:
        raise MismatchError(f"the tree has {branches} branching nodes, above {problem.max_nodes}; please report this")
    if problem.min_leaf > 1 and leaf_rows.min(initial=problem.min_leaf) < problem.min_leaf:
        raise MismatchError(f"a leaf has {leaf_rows.min()} rows, below {problem.min_leaf}; please report this")
