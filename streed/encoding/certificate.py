"""The certificate of an outcome: its tree, measured again from the raw codes and costs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from streed.data import Dataset
from streed.errors import MismatchError
from streed.exact import LARGEST_TOTAL, Array
from streed.kernels.packed import writable
from streed.kernels.records import LEAF
from streed.kernels.routing import measure_tree, route_rows
from streed.problem import Problem, Solution
from streed.task import ExactSums, State
from streed.task.row_sums import sums_by
from streed.task.states import StateInParts
from streed.tree import Branch, Leaf, Node
from streed.whole_costs import IntegerCosts, WideCosts


def category_counts(data: Dataset) -> Array:
    """(p,) int64: the number of categories of each categorical column, 0 for binary ones."""
    categories = np.zeros(data.n_columns, np.int64)
    for j in data.categorical:
        categories[j] = len(data.column(j).categories)
    return categories


def measure_costs(problem: Problem, costs: IntegerCosts, preorder: Array) -> tuple[int, Node]:
    """(cost, root) of a tree in preorder, -1 for leaves, by its rows' costs; raises MismatchError if it breaks a limit.

    Leaves cost whole numbers, in the unit of `costs`.
    """
    data = problem.data
    arity = category_counts(data)
    codes = writable(data.X)
    measured = [preorder.tolist(), *measure_tree(preorder, codes, arity, writable(costs.costs)).tolist()]
    if data.frequency is not None:
        leaf_of, end = route_rows(preorder, codes, arity)
        sizes = sums_by(leaf_of, data.frequency, len(preorder))
        measured[2] = [int(sizes[at:behind].sum()) for at, behind in enumerate(end.tolist())]
    columns, labels, rows, leaf_costs, depths = measured
    leaf_rows = [n for n, column in zip(rows, columns, strict=True) if column == LEAF and n]
    branches = len(columns) - columns.count(LEAF)
    _check_limits(problem, max(depths), branches, leaf_rows)
    root = nest_columns(columns, arity, labels, rows, leaf_costs)
    return sum(leaf_costs) + costs.split * branches, root


def measure_widely(problem: Problem, rounded: IntegerCosts, costs: WideCosts, preorder: Array) -> Solution:
    """A tree in preorder, -1 for leaves, with its exact value; leaves cost whole numbers, in the unit of `costs`.

    Its limits were checked: `measure_costs` measured it before by rounded costs.
    """
    data = problem.data
    arity = category_counts(data)
    leaf_of, end = route_rows(preorder, writable(data.X), arity)
    sums = _sums_of_wide(leaf_of, rounded, costs, len(preorder))
    rows = sums_by(leaf_of, data.counts, len(preorder)).tolist()
    labels, worths = [0] * len(preorder), [0] * len(preorder)

    def place_labels(at: int, above: list[int]) -> None:
        """Gives the leaves of the subtree their labels: of least cost for their rows, or for those of their parent."""
        inside = sums[at : end[at]]
        total = [sum(column) for column in zip(*inside, strict=True)]
        size = sum(rows[at : end[at]])
        seen = total if size else above
        if preorder[at] == LEAF:
            labels[at] = seen.index(min(seen))
            worths[at] = total[labels[at]]
            return
        child = at + 1
        while child < end[at]:
            place_labels(child, seen)
            child = int(end[child])

    place_labels(0, [0] * costs.costs.shape[1])
    sizes = [sum(rows[at : end[at]]) for at in range(len(preorder))]
    root = nest_preorder(preorder, arity, labels, sizes, worths)
    branches = int(np.count_nonzero(preorder != LEAF))
    return Solution(costs.unit * (sum(worths) + costs.split * branches), root)


def _sums_of_wide(group_of: Array, rounded: IntegerCosts, costs: WideCosts, n_groups: int) -> list[list[int]]:
    """What the rows of every group cost by each label, of any size: what was rounded, and what that took away."""
    rests = costs.rests
    if rests.dtype != object and int(np.abs(rests).max(initial=0)) * len(rests) >= LARGEST_TOTAL:
        rests = rests.astype(object)
    high, low = (sums_by(group_of, part, n_groups).tolist() for part in (rounded.costs, rests))
    return [
        [(above << costs.shift) + below for above, below in zip(first, second, strict=True)]
        for first, second in zip(high, low, strict=True)
    ]


def check_claim(cost: Any, claimed: Any, lower: Any, *, complete: bool) -> None:
    """Raises MismatchError if a tree does not cost what the search claimed.

    A search that was stopped, or that had to forget, may have known the cost of a tree but not all of the tree, which
    is then completed as well as can be, and may cost more.
    """
    if cost != claimed and (complete or cost < lower):
        raise MismatchError(f"the tree costs {cost}, the search claimed {claimed}; please report this")


def nest_preorder(preorder: Array, arity: Array, labels: list[int], rows: list[int], costs: list[int]) -> Node:
    """The nested nodes of a tree in preorder, with the labels, rows and costs of its nodes."""
    return nest_columns(preorder.tolist(), arity, labels, rows, costs)


def nest_columns(columns: list[int], arity: Array, labels: list[int], rows: list[int], costs: list[Any]) -> Node:
    """The nested nodes of a tree by the columns of its nodes in preorder, -1 for leaves, and what else they have."""
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
    if problem.max_depth is not None and depth > problem.max_depth:
        raise MismatchError(f"the tree has depth {depth}, above {problem.max_depth}; please report this")
    if problem.max_nodes is not None and branches > problem.max_nodes:
        raise MismatchError(f"the tree has {branches} branching nodes, above {problem.max_nodes}; please report this")
    if min(leaf_rows, default=problem.min_leaf) < problem.min_leaf:
        raise MismatchError(f"a leaf has {min(leaf_rows)} rows, below {problem.min_leaf}; please report this")


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
    leaf_of, end = _routed(problem, preorder, codes)
    sizes = sums_by(leaf_of, counts, len(preorder))
    totals = {name: sums_by(leaf_of, values, len(preorder)) for name, values in sums.items()}
    numbers = {name: values.tolist() for name, values in totals.items()}

    def state(begin: int, behind: int) -> State:
        if behind == begin + 1:
            # one conversion of all numbers takes less time than one for each
            own = {name: values[begin] for name, values in numbers.items()}
            return State(int(sizes[begin]), **{k: tuple(v) if isinstance(v, list) else v for k, v in own.items()})
        found = {name: values[begin:behind].sum(axis=0).tolist() for name, values in totals.items()}
        rows = int(sizes[begin:behind].sum())
        return State(rows, **{k: tuple(v) if isinstance(v, list) else v for k, v in found.items()})

    return _measured(problem, preorder, end.tolist(), sizes.tolist(), state, visit)


def measure_exactly(
    problem: Problem, preorder: Array, codes: Array, sums: ExactSums, counts: Array, exact: bool = True
) -> Solution:
    """As `measure_task`, by exact sums over the rows themselves.

    Methods are given fractions if `exact`, else floats that are rounded once; what a leaf costs is the task's
    `exact_cost`, where it has one. Sums that no method asks for are not read.
    """
    task, data = problem.task, problem.data
    leaf_of, end = _routed(problem, preorder, codes)
    sizes = sums_by(leaf_of, counts, len(preorder))
    totals = functools.cache(lambda name: sums_by(leaf_of, sums[name][0], len(preorder)))
    names = tuple(sums)

    def state(begin: int, behind: int) -> State:
        def worth(name: str) -> Any:
            total = totals(name)[begin:behind].sum(axis=0)
            found = _worths([np.asarray(total).tolist()], sums[name][1], exact)[0]
            return tuple(found) if isinstance(found, list) else found

        return StateInParts(int(sizes[begin:behind].sum()), names, worth)

    def cost(at: int, label: int) -> Any:
        return task.exact_cost(data, np.flatnonzero(leaf_of == at), label)

    return _measured(problem, preorder, end.tolist(), sizes.tolist(), state, None, cost)


def _routed(problem: Problem, preorder: Array, codes: Array) -> tuple[Array, Array]:
    """(the leaf of each row, the end of each node's subtree) of a tree in preorder."""
    leaf_of, end = route_rows(preorder, codes, category_counts(problem.data))
    return leaf_of, end


def _measured(
    problem: Problem,
    preorder: Array,
    ends: list[int],
    sizes: list[int],
    state: Callable[[int, int], State],
    visit: Callable[[State], None] | None,
    exact_cost: Callable[[int, int], Any] | None = None,
) -> Solution:
    """A tree in preorder, measured by the task's methods; see `measure_task`.

    `state` gives that of the rows of the nodes from one on that lie before another; `exact_cost`, of a leaf that has
    rows, by its place and its label, is what it costs, where it is known otherwise; else None.
    """
    task, data = problem.task, problem.data
    categories = {j: len(data.column(j).categories) for j in data.categorical}
    labels = range(len(task.labels(data)))
    columns = preorder.tolist()
    leaf_rows: list[int] = []
    shown: list[Any] = []
    shows_labels = task.shows_labels
    deepest = 0

    def measure(at: int, above: int, path: frozenset[int], depth: int) -> tuple[Any, Node]:
        nonlocal deepest
        deepest = max(deepest, depth)
        column = columns[at]
        if column == LEAF:
            size = sizes[at]
            s = state(at, at + 1) if size else state(above, ends[above])
            known = [None if exact_cost is None or not size else exact_cost(at, k) for k in labels]
            costs = [task.leaf_cost(s, k) if cost is None else cost for k, cost in zip(labels, known, strict=True)]
            allowed = [k for k in labels if task.feasible(costs[k])] or labels
            best = allowed[0]
            for k in allowed:
                if task.better(costs[k], costs[best]):
                    best = k
            if not shows_labels:
                shown.append(task.leaf_label(s, best))
            if not size:
                return None, Leaf(best, 0, 0)
            if not all(limit.allows(s) for limit in task.limits):
                raise MismatchError(f"a leaf of {size} rows breaks a limit; please report this")
            leaf_rows.append(size)
            if visit is not None:
                visit(s)
            return costs[best], Leaf(best, size, costs[best])
        children, value = [], None
        size, child_at = 0, at + 1
        for _ in range(categories.get(column, 2)):
            found, child = measure(child_at, at, path | {column}, depth + 1)
            children.append(child)
            size += child.rows
            child_at = ends[child_at]
            if found is not None:
                value = found if value is None else task.combine(value, found)
        cost = task.branching_cost(size, tuple(sorted(path)), column)
        return value if cost is None else task.combine(value, cost), Branch(column, tuple(children), size)

    value, root = measure(0, 0, frozenset(), 0)
    branches = int(np.count_nonzero(preorder != LEAF))
    _check_limits(problem, deepest, branches, leaf_rows)
    return Solution(value, root, None if shows_labels else tuple(shown))


def _worths(totals: list[Any], unit: Fraction, exact: bool) -> list[Any]:
    """Whole numbers of a unit, and lists of them, as ints and fractions if `exact`, else as floats."""

    def worth(total: Any) -> Any:
        if isinstance(total, list):
            return [worth(each) for each in total]
        if not exact:
            return total * unit.numerator / unit.denominator
        number = total * unit
        return int(number) if number.denominator == 1 else number

    return [worth(total) for total in totals]
