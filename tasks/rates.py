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

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights, sum_at_least
from streed.task.positive import positive_number

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen(order=False)
class Rate:
    """A rate of right predictions in two classes; `rate >= limit` is the limit for `subject_to`.

    `positive` is the positive class, the second of two in sorted order unless it is given.
    """

    one_sided: ClassVar[bool] = True

    positive: Any = attrs.field(default=None, kw_only=True)

    def positive_class(self, data: Dataset) -> int:
        return positive_number(data, self.positive, type(self).__name__)

    def label(self, data: Dataset) -> int:
        """The number of the class whose right predictions are counted."""
        return self.positive_class(data)

    def bounded_sum(self, least: Fraction, data: Dataset) -> BoundedSum:
        """The sum that is in its bounds exactly if the rate is at least `least`: rows of the label that are missed."""
        label = self.label(data)

        def costs(other: Dataset) -> Array:
            wrong: Array = (np.arange(other.n_classes) != label) & (other.class_numbers == label)[:, None]
            return wrong.astype(np.int64)

        found = BoundedSum(costs(data), 0, 0, costs)
        return attrs.evolve(found, most=math.floor((1 - least) * found.spread(integer_weights(data)[0])[1]))

    def among(self, is_label: Array, predicted: Array) -> Array:
        """(n,) bool: the rows whose right predictions are counted; those of the label, and those predicted so."""
        return is_label

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


@final
@attrs.frozen(order=False)
class Specificity(Rate):
    """The share of the negative rows that are predicted negative (true negative rate)."""

    def label(self, data: Dataset) -> int:
        return 1 - self.positive_class(data)


@final
@attrs.frozen(order=False)
class Precision(Rate):
    """The share of the rows predicted positive that are positive."""

    def bounded_sum(self, least: Fraction, data: Dataset) -> BoundedSum:
        label = self.label(data)

        def costs(other: Dataset) -> Array:
            found = np.zeros((other.n_rows, other.n_classes), np.int64)
            gain, loss = least.denominator - least.numerator, -least.numerator
            found[:, label] = np.where(other.class_numbers == label, gain, loss)
            return found

        return sum_at_least(costs, 0, data)

    def among(self, is_label: Array, predicted: Array) -> Array:
        return predicted


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
        return (self.rate.bounded_sum(Fraction(exact_number(self.limit)), data),)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        label, weights = self.rate.label(data), integer_weights(data)[0]
        each = np.ones(data.n_rows, np.int64) if weights is None else weights
        is_label, predicted = data.class_numbers == label, predicted == label
        counted, least = int(each[self.rate.among(is_label, predicted)].sum()), exact_number(self.limit)
        value = Fraction(int(each[is_label & predicted].sum()), counted) if counted else Fraction(1)
        return {
            "limit_on": type(self.rate).__name__,
            "value": float(value),
            "limit": float(least),
            "holds": value >= least,
            "rates": {},
        }
