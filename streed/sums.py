"""Tasks of several sums: values that are tuples of sums over rows, and limits on such sums over the whole tree.

What is declared here are facts that a search may use beyond the contract of `streed.task`:

- `SumTask`: every component of a value is a sum over rows of a cost per row and label, and the score is monotone in
  each; if it moreover is a fraction of two affine functions, `fraction` says so.
- `SumLimit`: sums over the rows that must lie in given bounds for the whole tree, such as an imbalance of two groups.
- `Bounded`: a task under such limits.
- `Gap`: the largest of such sums by their sizes, to be limited or traded off (`streed.trades`).

A signed sum z with bounds is no worsening quantity, but the two sums "z beyond its least" and "z below its most" are,
so an upper bound on each is an anti-monotone constraint (STreeD, Prop. A.3). At one state they add up to a constant.
"""

from __future__ import annotations

import abc
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import LARGEST_TOTAL, Array, exact_array
from streed.task import COMPONENTWISE, Limit, RowCostTask, State, Task, Value
from streed.tracing import adds, row_cost_form

if TYPE_CHECKING:
    from streed.data import Dataset


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

    def in_units(self, unit: Fraction | int) -> LinearFraction:
        """The same function of values in units, with whole coefficients."""
        falls, slopes = [[unit * x for x in each] for each in (self.falls, self.slopes)]
        common = math.lcm(*(x.denominator for x in (self.top, *falls, self.base, *slopes)))
        return LinearFraction(
            int(common * self.top),
            tuple(int(common * x) for x in falls),
            int(common * self.base),
            tuple(int(common * x) for x in slopes),
        )


@attrs.frozen
class SumTask(Task):
    """A task whose values are tuples of sums over rows, judged on the whole tree by a score that each of them worsens.

    `rank` is that judgement in exact numbers, so that trees are compared without rounding, and `shown` what the user
    sees of it.
    """

    order: ClassVar[str] = COMPONENTWISE
    maximize: ClassVar[bool] = True
    components: ClassVar[tuple[str, ...]]
    """The names of the sums, in the order of the values."""

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

    @property
    def node_sums(self) -> tuple[int, ...] | None:
        """What a branching node adds to every component; None (the default) where it adds nothing."""
        return None

    @final
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> tuple[int, ...] | None:
        return self.node_sums

    @final
    def combine(self, a: Value, b: Value) -> Value:
        return tuple([x + y for x, y in zip(a, b, strict=True)])


@attrs.frozen(eq=False)
class BoundedSum:
    """A sum over the rows that must lie in `least` to `most` for the whole tree, in whole numbers."""

    costs: Array
    """(n, K) int64: what giving row i the label k adds, for each unit of the row's weight."""
    least: int
    most: int
    on: Callable[[Dataset], Array] | None = None
    """The same costs of the rows of other data (default: there is no other)."""
    split: int = 0
    """What a branching node adds, at least 0; if it adds anything, the labels alone keep `least`."""

    @property
    def counts_nodes(self) -> bool:
        """Whether it is a multiple of the number of branching nodes, whatever the rows are."""
        return self.split > 0 and not self.costs.any()

    def costs_on(self, data: Dataset) -> Array:
        """(n, K) the costs of the rows of `data`."""
        return self.costs if self.on is None else self.on(data)

    def least_total(self, data: Dataset) -> int:
        """The least value of the sum over the rows of `data`."""
        weights, _ = integer_weights(data)
        return self.spread(weights)[0]

    def spread(self, weights: Array | None) -> tuple[int, int]:
        """The least and the largest value that any labels give the sum; `weights` (n,) are whole numbers.

        Raises InputError if sums over the rows may be beyond 2**60.
        """
        check_weighted(self.costs, weights)
        w = 1 if weights is None else weights
        least, most = least_of_labels(self.costs), most_of_labels(self.costs)
        return int((least * w).sum()), int((most * w).sum())


@attrs.frozen(eq=False)
class Ratio:
    """A signed sum over the rows, in whole numbers, that counts by its share of a size."""

    costs: Array
    """(n, K) int64: what giving row i the label k adds, for each unit of the row's weight."""
    size: int
    on: Callable[[Dataset], Array] | None = None
    """The costs of the rows of other data."""

    def most(self, weights: Array | None) -> int:
        """No labels give the sum a larger absolute value; raises InputError if that may be beyond 2**60."""
        check_weighted(self.costs, weights)
        w = 1 if weights is None else weights
        return int((np.abs(self.costs).max(axis=1) * w).sum())


@attrs.frozen(order=False)
class Gap(abc.ABC):
    """The largest |sum| / size of some signed sums over the whole tree: a limit as `gap <= 0.1`, or an objective."""

    @abc.abstractmethod
    def ratios(self, data: Dataset) -> tuple[Ratio, ...]:
        """The sums, in units of `integer_weights`; raises InputError for data at fault."""

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
    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        """The sums that must lie in bounds, in units of `integer_weights`; raises InputError for data at fault."""

    @abc.abstractmethod
    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        """What the limited quantity is for predictions (n,), numbers of labels, and so many branching nodes.

        Counted from the raw rows. Holds at least "value" and "limit", exact numbers, and "holds".
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
    """The row weights as whole numbers (n,) of a unit, and that unit; None where every row weighs 1.

    The unit is the largest that there is. Raises InputError for weights that are no short decimals: a limit on a sum is
    kept exactly or not at all.
    """
    if data.weights is None:
        return None, Fraction(1)
    weights, unit, exact = exact_array(data.weights, "sample_weight")
    if not exact:
        raise InputError(
            "sample_weight",
            "the weights have too many digits for exact sums",
            "round them to nine decimals or fewer, and so that 18 digits hold their total and their smallest part",
        )
    common = int(np.gcd.reduce(weights))
    return (weights // common, unit * common) if common > 1 else (weights, unit)


def check_weighted(costs: Array, weights: Array | None) -> None:
    """Raises InputError if sums over rows of costs (n, K) times whole weights (n,) may be beyond 2**60."""
    largest = float(max(costs.max(initial=0), -costs.min(initial=0)))
    heaviest = 1.0 if weights is None else float(weights.max(initial=0))
    if largest * heaviest * costs.size < LARGEST_TOTAL:
        return
    by_row = np.abs(costs.astype(np.float64)).sum(axis=1)
    if float(by_row.sum() if weights is None else by_row @ weights.astype(np.float64)) >= LARGEST_TOTAL:
        raise sums_too_large(weights is not None)


def sums_too_large(weighted: bool) -> InputError:
    """The error for exact sums that may be beyond 2**60, because of row weights or without any."""
    if weighted:
        return InputError(
            "sample_weight",
            "in whole numbers of a common unit, the weights make exact sums beyond 2**60: scores and limits on rates "
            "multiply weights by totals of weights",
            "round them to fewer digits, so that their total is below about 10**8 of that unit",
        )
    return InputError(
        "task",
        "its costs make exact sums beyond 2**60",
        "give parameters of fewer digits, or fewer rows",
    )


@final
@attrs.frozen
class Bounded(Task):
    """A task over the trees whose sums keep their limits: its value with two worsening sums for each limited one.

    Takes tasks whose values are added up. The score is the inner task's.
    """

    task: Task
    sum_limits: tuple[SumLimit, ...]

    order: ClassVar[str] = COMPONENTWISE

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.task.maximize

    def bind(self, data: Dataset) -> Task:
        inner = bind_summed(self.task, data)
        labels = tuple(inner.labels(data))
        for limit in self.sum_limits:
            if limit.of_classes and len(labels) != data.n_classes:
                raise TaskError(
                    f"{limit!r} is about which classes are predicted, and the leaves of {type(self.task).__name__} "
                    f"show {', '.join(map(repr, labels[:3]))}, no classes of y; use a task that predicts the "
                    "classes, such as Accuracy"
                )
        sums = tuple(each for limit in self.sum_limits for each in limit.bounded_sums(data))
        for each in sums:
            if each.costs.shape != (data.n_rows, len(labels)):
                raise TaskError(f"{self.sum_limits!r} are about the classes of y, and the task's labels are {labels}")
        weights, unit = integer_weights(data)
        spreads = [each.spread(weights) for each in sums]
        caps = [
            cap
            for each, (least, most) in zip(sums, spreads, strict=True)
            for cap in (unit * (each.most - least), unit * (most - each.least))
        ]
        return BoundTask(inner, self.sum_limits, sums, tuple(caps), labels, unit)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.bind(data).statistics(data)

    def leaf_cost(self, s: State, k: int) -> Value:
        raise TaskError("bind a task with limits on sums to its data before you ask for costs")

    def score(self, value: Value, totals: State) -> Any:
        # how many components a score has may be known on the data only
        return (
            totals.bound.score(value, totals) if isinstance(self.task, SumTask) else self.task.score(value[0], totals)
        )


@final
@attrs.frozen(eq=False)
class BoundTask(Task):
    """A `Bounded` task on its data."""

    task: Task
    """Bound, too."""
    sum_limits: tuple[SumLimit, ...]
    bounded_sums: tuple[BoundedSum, ...]
    caps: tuple[Fraction, ...]
    """The most that the worsening sums may be, two for every bounded sum."""
    inner_labels: tuple[Any, ...]
    unit: Fraction
    """What one of the bounded sums' whole numbers is worth in a value."""

    order: ClassVar[str] = COMPONENTWISE

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.task.maximize

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {**self.task.statistics(data), **worsening_statistics(self.bounded_sums, data)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.inner_labels

    def leaf_cost(self, s: State, k: int) -> Value:
        worsening = [getattr(s, f"{side}{j}")[k] for j in range(len(self.bounded_sums)) for side in ("above", "below")]
        return (*sums_of_values(self.task.leaf_cost(s, k)), *worsening)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        cost = self.task.branching_cost(rows, path, split)
        if cost is None and not any(each.split for each in self.bounded_sums):
            return None
        if cost is None:
            cost = (0,) * (len(self.task.components) if isinstance(self.task, SumTask) else 1)
        return (*sums_of_values(cost), *[x for each in self.bounded_sums for x in (self.unit * each.split, 0)])

    def feasible(self, value: Value) -> bool:
        return all(x <= cap for x, cap in zip(value[-len(self.caps) :], self.caps, strict=True))

    def objective_of(self, value: Value) -> Value:
        return _inner_value(self.task, value)

    def better_at_root(self, a: Value, b: Value) -> bool:
        return self.task.better(a, b)

    def score(self, value: Value, totals: State) -> Any:
        return self.task.score(_inner_value(self.task, value), totals)


def worsening_statistics(sums: Sequence[BoundedSum], data: Dataset, prefix: str = "") -> dict[str, Array]:
    """By sum j two statistics (n, K): "above{j}", what a row adds beyond its least, and "below{j}", below its most."""
    named = {}
    for j, each in enumerate(sums):
        costs = each.costs_on(data)
        named[f"{prefix}above{j}"] = costs - least_of_labels(costs)[:, None]
        named[f"{prefix}below{j}"] = most_of_labels(costs)[:, None] - costs
    return named


def bound_sums(task: Task, sum_limits: Sequence[SumLimit]) -> Bounded:
    """The task under limits on sums; raises TaskError for tasks whose values are not added up."""
    if isinstance(task, Bounded):
        return Bounded(task.task, task.sum_limits + tuple(sum_limits))
    check_summed(task, f"{sum_limits[0]!r} limits a sum over the whole tree")
    return Bounded(task, tuple(sum_limits))


def check_summed(task: Task, why: str) -> None:
    """Raises TaskError unless the values of the task are numbers that are added up, or a score of such."""
    if task.reads_rows:
        raise TaskError(
            f"{why}, which needs costs that add up row by row, and {type(task).__name__} asks a function of all rows "
            "of a leaf what it costs; use a task of costs per row, such as Accuracy"
        )
    if not isinstance(task, (RowCostTask, SumTask)) and not adds(task):
        raise TaskError(
            f"{why}, which needs a task whose values are sums over rows and nodes, and {type(task).__name__} is none; "
            "subclass RowCostTask or SumTask"
        )


def bind_summed(task: Task, data: Dataset) -> Task:
    """The task on its data, as a cost per row where it is one."""
    bound = task.bind(data)
    return bound if isinstance(bound, (RowCostTask, SumTask, BoundTask)) else row_cost_form(bound, data) or bound


def sums_of_values(value: Value) -> tuple[Any, ...]:
    """The value as a tuple of sums."""
    return value if isinstance(value, tuple) else (value,)


def _inner_value(task: Task, value: Value) -> Value:
    """The part of a bounded task's value that is the inner task's."""
    return value[: len(task.components)] if isinstance(task, SumTask) else value[0]
