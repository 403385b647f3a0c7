"""Which driver is to search a problem, where the caller leaves that open (docs/explanation/drivers.md)."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.search.branches import Branches
from streed.search.depth_first import DepthFirst
from streed.search.driver import Driver, Orders, Outcome, Problem
from streed.task import TOTAL, Task


@final
@attrs.frozen
class Auto(Driver):
    """Depth-first or best-first search, by the problem; `stats` says which in `search`, and why in `chosen`."""

    name: ClassVar[str] = "auto"

    def check(self, task: Task) -> None:
        """Takes every task: what best-first search cannot take goes to the other driver."""

    def search(self, problem: Problem, orders: Orders) -> Outcome:
        driver, reason = choose(problem, orders)
        outcome = driver.search(problem, orders)
        return attrs.evolve(outcome, stats={**outcome.stats, "chosen": reason})


def choose(problem: Problem, orders: Orders) -> tuple[Driver, str]:
    """(the driver, the reason in words)."""
    task, data = problem.task, problem.data
    if task.order != TOTAL:
        return DepthFirst(), "the order is partial"
    if problem.max_depth is not None:
        return DepthFirst(), "the depth is limited: subproblems are shallow, and solved by counting"
    if not any(task.branching_cost(data.n_rows, (), split) for split in range(data.n_columns)):
        return DepthFirst(), "splits cost nothing: bounds of partial trees say little"
    if orders.enough is not None or orders.time_limit is not None:
        return Branches(), "splits cost, and the search may be stopped: its bound is to rise from the beginning"
    return DepthFirst(), "splits cost, and the proof is wanted: it comes sooner"
