"""Tasks that are made of other tasks: what several share, and weighted sums, minimised or maximised.

A sum of row-cost tasks is a row-cost task; a sum of other additive tasks adds their leaf costs, each on its own
statistics. Both preserve the order of numbers (STreeD, Def. 4.4). Weights stay exact, so 0.01 is one hundredth. What is
maximised is searched as minus it, whose order is that of numbers turned round: weights are negative then.

And costs per row with more to them: prices of branching nodes, less where columns tested above make a test cheaper; and
trees in order.
"""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import Array, exact_integers, exact_number
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import RowCostTask, Task, bound, name, scoring
from streed.task.bounded_sums import checked_costs
from streed.task.states import State, StateOfPart

BESIDE_SUMS = ("data", "members")
"""Attributes of a state that are no sums: the data set and the numbers of the rows, of tasks that read rows."""


def joint_labels(parts: Sequence[Task], data: Dataset) -> Sequence[Any]:
    """The labels of the whole; raises TaskError unless all parts that care for labels have the same."""
    chosen = parts[_decisive(parts)]
    labels = chosen.labels(data)
    for part in parts:
        if not part.any_label and not chosen.any_label and tuple(part.labels(data)) != tuple(labels):
            told = f"their labels are {tuple(labels)} and {tuple(part.labels(data))}"
            raise TaskError(f"{name(chosen)} and {name(part)} cannot be joined: {told}")
    return labels


def _decisive(parts: Sequence[Task]) -> int:
    """The number of the part whose labels are those of the whole: the first that cares, or shows its own, or 0."""
    for number, part in enumerate(parts):
        if not part.any_label:
            return number
    return next((number for number, part in enumerate(parts) if part.overrides("leaf_label")), 0)


@attrs.frozen
class Joint(Task):
    """A task of several parts: their statistics side by side, named by number, and the labels of those that care."""

    stands_alone: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def parts(self) -> tuple[Task, ...]:
        """The tasks that it is made of, at least one."""

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return any(part.reads_rows for part in self.parts)

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return all(part.any_label for part in self.parts)

    def overrides(self, name: str) -> bool:
        return self.parts[_decisive(self.parts)].overrides(name) if name == "leaf_label" else super().overrides(name)

    def prefix(self, number: int) -> str:
        """What the names of the part's statistics begin with in the whole."""
        return f"part{number}_" if len(self.parts) > 1 else ""

    def seen(self, whole: State, number: int) -> State:
        """The state as part number `number` knows it: its own statistics by their own names."""
        # What is beside the sums, of tasks that read rows, belongs to all parts.
        return StateOfPart(whole, self.prefix(number), BESIDE_SUMS) if len(self.parts) > 1 else whole

    def cost_of(self, number: int, s: State, k: int) -> Any:
        """What a leaf costs by that part."""
        part = self.parts[number]
        return part.leaf_cost(self.seen(s, number), 0 if part.any_label else k)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {
            # what cares for no label has a cost for each all the same, of which `cost_of` asks the first
            self.prefix(number) + name: values[:, :1] if isinstance(part, RowCostTask) and part.any_label else values
            for number, part in enumerate(self.parts)
            for name, values in part.statistics(data).items()
        }

    def labels(self, data: Dataset) -> Sequence[Any]:
        return joint_labels(self.parts, data)

    def leaf_label(self, s: State, k: int) -> Any:
        chosen = _decisive(self.parts)
        return self.parts[chosen].leaf_label(self.seen(s, chosen), k)

    def exact_label(self, data: Dataset, rows: Array, k: int) -> Any:
        return self.parts[_decisive(self.parts)].exact_label(data, rows, k)


@final
@attrs.frozen
class Entry(Joint):
    """One entry of the values of a task, as a task."""

    parts: tuple[Task]
    place: int

    def leaf_cost(self, s: State, k: int) -> Any:
        return self.parts[0].leaf_cost(s, k)[self.place]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        cost = self.parts[0].branching_cost(rows, path, split)
        return None if cost is None else cost[self.place]


Terms = tuple[tuple[Fraction, Task], ...]


def _units(terms: Sequence[tuple[Fraction, Task]]) -> str:
    """The sum of what the tasks count, with their weights."""
    said = [f"{'' if abs(w) == 1 else f'{float(abs(w)):.6g} * '}{task.value_unit}" for w, task in terms]
    signs = [" - " if w < 0 else " + " for w, _ in terms]
    return "".join(map("".join, zip(signs, said, strict=True))).removeprefix(" + ").strip()


@attrs.frozen
class WeightedSum(RowCostTask):
    """The sum of weighted row-cost tasks, flat: no term is itself a sum."""

    stands_alone: ClassVar[bool] = False

    terms: tuple[tuple[Fraction, RowCostTask], ...]

    @property
    def value_unit(self) -> str:
        return _units(self.terms)

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
        read = [(weight, *exact_integers(costs, "costs")) for weight, costs in self.cost_terms(data)]
        units = [weight * unit for weight, _, unit in read]
        below = math.lcm(*(unit.denominator for unit in units))
        parts = [int(unit * below) * whole.astype(object) for unit, (_, whole, _) in zip(units, read, strict=True)]
        return np.asarray(sum(parts) if below == 1 else np.frompyfunc(Fraction, 2, 1)(sum(parts), below))

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
        return sum((weight * exact_number(term.split_cost(), "split_cost") for weight, term in self.terms), Fraction(0))


@final
@attrs.frozen
class Sum(Joint):
    """The sum of weighted additive tasks of any kind, flat: no term is itself a sum.

    Of what is maximised (`is_gain`), the weights of gains are negative. Scores that are a constant minus costs, such as
    balanced accuracy, have positive ones, as what is added up are their costs; so has what is taken from all that.
    """

    terms: Terms
    is_gain: bool = False
    shown: Terms = bound(())
    """The terms, once they are bound, as they know what is shown of their values."""

    @functools.cached_property
    def parts(self) -> tuple[Task, ...]:
        return tuple(part for _, part in self.terms)

    @property
    def value_unit(self) -> str:
        return _units([(-w if self.is_gain and (w, part) not in self.scores else w, part) for w, part in self.terms])

    @property
    def larger_is_better(self) -> bool:
        return self.is_gain

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return self._keeps_order() and all(part.worsening for part in self.parts)

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        """Of terms among which at most one cares for the label: their least costs as leaves then add up."""
        return self._one_chooses() and self._keeps_order() and all(part.superadditive for part in self.parts)

    @property
    def scores(self) -> Terms:
        """The terms of what is maximised that are scores which fall with costs."""
        terms = self.shown or self.terms
        return tuple((w, part) for w, part in terms if w > 0 and part.larger_is_better) if self.is_gain else ()

    def overrides(self, name: str) -> bool:
        if name in ("branching_cost", "exact_cost", "lower_bound", "worst_per_row"):
            return any(part.overrides(name) for part in self.parts)
        return self.is_gain if name == "score" else super().overrides(name)

    def bind(self, data: Dataset) -> Task:
        terms, shown = [], []
        for weight, part in self.terms:
            on_data = part.bind(data)
            shown.append((weight, scoring(part, on_data)))
            # what binds to a gain is there as minus it already
            turned = weight < 0 and on_data.larger_is_better and not on_data.maximize
            terms += [((-weight if turned else weight) * inner, term) for inner, term in on_data.terms]
        is_by_row = all(weight >= 0 and isinstance(term, RowCostTask) for weight, term in terms)
        return combination(terms) if is_by_row else Sum(tuple(terms), self.is_gain, shown=self.shown or tuple(shown))

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(_times(weight, self.cost_of(number, s, k)) for number, (weight, _) in enumerate(self.terms))

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        """The sum of the terms' own, where each has one or is of rows that cost nothing, as a price per split is."""
        total: Any = 0
        for weight, part in self.terms:
            cost = part.exact_cost(data, rows, 0 if part.any_label else k)
            if cost is not None:
                total += _times(weight, cost)
            elif not isinstance(part, RowCostTask) or np.any(part.row_costs(data)):
                return None
        return total

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        costs = [(weight, part.branching_cost(rows, path, split)) for weight, part in self.terms]
        named = [_times(weight, cost) for weight, cost in costs if cost is not None]
        return sum(named) if named else None

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
        """The sum of the terms' own, 0 for terms without one whose costs are never negative."""
        bounds = [part.lower_bound(self.seen(s, number)) for number, part in enumerate(self.parts)]
        known = all(bound is not None or part.worsening for bound, part in zip(bounds, self.parts, strict=True))
        if not known or not self._keeps_order() or all(bound is None for bound in bounds):
            return None
        return sum(_times(w, bound) for bound, (w, _) in zip(bounds, self.terms, strict=True) if bound is not None)

    def score(self, value: Any, totals: State) -> Any:
        if not self.is_gain:
            return value
        terms = self.shown or self.terms
        if len(terms) == 1 and terms[0][0] == -1:
            return terms[0][1].score(0 - value, totals)  # -0.0 is no gain
        return sum(weight * part.score(0, totals) for weight, part in self.scores) - value

    def _keeps_order(self) -> bool:
        """Whether what is better of a term is better of the sum."""
        return all((weight < 0) == part.maximize for weight, part in self.terms)

    def _one_chooses(self) -> bool:
        return sum(not part.any_label for part in self.parts) <= 1


def combination(terms: Sequence[tuple[Fraction, Task]]) -> Task:
    """The sum of weight * task, at least one, whose values are added up; weights >= 0."""
    flat = tuple((weight * inner, term) for weight, task in terms for inner, term in task.terms)
    if len(flat) == 1 and flat[0][0] == 1:
        return flat[0][1]
    # what leaves show is read from a term's own sums
    rows = tuple((w, x) for w, x in flat if isinstance(x, RowCostTask) and not x.overrides("leaf_label"))
    return WeightedSum(rows) if len(rows) == len(flat) else Sum(flat)


def _times(weight: Fraction, cost: Any) -> Any:
    """weight * cost, an int where it is whole; a float if the cost is one."""
    if isinstance(cost, tuple):
        raise TaskError(f"a sum needs tasks whose costs are numbers, and one of them costs {cost!r}")
    if weight == 1:
        return cost
    return (weight.numerator * cost) if weight.denominator == 1 else weight * cost


class TaskWithTests(Task):
    """A task whose leaves cost what a task of costs per row says, and branching nodes, at `rows` rows,

    rows * price_unit * min(full[split], min over the columns f tested above of given[f, split]).
    """

    full: Any
    """(p,) int64 >= 0: the price of every column where nothing was tested above, a field that is bound."""
    given: Any
    """(p, p) int64 >= 0: given[f, split], the price of `split` where f was tested above."""
    price_unit: Any

    @abc.abstractmethod
    def row_task(self, data: Dataset) -> RowCostTask:
        """The bound task of what leaves cost."""

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        price = self.full[split]
        for column in path:
            price = min(price, self.given[column, split])
        return rows * price * self.price_unit


def with_tests(task: Task, data: Dataset) -> tuple[RowCostTask, TaskWithTests, Fraction] | None:
    """The bound task as costs per row, the term of it that has tests, and what its prices are worth; None if it is not.

    Of a sum one term has tests, for a sum of prices is no least of them.
    """
    found = [(weight, part) for weight, part in task.terms if isinstance(part, TaskWithTests)]
    if len(found) != 1:
        return None
    costs: list[tuple[Fraction, RowCostTask]] = []
    for weight, part in task.terms:
        form = part.row_task(data) if isinstance(part, TaskWithTests) else row_cost_form(part, data)
        if form is None or weight < 0:
            return None
        costs.append((weight, form))
    weight, tests = found[0]
    of_rows = costs[0][1] if len(costs) == 1 and costs[0][0] == 1 else WeightedSum(tuple(costs))
    return of_rows, tests, weight * tests.price_unit


IN_ORDER = 3
"""Of leaves side by side: 1 if their labels do not fall, 2 if they do not rise, 3 both, or a tree in order."""


class TaskInOrder(Task):
    """A task of trees whose leaves rise with some columns and fall with others (`streed.tasks.accuracy`).

    Values are (cost, least label, largest label, IN_ORDER).
    """

    signs: Any
    """(p,) of every column: 1 where leaves rise with it, -1 where they fall, 0 elsewhere; a field that is bound."""

    @abc.abstractmethod
    def row_task(self, data: Dataset) -> RowCostTask:
        """The bound task of what rows and splits cost."""
