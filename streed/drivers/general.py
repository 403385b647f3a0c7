"""The driver of the general route: any separable task, in Python and numpy, where the native kernels cannot take it."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.dp.search import search_general
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.task import Task


@final
@attrs.frozen
class General(Driver):
    """Dynamic programming in Python over any separable task, with fronts where the order is partial."""

    name: ClassVar[str] = "general"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        """Takes every task."""

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits)
        return attrs.evolve(outcome, stats={"search": self.name, **outcome.stats})
