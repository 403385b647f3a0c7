"""What encodings are; and those of costs per row and label, with test costs or without, for which nothing is compiled.

The search runs over int64 codes: an `Encoding` packs a problem into them, gives codes back as the task's values, and
measures trees again from the raw data. Prices of splits may come to costs per row, if the task says what they are.
"""

from __future__ import annotations

import abc
import math
from typing import Any, final

import attrs
import numpy as np

from streed.encoding.certificate import measure_costs, measure_widely
from streed.errors import MismatchError
from streed.exact import LARGEST_TOTAL, Array, in_whole, writable
from streed.kernels.counting.equal_rows import find_floors
from streed.kernels.counting.groups import NO_TIMES, common_divisor, group_rows, merge_counted
from streed.kernels.packed import PackedProblem, Prices, pack
from streed.kernels.records import INFINITE, LEAF, SHALLOW
from streed.problem import Problem, Solution
from streed.row_prices.prices import Leaves, leaves_of
from streed.task.analysis.facts import can_generate
from streed.task.analysis.linear_form import adds
from streed.task.base import objective
from streed.task.bounded_sums import exact_costs
from streed.task.joint import TaskWithTests, with_tests
from streed.tree import Branch, Node
from streed.whole_costs import IntegerCosts


class Encoding(abc.ABC):
    """A problem as the engine reads it, and the way back."""

    packed: PackedProblem
    exact: bool
    """Whether no number was rounded."""
    real: bool = False
    """As in `Outcome`."""
    size: Any = None
    """As in `Outcome`."""
    route: str
    """What the user is told: the kind of kernels."""

    @abc.abstractmethod
    def value(self, code: int) -> Any:
        """The value, in the bound task's units, of a code."""

    def bound(self, code: int) -> Any:
        """No tree whose code is proved to be this or more has a better value (default: the value of the code)."""
        return self.value(code)

    def most(self, code: int) -> Any:
        """No tree that costs the code has a worse value (default: the value of the code)."""
        return self.value(code)

    def target(self, value: Any) -> int:
        """A code that every tree of a better value than this is below (default: INFINITE, which all are)."""
        return INFINITE

    def rounding(self, preorder: Array, code: int) -> Any:
        """How far a tree's value may be from the `bound` of its code, if the search was complete (default: 0)."""
        return 0

    @abc.abstractmethod
    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        """(the tree with its value, whether it is worth the code), measured from the raw data.

        `lower` is the bound that was proved. Raises MismatchError if the value is not that of the code; a tree that is
        not `complete`, because parts of it were forgotten or the search was stopped, may be worse.
        """

    def leaves(self, problem: Problem) -> tuple[Leaves, Array] | None:
        """The leaves that trees may have, with the first place of each class of rows, for the bound of row prices.

        None (the default) where the bound does not hold: it needs costs per row and label, and a price per split.
        """
        return None

    def on_grid(self, scale: float) -> Encoding:
        """The same with codes for multiples of 1 / scale (default: itself, whose codes are on no grid)."""
        return self

    def less_precise(self) -> Encoding | None:
        """The same with codes for a wider range of values, or None if there is none."""
        return None


class TooImprecise(Exception):
    """Raised by `Encoding.solution`: codes for a narrower range of values tell the value, these do not."""

    def __init__(self, finer: Encoding) -> None:
        super().__init__()
        self.finer = finer


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
        there = np.ascontiguousarray(self.given[column[:, None], column] // divisor)
        first: dict[bytes, int] = {}
        alike = [first.setdefault(row.tobytes(), number) for number, row in enumerate(there)]
        return Prices(self.full[column] // divisor, there, np.array(alike, np.int64), n_rows)

    def paid(self, root: Node) -> int:
        """What the rows of a tree pay for its splits."""
        total, waiting = 0, [(root, list[int]())]
        while waiting:
            node, above = waiting.pop()
            if isinstance(node, Branch):
                total += node.rows * int(self.given[above, node.column].min(initial=self.full[node.column]))
                waiting += [(child, [*above, node.column]) for child in node.children]
        return total


def costs_with_tests(problem: Problem) -> tuple[IntegerCosts, CostsOfTests] | None:
    """The costs per row and the prices in one unit; None unless the task says its prices, in numbers that fit."""
    data, task = problem.data, problem.task
    found = with_tests(objective(task), data) if adds(objective(task)) else None
    if found is None or data.categorical or any(limit.support is None for limit in task.limits):
        return None
    linear, tests, worth = found
    costs = exact_costs(linear, data)
    if costs.wide is not None:
        return None
    (of_costs, of_prices), scale = in_whole([costs.unit, worth])
    largest = float(np.abs(costs.costs).max(initial=0)) * of_costs + 4 * float(tests.full.max(initial=0)) * of_prices
    if largest * data.size + 4 * costs.split * of_costs >= LARGEST_TOTAL:
        return None
    scaled = IntegerCosts(costs.costs * of_costs, costs.split * of_costs, 1 / scale)
    return scaled, CostsOfTests(tests.full * of_prices, tests.given * of_prices)


def floors_of(
    problem: Problem, packed: PackedProblem, costs: Array, divisor: int, kinds: Any = slice(None)
) -> tuple[Array, Array] | None:
    """What `find_floors` gives for costs[kinds] of the rows; None for nothing, or if a search ends before it pays."""
    if problem.max_depth is not None and problem.max_depth <= SHALLOW + 1:
        return None
    times = NO_TIMES if packed.groups.times is None else packed.groups.times
    mask, floors = find_floors(packed.row_bits, packed.groups.places, times, costs[kinds], divisor)
    return (mask, floors) if mask.any() else None


@final
@attrs.frozen(eq=False)
class RowCosts(Encoding):
    """Codes are whole costs less the base that every tree pays, in units of their common divisor."""

    packed: PackedProblem
    costs: IntegerCosts
    divisor: int
    tests: CostsOfTests | None = None
    """What splits cost by the rows and the columns above; None where all cost the same."""
    route = "row costs"

    @property
    def real(self) -> bool:  # type: ignore[override]
        return self.costs.unit.denominator > 1 or self.costs.wide is not None

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.costs.wide is None or self.costs.wide.is_settled

    @classmethod
    def of(cls, problem: Problem) -> RowCosts | None:
        """The problem packed; None if its task is neither costs per row nor says what test costs it has beside."""
        if not isinstance(objective(problem.task), TaskWithTests) and problem.row_costs is not None:
            return cls.packing(problem, problem.row_costs, None)
        priced = costs_with_tests(problem)
        return None if priced is None else cls.packing(problem, *priced)

    @classmethod
    def packing(cls, problem: Problem, costs: IntegerCosts, tests: CostsOfTests | None) -> RowCosts:
        """The problem of these costs, and of test costs in the same unit, packed."""
        data = problem.data
        prices = costs.split if tests is None else math.gcd(costs.split, tests.divisor)
        divisor = int(common_divisor(costs.costs, prices))
        codes, counts = writable(data.X), data.counts if tests is not None or problem.min_leaf > 1 else None
        rows = merge_counted(group_rows(costs.costs, divisor, counts, codes), codes)
        labels, split = costs.costs.shape[1], costs.split // divisor
        # two columns that part the rows alike may have different prices
        merge = tests is None
        packed = pack(codes, data.category_counts, rows, labels, split, problem.min_leaf, merge)
        if tests is not None:
            packed = attrs.evolve(packed, prices=tests.packed(packed.column, divisor, data.size))
        elif rows.values is None:
            floors = floors_of(problem, packed, costs.costs, divisor)
            packed = packed if floors is None else attrs.evolve(packed, floors=floors)
        return cls(packed, costs, divisor, tests)

    def value(self, code: int) -> Any:
        return self.costs.value(self._total(code))

    def bound(self, code: int) -> Any:
        return self.costs.lower(self._total(code))

    def target(self, value: Any) -> int:
        return -((self.packed.groups.base - self.costs.above(value)) // self.divisor)

    def leaves(self, problem: Problem) -> tuple[Leaves, Array] | None:
        if self.tests is not None:
            return None
        return leaves_of(problem, self.packed, self.costs.costs, self.divisor, self.packed.split_cost)

    def rounding(self, preorder: Array, code: int) -> Any:
        wide = self.costs.wide
        return 0 if wide is None else wide.rounding(int(np.count_nonzero(preorder != LEAF)))

    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        cost, root = measure_costs(problem, self.costs, preorder)
        if self.tests is not None:
            cost += self.tests.paid(root)
        claimed = self._total(code)
        # a search that was stopped, or forgot, may have known the cost of a tree but not all of it: what was completed
        # as well as can be may cost more
        if cost != claimed and (complete or cost < self._total(lower)):
            raise MismatchError(f"the tree costs {cost}, the search claimed {claimed}; please report this")
        if self.costs.wide is not None:
            return measure_widely(problem, self.costs.wide, preorder), cost == claimed
        return Solution(self.costs.value(cost), root), cost == claimed

    def _total(self, code: int) -> int:
        """A code in whole costs."""
        return self.packed.groups.base + self.divisor * code


def encoding_of(problem: Problem) -> Encoding | None:
    """The problem packed for the engine; None if it is a front or only the general route can take it."""
    by_row = RowCosts.of(problem)
    if by_row is not None:
        return by_row
    task, data = problem.task, problem.data
    if task.reads_rows or not can_generate(task, data, problem.sums, lambda: problem.first_costs):
        return None
    from streed.encoding.generated import Scored

    return Scored.of(problem)
