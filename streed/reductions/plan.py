"""A bound task of several sums in whole numbers: what the reductions compute with, and the way back to its values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.algebra import exact_costs, objective
from streed.exact import Array
from streed.reductions.trees import Vector, Window, count_leaves, leaf_numbers
from streed.search.driver import Problem
from streed.sums import (
    BoundTask,
    LinearFraction,
    SumLimit,
    SumTask,
    integer_weights,
    least_of_labels,
    most_of_labels,
)
from streed.task import Totals
from streed.tree import Branch, Leaf, Node


@final
@attrs.frozen(eq=False)
class Plan:
    """The sums of a task and what they are worth."""

    parts: Array
    """(m, n, K) int64, row weights multiplied in: the objective's components, then the limited sums."""
    splits: tuple[int, ...]
    """(m,) what a branching node adds."""
    units: tuple[Fraction | int, ...]
    """(m,) what one of the whole numbers is worth in the task's values."""
    windows: tuple[Window, ...]
    limits: tuple[SumLimit, ...]
    rank_of: Callable[[Vector], Any]
    """What a tree is worth, larger is better, by its whole numbers."""
    fraction: LinearFraction | None
    """The rank as a fraction of the whole numbers of the objective, or None."""
    shown: Callable[[Any], Any] | None
    """The score of a rank; None where the rank is the value with its sign changed."""

    def value(self, vector: Vector) -> Any:
        """The task's value of a tree: each limited sum appears as what it is above its least and below its most."""
        count = len(vector) - len(self.windows)
        value = [_plain(unit * x) for x, unit in zip(vector[:count], self.units, strict=False)]
        for part, x, unit in zip(self.parts[count:], vector[count:], self.units[count:], strict=True):
            value += [_plain(unit * (x - _least(part))), _plain(unit * (_most(part) - x))]
        return tuple(value)

    def bounds(self, rank: Any) -> tuple[Any, Any]:
        """(bound as a value, bound as a score) of a bound on the rank; one of them is None."""
        if rank is None:
            return None, None
        if self.shown is not None:
            return None, self.shown(rank)
        return (_plain(-rank * self.units[0]), *[0] * (2 * len(self.windows))), None

    def relabelled(self, root: Node, codes: Array) -> Node:
        """The tree with the rows and costs of its leaves by the task; one without rows shows what its parent would."""
        numbers = leaf_numbers(root, codes)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(count_leaves(root) + 1)).tolist()
        count = len(self.parts) - len(self.windows)

        def leaf(number: int, label: int, siblings: tuple[int, int]) -> Leaf:
            rows = order[ends[number] : ends[number + 1]]
            if not len(rows):
                above = order[ends[siblings[0]] : ends[siblings[1]]]
                return Leaf(int(self.parts[0][above].sum(axis=0).argmin()), 0, 0)
            cost = [
                _plain(unit * int(part[rows, label].sum()))
                for part, unit in zip(self.parts[:count], self.units, strict=False)
            ]
            return Leaf(label, len(rows), cost[0] if self.shown is None else tuple(cost))

        def grown(node: Node, first: int, siblings: tuple[int, int]) -> tuple[Node, int]:
            """The subtree whose first leaf has this number, and the number after its last."""
            if isinstance(node, Leaf):
                return leaf(first, node.label, siblings), first + 1
            own = (first, first + count_leaves(node))
            children = []
            for child in node.children:
                subtree, first = grown(child, first, own)
                children.append(subtree)
            return Branch(node.column, tuple(children), ends[own[1]] - ends[own[0]]), first

        return grown(root, 0, (0, 0))[0]


def _least(part: Array) -> int:
    return int(least_of_labels(part).sum())


def _most(part: Array) -> int:
    return int(most_of_labels(part).sum())


def _plain(x: Fraction | int) -> int | Fraction:
    return int(x) if x.denominator == 1 else x


def make_plan(problem: Problem) -> Plan:
    """The plan of a problem whose task is a `SumTask`, or a `BoundTask` of one or of a row-cost task.

    Raises InputError for row weights that are not exact.
    """
    task, data = objective(problem.task), problem.data
    inner = task.task if isinstance(task, BoundTask) else task
    bounded = task.bounded_sums if isinstance(task, BoundTask) else ()
    limits = task.sum_limits if isinstance(task, BoundTask) else ()
    weights, fine = integer_weights(data)
    unit = _plain(fine)
    by_row = 1 if weights is None else weights[:, None]
    sums = [each.costs * by_row for each in bounded]
    windows = tuple((each.least, each.most) for each in bounded)
    if not isinstance(inner, SumTask):
        costs = exact_costs(inner, data)
        fraction = LinearFraction(0, (1,), 1, (0,))
        parts, splits = np.stack([costs.costs, *sums]), (costs.split, *[0] * len(sums))
        units = (_plain(costs.unit), *[unit] * len(sums))
        return Plan(parts, splits, units, windows, limits, lambda vector: -vector[0], fraction, None)
    named = inner.sums(data)
    components = [np.asarray(named[name], dtype=np.int64) * by_row for name in inner.components]
    totals = Totals(inner, data)
    found = inner.fraction(totals)
    if found is not None:
        falls, slopes = [tuple(_plain(unit * x) for x in each) for each in (found.falls, found.slopes)]
        found = LinearFraction(_plain(found.top), falls, _plain(found.base), slopes)
    count = len(components)

    def rank(vector: Vector) -> Any:
        if found is not None:
            return found.at(vector)
        return inner.rank(tuple(_plain(unit * x) for x in vector[:count]), totals)

    total = count + len(sums)
    parts = np.stack([*components, *sums])
    return Plan(parts, (0,) * total, (unit,) * total, windows, limits, rank, found, inner.shown)
