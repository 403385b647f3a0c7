"""`A + B` and `w * A`: tasks whose values are added up, weighted by exact numbers.

A sum of weighted row-cost tasks is a row-cost task: costs add row by row, branching costs add per node. A sum of other
additive tasks adds their leaf costs, each on its own statistics. Addition preserves the order of numbers (STreeD,
Def. 4.4), and so does multiplication by a weight that is not negative. The weights stay exact fractions, so a lambda
of 0.01 is one hundredth. A weight is negative only where `streed.task.algebra.operators` takes a cost from what is
maximised; nothing that follows from costs that are not negative is declared of such a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import NotSeparableError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.algebra.parts import (
    Joint,
    as_costs,
    check_operand,
    joint_labels,
    label_number,
    name,
    part_name,
    part_state,
)
from streed.task.analysis.linear_form import adds, row_cost_form
from streed.task.analysis.vector_form import checked_costs
from streed.task.base import RowCostTask, Task
from streed.task.composable import Term, weighted_outline
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task.test_costs import CostsWithTests

Terms = tuple[tuple[Fraction, Task], ...]


@attrs.frozen
class WeightedSum(RowCostTask):
    """The sum of weighted row-cost tasks, flat: no term is itself a sum."""

    stands_alone: ClassVar[bool] = False

    terms: tuple[tuple[Fraction, RowCostTask], ...]

    @property
    def summands(self) -> tuple[tuple[Fraction, Task], ...]:
        return self.terms

    def outline(self) -> list[str]:
        return ["sum of", *weighted_outline(self.terms)]

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return all(weight >= 0 and term.worsening for weight, term in self.terms)

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return all(term.any_label for _, term in self.terms)

    def bind(self, data: Dataset) -> Task:
        return combination([(weight, term.bind(data)) for weight, term in self.terms])

    def labels(self, data: Dataset) -> Sequence[Any]:
        return joint_labels([term for _, term in self.terms], data)

    def row_costs(self, data: Dataset) -> Array:
        total = np.zeros((data.n_rows, len(self.labels(data))), dtype=object)
        for weight, costs in self.cost_terms(data):
            for index, cost in np.ndenumerate(costs):
                total[index] += weight * exact_number(cost, "costs")
        return total

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        shape = (data.n_rows, len(self.labels(data)))
        found = []
        for weight, term in self.terms:
            own = shape if not term.any_label else (data.n_rows, len(term.labels(data)))
            for inner, costs in term.cost_terms(data):
                checked = checked_costs(costs, term, own)
                if term.any_label and own != shape:
                    checked = np.broadcast_to(checked[:, :1], shape)
                found.append((weight * inner, checked))
        return found

    def split_cost(self) -> Fraction | int:
        return sum((weight * term.split_cost() for weight, term in self.terms), Fraction(0))


@final
@attrs.frozen
class Sum(Joint):
    """The sum of weighted additive tasks of any kind, flat: no term is itself a sum."""

    terms: Terms

    @property
    def summands(self) -> Terms:
        return self.terms

    def written_terms(self, weight: Fraction = Fraction(1), prefix: str = "") -> tuple[Term, ...]:
        parts = [
            part.written_terms(weight * factor, prefix + part_name(number, ""))
            for number, (factor, part) in enumerate(self.terms)
        ]
        return tuple(term for terms in parts for term in terms)

    def outline(self) -> list[str]:
        return ["sum of", *weighted_outline(self.terms)]

    @property
    def parts(self) -> tuple[Task, ...]:
        return tuple(term for _, term in self.terms)

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return all(weight >= 0 and part.worsening for weight, part in self.terms)

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        """Of terms among which at most one cares for the label: their least costs as leaves then add up."""
        return self._one_chooses() and all(weight >= 0 and part.superadditive for weight, part in self.terms)

    def bind(self, data: Dataset) -> Task:
        return Sum(tuple((weight, part.bind(data)) for weight, part in self.terms))

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(
            _times(weight, part.leaf_cost(part_state(s, number), label_number(part, k)))
            for number, (weight, part) in enumerate(self.terms)
        )

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        """The sum of the terms' own, where each has one or is of rows that cost nothing, as a price per split is."""
        total: Any = 0
        for weight, part in self.terms:
            cost = part.exact_cost(data, rows, label_number(part, k))
            if cost is not None:
                total += _times(weight, cost)
            elif not isinstance(part, RowCostTask) or np.any(part.row_costs(data)):
                return None
        return total

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        costs = [(weight, part.branching_cost(rows, path, split)) for weight, part in self.terms]
        named = [_times(weight, cost) for weight, cost in costs if cost is not None]
        return sum(named) if named else None

    def priced(self, data: Dataset) -> CostsWithTests | None:
        """Those of the term that has prices, of which a sum is no least, and the costs of all others per row."""
        costs: list[tuple[Fraction, Any]] = []
        found: list[tuple[Fraction, CostsWithTests]] = []
        for weight, part in self.terms:
            own = None if isinstance(part, RowCostTask) else part.priced(data)
            form = row_cost_form(part, data) if own is None else own.costs
            if form is None or weight < 0:
                return None
            costs.append((weight, form))
            found += [] if own is None else [(weight, own)]
        if len(found) != 1:
            return None
        weight, own = found[0]
        return attrs.evolve(own, costs=WeightedSum(tuple(costs)), unit=weight * own.unit)

    def worst_per_row(self, data: Dataset) -> Array | None:
        """The sum of the terms' own, where at most one of them cares for the label and no weight is negative."""
        total: Array = np.zeros(data.n_rows)
        for weight, part in self.terms:
            worst = part.worst_per_row(data)
            if worst is None or weight < 0:
                return None
            total = total + float(weight) * worst
        return total if self._one_chooses() else None

    def lower_bound(self, s: State) -> Any:
        """The sum of the terms' own, 0 for terms without one whose costs are never negative; weights are >= 0."""
        total: Any = 0
        known = False
        if any(weight < 0 for weight, _ in self.terms):
            return None
        for number, (weight, part) in enumerate(self.terms):
            bound = part.lower_bound(part_state(s, number))
            if bound is None and not part.worsening:
                return None
            known = known or bound is not None
            total += 0 if bound is None else _times(weight, bound)
        return total if known else None

    def _one_chooses(self) -> bool:
        return sum(not part.any_label for part in self.parts) <= 1


def combination(terms: Sequence[tuple[Fraction, Task]], operator: str = "+") -> Task:
    """The sum of weight * task, at least one, whose values are added up; weights of either sign.

    The caller answers for what becomes of the order: it may turn round the sum of what is subtracted.
    """
    flat = [(weight * inner, term) for weight, task in terms for inner, term in _terms(task, operator)]
    return flat[0][1] if len(flat) == 1 and flat[0][0] == 1 else _sum(tuple(flat))


def weight_of(weight: Any) -> Fraction:
    """A weight of tasks as an exact number >= 0 (a float is the decimal it prints as).

    Raises InputError for what is no number, TaskError for a negative one.
    """
    factor = Fraction(Range().read("weight", weight))
    if factor < 0:
        raise TaskError(
            f"a task's weight must not be negative, got {weight!r}: order would not be preserved (Def. 4.4); what is "
            "to be large is written streed.maximize(A), and a cost is taken from it by -"
        )
    return factor


def _sum(terms: Terms) -> Task:
    rows = tuple((weight, term) for weight, term in terms if isinstance(term, RowCostTask))
    return WeightedSum(rows) if len(rows) == len(terms) else Sum(terms)


def _terms(task: Task, operator: str) -> Terms:
    check_operand(task, operator)
    if not adds(task) and as_costs(task) is task:  # what is maximised is here as a part of what is negated as a whole
        raise NotSeparableError(
            f"the operator {operator} needs tasks whose values are added up, smaller better, and {name(task)} has a "
            "combine, order or feasible of its own: order would not be preserved (Def. 4.4); join it by & instead"
        )
    return task.summands


def _times(weight: Fraction, cost: Any) -> Any:
    """weight * cost, an int where it is whole; a float if the cost is one."""
    if isinstance(cost, tuple):
        raise TaskError(f"a sum needs tasks whose costs are numbers, and one of them costs {cost!r}")
    if weight == 1:
        return cost
    return (weight.numerator * cost) if weight.denominator == 1 else weight * cost
