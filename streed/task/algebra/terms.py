"""A composed leaf cost as the weighted sum of leaf costs that are written out, for whoever compiles them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.exact import Array
from streed.task.algebra.directions import Negated
from streed.task.algebra.parts import part_name
from streed.task.algebra.sums import Sum
from streed.task.base import Limit, State, Task
from streed.task.constrained import OwnLimit, objective

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Term:
    """A weight times a task whose methods are its own."""

    weight: Fraction
    task: Task
    prefix: str
    """The task's statistic `name` is the whole's `prefix + name`."""


def written_terms(task: Task) -> tuple[Term, ...]:
    """The terms whose weighted costs, of leaves and of branching nodes, add up to those of the task.

    One, the task itself, if it is neither a sum nor a maximum. A term that cares for no label (`any_label`) is asked
    for label 0. Limits of the task and of its terms are the task's `limits`; those with statistics of their own are
    terms of weight 0 at the end.
    """
    watched = tuple(
        Term(Fraction(0), Watched(limit.limit), limit.prefix) for limit in task.limits if isinstance(limit, OwnLimit)
    )
    return _written(objective(task), Fraction(1), "") + watched


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


def _written(task: Task, weight: Fraction, prefix: str) -> tuple[Term, ...]:
    if isinstance(task, Negated):
        return _written(task.task, -weight, prefix)
    if isinstance(task, Sum):
        parts = [
            _written(part, weight * factor, prefix + part_name(number, ""))
            for number, (factor, part) in enumerate(task.terms)
        ]
        return tuple(term for terms in parts for term in terms)
    return (Term(weight, task, prefix),)
