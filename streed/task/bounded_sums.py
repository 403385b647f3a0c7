"""Signed sums over the rows of the whole tree that are limited or compared, in whole numbers.

A signed sum z with bounds is no worsening quantity, but the two sums "z beyond its least" and "z below its most" are,
so an upper bound on each is an anti-monotone constraint (STreeD, Prop. A.3). At one state they add up to a constant.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.exact import LARGEST_TOTAL, Array, exact_array
from streed.task.limits import Limit
from streed.task.row_sums import weight_array
from streed.task.states import State

_ONE = Fraction(1)


@final
@attrs.frozen(eq=False)
class RowSum:
    """A sum over the rows and branching nodes of a tree, in whole numbers."""

    costs: Array
    """(n, K) int64, or Python's integers as objects: what giving a row a label adds, row weights multiplied in."""
    split: int = 0
    """What a branching node adds."""
    unit: Fraction | int = 1
    """What one is worth."""
    least: int | None = None
    most: int | None = None
    """The interval in which the sum of a tree must be; None where there is no end."""
    of: Callable[[Dataset], Array] | None = None
    """The same costs of the rows of any data, for each unit of a row's weight."""

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
        return int(least_of_labels(self.costs).sum()), int(most_of_labels(self.costs).sum())


def bounded_sum(of: Callable[[Dataset], Array], data: Dataset, least: int | None = None) -> RowSum:
    """The sum of these costs, at least so much (None: any); raises InputError if it may be beyond 2**60."""
    costs, (weights, unit) = of(data), integer_weights(data)
    check_weighted(costs, weights)
    found = RowSum(costs if weights is None else costs * weights[:, None], 0, unit, of=of)
    lowest, highest = found.spread
    least = lowest if least is None else least
    return attrs.evolve(found, least=least, most=max(least, highest))


@attrs.frozen(order=False)
class Gap(abc.ABC):
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
    each = weight_array(data)
    if each is None:
        return None, _ONE
    weights, unit, exact = exact_array(each, "sample_weight")
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
            "round them to fewer digits, so that their total is below about 10**8 of that unit, and 10**6 for kappa",
        )
    return InputError(
        "task", "its costs make exact sums beyond 2**60", "give parameters of fewer digits, or fewer rows"
    )


def worsening_costs(s: State, k: int, count: int) -> list[Any]:
    """What a leaf adds to the worsening sums, two for each of so many, by their `worsening_statistics`."""
    return [getattr(s, f"{side}{j}")[k] for j in range(count) for side in ("above", "below")]


def worsening_statistics(sums: Sequence[RowSum], data: Dataset) -> dict[str, Array]:
    """By sum j two statistics (n, K): "above{j}", what a row adds beyond its least, and "below{j}", below its most."""
    named = {}
    for j, each in enumerate(sums):
        assert each.of is not None
        costs = each.of(data)
        named[f"above{j}"] = costs - least_of_labels(costs)[:, None]
        named[f"below{j}"] = most_of_labels(costs)[:, None] - costs
    return named
