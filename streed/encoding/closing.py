"""What rounding left open is closed exactly, where that takes a moment.

The engine adds integers of 64 bits. Costs that are too fine for these are rounded, and then the bounds that it proves
stay apart by the rounding, though the tree is nearly always the best. On a small problem the general route, whose
integers have any size, proves the optimum of the exact costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs

from streed.dp.search import search_general
from streed.exact import Array
from streed.problem import Outcome, Problem, SearchLimits, Solution
from streed.task import RowCostTask
from streed.whole_costs import WideCosts

if TYPE_CHECKING:
    from fractions import Fraction

    from streed.data import Dataset

_FEW_ROWS = 2_000
"""Of more rows than this, the time to split a set grows with them."""

_MOST_STEPS = 300_000
"""Splits that the general route may have to look at, if no bound helps: a second or two."""


@final
@attrs.frozen
class WholeCosts(RowCostTask):
    """Costs per row and label in whole numbers of any size, row weights multiplied in."""

    wide: WideCosts

    def row_costs(self, data: Dataset) -> Array:
        return self.wide.costs

    def labels(self, data: Dataset) -> Sequence[Any]:
        return range(self.wide.costs.shape[1])

    def split_cost(self) -> Fraction | int:
        return self.wide.split


def close_exactly(problem: Problem, wide: WideCosts, outcome: Outcome, seconds: float | None) -> Outcome:
    """The outcome with its bounds closed; as it is where that would take long.

    `seconds` are left of the time limit, None without one.
    """
    counts_copies = problem.data.frequency is not None and problem.min_leaf > 1
    if _steps(problem) > _MOST_STEPS or counts_copies or (seconds is not None and seconds <= 0):
        return outcome
    plain = attrs.evolve(problem.data, weights=None, sample_weight=None, frequency=None)  # the costs have them
    found = search_general(attrs.evolve(problem, data=plain, task=WholeCosts(wide)), SearchLimits(time_limit=seconds))
    if found.stopped is not None:
        return outcome
    stats = {**outcome.stats, "exact": True, "rounding": 0, "closed": found.stats["route"]}
    solution = Solution(wide.unit * found.solutions[0].value, found.solutions[0].root)
    return Outcome((solution,), solution.value, None, stats, wide.unit, real=True)


def _steps(problem: Problem) -> float:
    """At most so many splits of sets of rows are looked at, roughly: of all sets above the leaves."""
    data = problem.data
    limits = [each for each in (problem.max_depth, problem.max_nodes) if each is not None]
    depth = min([data.n_columns, data.n_rows, *limits])
    widths = [len(data.column(j).categories) if j in data.categorical else 2 for j in range(data.n_columns)]
    sides = sum(widths)
    sets = sum(float(sides) ** level for level in range(max(depth, 1)))
    paths = math.prod(float(width + 1) for width in widths)
    return min(sets, paths, 2.0 ** min(data.n_rows, 64)) * sides * max(1.0, data.n_rows / _FEW_ROWS)
