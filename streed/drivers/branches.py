"""The best-first driver: AO* over the and-or graph of splits and their sides, as Branches orders it (ICML 2025).

Chaouki, Read, Bifet, "Branches: efficiently seeking optimal sparse decision trees via AO*", Section 4.2. It is the
procedure of `improve.py`, where the best edge of a node is improved only until it is no longer the best one.
"""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.bnb.procedure import BEST_FIRST, Procedure
from streed.dp.search import search_general
from streed.drivers.native import Native
from streed.errors import TaskError
from streed.problem import Outcome, Problem, SearchLimits
from streed.task import TOTAL, Task
from streed.task.constrained import objective


@final
@attrs.frozen
class Branches(Native):
    """Best-first search: of all partial trees, one of least lower bound is looked at next."""

    name: ClassVar[str] = BEST_FIRST.name
    procedure: ClassVar[Procedure] = BEST_FIRST

    def check(self, task: Task) -> None:
        """Raises TaskError for tasks whose order is not total: there is no best partial tree to go on with."""
        if task.order != TOTAL:
            raise TaskError(
                f"{type(objective(task)).__name__} has a partial order, and best-first search needs a total one\n"
                'use search="depth-first", which finds the front'
            )

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits, best_first=True)
        return attrs.evolve(outcome, stats={**outcome.stats, "search": self.name})
