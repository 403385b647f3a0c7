"""The terms of a task of methods of their own, of which kernels are made."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.exact import Array
from streed.task.base import Task
from streed.task.joint import Joint
from streed.task.limits import Limit, OwnLimit
from streed.task.objective import record_of
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Watched(Task):
    """Costs nothing, and has the statistics of a limit."""

    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    limit: Limit

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.limit.statistics(data)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 0


def written_terms(task: Task) -> tuple[tuple[Fraction, Task, str], ...]:
    """Weights and tasks whose costs add up to those of the first part; then, of weight 0, limits with statistics.

    With each what the names of its statistics begin with in the whole.
    A term that cares for no label (`any_label`) is asked for label 0.
    """
    record = record_of(task)
    first = record.parts[0]
    if isinstance(first, Joint):
        terms = [(weight, part, first.prefix(i)) for i, (weight, part) in enumerate(first.terms)]
    else:
        terms = [(Fraction(1), first, "")]
    own = (limit for limit in record.limits if isinstance(limit, OwnLimit))
    return (*terms, *((Fraction(0), Watched(limit.limit), limit.prefix) for limit in own))
