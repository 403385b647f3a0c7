"""The certificate of an outcome: its tree, measured again from the raw codes and costs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from streed.data import Dataset
from streed.errors import MismatchError, StreedError
from streed.exact import Array, exact_number, writable
from streed.kernels.records import LEAF
from streed.kernels.routing import measure_tree, route_rows
from streed.problem import Problem, Solution
from streed.problem.known_tree import with_costs
from streed.task.base import objective
from streed.task.states import StateInParts, sums_by
from streed.tree import Branch, Leaf, Node, walk
from streed.whole_costs import IntegerCosts, WideCosts


def measure_costs(problem: Problem, costs: IntegerCosts, preorder: Array) -> tuple[int, Node]:
    """(cost, root) of a tree in preorder, -1 for leaves, by its rows' costs; raises MismatchError if it breaks a limit.

    Leaves cost whole numbers, in the unit of `costs`.
    """
    data = problem.data
    arity = data.category_counts
    measured, leaf_of, end = measure_tree(preorder, writable(data.X), arity, costs.costs)
    columns, (labels, rows, leaf_costs, depths, _) = preorder.tolist(), measured.tolist()
    if data.frequency is not None:
        sizes = sums_by(leaf_of, data.frequency, len(preorder))
        rows = [int(sizes[at:behind].sum()) for at, behind in enumerate(end.tolist())]
    leaf_rows = [n for n, column in zip(rows, columns, strict=True) if column == LEAF and n]
    branches = len(columns) - columns.count(LEAF)
    _check_limits(problem, max(depths), branches, leaf_rows)
    root = nest_preorder(columns, arity, labels, rows, leaf_costs)
    return sum(leaf_costs) + costs.split * branches, root


def measure_widely(problem: Problem, costs: WideCosts, preorder: Array) -> Solution:
    """A tree in preorder, -1 for leaves, with its exact value; leaves cost whole numbers, in the unit of `costs`."""
    found = measure_exactly(problem, problem, preorder)
    costs_of_leaves = (int(exact_number(each.cost) / costs.unit) for each in walk(found.root) if isinstance(each, Leaf))
    return Solution(Fraction(exact_number(found.value)), with_costs(found.root, costs_of_leaves))


def nest_preorder(columns: list[int], arity: Array, labels: list[int], rows: list[int], costs: list[Any]) -> Node:
    """The nested nodes of a tree in preorder, -1 for leaves, with the labels, rows and costs of its nodes."""
    stack: list[Node] = []
    for at in range(len(columns) - 1, -1, -1):
        column = columns[at]
        if column == LEAF:
            stack.append(Leaf(labels[at], rows[at], costs[at]))
        elif (sides := int(arity[column])) <= 2:
            left = stack.pop()
            stack[-1] = Branch(column, (left, stack[-1]), rows[at])
        else:
            children = tuple(stack[: -sides - 1 : -1])
            del stack[-sides:]
            stack.append(Branch(column, children, rows[at]))
    return stack[0]


def _check_limits(problem: Problem, depth: int, branches: int, leaf_rows: list[int]) -> None:
    """Raises MismatchError if the tree breaks a limit; `leaf_rows` are the rows of its leaves that have any."""
    broken = problem.broken_by(depth, branches, min(leaf_rows, default=problem.min_leaf))
    if broken is not None:
        raise MismatchError(f"the tree has {broken}, which the limits forbid; please report this")


def measure_methods(problem: Problem, of: Problem, preorder: Array) -> Solution:
    """A tree in preorder, -1 for leaves, by the Python methods of a task on exact sums of its rows, wherever they can.

    `problem` has the columns that the tree is of, `of` the statistics. Raises MismatchError if the tree breaks a limit.
    """
    if all(each.dtype.kind in "iu" for each in of.sums.values()) and not objective(of.task).overrides("exact_cost"):
        whole = {name: (values, Fraction(1)) for name, values in of.sums.items()}
        return _measured(problem, preorder, _Sums(whole, of.data.counts, True, None))
    try:
        return measure_exactly(problem, of, preorder)
    except StreedError:
        raise
    except Exception:  # noqa: BLE001 - methods that need floats, such as those that call numpy, get floats
        return measure_exactly(problem, of, preorder, exact=False)


def measure_exactly(problem: Problem, of: Problem, preorder: Array, exact: bool = True) -> Solution:
    """As `measure_methods`; methods are given fractions if `exact`, else floats that are rounded once.

    What a leaf costs is the task's `exact_cost`, where it has one. Sums that no method asks for are not read.
    """
    return _measured(problem, preorder, _Sums(of.exact_sums, of.data.counts, exact, of.task.exact_cost))


class _Sums(NamedTuple):
    """What the rows of a tree are summed up by."""

    statistics: Mapping[str, tuple[Array, Fraction]]
    counts: Array
    exact: bool
    exact_cost: Callable[[Dataset, Array, int], Any] | None
    """What a leaf of some rows costs with a label, where it is known otherwise; else None."""

    def states(self, leaf_of: Array, n_nodes: int) -> Callable[[int, int], StateInParts]:
        """What gives the state of the rows of the nodes from one on that lie before another."""
        sizes, names = sums_by(leaf_of, self.counts, n_nodes).tolist(), tuple(self.statistics)
        totals = functools.cache(lambda name: sums_by(leaf_of, self.statistics[name][0], n_nodes).tolist())

        def state(begin: int, behind: int) -> StateInParts:
            def worth(name: str) -> Any:
                inside = totals(name)[begin:behind]
                total = list(map(sum, zip(*inside, strict=True))) if isinstance(inside[0], list) else sum(inside)
                found = _worth(total, self.statistics[name][1], self.exact)
                return tuple(found) if isinstance(found, list) else found

            return StateInParts(sum(sizes[begin:behind]), names, worth)

        return state


def _measured(problem: Problem, preorder: Array, sums: _Sums) -> Solution:
    """A tree in preorder, measured by the task's methods; see `measure_methods`."""
    task, data, exact_cost, columns = problem.task, problem.data, sums.exact_cost, preorder.tolist()
    arity, labels, shows_own = data.category_counts, range(len(task.labels(data))), task.overrides("leaf_label")
    leaf_of, end = route_rows(preorder, writable(data.X), arity)
    state, ends, children_of = sums.states(leaf_of, len(columns)), end.tolist(), np.maximum(arity, 2).tolist()
    leaf_rows: list[int] = []
    depths: list[int] = []
    shown: list[Any] = []

    def measure_leaf(at: int, above: int) -> tuple[Any, Leaf]:
        begin, behind = at, at + 1
        s = state(begin, behind)
        size, known, rows = s.rows, [None for _ in labels], None
        if not size:
            begin, behind = above, ends[above]
            s = state(begin, behind)
        if exact_cost is not None:
            rows = np.flatnonzero((begin <= leaf_of) & (leaf_of < behind))
            known = [exact_cost(data, rows, k) for k in labels]
        costs = [task.leaf_cost(s, k) if cost is None else cost for k, cost in zip(labels, known, strict=True)]
        allowed = [k for k in labels if task.feasible(costs[k])] or labels
        best = functools.reduce(lambda a, b: b if task.better(costs[b], costs[a]) else a, allowed)
        if shows_own:
            exact = None if rows is None else task.exact_label(data, rows, best)
            shown.append(task.leaf_label(s, best) if exact is None else exact)
        if not size:
            return None, Leaf(best, 0, 0)
        if not all(limit.allows(s) for limit in task.limits):
            raise MismatchError(f"a leaf of {size} rows breaks a limit; please report this")
        leaf_rows.append(size)
        return costs[best], Leaf(best, size, costs[best])

    def measure(at: int, above: int, path: tuple[int, ...]) -> tuple[Any, Node]:
        column = columns[at]
        if column == LEAF:
            depths.append(len(path))
            return measure_leaf(at, above)
        children, value, child_at = [], None, at + 1
        for _ in range(children_of[column]):
            found, child = measure(child_at, at, (*path, column))
            children.append(child)
            child_at = ends[child_at]
            if found is not None:
                value = found if value is None else task.combine(value, found)
        size = sum(child.rows for child in children)
        cost = task.branching_cost(size, tuple(sorted(set(path))), column)
        return value if cost is None else task.combine(value, cost), Branch(column, tuple(children), size)

    value, root = measure(0, 0, ())
    _check_limits(problem, max(depths), len(columns) - columns.count(LEAF), leaf_rows)
    return Solution(value, root, tuple(shown) if shows_own else None)


def _worth(total: Any, unit: Fraction, exact: bool) -> Any:
    """A whole number of a unit, or a list of them, as ints and fractions if `exact`, else as floats."""
    if exact and unit == 1:
        return total
    if isinstance(total, list):
        return [_worth(each, unit, exact) for each in total]
    return exact_number(total * unit) if exact else total * unit.numerator / unit.denominator
