"""Rates of right predictions that must be kept: recall, precision, specificity, exactly.

    Recall      TP / P >= r          if and only if    FN <= (1 - r) P
    Precision   TP / (TP + FP) >= r  if and only if    (1 - r) TP - r FP >= 0
    Specificity TN / N >= r          if and only if    FP <= (1 - r) N

All three are bounds on sums over rows; with r = a / b they are bounds on whole numbers. A tree that predicts no row
positive makes no false one, and keeps any limit on precision. Such limits go with every task whose costs are sums over
rows.

>>> import streed
>>> from streed.tasks import Accuracy, Recall
>>> X, y = [[0]] * 3 + [[1]] * 5, [0, 0, 0, 0, 0, 0, 1, 1]
>>> streed.solve(Accuracy(), X, y, max_depth=1).tree.predict([[1]])
array([0])
>>> streed.solve(Accuracy().subject_to(Recall() >= 1), X, y, max_depth=1).tree.predict([[1]])
array([1])
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights
from streed.task.positive import positive_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from streed.data import Dataset


@attrs.frozen(order=False)
class Rate(abc.ABC):
    """A rate of right predictions in two classes; `rate >= limit` is the limit for `subject_to`.

    `positive` is the positive class, the second of two in sorted order unless it is given.
    """

    one_sided: ClassVar[bool] = True

    positive: Any = attrs.field(default=None, kw_only=True)

    def positive_class(self, data: Dataset) -> int:
        return positive_number(data, self.positive, type(self).__name__)

    @abc.abstractmethod
    def bounded_sum(self, least: Fraction, data: Dataset, positive: int) -> BoundedSum:
        """The sum that is in its bounds exactly if the rate is at least `least`."""

    @abc.abstractmethod
    def rate(self, right: Array, predicted: Array, weights: Array) -> Fraction:
        """The rate of rows whose label and whose prediction is positive, both (n,) bool; 1 where there is nothing."""

    def __ge__(self, limit: Any) -> RateLimit:
        return RateLimit(self, limit)

    def __gt__(self, limit: Any) -> RateLimit:
        raise TaskError(f"write {type(self).__name__}() >= {limit!r}: a limit holds with equality too")

    def __le__(self, limit: Any) -> RateLimit:
        raise TaskError(f"{type(self).__name__} can be bounded from below only: write >= {limit!r}")


@final
@attrs.frozen(order=False)
class Recall(Rate):
    """The share of the positive rows that are predicted positive (sensitivity, true positive rate)."""

    def bounded_sum(self, least: Fraction, data: Dataset, positive: int) -> BoundedSum:
        return _missed(least, data, positive)

    def rate(self, right: Array, predicted: Array, weights: Array) -> Fraction:
        return _share(right & predicted, right, weights)


@final
@attrs.frozen(order=False)
class Specificity(Rate):
    """The share of the negative rows that are predicted negative (true negative rate)."""

    def bounded_sum(self, least: Fraction, data: Dataset, positive: int) -> BoundedSum:
        return _missed(least, data, 1 - positive)

    def rate(self, right: Array, predicted: Array, weights: Array) -> Fraction:
        return _share(~right & ~predicted, ~right, weights)


@final
@attrs.frozen(order=False)
class Precision(Rate):
    """The share of the rows predicted positive that are positive."""

    def bounded_sum(self, least: Fraction, data: Dataset, positive: int) -> BoundedSum:
        def costs(other: Dataset) -> Array:
            found = np.zeros((other.n_rows, other.n_classes), np.int64)
            gain, loss = least.denominator - least.numerator, -least.numerator
            found[:, positive] = np.where(other.class_numbers == positive, gain, loss)
            return found

        return _at_least(costs, data)

    def rate(self, right: Array, predicted: Array, weights: Array) -> Fraction:
        return _share(right & predicted, predicted, weights)


def _check_notion(limit: RateLimit, attribute: Any, value: Any) -> None:
    if not isinstance(value, Rate):
        raise InputError("rate", f"{value!r} is no rate", "give one such as Recall()")


@final
@attrs.frozen
class RateLimit(SumLimit):
    """At least a given rate; written `Recall() >= 0.9`."""

    rate: Rate = attrs.field(validator=_check_notion)
    limit: Any = attrs.field(validator=Range(0, 1, meaning="a rate"))

    def __str__(self) -> str:
        given = "" if self.rate.positive is None else f"positive={self.rate.positive!r}"
        return f"{type(self.rate).__name__}({given}) >= {self.limit}"

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        positive = self.rate.positive_class(data)
        return (self.rate.bounded_sum(Fraction(exact_number(self.limit)), data, positive),)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        positive = self.rate.positive_class(data)
        weights, _ = integer_weights(data)
        each = np.ones(data.n_rows, np.int64) if weights is None else weights
        value, least = (
            self.rate.rate(data.class_numbers == positive, predicted == positive, each),
            exact_number(self.limit),
        )
        return {
            "limit_on": type(self.rate).__name__,
            "value": float(value),
            "limit": float(least),
            "holds": value >= least,
            "rates": {},
        }


def _share(part: Array, whole: Array, weights: Array) -> Fraction:
    size = int(weights[whole].sum())
    return Fraction(int(weights[part].sum()), size) if size else Fraction(1)


def _missed(least: Fraction, data: Dataset, label: int) -> BoundedSum:
    """The rows of the label that get another one, at most a share of 1 - least."""

    def costs(other: Dataset) -> Array:
        wrong: Array = (np.arange(other.n_classes) != label) & (other.class_numbers == label)[:, None]
        return wrong.astype(np.int64)

    weights, _ = integer_weights(data)
    found = BoundedSum(costs(data), 0, 0, costs)
    return attrs.evolve(found, most=math.floor((1 - least) * found.spread(weights)[1]))


def _at_least(costs: Callable[[Dataset], Array], data: Dataset) -> BoundedSum:
    """A sum of these costs that must not be negative."""
    weights, _ = integer_weights(data)
    found = BoundedSum(costs(data), 0, 0, costs)
    return attrs.evolve(found, most=max(0, found.spread(weights)[1]))
