"""The certificate of an outcome: its tree, measured again from the raw codes and costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from streed.engine.records import LEAF
from streed.engine.routing import measure_tree
from streed.engine.workspace import writable
from streed.errors import MismatchError
from streed.exact import Array, IntegerCosts
from streed.search.driver import Problem
from streed.tree import Branch, Leaf, Node


def measure_costs(problem: Problem, costs: IntegerCosts, preorder: Array) -> tuple[int, Node]:
    """(cost, root) of a tree in preorder, -1 for leaves, by its rows' costs; raises MismatchError if it breaks a limit.

    Leaves cost whole numbers, in the unit of `costs`.
    """
    data = problem.data
    arity = np.zeros(data.n_columns, np.int64)
    for j in data.categorical:
        arity[j] = len(data.column(j).categories)
    labels, rows, leaf_costs, depths = measure_tree(preorder, writable(data.X), arity, writable(costs.costs))
    is_leaf = preorder == LEAF
    branches = len(preorder) - int(np.count_nonzero(is_leaf))
    _check_limits(problem, int(depths.max()), branches, rows[is_leaf & (rows > 0)] if problem.min_leaf > 1 else rows)
    root = nest_preorder(preorder, arity, labels.tolist(), rows.tolist(), leaf_costs.tolist())
    return int(leaf_costs.sum()) + costs.split * branches, root


def check_claim(cost: Any, claimed: Any, lower: Any, *, stopped: bool, forgot: bool) -> None:
    """Raises MismatchError if a tree does not cost what the search claimed.

    A search that was stopped, or that had to forget, may have known the cost of a tree but not all of the tree, which
    is then completed as well as can be, and may cost more.
    """
    if cost != claimed and (cost < lower or not (stopped or (forgot and cost > lower))):
        raise MismatchError(f"the tree costs {cost}, the search claimed {claimed}; please report this")


def nest_preorder(preorder: Array, arity: Array, labels: list[int], rows: list[int], costs: list[int]) -> Node:
    """The nested nodes of a tree in preorder, with the labels, rows and costs of its nodes."""
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


def _check_limits(problem: Problem, depth: int, branches: int, leaf_rows: Array) -> None:
    """Raises MismatchError if the tree breaks a limit."""
    if problem.max_depth is not None and depth > problem.max_depth:
        raise MismatchError(f"the tree has depth {depth}, above {problem.max_depth}; please report this")
    if problem.max_nodes is not None and branches > problem.max_nodes:
        raise MismatchError(f"the tree has {branches} branching nodes, above {problem.max_nodes}; please report this")
    if problem.min_leaf > 1 and leaf_rows.min(initial=problem.min_leaf) < problem.min_leaf:
        raise MismatchError(f"a leaf has {leaf_rows.min()} rows, below {problem.min_leaf}; please report this")
