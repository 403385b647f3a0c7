"""Sums over the rows of the whole tree, in whole numbers: what costs add up to, what is limited, and scores of several.

A signed sum z with bounds is no worsening quantity, but the two sums "z beyond its least" and "z below its most" are,
so an upper bound on each is an anti-monotone constraint (STreeD, Prop. A.3). At one state they add up to a constant.

A `SumTask` has tuples of sums over rows as values, and a score that is monotone in each; if it moreover is a fraction
of two affine functions, `fraction` says so: facts that a search may use beyond the contract.
"""

from __future__ import annotations

import abc
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.exact import LARGEST_TOTAL, ONE, Array, exact_integers, exact_number, in_whole
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import COMPONENTWISE, RowCostTask, Task, Value, name
from streed.task.states import Fields, Limit, State
from streed.whole_costs import IntegerCosts, integer_costs


@final
@attrs.frozen(eq=False)
class RowSum:
    """A sum over the rows and branching nodes of a tree, in whole numbers."""

    costs: Array
    """(k, K) int64, or Python's integers as objects: what giving a row a label adds, row weights multiplied in."""
    split: int = 0
    """What a branching node adds."""
    unit: Fraction | int = 1
    """What one is worth."""
    least: int | None = None
    most: int | None = None
    """The interval in which the sum of a tree must be; None where there is no end."""
    of: Callable[[Dataset], Array] | None = None
    """The same costs of the rows of any data, for each unit of a row's weight."""
    kind: Array | None = None
    """(n,) which of the costs each row has; None where each has its own."""

    @property
    def by_row(self) -> Array:
        """(n, K) the costs of every row."""
        return self.costs if self.kind is None else self.costs[self.kind]

    def holds(self, total: int) -> bool:
        """Whether the interval has this total."""
        return (self.least is None or self.least <= total) and (self.most is None or total <= self.most)

    @property
    def counts_nodes(self) -> bool:
        """Whether it is a multiple of the number of branching nodes, whatever the rows are."""
        return self.split > 0 and not self.costs.any()

    @property
    def spread(self) -> tuple[int, int]:
        """The least and the largest value that any labels give it."""
        return int(least_of_labels(self.by_row).sum()), int(most_of_labels(self.by_row).sum())


@attrs.frozen(order=False)
class Gap(Fields, abc.ABC):
    """The largest |sum| / size of some signed sums over the whole tree: a limit as `gap <= 0.1`, or an objective."""

    @abc.abstractmethod
    def ratios(self, data: Dataset) -> tuple[tuple[RowSum, int], ...]:
        """The sums, in units of `integer_weights`, and their sizes; raises InputError for data at fault."""

    @abc.abstractmethod
    def __le__(self, limit: Any) -> SumLimit: ...

    def __and__(self, other: Any) -> Any:
        raise TaskError(f"name the objective first: Accuracy() & {self!r}")


@attrs.frozen
class SumLimit(Limit):
    """A limit on sums over the whole tree; no leaf breaks it alone."""

    of_classes: ClassVar[bool] = True
    """Whether the sums are of predictions of the classes of y."""

    @abc.abstractmethod
    def bounded_sums(self, data: Dataset) -> tuple[RowSum, ...]:
        """The sums that must lie in bounds, in units of `integer_weights`; raises InputError for data at fault."""

    @abc.abstractmethod
    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        """What the limited quantity is for predictions (n,), numbers of labels, and so many nodes, from the raw rows.

        Holds at least "value" and "limit", exact numbers, and "holds".
        """

    @final
    def allows(self, s: State) -> bool:
        return True


def least_of_labels(costs: Array) -> Array:
    """(n,) the least entry of each row of costs (n, K); quicker than numpy where K is small."""
    return functools.reduce(np.minimum, costs.T)


def most_of_labels(costs: Array) -> Array:
    """(n,) the largest entry of each row of costs (n, K)."""
    return functools.reduce(np.maximum, costs.T)


def integer_weights(data: Dataset) -> tuple[Array | None, Fraction]:
    """The row weights as whole numbers (n,) of the largest unit, and that; None where every row weighs 1.

    Raises InputError for weights that are no short decimals: a limit on a sum is kept exactly or not at all.
    """
    each = data.exact_weights
    if each is None:
        return None, ONE
    weights, unit = exact_integers(each, "sample_weight")
    if weights.dtype == object:
        remedy = "round them to nine decimals or fewer, and so that 18 digits hold their total and their smallest part"
        raise InputError("sample_weight", "the weights have too many digits for exact sums", remedy)
    common = int(np.gcd.reduce(weights))
    return (weights // common, unit * common) if common > 1 else (weights, unit)


def sums_too_large(weighted: bool) -> InputError:
    """The error for exact sums that may be beyond 2**60, because of row weights or without any."""
    if not weighted:
        return InputError("task", "exact sums of its costs are beyond 2**60", "give fewer digits, or fewer rows")
    found = "exact sums in whole numbers are beyond 2**60: scores and limits on rates multiply weights by their totals"
    remedy = "round them to fewer digits, so that their total is below about 10**8 of their unit, and 10**6 for kappa"
    return InputError("sample_weight", found, remedy)


def worsening_statistics(sums: Sequence[RowSum], data: Dataset) -> dict[str, Array]:
    """By sum j two statistics (n, K): "above{j}", what a row adds beyond its least, and "below{j}", below its most."""
    named = {}
    for j, each in enumerate(sums):
        assert each.of is not None
        costs = each.of(data)
        named[f"above{j}"] = costs - least_of_labels(costs)[:, None]
        named[f"below{j}"] = most_of_labels(costs)[:, None] - costs
    return named


def exact_costs(task: RowCostTask, data: Dataset, *, of_all_labels: bool = False) -> IntegerCosts:
    """The bound task's costs per row and split in whole numbers of one unit; raises TaskError or InputError else.

    `of_all_labels`: whether the costs of all labels are added up, too, and must have room together.
    """
    shape = (data.n_rows, len(task.labels(data)))
    terms = [(weight, checked_costs(costs, task, shape)) for weight, costs in task.cost_terms(data)]
    room = LARGEST_TOTAL // shape[1] if of_all_labels else LARGEST_TOTAL
    return integer_costs(terms, exact_number(task.split_cost(), "split_cost"), data.exact_weights, room)


def checked_costs(costs: Any, task: RowCostTask, shape: tuple[int, int]) -> Array:
    """The task's costs per row and label; raises TaskError for anything but an array of that shape."""
    if not isinstance(costs, np.ndarray) or costs.shape != shape:
        found = f"an array of shape {costs.shape}" if isinstance(costs, np.ndarray) else f"a {type(costs).__name__}"
        raise TaskError(f"{name(task)}.row_costs gives {found}, not one of shape {shape} (rows, labels)")
    return costs


def worsens(task: Task, data: Dataset) -> bool:
    """Whether combining never makes a value of the bound task better (Def. A.2): declared, or by costs >= 0."""
    if task.worsening:
        return True
    form = row_cost_form(task, data)
    if form is None:
        terms = task.terms
        return terms[0][1] is not task and all(weight >= 0 and worsens(part, data) for weight, part in terms)
    costs = exact_costs(form, data)
    return bool(costs.costs.min(initial=0) >= 0) and costs.split >= 0


def values_of(sums: Sequence[RowSum], totals: Sequence[int]) -> tuple[int | Fraction, ...]:
    """What the totals of sums are worth; those beyond the sums do not count."""
    return tuple([exact_number(each.unit * total) for each, total in zip(sums, totals, strict=False)])


def row_sum(
    task: Task, data: Dataset, most: Any = None, statistics_of: Callable[[], Mapping[str, Array]] | None = None
) -> RowSum | None:
    """The sum that is the value of a bound task, at most `most`; None where it is none.

    `statistics_of`: as of `row_cost_form`.
    """
    form = row_cost_form(task, data, statistics_of)
    if form is None:
        return None
    costs = exact_costs(form, data)
    given: Any = costs.wide or costs
    cap = None if most is None else math.floor(Fraction(exact_number(most)) / given.unit)
    # not `given.split`, which is cut off where no optimum can have a split, and other trees can
    split = Fraction(exact_number(form.split_cost())) / given.unit
    return RowSum(given.costs, int(split), exact_number(given.unit), None, cap)


@attrs.frozen
class LinearFraction:
    """The function (top - falls . v) / (base + slopes . v) of a value v; positive below on every tree's value."""

    top: Fraction | int
    falls: tuple[Fraction | int, ...]
    base: Fraction | int
    slopes: tuple[Fraction | int, ...]

    def at(self, value: Value) -> Fraction:
        """The fraction at an exact value; further entries do not count."""
        above = self.top - sum(map(operator.mul, self.falls, value))
        below = self.base + sum(map(operator.mul, self.slopes, value))
        whole = isinstance(above, int) and isinstance(below, int)
        return Fraction(above, below) if whole else Fraction(above) / Fraction(below)

    def weights_at(self, f: Fraction | int) -> list[Fraction | int]:
        """Weights w by which values are compared with f: the function is larger where w . v < top - f base."""
        return [fall + f * slope for fall, slope in zip(self.falls, self.slopes, strict=True)]

    def in_units(self, unit: Fraction | int) -> LinearFraction:
        """The same function of values in units, with whole coefficients."""
        n, factors = len(self.falls), [unit * x for x in (*self.falls, *self.slopes)]
        (top, base, *whole), _ = in_whole([self.top, self.base, *factors])
        return LinearFraction(top, tuple(whole[:n]), base, tuple(whole[n:]))


@attrs.frozen
class SumTask(Task):
    """A task whose values are tuples of sums over rows, judged on the whole tree by a score that each of them worsens.

    `rank` is that judgement in exact numbers, so that trees are compared without rounding, and `shown` what the user
    sees of it.
    """

    order: ClassVar[str] = COMPONENTWISE
    larger_is_better: ClassVar[bool] = True
    components: ClassVar[tuple[str, ...]]
    """The names of the sums, in the order of the values."""

    @property
    def price(self) -> Fraction | None:
        """What every branching node, the last component, takes from the score of what is `rated`; None without one."""
        return None

    @property
    def rated(self) -> SumTask:
        """What the score is of, without the price."""
        return self

    @abc.abstractmethod
    def sums(self, data: Dataset) -> Mapping[str, Array]:
        """(n, K) whole numbers >= 0 by component: what giving row i the label k adds to it, before row weights."""

    @abc.abstractmethod
    def rank(self, value: Value, totals: State) -> Any:
        """What a whole tree is worth, larger is better; it never rises with a component."""

    def shown(self, rank: Any) -> Any:
        """The score of a given rank (default: as a float)."""
        return float(rank)

    @final
    def score(self, value: Value, totals: State) -> Any:
        return self.shown(self.rank(value, totals))

    def fraction(self, totals: State) -> LinearFraction | None:
        """The rank as a fraction of affine functions, or None where it is none."""
        return None

    @final
    def statistics(self, data: Dataset) -> dict[str, Array]:
        return dict(self.sums(data))

    @final
    def leaf_cost(self, s: State, k: int) -> Value:
        return tuple([getattr(s, name)[k] for name in self.components])


NODES = "branching_nodes"


@final
@attrs.frozen
class Penalized(SumTask):
    """A score of two sums minus a cost that only branching nodes have: their number is one more sum."""

    task: SumTask
    penalty: RowCostTask

    @property
    def value_unit(self) -> str:
        return f"{self.task.value_unit} - {float(self.price):.6g} * branching nodes"

    @property
    def components(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.task.components, NODES)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> tuple[int, ...]:
        return (*[0] * len(self.task.components), 1)

    @property
    def price(self) -> Fraction:
        """Of one branching node."""
        return Fraction(exact_number(self.penalty.split_cost()))

    def bind(self, data: Dataset) -> Task:
        bound = self.task.bind(data)
        if not isinstance(bound, SumTask) or len(bound.components) != 2:
            raise TaskError(f"a price of splits goes with scores of two sums, and {name(self.task)} has more here")
        if any(np.any(costs != 0) for _, costs in self.penalty.cost_terms(data)):
            raise TaskError(f"what is taken from a score is a price of splits, and {name(self.penalty)} costs rows")
        return Penalized(bound, self.penalty)

    def sums(self, data: Dataset) -> Mapping[str, Array]:
        inner = self.task.sums(data)
        return {**inner, NODES: np.zeros_like(next(iter(inner.values())))}

    def rank(self, value: Value, totals: State) -> Any:
        return self.task.rank(value[:-1], totals) - self.price * value[-1]

    def shown(self, rank: Any) -> Any:
        return self.task.shown(rank)

    @property
    def rated(self) -> SumTask:
        return self.task
