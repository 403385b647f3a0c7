"""The drivers of whole fronts, and of the general route: any separable task, in Python and numpy."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.dp.search import search_general
from streed.drivers.native import Branches, DepthFirst
from streed.errors import TaskError
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.task import TOTAL, Task
from streed.task.algebra import objective


@final
@attrs.frozen
class General(Driver):
    """Dynamic programming in Python over any separable task, with fronts where the order is partial."""

    like: Driver | None = None
    """The driver whose order of search it takes, and whose name."""
    name: ClassVar[str] = "general"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        """Takes every task, but for those that the other driver cannot search."""
        if self.like is not None:
            self.like.check(task)

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits, best_first=isinstance(self.like, Branches))
        name = self.name if self.like is None else self.like.name
        return attrs.evolve(outcome, stats={"search": name, **outcome.stats})


@final
@attrs.frozen
class Fronts(Driver):
    """The front DP: by compiled units where values are sums of whole costs, else by the general route."""

    name: ClassVar[str] = "fronts"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        if task.order == TOTAL:
            raise TaskError(
                f"{type(objective(task)).__name__} has one optimum and no front; join it with another by &, or "
                'leave out search="fronts"'
            )

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return DepthFirst().without_kernels(problem, search_limits)
