"""Test costs in whole numbers: what the rows of a branching node pay for its split, beside a cost per row and label.

A price depends on the columns tested above by the cheapest of them only (`streed.task.test_costs`), so tables tell it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.exact import LARGEST_TOTAL, Array
from streed.kernels.packed import Prices
from streed.problem import Problem
from streed.task.algebra import exact_costs
from streed.task.analysis.linear_form import adds
from streed.task.base import objective
from streed.tree import Branch, Node
from streed.whole_costs import IntegerCosts


@final
@attrs.frozen(eq=False)
class CostsOfTests:
    """Prices of splits per row, in the unit of the row costs."""

    full: Array
    """(p,) int64: of a column where nothing was tested above."""
    given: Array
    """(p, p) int64: given[f, split], of `split` where f was tested above."""

    @property
    def divisor(self) -> int:
        """The greatest common divisor of the prices."""
        return math.gcd(int(np.gcd.reduce(self.full)), int(np.gcd.reduce(self.given, axis=None)))

    def packed(self, column: Array, divisor: int, n_rows: int) -> Prices:
        """The prices by bit column, which stand for these columns, divided by `divisor`."""
        there = np.ascontiguousarray(self.given[np.ix_(column, column)] // divisor)
        first: dict[bytes, int] = {}
        alike = [first.setdefault(row.tobytes(), number) for number, row in enumerate(there)]
        return Prices(self.full[column] // divisor, there, np.array(alike, np.int64), n_rows)

    def paid(self, node: Node, path: tuple[int, ...] = ()) -> int:
        """What the rows of a subtree pay for its splits, where the columns of `path` were tested above."""
        if not isinstance(node, Branch):
            return 0
        price: int = min([self.full.item(node.column), *(self.given.item(above, node.column) for above in path)])
        below = (*path, node.column)
        paid: int = node.rows * price + sum(self.paid(child, below) for child in node.children)
        return paid


def costs_with_tests(problem: Problem) -> tuple[IntegerCosts, CostsOfTests] | None:
    """The costs per row and the prices in one unit; None unless the task says its prices, in numbers that fit."""
    data, task = problem.data, problem.task
    linear = objective(task).priced(data) if adds(objective(task)) else None
    if linear is None or data.categorical or any(limit.support is None for limit in task.limits):
        return None
    costs = exact_costs(linear.costs, data)
    if not costs.exact:
        return None
    common = math.lcm(costs.unit.denominator, linear.unit.denominator)
    unit = Fraction(math.gcd(int(costs.unit * common), int(linear.unit * common)), common)
    of_costs, of_prices = int(costs.unit / unit), int(linear.unit / unit)
    largest = float(np.abs(costs.costs).max(initial=0)) * of_costs + 4 * float(linear.full.max(initial=0)) * of_prices
    if largest * data.size + 4 * costs.split * of_costs >= LARGEST_TOTAL:
        return None
    scaled = IntegerCosts(costs.costs * of_costs, costs.split * of_costs, unit, costs.exact)
    return scaled, CostsOfTests(linear.full * of_prices, linear.given * of_prices)
