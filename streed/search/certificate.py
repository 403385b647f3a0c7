"""The certificate of an outcome: its tree, measured again from the raw codes and costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streed.engine.records import LEAF
from streed.engine.routing import measure_tree
from streed.engine.workspace import writable
from streed.errors import MismatchError
from streed.exact import Array, IntegerCosts
from streed.search.driver import Problem, Solution
from streed.task import State
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


def check_claim(cost: Any, claimed: Any, lower: Any, *, complete: bool) -> None:
    """Raises MismatchError if a tree does not cost what the search claimed.

    A search that was stopped, or that had to forget, may have known the cost of a tree but not all of the tree, which
    is then completed as well as can be, and may cost more.
    """
    if cost != claimed and (complete or cost < lower):
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


def measure_task(
    problem: Problem,
    preorder: Array,
    codes: Array,
    sums: dict[str, Array],
    counts: Array,
    visit: Callable[[State], None] | None = None,
) -> Solution:
    """A tree in preorder, -1 for leaves, measured by the task's own Python methods on sums over its rows.

    codes (m, p) uint8 and the statistics `sums` are of merged rows, each of which stands for counts (m,) rows. Raises
    MismatchError if the tree breaks a limit. `visit` is called with the state of every leaf that has rows.
    """
    task, data = problem.task, problem.data
    arity = {j: len(data.column(j).categories) for j in data.categorical}
    labels = range(len(task.labels(data)))
    columns = iter(preorder.tolist())
    leaf_rows: list[int] = []
    shown: list[Any] = []
    shows_labels = task.shows_labels
    deepest = 0

    def measure(rows: Array, above: Array, path: frozenset[int], depth: int) -> tuple[Any, Node]:
        nonlocal deepest
        deepest = max(deepest, depth)
        column = next(columns)
        size = int(counts[rows].sum())
        if column == LEAF:
            s = merged_state(sums, counts, rows if len(rows) else above)
            costs = [task.leaf_cost(s, k) for k in labels]
            allowed = [k for k in labels if task.feasible(costs[k])] or labels
            best = allowed[0]
            for k in allowed:
                if task.better(costs[k], costs[best]):
                    best = k
            if not shows_labels:
                shown.append(task.leaf_label(s, best))
            if not len(rows):
                return None, Leaf(best, 0, 0)
            if not all(limit.allows(s) for limit in task.limits):
                raise MismatchError(f"a leaf of {size} rows breaks a limit; please report this")
            leaf_rows.append(size)
            if visit is not None:
                visit(s)
            return costs[best], Leaf(best, size, costs[best])
        side_of = codes[rows, column]
        children, value = [], None
        for code in range(arity.get(column, 2)):
            found, child = measure(rows[side_of == code], rows, path | {column}, depth + 1)
            children.append(child)
            if found is not None:
                value = found if value is None else task.combine(value, found)
        cost = task.branching_cost(size, tuple(sorted(path)), column)
        return value if cost is None else task.combine(value, cost), Branch(column, tuple(children), size)

    everything = np.arange(len(codes))
    value, root = measure(everything, everything, frozenset(), 0)
    branches = int(np.count_nonzero(preorder != LEAF))
    _check_limits(problem, deepest, branches, np.array(leaf_rows))
    return Solution(value, root, None if shows_labels else tuple(shown))


def merged_state(sums: dict[str, Array], counts: Array, rows: Array) -> State:
    """The state of merged rows."""
    totals = {name: values[rows].sum(axis=0) for name, values in sums.items()}
    return State(int(counts[rows].sum()), **{k: tuple(v.tolist()) if v.ndim else v.item() for k, v in totals.items()})
