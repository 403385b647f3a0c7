"""How far a limit on the value of a task must be loosened: the least value that any tree has, where no tree meets it.

    minimise B over all trees within the depth, the nodes and the limits on leaves

If that is above the limit, no tree meets `B <= limit`; otherwise the limits only rule all trees out together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from streed.algebra import Thresholded, constrain, objective
from streed.constrained import Constrained
from streed.drawing import number
from streed.exact import readable
from streed.task import Task

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen
class TightestLimit:
    """A limit on the value of a task, and the tightest one that some tree meets."""

    task: Task
    limit: Any
    least: Any
    """None where no tree meets the limits on leaves, or the search for it was stopped."""

    @property
    def is_met(self) -> bool:
        """Whether some tree meets the limit, if it need meet no other one."""
        return self.least is not None and not self.task.better(self.limit, self.least)

    def __str__(self) -> str:
        asked = f"{self.task!r} <= {number(readable(self.limit))}"
        if self.least is None:
            return asked
        told = "some trees meet it alone" if self.is_met else "no tree meets it"
        return f"{asked}: {told}; the tightest limit that is met is {number(self.least)}"


def tightest_limits(task: Task, data: Dataset, **arguments: Any) -> tuple[TightestLimit, ...]:
    """What is known of the limits on values of an infeasible task; `arguments` are those of its solve.

    Every limit costs a solve of its own, under the limits on leaves but under none of the others.
    """
    from streed.solve import solve

    inner = objective(task)
    if not isinstance(inner, Thresholded):
        return ()
    further = task.further if isinstance(task, Constrained) else ()
    found = []
    for part, limit in zip(inner.parts[1:], inner.most, strict=True):
        result = solve(constrain(part, further) if further else part, data, **arguments)
        found.append(TightestLimit(part, limit, result.value if result.status == "optimal" else None))
    return tuple(found)
