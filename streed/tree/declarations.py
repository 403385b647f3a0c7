"""Whether a tree that was found keeps what its task declares: bounds that a search trusts, tried where they matter.

A search prunes by `lower_bound`, `worst_per_row`, `superadditive` and `grain` without looking back. Every node of its
tree is a state at which they can be tried, so a declaration that the tree itself refutes is an error, never a result.
That no node refutes one proves nothing: `streed.testing` tries more.
"""

from __future__ import annotations

import functools
import numbers
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from streed.task import TOTAL, State, Task, Value, beside_sums, quick_sums
from streed.task.algebra import objective
from streed.task.contract import ContractCheck
from streed.task.row_sums import sums_by
from streed.tree.nodes import Branch, Leaf, Node, walk
from streed.tree.rows import sides_in

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.exact import Array

_ROUNDING = 1e-9
"""Part of the numbers compared that rounding may make of them."""

_AT_ONCE = 8
"""Leaves of a part of a tree whose rows are asked all its questions at once; more are asked one after the other."""

_CANCELLED = 2.0**-40
"""Part of the largest sums of all rows that is left where sums are subtracted."""


def check_declarations(task: Task, data: Dataset, root: Node, sums: dict[str, Array] | None = None) -> None:
    """Raises TaskError, with the line of the task's source, if a node of the tree refutes what the bound task declares.

    Leaf costs of every label, and the values of the parts of the tree, are compared with the declared bounds at the
    rows of every node; numbers that are not exact with room for their rounding. `sums`: the task's `quick_sums`, where
    they are known.
    """
    check = _Check(task, data)
    if check.declares:
        check.try_tree(root, quick_sums(task, data) if sums is None else sums)


class _Found(NamedTuple):
    """What was found of the tree at a node that has rows."""

    value: Value
    """Of the tree there,"""
    least: Value | None
    """and of a leaf there, at least."""
    size: int
    """How many rows it has, as states count them."""
    totals: dict[str, Any]
    """The sums of the statistics over them, as states have them."""
    worst: float
    """What they cost at worst, together."""


@final
class _Check:
    """One task on one data set."""

    sums: dict[str, Array]
    """The task's `quick_sums`."""
    leaf_of: Array
    """(n,) int64: the number of the leaf that each row is in."""
    sizes: list[int]
    """How many rows every leaf has,"""
    counts: list[int]
    """and each as often as its frequency says."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self.task = objective(task)
        self.limits = task.limits
        self.data = data
        self.beside = task
        self.probe = ContractCheck(self.task, data)
        self.labels = range(len(task.labels(data)))
        self.smaller = self.task.order == TOTAL and not self.task.overrides("better")
        worst = self.task.worst_per_row(data) if self.smaller else None
        weights = 1 if data.weights is None else data.weights
        self.worst: Array | None = None if worst is None else np.asarray(worst, dtype=np.float64) * weights
        self.reads_rows = task.reads_rows
        self.is_grained = self.task.grain is not None or self.task.any_label
        self.has_prices = self.task.overrides("branching_cost")
        self.totals: dict[str, list[Any]] = {}
        """By statistic, the sums over the rows of every leaf, where they are whole."""
        self.worst_of: list[float] = []
        """What the rows of every leaf cost at worst, where that is declared."""
        self.visited = 0
        """How many leaves were tried."""
        self._order: Array | None = None
        self._begins: list[int] = []

    @property
    def declares(self) -> bool:
        """Whether anything is declared that could be refuted."""
        task = self.task
        has_bound = self.worst is not None or task.grain is not None or task.overrides("lower_bound")
        return has_bound or task.superadditive or task.any_label

    @functools.cached_property
    def noise(self) -> float:
        """By how much numbers may differ because sums were subtracted."""
        sizes = (float(np.abs(each.astype(np.float64)).sum(axis=0).max(initial=0)) for each in self.sums.values())
        return _CANCELLED * max(sizes, default=0.0)

    @functools.cached_property
    def is_whole(self) -> bool:
        """Whether all statistics are whole numbers, whose sums are the same in any order."""
        return all(values.dtype.kind == "i" for values in self.sums.values())

    def try_tree(self, root: Node, sums: dict[str, Array]) -> None:
        """Tries all nodes of a tree; `sums`: the task's `quick_sums`."""
        data, n_leaves = self.data, _leaves_below(root)
        self.sums = sums
        self.leaf_of = np.empty(data.n_rows, np.int64)
        self._number(root, slice(None), 0, n_leaves)
        self.sizes = np.bincount(self.leaf_of, minlength=n_leaves).tolist()
        frequency = data.frequency
        self.counts = self.sizes if frequency is None else sums_by(self.leaf_of, frequency, n_leaves).tolist()
        if self.is_whole:
            for name, values in sums.items():
                totals = sums_by(self.leaf_of, values, n_leaves).tolist()
                self.totals[name] = list(map(tuple, totals)) if values.ndim > 1 else totals
        if self.worst is not None:
            self.worst_of = np.bincount(self.leaf_of, self.worst, n_leaves).tolist()
        self.visit(root, ())

    def _number(self, node: Node, rows: Any, first: int, n_leaves: int) -> None:
        """Writes the leaf of each of the rows, given by number or as a slice, that come to a node.

        Its leaves are `first` and those behind it.
        """
        if n_leaves <= _AT_ONCE:
            self.leaf_of[rows] = self._leaves(node, rows, first)[0]
            return
        assert isinstance(node, Branch)
        codes = sides_in(self.data, node, rows)
        for code, child in enumerate(node.children):
            side = np.flatnonzero(codes == code)
            below = _leaves_below(child)
            self._number(child, side if isinstance(rows, slice) else rows[side], first, below)
            first += below

    def _leaves(self, node: Node, rows: Any, first: int) -> tuple[Any, int]:
        """The leaf of each of the rows at a node, or the only one, and the number behind its last one.

        All rows are asked every question below it.
        """
        if isinstance(node, Leaf):
            return first, first + 1
        codes = sides_in(self.data, node, rows)
        if all(isinstance(child, Leaf) for child in node.children):
            return np.add(codes, first, dtype=np.int64), first + len(node.children)
        found, behind = self._leaves(node.children[0], rows, first)
        for code, child in enumerate(node.children[1:], start=1):
            each, behind = self._leaves(child, rows, behind)
            found = np.where(codes == code, each, found)
        return found, behind

    def rows(self, first: int, behind: int) -> Array:
        """The numbers of the rows of some leaves, in ascending order."""
        if self._order is None:
            self._order = np.argsort(self.leaf_of, kind="stable")
            self._begins = [0, *np.cumsum(self.sizes).tolist()]
        return np.sort(self._order[self._begins[first] : self._begins[behind]])

    def visit(self, node: Node, path: tuple[int, ...]) -> _Found | None:
        """What is found at this node, all nodes below it having been tried; None if it has no rows.

        `path` are the columns above it, for tasks whose splits have prices.
        """
        first = self.visited
        parts: list[_Found] = []
        if isinstance(node, Leaf):
            self.visited += 1
            if not self.sizes[first]:
                return None
            count, worst = self.counts[first], self.worst_of[first] if self.worst_of else 0.0
            totals = {name: each[first] for name, each in self.totals.items()}
        else:
            below = (*path, node.column) if self.has_prices else path
            parts = [found for child in node.children if (found := self.visit(child, below)) is not None]
            if not parts:
                return None
            count, worst, totals = 0, 0.0, {}
            for part in parts:
                count, worst = count + part.size, worst + part.worst
            for name in self.totals:
                totals[name] = _together([each.totals[name] for each in parts])
        if not self.is_whole:
            rows = self.rows(first, self.visited)
            real = {name: values[rows].sum(axis=0).tolist() for name, values in self.sums.items()}
            totals = {name: tuple(total) if isinstance(total, list) else total for name, total in real.items()}
        return self._try(node, path, parts, count, totals, worst, first)

    def _try(
        self,
        node: Node,
        path: tuple[int, ...],
        parts: list[_Found],
        count: int,
        totals: dict[str, Any],
        worst: float,
        first: int,
    ) -> _Found:
        """What is found at a node with these rows, where its declarations are tried."""
        task = self.task
        beside = beside_sums(self.beside, self.data, self.rows(first, self.visited)) if self.reads_rows else {}
        s = State(count, **totals, **beside)
        costs = [task.leaf_cost(s, k) for k in self.labels]
        least, smaller = None, self.smaller
        if smaller:
            least = min(costs)
        elif task.order == TOTAL:
            least = functools.reduce(lambda a, b: b if task.better(b, a) else a, costs)
        if isinstance(node, Leaf):
            value = costs[node.label]
        else:
            value = functools.reduce(task.combine, [each.value for each in parts])
            price = task.branching_cost(count, tuple(sorted(set(path))), node.column) if self.has_prices else None
            value = value if price is None else task.combine(value, price)
        found = _Found(value, least, count, totals, worst)
        if least is not None and parts:
            self.check_parts(s, found, parts)
        bound = task.lower_bound(s)
        if bound is not None and not (smaller and bound <= least and bound <= value):
            if all(limit.allows(s) for limit in self.limits):
                for cost in filter(task.feasible, costs):
                    self.check_bound(s, bound, cost, "a leaf there costs")
            self.check_bound(s, bound, value, "the tree that was found costs")
        if self.is_grained:
            self.check_costs(s, [*costs, value])
        return found

    def check_bound(self, s: State, bound: Value, value: Value, words: str) -> None:
        if self.task.better(value, bound) and not self.near(value, bound):
            self.probe.refuse("lower_bound", (s,), bound, f"{words} {value!r}, which is better; return less, or None")

    def check_costs(self, s: State, values: list[Value]) -> None:
        grain = self.task.grain
        for value in values:
            if grain is not None and isinstance(value, numbers.Rational) and Fraction(value) % grain:
                self.probe.fail("grain", f"is {grain!r}, and {value!r} is no multiple of it", "leave it out")
        first, *others = values[:-1]
        for k, other in enumerate(others, start=1) if self.task.any_label else ():
            if not self.near(first, other):
                found = f"is True, and a leaf of {s!r} costs {first!r} with label 0 and {other!r} with label {k}"
                self.probe.fail("any_label", found, "leave it out")

    def check_parts(self, s: State, whole: _Found, parts: list[_Found]) -> None:
        """What is declared of a leaf of these rows and leaves of its parts."""
        task, least = self.task, whole.least
        if task.superadditive:
            together = functools.reduce(task.combine, [part.least for part in parts])
            if task.better(least, together) and not self.near(least, together):
                found = f"is True, but {s!r} costs {least!r} as a leaf, and its parts together {together!r}"
                self.probe.fail("superadditive", found, "leave it out")
        if self.worst is None:
            return
        cost = float(least)  # type: ignore[arg-type]
        for part in parts:
            own = float(part.least)  # type: ignore[arg-type]
            most = own + whole.worst - part.worst
            if cost < own and not self.near(least, part.least):
                less = f"a leaf of {part.size} rows costs {part.least!r}, and one of more rows {least!r}"
                self.probe.fail("worst_per_row", f"is declared, but {less}", "return None")
            if cost > most and not self.near(least, most):
                found = f"allows a leaf of {whole.size} rows to cost {most!r}, and it costs {least!r}"
                self.probe.fail("worst_per_row", found, "return more, or None")

    def near(self, a: Value, b: Value) -> bool:
        """Whether two values are the same but for rounding; exact ones only if they are equal."""
        if isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) == len(b) and all(map(self.near, a, b))
        if isinstance(a, numbers.Rational) and isinstance(b, numbers.Rational):
            return a == b
        x, y = float(a), float(b)
        return x == y or abs(x - y) <= _ROUNDING * max(abs(x), abs(y)) + self.noise


def _together(totals: list[Any]) -> Any:
    """The sums of a statistic over the rows of several parts, by those over each."""
    return tuple(map(sum, zip(*totals, strict=True))) if isinstance(totals[0], tuple) else sum(totals)


def _leaves_below(node: Node) -> int:
    """How many leaves a tree has."""
    return sum([isinstance(each, Leaf) for each in walk(node)])
