"""Problems that are a cost per row and label and a price per row and split: packed without compiling anything for them.

A price depends on the columns tested above by the cheapest of them only (`streed.task.test_costs`), so tables tell it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.encoding.certificate import check_claim, measure_costs
from streed.encoding.encoding import Encoding
from streed.encoding.row_costs import category_counts, group_problem
from streed.exact import LARGEST_TOTAL, Array, IntegerCosts
from streed.kernels.packed import PackedProblem, Prices, pack, writable
from streed.problem import Problem, Solution
from streed.task.algebra import exact_costs
from streed.task.analysis.linear_form import adds
from streed.task.constrained import objective
from streed.task.test_costs import CostsWithTests
from streed.tree import Branch, Node


@final
@attrs.frozen(eq=False)
class RowAndTestCosts(Encoding):
    """Codes are whole costs less the base that every tree pays, in units of their common divisor."""

    packed: PackedProblem
    costs: IntegerCosts
    full: Array
    """(p,) int64: prices where nothing was tested above, in the unit of the costs."""
    given: Array
    divisor: int
    route = "row costs"
    exact = True

    @property
    def unit(self) -> Any:
        return self.costs.unit

    @classmethod
    def of(cls, problem: Problem) -> RowAndTestCosts | None:
        """The problem packed; None unless its task says what its prices are, in numbers that fit."""
        data, task = problem.data, problem.task
        priced = objective(task).priced(data) if adds(objective(task)) else None
        if priced is None or data.categorical or any(limit.support is None for limit in task.limits):
            return None
        own = exact_costs(priced.costs, data)
        found = _in_one_unit(own, priced, data.size) if own.exact else None
        if found is None:
            return None
        costs, full, given = found
        divisor = math.gcd(_divisor(costs.costs), int(np.gcd.reduce(full)), int(np.gcd.reduce(given, axis=None))) or 1
        codes = writable(data.X)
        rows = group_problem(problem, costs.costs, divisor, counts_rows=True)
        packed = pack(codes, category_counts(problem), rows, costs.costs.shape[1], 0, problem.min_leaf, merge=False)
        column = packed.column
        there = np.ascontiguousarray(given[np.ix_(column, column)] // divisor)
        _, first, alike = np.unique(there, axis=0, return_index=True, return_inverse=True)
        prices = Prices(full[column] // divisor, there, first[alike.ravel()].astype(np.int64), data.size)
        return cls(attrs.evolve(packed, prices=prices), costs, full, given, divisor)

    def value(self, code: int) -> Any:
        return self._worth(self._total(code))

    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        cost, root = measure_costs(problem, self.costs, preorder)
        cost += self._paid(root, ())
        claimed = self._total(code)
        check_claim(cost, claimed, self._total(lower), complete=complete)
        return Solution(self._worth(cost), root), cost == claimed

    def _paid(self, node: Node, path: tuple[int, ...]) -> int:
        """What the rows of a subtree pay for its splits, where the columns of `path` were tested above."""
        if not isinstance(node, Branch):
            return 0
        price: int = min([int(self.full[node.column]), *self.given[list(path), node.column].tolist()])
        below = (*path, node.column)
        paid: int = node.rows * price + sum(self._paid(child, below) for child in node.children)
        return paid

    def _worth(self, total: int) -> int | Fraction:
        """Whole costs in the task's own unit."""
        worth = self.costs.unit * total
        return int(worth) if self.costs.unit.denominator == 1 else worth

    def _total(self, code: int) -> int:
        """A code in whole costs."""
        return self.packed.groups.base + self.divisor * code


def _in_one_unit(costs: IntegerCosts, priced: CostsWithTests, n_rows: int) -> tuple[IntegerCosts, Array, Array] | None:
    """(costs, full, given) with the unit that both are multiples of; None if the totals leave int64."""
    common = math.lcm(costs.unit.denominator, priced.unit.denominator)
    unit = Fraction(math.gcd(int(costs.unit * common), int(priced.unit * common)), common)
    of_costs, of_prices = int(costs.unit / unit), int(priced.unit / unit)
    largest = float(np.abs(costs.costs).max(initial=0)) * of_costs + 4 * float(priced.full.max(initial=0)) * of_prices
    if largest * n_rows >= LARGEST_TOTAL:
        return None
    scaled = IntegerCosts(costs.costs * of_costs, 0, unit, costs.exact)
    return scaled, priced.full * of_prices, priced.given * of_prices


def _divisor(costs: Array) -> int:
    """The greatest common divisor of all differences of costs (n, K) within a row; 0 if there are none."""
    return int(np.gcd.reduce(costs - costs[:, :1], axis=None))
