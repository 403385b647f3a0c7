"""The depth-first driver, STreeD's order (NeurIPS 2023): a part of the tree is finished before the next one begins."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.bnb.procedure import DEPTH_FIRST, Procedure
from streed.drivers.native import Native
from streed.drivers.otherwise import search_otherwise
from streed.problem import Outcome, Problem, SearchLimits
from streed.task import Task


@final
@attrs.frozen
class DepthFirst(Native):
    """Depth-first branch and bound with depth-three work units, shared subproblems and similarity bounds."""

    name: ClassVar[str] = DEPTH_FIRST.name
    procedure: ClassVar[Procedure] = DEPTH_FIRST

    def check(self, task: Task) -> None:
        """Takes every task: what no kernel can be made for is searched by the general route."""

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return search_otherwise(problem, search_limits, self)
