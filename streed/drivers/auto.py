"""Which driver is to search a problem, where the caller leaves that open (docs/explanation/search.md)."""

from __future__ import annotations

import numbers
from typing import ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.drivers.native import Branches, DepthFirst
from streed.exact import Array
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.problem.linear_oracle import LinearOracle
from streed.task import TOTAL, Task, beside_sums, state_of

_MANY_SPLITS = 150
"""Where more may pay, best-first search was behind at any time, in value and in bound."""


@final
@attrs.frozen
class Auto(Driver):
    """Depth-first or best-first search, by the problem; `stats` says which in `search`, and why in `chosen`."""

    name: ClassVar[str] = "auto"

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        driver, reason = choose(problem, search_limits)
        outcome = driver.search(problem, search_limits)
        return attrs.evolve(outcome, stats={"search": driver.name, **outcome.stats, "chosen": reason})

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """That of depth-first search where the depth is limited; else each solve is by what its costs choose."""
        if problem.max_depth is None:
            return None
        return DepthFirst().linear_oracle(problem, kinds, n_labels, splits, search_limits)


def choose(problem: Problem, search_limits: SearchLimits) -> tuple[Driver, str]:
    """(the driver, the reason in words)."""
    task, data = problem.task, problem.data
    if task.order != TOTAL:
        return DepthFirst(), "the order is partial"
    if problem.max_depth is not None:
        return DepthFirst(), "the depth is limited: subproblems are shallow, and solved by counting"
    splits = _most_splits(task, data, problem.sums)
    if splits is None:
        return DepthFirst(), "splits cost nothing, or nobody knows how many pay: bounds of partial trees say little"
    if splits > _MANY_SPLITS:
        return DepthFirst(), f"up to {splits:.0f} splits may pay: depth-first search is the first to find large trees"
    if search_limits.within_gap is not None or search_limits.time_limit is not None:
        return Branches(), f"at most {splits:.0f} splits pay, and the search may be stopped"
    return DepthFirst(), "the proof is wanted, and comes sooner"


def _most_splits(task: Task, data: Dataset, sums: dict[str, Array]) -> float | None:
    """How many splits cost as much as all rows in one leaf, about kappa of Branches' Theorem 4.4; None if not known."""
    costs = [task.branching_cost(data.size, (), split) for split in range(data.n_columns)]
    prices = [abs(float(cost)) for cost in costs if isinstance(cost, numbers.Real) and cost]
    if not prices or task.larger_is_better:
        return None
    rows = np.arange(data.n_rows)
    whole = state_of(sums, rows, data, beside_sums(task, data, rows))
    leaves = [task.leaf_cost(whole, label) for label in range(len(task.labels(data)))]
    worths = [abs(float(leaf)) for leaf in leaves if isinstance(leaf, numbers.Real)]
    return min(worths, default=0.0) / min(prices)
