"""A composed leaf cost as the weighted sum of leaf costs that are written out, for whoever compiles them."""

from __future__ import annotations

from fractions import Fraction
from typing import final

import attrs

from streed.algebra.directions import Negated
from streed.algebra.parts import part_name
from streed.algebra.sums import Sum
from streed.constrained import objective
from streed.task import Task


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
    for label 0. Limits of the task and of its terms are the task's `limits`.
    """
    return _written(objective(task), Fraction(1), "")


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
