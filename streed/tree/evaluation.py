"""A tree on the raw data: its value, whether it keeps what its task declares, and what a file claims of it.

`inspect` follows the definition (STreeD, Eq. 4) with exact numbers for any task, and routes the rows anew: the
certificate that every result must pass. Every node is a state at which `lower_bound`, `worst_per_row` and
`superadditive` can be tried, so one that the tree itself refutes is an error; `streed.testing` tries more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.strict_json import rebuild
from streed.errors import InputError, StreedError
from streed.exact import Array, close
from streed.task import TOTAL, ExactSums, Limit, State, Task, Totals, Value, quick_sums, state_of
from streed.task.base import objective, scoring
from streed.task.contract import ContractCheck
from streed.tree import Tree, number
from streed.tree.nodes import Branch, Claims, Leaf, Node, Visit, fold, visits, visits_in, walk


@attrs.frozen
class Evaluation:
    """What a tree is worth on a data set."""

    value: Value
    """The value that the search minimises, before the task's `score`."""
    rows: tuple[int, ...]
    """How many rows every node has, parents first and children left to right (as `streed.tree.nodes.walk` goes)."""
    leaf_costs: tuple[Value, ...]
    """The cost of every leaf by the objective, left to right; 0 for an empty one."""
    leaf_rows: tuple[int, ...]
    broken: tuple[tuple[int, Limit], ...]
    """The limits that a leaf breaks, with the leaf's number."""


class Inspector:
    """What one task makes of trees on one data set; it is bound to them, or to more rows."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self._task = task
        self._data = data
        self._sums = ExactSums(self._task, data)

    def inspect(self, tree: Tree) -> Evaluation:
        """What the tree is worth, node by node, in exact numbers.

        Raises InputError if the data lacks a column of the tree or has other categories in it.
        """
        task, data = self._task, self._data
        read = tree.read(data)
        found = list(visits(tree.root, read.sides, data.n_rows))
        sizes = tuple(data.count(visit.rows) for visit in found)
        costs: list[Value] = []
        broken: list[tuple[int, Limit]] = []
        leaves = [(visit, size) for visit, size in zip(found, sizes, strict=True) if isinstance(visit.node, Leaf)]
        for leaf, (visit, size) in enumerate(leaves):
            label = visit.node.label  # type: ignore[union-attr]
            if not size:
                costs.append(0)
                continue
            state, cost = self._sums.state(visit.rows), task.exact_cost(data, visit.rows, label)
            costs.append(task.leaf_cost(state, label) if cost is None else cost)
            broken.extend((leaf, limit) for limit in task.limits if not limit.allows(state))
        left = costs.copy()

        def value(visit: Visit, parts: list[Any]) -> Any:
            """The value at a node; None without rows, which have no part in any value."""
            own = left.pop() if isinstance(visit.node, Leaf) else None
            if not len(visit.rows):
                return None
            return own if isinstance(visit.node, Leaf) else merged(task, parts, data.count(visit.rows), visit)

        shown = (task.objective_of(cost) if size else 0 for cost, (_, size) in zip(costs, leaves, strict=True))
        leaf_rows = tuple(size for _, size in leaves)
        return Evaluation(fold(found, value), sizes, tuple(shown), leaf_rows, tuple(broken))


def merged(task: Task, parts: list[Any], rows: int, visit: Visit) -> Value:
    """The value of a branching node: those of its children that have one, and what it costs itself, combined."""
    value = functools.reduce(task.combine, [part for part in parts if part is not None])
    cost = task.branching_cost(rows, tuple(sorted(set(visit.path))), visit.node.column)  # type: ignore[union-attr]
    return value if cost is None else task.combine(value, cost)


def inspect(tree: Tree, task: Task, data: Dataset) -> Evaluation:
    """What the tree is worth on `data`, node by node, in exact numbers; `task` need not be bound.

    Raises InputError if `data` lacks a column of the tree or has other categories in it.
    """
    return Inspector(task.bind(data), data).inspect(tree)


def leaf_displays(
    tree: Tree, task: Task, data: Dataset, sums: dict[str, Array] | None = None
) -> tuple[Any, ...] | None:
    """What the bound task shows at every leaf, left to right, an empty one as its parent; None for the labels."""
    if not task.overrides("leaf_label"):
        return None
    sums = quick_sums(task, data) if sums is None else sums
    found = visits_in(tree.root, data)
    shown = []
    for visit in found:
        if isinstance(visit.node, Leaf):
            seen = visit.rows if len(visit.rows) else found[visit.parent].rows
            label = visit.node.label
            exact = task.exact_label(data, seen, label)
            shown.append(task.leaf_label(state_of(sums, seen, data, task), label) if exact is None else exact)
    return tuple(shown)


def count_rows(root: Node, data: Dataset) -> Node:
    """The nodes of a tree on `data` with their numbers of rows, each as often as its frequency says."""

    def counted(visit: Visit, children: list[Node]) -> Node:
        node = attrs.evolve(visit.node, rows=data.count(visit.rows))
        return attrs.evolve(node, children=tuple(children)) if isinstance(node, Branch) else node

    return root if data.frequency is None else fold(visits_in(root, data), counted)


_ROUNDING = 1e-9  # part of the numbers compared that rounding may make of them
_WORST = "_worst"  # the name of the sum of `worst_per_row`, which no statistic has
_CANCELLED = 2.0**-40  # part of the largest sums of all rows that is left where sums are subtracted


def check_declarations(
    task: Task, data: Dataset, root: Node, sums: Callable[[], dict[str, Array]] | None = None
) -> None:
    """Raises TaskError, with the line of the task's source, if a node of the tree refutes what the bound task declares.

    `sums` gives the task's `quick_sums`, where they are kept. Numbers that are not exact have room for their rounding.
    """
    told = objective(task)
    if told.superadditive or told.any_label or told.overrides("lower_bound") or told.overrides("worst_per_row"):
        found = visits_in(root, data)
        fold(found, _Declared(task, data, quick_sums(task, data) if sums is None else sums(), found).visit)


@final
class _Declared:
    """One task on one data set."""

    def __init__(self, task: Task, data: Dataset, sums: dict[str, Array], found: list[Visit]) -> None:
        self.task = objective(task)
        self.probe = ContractCheck(self.task, data)
        self.labels, self.limits, self.total = range(len(task.labels(data))), task.limits, self.task.order == TOTAL
        self.is_limited = self.task.overrides("feasible")
        worst = None if not self.total or self.task.overrides("better") else self.task.worst_per_row(data)
        self.has_worst = worst is not None
        weights = 1 if data.weights is None else data.weights
        self.sums = {**sums, _WORST: np.asarray(worst, np.float64) * weights} if self.has_worst else sums
        self.states = [state_of(self.sums, visit.rows, data, task) for visit in found]

    @functools.cached_property
    def noise(self) -> float:
        """By how much numbers may differ because sums were subtracted."""
        sizes = (float(np.abs(each.astype(np.float64)).sum(axis=0).max(initial=0)) for each in self.sums.values())
        return _CANCELLED * max(sizes, default=0.0)

    def visit(self, visit: Visit, parts: list[Any]) -> tuple[Value, Value, State] | None:
        """(the tree's value, the best of a leaf, the state) at a node and all below it, tried; None without rows."""
        task, node, s = self.task, visit.node, self.states.pop()
        if not s.rows:
            return None
        parts = list(filter(None, parts))
        costs = [task.leaf_cost(s, k) for k in self.labels]
        least = functools.reduce(lambda a, b: b if task.better(b, a) else a, costs)
        value = costs[node.label] if isinstance(node, Leaf) else merged(task, [p[0] for p in parts], s.rows, visit)
        if self.total and parts:
            self.check_parts(s, least, parts)
        bound = task.lower_bound(s)
        if bound is not None:
            told = [(value, "the tree that was found costs")]
            if not self.limits or all(limit.allows(s) for limit in self.limits):
                told += [(cost, "a leaf there costs") for cost in costs if not self.is_limited or task.feasible(cost)]
            for cost, words in told[::-1]:
                if task.better(cost, bound) and not self.near(cost, bound):
                    found = f"{words} {cost!r}, which is better; return less, or None"
                    self.probe.refuse("lower_bound", (s,), bound, found)
        for k, other in enumerate(costs) if task.any_label else ():
            if not self.near(costs[0], other):
                found = f"is True, and a leaf of {s!r} costs {costs[0]!r} with label 0 and {other!r} with label {k}"
                self.probe.fail("any_label", found, "leave it out")
        return value, least, s

    def check_parts(self, s: State, least: Value, parts: list[Any]) -> None:
        """What is declared of a leaf at the state and leaves of its parts."""
        if self.task.superadditive:
            together = functools.reduce(self.task.combine, [part[1] for part in parts])
            if self.task.better(least, together) and not self.near(least, together):
                found = f"is True, but {s!r} costs {least!r} as a leaf, and its parts together {together!r}"
                self.probe.fail("superadditive", found, "leave it out")
        for _, own, below in parts if self.has_worst else ():
            most = float(own) + s.__dict__[_WORST] - below.__dict__[_WORST]
            if least < own and not self.near(least, own):
                less = f"a leaf of {below.rows} rows costs {own!r}, and one of more rows {least!r}"
                self.probe.fail("worst_per_row", f"is declared, but {less}", "return None")
            if least > most and not self.near(least, most):
                found = f"allows a leaf of {s.rows} rows to cost {float(most)!r}, and it costs {least!r}"
                self.probe.fail("worst_per_row", found, "return more, or None")

    def near(self, a: Value, b: Value) -> bool:
        """Whether two values are the same but for rounding; exact ones only if they are equal."""
        return close(a, b, 2 * _ROUNDING, 2 * self.noise)


@attrs.frozen
class Check:
    """One claim."""

    what: str
    claimed: str
    found: str
    holds: bool


def check(tree: Tree, data: Dataset) -> list[Check]:
    """Every claim of the tree on the data that it was learned from.

    Raises InputError if the tree has no claims, its task is not streed's own or cannot be evaluated with the parameters
    that are claimed, or the data lacks what it asks about.
    """
    claims = tree.claims
    if claims is None:
        raise InputError("tree", "it holds no claims", "save it with its result's claims")
    if not isinstance(claims.task, dict):
        return _checks(tree, claims, claims.task, data)
    task = rebuild(claims.task)
    try:
        return _checks(tree, claims, task, data)
    except StreedError:
        raise
    # a task that a file describes may have any parameters, so whatever it fails by is the file's fault
    except Exception as error:
        said = f"it cannot be evaluated as the tree describes it ({type(error).__name__}: {error})"
        raise InputError("task", said[:300], "use a file that streed wrote") from error


def _checks(tree: Tree, claims: Claims, task: Any, data: Dataset) -> list[Check]:
    if not isinstance(task, Task):
        raise InputError("task", f"{type(task).__name__} is no task", "use a file that streed wrote")
    on_data = task.bind(data)
    labels = tuple(on_data.labels(data))
    labelled = Check("labels", str(tree.labels), str(labels), tree.labels == labels)
    checks = [_equal("rows of the data", claims.n_rows, data.size), labelled]
    if not all(each.holds for each in checks):
        return checks
    found = inspect(tree, task, data)
    shows = tree.shows()
    leaf = 0
    for place, (node, rows) in enumerate(zip(walk(tree.root), found.rows, strict=True)):
        if isinstance(node, Leaf):
            which = f"of leaf {leaf} ({shows[leaf]})"
            checks.append(_equal(f"rows {which}", node.rows, rows))
            checks.append(_equal(f"cost {which}", node.cost, found.leaf_costs[leaf]))
            leaf += 1
        else:
            checks.append(_equal(f"rows of node {place} ({tree.columns[node.column].name})", node.rows, rows))
    value = scoring(task, on_data).score(found.value, Totals(task, data))
    checks.append(_equal("value", claims.value, value))
    if not on_data.feasible(found.value):
        checks.append(Check("feasible value", number(claims.value), "not feasible", holds=False))
    if claims.over and data.ordered:
        over, found_over = claims.over.partition(";")[0], claims.cut(data).extent
        checks.append(Check(f"{claims.status} over", over, found_over, over == found_over))
    checks.extend(_bounds(claims.status, task.larger_is_better, claims.value, claims.lower_bound, claims.upper_bound))
    smallest, least = min((rows for rows in found.leaf_rows if rows), default=0), claims.min_leaf
    checks.append(Check("fewest rows in a leaf", f"at least {least}", str(smallest), smallest >= least))
    sizes = ("depth", claims.max_depth, tree.depth), ("branching nodes", claims.max_nodes, tree.n_branches)
    checks += [Check(what, f"at most {most}", str(n), n <= most) for what, most, n in sizes if most is not None]
    for limit in on_data.limits:
        broken = [number for number, each in found.broken if each == limit]
        checks.append(Check("limit", repr(limit), f"broken by leaves {broken}" if broken else "kept", not broken))
    return checks


def _bounds(status: str, maximize: bool, value: Any, lower: Any, upper: Any) -> list[Check]:
    """What the status says about the bounds; the proved one itself is the search's to show."""
    own, name = (lower, "lower bound") if maximize else (upper, "upper bound")
    checks = [_equal(f"{name} (the value)", own, value)]
    if (upper if maximize else lower) is None:
        return checks
    if status == "optimal":
        checks.append(_equal("gap of an optimal tree", upper, lower))
    else:
        alike = isinstance(lower, tuple) == isinstance(upper, tuple)
        # further components of a front may be minimised while the first is maximised
        first, last = (each[:1] if isinstance(each, tuple) else each for each in (lower, upper))
        ordered = alike and first is not None and last is not None and bool(first <= last)
        checks.append(Check("lower bound", f"at most {number(upper)}", number(lower), ordered))
    return checks


def _equal(what: str, claimed: Any, found: Any) -> Check:
    return Check(what, number(claimed), number(found), close(claimed, found, least=1e-12))
