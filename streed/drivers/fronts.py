"""The driver of whole fronts: every nondominated value, where another one would ask for the best score alone."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.drivers.native import DepthFirst
from streed.errors import TaskError
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.task import TOTAL, Task
from streed.task.algebra import objective


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
