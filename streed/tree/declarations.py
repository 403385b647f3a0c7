"""Whether a tree that was found keeps what its task declares: bounds that a search trusts, tried where they matter.

A search prunes by `lower_bound`, `worst_per_row`, `superadditive` and `grain` without looking back. Every node of its
tree is a state at which they can be tried, so a declaration that the tree itself refutes is an error, never a result.
That no node refutes one proves nothing: `streed.testing` tries more.
"""

from __future__ import annotations

import functools
import numbers
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.task import TOTAL, State, Task, Value, beside_sums, quick_sums
from streed.task.algebra import objective
from streed.task.contract import ContractCheck
from streed.task.row_sums import sums_by
from streed.tree.nodes import Leaf, Node
from streed.tree.rows import sides_in

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.exact import Array

_ROUNDING = 1e-9
"""Part of the numbers compared that rounding may make of them."""

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
        check.sums = quick_sums(task, data) if sums is None else sums
        check.visit(root, check.parted(root), ())


@final
@attrs.define(eq=False)
class _Part:
    """What a tree does to some rows."""

    rows: Array
    parts: list[_Part | None] = attrs.field(factory=list)
    """Of the children of their node; None for one without rows."""
    totals: dict[str, Any] = attrs.field(factory=dict)
    """The sums of the statistics over these rows, as states have them."""
    worst: float = 0.0
    """What these rows cost at worst, together."""


@final
class _Check:
    """One task on one data set."""

    sums: dict[str, Array]
    """The task's `quick_sums`."""

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

    def parted(self, root: Node) -> _Part:
        """How the tree parts all rows, with the sums over each part."""
        leaves: list[_Part] = []
        whole = self._part(root, np.arange(self.data.n_rows), leaves)
        leaf_of = np.empty(self.data.n_rows, np.int64)
        for i, leaf in enumerate(leaves):
            leaf_of[leaf.rows] = i
        if self.is_whole:
            for name, values in self.sums.items():
                for leaf, total in zip(leaves, sums_by(leaf_of, values, len(leaves)).tolist(), strict=True):
                    leaf.totals[name] = tuple(total) if values.ndim > 1 else total
        if self.worst is not None:
            for leaf, worst in zip(leaves, np.bincount(leaf_of, self.worst, len(leaves)).tolist(), strict=True):
                leaf.worst = worst
        self._add_up(whole)
        return whole

    def _part(self, node: Node, rows: Array, leaves: list[_Part]) -> _Part:
        """How the tree at this node parts the rows, at least one; leaves that have rows are appended."""
        found = _Part(rows)
        if isinstance(node, Leaf):
            leaves.append(found)
            return found
        codes = sides_in(self.data, node, rows)
        for code, child in enumerate(node.children):
            side = rows[codes == code]
            found.parts.append(self._part(child, side, leaves) if len(side) else None)
        return found

    def _add_up(self, part: _Part) -> None:
        """Finds the sums over a part and over all that it consists of, where those over leaves are known."""
        known = [each for each in part.parts if each is not None]
        for each in known:
            self._add_up(each)
        if known:
            part.worst = sum(each.worst for each in known)
        if not self.is_whole:
            totals = {name: values[part.rows].sum(axis=0).tolist() for name, values in self.sums.items()}
            part.totals = {name: tuple(total) if isinstance(total, list) else total for name, total in totals.items()}
        elif known:
            part.totals = {name: _together([each.totals[name] for each in known]) for name in self.sums}

    def visit(self, node: Node, part: _Part, path: tuple[int, ...]) -> tuple[Value, Value | None]:
        """(value of the tree at this node, least cost of a leaf there), all nodes below it having been tried."""
        task = self.task
        beside = beside_sums(self.beside, self.data, part.rows)
        s = State(self.data.count(part.rows), **part.totals, **beside)
        costs = [task.leaf_cost(s, k) for k in self.labels]
        least = None
        if self.smaller:
            least = min(costs)
        elif task.order == TOTAL:
            least = functools.reduce(lambda a, b: b if task.better(b, a) else a, costs)
        if isinstance(node, Leaf):
            value = costs[node.label]
        else:
            value = self._visit_children(node, part, path, s, least)
        bound = task.lower_bound(s)
        if bound is not None:
            if all(limit.allows(s) for limit in self.limits):
                for cost in filter(task.feasible, costs):
                    self.check_bound(s, bound, cost, "a leaf there costs")
            self.check_bound(s, bound, value, "the tree that was found costs")
        self.check_costs(s, [*costs, value])
        return value, least

    def _visit_children(self, node: Any, part: _Part, path: tuple[int, ...], s: State, least: Value | None) -> Value:
        task = self.task
        values, parts = [], []
        for child, its in zip(node.children, part.parts, strict=True):
            if its is not None:
                value, own = self.visit(child, its, (*path, node.column))
                values.append(value)
                parts.append((its, own))
        if least is not None:
            self.check_parts(s, part, least, parts)
        value = functools.reduce(task.combine, values)
        price = task.branching_cost(s.rows, tuple(sorted(set(path))), node.column)
        return value if price is None else task.combine(value, price)

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

    def check_parts(self, s: State, whole: _Part, least: Value, parts: list[tuple[_Part, Value]]) -> None:
        """What is declared of a leaf of these rows and leaves of its parts."""
        task = self.task
        together = functools.reduce(task.combine, [own for _, own in parts])
        if task.superadditive and task.better(least, together) and not self.near(least, together):
            found = f"is True, but {s!r} costs {least!r} as a leaf, and its parts together {together!r}"
            self.probe.fail("superadditive", found, "leave it out")
        if self.worst is None:
            return
        for part, own in parts:
            most = float(own) + whole.worst - part.worst
            if float(least) < float(own) and not self.near(least, own):
                size = len(part.rows)
                found = f"is declared, but a leaf of {size} rows costs {own!r}, and one of more rows {least!r}"
                self.probe.fail("worst_per_row", found, "return None")
            if float(least) > most and not self.near(least, most):
                found = f"allows a leaf of {len(whole.rows)} rows to cost {most!r}, and it costs {least!r}"
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
