"""What a driver is: a search that takes a problem and proves its optimum.

A driver subclasses `Driver`, says in `check` which tasks it can search, and answers a `Problem` with an `Outcome`,
whose values are those of the bound task. Whatever a driver computes with, it measures every tree again from raw data
before it hands it out (`certificate.py`).
"""

from __future__ import annotations

import abc
from typing import ClassVar

from streed.exact import Array
from streed.problem.linear_oracle import LinearOracle
from streed.problem.problem import Outcome, Problem, SearchLimits
from streed.task import TOTAL, Task


class Driver(abc.ABC):
    """A search over the tasks that it accepts."""

    name: ClassVar[str]

    reduces: ClassVar[bool] = True
    """Whether it is better asked for scalar solves where a task of several sums allows it (`streed.reductions`)."""

    def knows_gap(self, task: Task) -> bool:
        """Whether the search has a bound on the task's value while it runs."""
        return task.order == TOTAL

    def check(self, task: Task) -> None:  # noqa: B027
        """Raises TaskError, naming the reason and what would do, for a task that it cannot search (default: none)."""

    @abc.abstractmethod
    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """Searches until the optimum is proved or an order says stop."""

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """Quick solves of the problem's trees under changing costs; None: `search` has to do (the default).

        `kinds` (n,) int64: which kind each row is. `n_labels`: as many columns have the costs. `splits`: whether
        branching may cost anything. The problem's task is not read.
        """
        return None
