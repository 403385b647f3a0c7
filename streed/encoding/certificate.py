"""The certificate of an outcome: its tree, measured again from the raw codes and costs.

A problem with ordered columns is solved as one with a column per question (`Questions`), and the tree that is found is
translated: a branch on a question becomes a branch on the column with its cut.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from fractions import Fraction
from types import FunctionType
from typing import Any

import attrs
import numpy as np

from streed.data import Cut, Dataset
from streed.data.questions import Questions
from streed.errors import MismatchError, StreedError
from streed.exact import ONE, Array, exact_number, writable
from streed.kernels.codegen.capture import names_within
from streed.kernels.records import LEAF
from streed.kernels.routing import measure_tree, route_rows
from streed.problem import Outcome, Problem, Solution
from streed.task.analysis.linear_form import price_of_splits
from streed.task.base import objective, parts_of
from streed.task.states import StateInParts, sums_by_node
from streed.tree import Branch, FlatBranch, Leaf, Node, flatten, nest
from streed.whole_costs import IntegerCosts, WideCosts


def measure_costs(problem: Problem, costs: IntegerCosts | WideCosts, preorder: Array) -> tuple[int, Node]:
    """(cost, root) of a tree in preorder, -1 for leaves, by its rows' costs; raises MismatchError if it breaks a limit.

    The cost is a whole number, in the unit of `costs`; leaves have theirs in the task's own.
    """
    data, are_wide = problem.data, isinstance(costs, WideCosts)
    arity = data.category_counts
    native = np.zeros((data.n_rows, 1), np.int64) if are_wide else costs.costs
    measured, leaf_of, end = measure_tree(preorder, writable(data.X), arity, native)
    columns, (labels, rows, leaf_costs, depths, parents) = preorder.tolist(), measured.tolist()
    for at, total in enumerate(sums_by_node(leaf_of, costs.costs, end).tolist() if are_wide else ()):
        labels[at] = total.index(min(total)) if rows[at] else labels[parents[at]]
        leaf_costs[at] = total[labels[at]] if columns[at] == LEAF else 0
    if data.frequency is not None:
        rows = sums_by_node(leaf_of, data.frequency, end).tolist()
    branches = check_limits(problem, columns, rows, max(depths))
    worths = leaf_costs if costs.unit is ONE else list(map(costs.value, leaf_costs))
    root = nest_preorder(columns, arity, labels, rows, worths)
    return sum(leaf_costs) + costs.split * branches, root


def measure_widely(problem: Problem, costs: WideCosts, preorder: Array) -> Solution:
    """A tree in preorder, -1 for leaves, with its exact value."""
    total, root = measure_costs(problem, costs, preorder)
    return Solution(costs.value(total), root)


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


def check_limits(problem: Problem, columns: list[int], rows: list[int], depth: int) -> int:
    """The number of branches of a tree in preorder, of nodes with so many rows; MismatchError if it breaks a limit."""
    branches = len(columns) - columns.count(LEAF)
    leaf_rows = [n for n, column in zip(rows, columns, strict=True) if column == LEAF and n]
    broken = problem.broken_by(depth, branches, min(leaf_rows, default=problem.min_leaf))
    if broken is not None:
        raise MismatchError(f"the tree has {broken}, which the limits forbid; please report this")
    return branches


def measure_methods(problem: Problem, of: Problem, preorder: Array) -> Solution:
    """A tree in preorder, -1 for leaves, by the Python methods of a task on exact sums of its rows, wherever they can.

    `problem` has the columns that the tree is of, `of` the statistics, which are read as methods ask for them. What a
    leaf costs is the task's `exact_cost`, where it has one. Raises MismatchError if the tree breaks a limit.
    """
    if all(each.dtype.kind in "iu" for each in of.sums.values()) and not objective(of.task).overrides("exact_cost"):
        return _measured(problem, preorder, {name: (values, ONE) for name, values in of.sums.items()})
    try:
        return _measured(problem, preorder, of.exact_sums)
    except StreedError:
        raise
    except Exception:  # noqa: BLE001 - methods that need floats, such as those that call numpy, get floats
        return _measured(problem, preorder, of.exact_sums, exact=False)


def _measured(
    problem: Problem, preorder: Array, sums: Mapping[str, tuple[Array, Fraction]], exact: bool = True
) -> Solution:
    """As `measure_methods`, by these sums, whole numbers and the worth of 1; methods get floats if not `exact`."""
    task, data, columns = problem.task, problem.data, preorder.tolist()
    arity, labels, names, limits = data.category_counts, range(len(task.labels(data))), tuple(sums), task.limits
    leaf_of, end = route_rows(preorder, writable(data.X), arity)
    sizes, ends = sums_by_node(leaf_of, data.counts, end).tolist(), end.tolist()
    knows, shows_own, costs_splits = map(task.overrides, ("exact_cost", "leaf_label", "branching_cost"))
    is_limited = task.overrides("feasible")
    totals: dict[str, list[Any]] = {}
    shown: list[Any] = []

    def total(at: int, name: str) -> Any:
        """The sum of a statistic over the rows of a node; of all nodes, when it is first asked for."""
        if name not in totals:
            whole, unit = sums[name]
            totals[name] = _worths(sums_by_node(leaf_of, whole, end).tolist(), unit, exact)
        return totals[name][at]

    def measure_leaf(at: int, above: int) -> tuple[Any, Leaf]:
        """(cost, leaf): its label is of least cost; of a leaf without rows, which costs None, that of its parent's."""
        place = at if sizes[at] else above
        s = StateInParts(sizes[place], names, functools.partial(total, place))
        rows: Any = np.flatnonzero((place <= leaf_of) & (leaf_of < ends[place])) if knows else None
        costs = [task.exact_cost(data, rows, k) for k in labels] if knows else [None] * len(labels)
        costs = [task.leaf_cost(s, k) if cost is None else cost for k, cost in enumerate(costs)]
        allowed = ([k for k in labels if task.feasible(costs[k])] if is_limited else []) or labels
        best = functools.reduce(lambda a, b: b if task.better(costs[b], costs[a]) else a, allowed)
        if shows_own:
            known = task.exact_label(data, rows, best) if knows else None
            shown.append(task.leaf_label(s, best) if known is None else known)
        if not sizes[at]:
            return None, Leaf(best, 0, 0)
        for limit in limits:
            if not limit.allows(s):
                raise MismatchError(f"a leaf of {s.rows} rows breaks a limit; please report this")
        return costs[best], Leaf(best, s.rows, costs[best])

    sides = np.maximum(arity, 2).tolist()
    parents, paths = _above(columns, sides, ends)
    found: list[tuple[Any, Node]] = []  # from the last node to the first, no recursion: trees may be deep
    for at in range(len(columns) - 1, -1, -1):
        column = columns[at]
        if column == LEAF:
            found.append(measure_leaf(at, parents[at]))
            continue
        begin = len(found) - sides[column]
        values, children = zip(*found[begin:][::-1], strict=True)
        del found[begin:]
        value = functools.reduce(task.combine, [each for each in values if each is not None])
        cost = task.branching_cost(sizes[at], tuple(sorted({*paths[at]})), column) if costs_splits else None
        found.append((value if cost is None else task.combine(value, cost), Branch(column, children, sizes[at])))
    value, root = found[0]
    check_limits(problem, columns, sizes, max(map(len, paths)))
    return Solution(value, root, tuple(shown[::-1]) if shows_own else None)


def _above(columns: list[int], sides: list[int], ends: list[int]) -> tuple[list[int], list[tuple[int, ...]]]:
    """Of every node of a tree in preorder its parent's place, 0 of the root, and the columns asked above it."""
    parents, paths = [0] * len(columns), [tuple[int, ...]()] * len(columns)
    for at, column in enumerate(columns):
        child = at + 1
        for _ in range(0 if column == LEAF else sides[column]):
            parents[child], paths[child] = at, (*paths[at], column)
            child = ends[child]
    return parents, paths


def _worths(totals: list[Any], unit: Fraction, exact: bool) -> list[Any]:
    """Whole numbers of a unit, or lists of them as tuples, as ints and fractions if `exact`, else as floats."""
    if isinstance(totals[0], list):
        entries = (_worths(list(each), unit, exact) for each in zip(*totals, strict=True))
        return list(zip(*entries, strict=True)) or [()] * len(totals)
    if exact:
        return totals if unit == 1 else [exact_number(x * unit) for x in totals]
    return [x * unit.numerator / unit.denominator for x in totals]


_COLUMN_WORDS = ("X", "column", "columns", "n_columns", "ordered")
"""What a task that reads the columns of a data set names."""

_OWN = "streed."


def can_ask(problem: Problem) -> bool:
    """Whether the problem is the same with a column per question: its task's costs do not depend on columns.

    The price of a split may be the same everywhere. A task of one's own may read the columns of the data.
    """
    if price_of_splits(problem.task) is None:
        return False
    return not any(_reads_columns(part) for part in parts_of(problem.task))


def _reads_columns(task: Any) -> bool:
    kind = type(task)
    if kind.__module__.startswith(_OWN):
        return False
    own = [member for each in kind.__mro__ if not each.__module__.startswith(_OWN) for member in vars(each).values()]
    methods = [member for member in own if isinstance(member, FunctionType)]
    return not names_within(methods).isdisjoint(_COLUMN_WORDS)


def ask(problem: Problem) -> tuple[Problem, Questions]:
    """The problem with a column per question, and the questions."""
    questions = Questions.of(problem.data)
    return attrs.evolve(problem, data=questions.data, questions=questions), questions


def settled(outcome: Outcome, data: Dataset, questions: Questions | None = None) -> Outcome:
    """The outcome with trees in the columns of the data, `questions` about which they may be on; see `_settled`."""
    solutions = (attrs.evolve(each, root=_settled(each.root, data, questions)) for each in outcome.solutions)
    return attrs.evolve(outcome, solutions=tuple(solutions))


def _settled(root: Node, data: Dataset, questions: Questions | None) -> Node:
    """The tree, with gaps on the side of more rows (of equal ones the first) wherever no row of the data has one.

    Of a tree on `questions` about the data, that on their columns; every row is sent down both, and MismatchError is
    raised if one goes another way.
    """
    flat, rows_at = flatten(root), {0: np.arange(data.n_rows)}
    for place, node in enumerate(flat):
        rows = rows_at.pop(place)
        if isinstance(node, Leaf):
            continue
        column, cut = node.column, node.cut
        if questions is not None:
            column, cut = int(questions.column[column]), questions.cut(column)
        here, values = data.X[:, column][rows], data.ordered.get(column)
        sides = here if cut is None or values is None else values.sides(here, cut)
        if questions is not None and (questions.data.X[:, node.column][rows] != sides).any():
            raise MismatchError(f"a row goes another way at a cut of column {column}; please report this")
        parts = [rows[sides == side] for side in range(len(node.children))]
        has_gaps = values is not None and values.has_gaps and (here == values.gap_rank).any()
        if cut is not None and cut.threshold is not None and not has_gaps:
            cut = Cut(cut.threshold, int(data.count(parts[1]) > data.count(parts[0])))
        flat[place] = FlatBranch(column, node.children, node.rows, cut)
        rows_at |= zip(node.children, parts, strict=True)
    return nest(flat)
