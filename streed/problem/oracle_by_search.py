"""The linear oracle of a driver that has no quicker way: every solve is a search of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.problem import Driver, Problem, SearchLimits
from streed.problem.linear_oracle import Answer, LinearOracle
from streed.task import RowCostTask
from streed.tree import Branch, walk

_AHEAD = 3
"""Levels of a tree that is to be found soon."""


@final
@attrs.frozen(eq=False)
class FixedCosts(RowCostTask):
    """Costs per row and label that are known already; labels are numbers."""

    costs: Array
    """(n, K) int64."""
    split: int

    def labels(self, data: Dataset) -> Sequence[int]:
        return range(self.costs.shape[1])

    def row_costs(self, data: Dataset) -> Array:
        return self.costs

    def split_cost(self) -> int:
        return self.split


@final
@attrs.define(eq=False)
class OracleBySearch(LinearOracle):
    """The searches of a driver for one problem; a tree is found even if it does not cost less than `below`."""

    driver: Driver
    problem: Problem
    kinds: Array
    search_limits: SearchLimits
    _stats: Mapping[str, Any] = attrs.field(init=False, factory=dict)

    def solve(
        self,
        costs: Array,
        split: int,
        *,
        below: int | None = None,
        ahead: bool = False,
        time_limit: float | None = None,
        report: Callable[[Any, Any, int, str], None] | None = None,
    ) -> Answer:
        depth = self.problem.max_depth
        if ahead:
            depth = _AHEAD if depth is None else min(depth, _AHEAD)
        problem = attrs.evolve(self.problem, task=FixedCosts(costs[self.kinds], split), max_depth=depth)
        search_limits = attrs.evolve(self.search_limits, time_limit=time_limit, report=report, within_gap=None)
        outcome = self.driver.search(problem, search_limits)
        self._stats = outcome.stats
        cost, preorder = None, None
        if outcome.solutions:
            cost, nodes = outcome.solutions[0].value, walk(outcome.solutions[0].root)
            preorder = np.array([node.column if isinstance(node, Branch) else -1 for node in nodes], np.int64)
        return Answer(outcome.lower, cost, preorder, outcome.stopped, int(outcome.stats["nodes"]))

    def stats(self) -> Mapping[str, Any]:
        """The last search's, without its trace: the values there are those of its costs, and not the user's."""
        return {key: value for key, value in self._stats.items() if key != "trace"}

    def close(self) -> None:
        """There is nothing to give back."""
