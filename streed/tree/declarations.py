"""Whether a tree that was found keeps what its task declares: bounds that a search trusts, tried where they matter.

A search prunes by `lower_bound`, `worst_per_row` and `superadditive` without looking back. Every node of its
tree is a state at which they can be tried, so a declaration that the tree itself refutes is an error, never a result.
That no node refutes one proves nothing: `streed.testing` tries more.
"""

from __future__ import annotations

import functools
import numbers
from typing import Any, final

import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.task import TOTAL, State, Task, Value, beside_sums, quick_sums, state_of
from streed.task.algebra import objective
from streed.task.contract import ContractCheck
from streed.tree.evaluation import merged
from streed.tree.nodes import Leaf, Node, Visit, fold, visits
from streed.tree.rows import sides_in

_ROUNDING = 1e-9  # part of the numbers compared that rounding may make of them
_CANCELLED = 2.0**-40  # part of the largest sums of all rows that is left where sums are subtracted


def check_declarations(task: Task, data: Dataset, root: Node, sums: dict[str, Array] | None = None) -> None:
    """Raises TaskError, with the line of the task's source, if a node of the tree refutes what the bound task declares.

    Leaf costs of every label, and the values of the parts of the tree, are compared with the declared bounds at the
    rows of every node; numbers that are not exact with room for their rounding. `sums`: the task's `quick_sums`, where
    they are known.
    """
    told = objective(task)
    if told.superadditive or told.any_label or told.overrides("lower_bound") or told.overrides("worst_per_row"):
        check = _Check(task, data, quick_sums(task, data) if sums is None else sums)
        fold(list(visits(root, functools.partial(sides_in, data), data.n_rows)), check.visit)


@final
class _Check:
    """One task on one data set."""

    def __init__(self, task: Task, data: Dataset, sums: dict[str, Array]) -> None:
        self.whole, self.task, self.data, self.sums = task, objective(task), data, sums
        self.probe = ContractCheck(self.task, data)
        self.n_labels, self.total = len(task.labels(data)), self.task.order == TOTAL
        worst = None if not self.total or self.task.overrides("better") else self.task.worst_per_row(data)
        weights = 1 if data.weights is None else data.weights
        self.worst = None if worst is None else np.asarray(worst, dtype=np.float64) * weights
        sizes = (float(np.abs(each.astype(np.float64)).sum(axis=0).max(initial=0)) for each in sums.values())
        self.noise = _CANCELLED * max(sizes, default=0.0)

    def visit(self, visit: Visit, parts: list[Any]) -> tuple[Value, Value, Array] | None:
        """(the tree's value, the best of a leaf, the rows) at a node and all below it, tried; None without rows."""
        task, node, rows = self.task, visit.node, visit.rows
        if not len(rows):
            return None
        parts = [part for part in parts if part is not None]
        s = state_of(self.sums, rows, self.data, beside_sums(self.whole, self.data, rows))
        costs = [task.leaf_cost(s, k) for k in range(self.n_labels)]
        least = functools.reduce(lambda a, b: b if task.better(b, a) else a, costs)
        value = costs[node.label] if isinstance(node, Leaf) else merged(task, [p[0] for p in parts], s.rows, visit)
        if self.total and parts:
            self.check_parts(s, least, rows, parts)
        bound, told = task.lower_bound(s), [(value, "the tree that was found costs")]
        if bound is not None and all(limit.allows(s) for limit in self.whole.limits):
            told = [*((cost, "a leaf there costs") for cost in costs if task.feasible(cost)), *told]
        for cost, words in told if bound is not None else ():
            if self.beats(cost, bound):
                found = f"{words} {cost!r}, which is better; return less, or None"
                self.probe.refuse("lower_bound", (s,), bound, found)
        for k, other in enumerate(costs) if task.any_label else ():
            if not self.near(costs[0], other):
                found = f"is True, and a leaf of {s!r} costs {costs[0]!r} with label 0 and {other!r} with label {k}"
                self.probe.fail("any_label", found, "leave it out")
        return value, least, rows

    def check_parts(self, s: State, least: Value, rows: Array, parts: list[Any]) -> None:
        """What is declared of a leaf of these rows and leaves of its parts."""
        if self.task.superadditive:
            together = functools.reduce(self.task.combine, [part[1] for part in parts])
            if self.beats(least, together):
                found = f"is True, but {s!r} costs {least!r} as a leaf, and its parts together {together!r}"
                self.probe.fail("superadditive", found, "leave it out")
        for _, own, below in parts if self.worst is not None else ():
            most = float(own) + self.worst[rows].sum() - self.worst[below].sum()  # type: ignore[index]
            if least < own and not self.near(least, own):
                less = f"a leaf of {self.data.count(below)} rows costs {own!r}, and one of more rows {least!r}"
                self.probe.fail("worst_per_row", f"is declared, but {less}", "return None")
            if least > most and not self.near(least, most):
                found = f"allows a leaf of {s.rows} rows to cost {float(most)!r}, and it costs {least!r}"
                self.probe.fail("worst_per_row", found, "return more, or None")

    def beats(self, a: Value, b: Value) -> bool:
        """Whether a is better than b by more than rounding."""
        return bool(self.task.better(a, b)) and not self.near(a, b)

    def near(self, a: Value, b: Value) -> bool:
        """Whether two values are the same but for rounding; exact ones only if they are equal."""
        if isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) == len(b) and all(map(self.near, a, b))
        if isinstance(a, numbers.Rational) and isinstance(b, numbers.Rational):
            return a == b
        x, y = float(a), float(b)
        return x == y or abs(x - y) <= _ROUNDING * max(abs(x), abs(y)) + self.noise
