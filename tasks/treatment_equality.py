"""Treatment equality: in every group so many false negatives for each false positive, see `streed.tasks.fairness`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights, sum_at_least
from streed.tasks.fairness import DemographicParity
from streed.tasks.group_rates import listed
from streed.tasks.sensitive_groups import groups_of

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class TreatmentEquality(SumLimit):
    """In every group there are `low` to `high` false negatives for each false positive.

    `feature` names the sensitive column, or several, and `positive` the favourable label, as of notions of fairness.
    """

    one_sided: ClassVar[bool] = True

    low: Any = attrs.field(validator=Range(0))
    high: Any = attrs.field(validator=Range(0))
    feature: Any = attrs.field(default=None, converter=listed)
    positive: Any = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if exact_number(self.low) > exact_number(self.high):
            raise InputError("low", f"{self.low!r} is above {self.high!r}", "give the smaller ratio first")

    def positive_class(self, data: Dataset) -> int:
        number = DemographicParity(self.feature, positive=self.positive).positive_class(data)
        assert number is not None
        return number

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        return tuple(
            sum_at_least(_Errors(self, group, Fraction(exact_number(ratio)), sign), 0, data)
            for group in groups_of(self, data).names
            for ratio, sign in ((self.low, 1), (self.high, -1))
        )

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        weights, unit = integer_weights(data)
        groups, positive = groups_of(self, data), self.positive_class(data)
        wrong = predicted != data.class_numbers
        missed = groups.sizes(wrong & (data.class_numbers == positive), weights)
        false = groups.sizes(wrong & (predicted == positive), weights)
        low, high = Fraction(exact_number(self.low)), Fraction(exact_number(self.high))
        pairs = dict(zip(groups.names, zip(missed, false, strict=True), strict=True))
        beyond = max(Fraction(0), *(max(low * fp - fn, fn - high * fp) for fn, fp in pairs.values()))
        counts = {name: [float(unit * part) for part in pair] for name, pair in pairs.items()}
        return {
            "limit_on": type(self).__name__,
            "value": float(unit * beyond),
            "limit": 0.0,
            "relation": "<=",
            "holds": beyond == 0,
            "favourable": data.classes[positive],
            "rates": {},
            "counts": {"false negatives, false positives": counts},
        }


@final
@attrs.frozen
class _Errors:
    """What an error of a row adds to v FN - u FP of a group, or to its negative, for any rows; u / v is the ratio."""

    limit: TreatmentEquality
    group: str
    ratio: Fraction
    sign: int

    def __call__(self, data: Dataset) -> Array:
        groups, positive = groups_of(self.limit, data), self.limit.positive_class(data)
        here = np.array([name == self.group for name in groups.names])[groups.number]
        is_positive, labels = (data.class_numbers == positive)[:, None], np.arange(data.n_classes)
        worth = np.where(is_positive, self.ratio.denominator, -self.ratio.numerator)
        # a row of another class that gets a third one is no false positive
        wrong = (labels != data.class_numbers[:, None]) & (is_positive | (labels == positive))
        found: Array = self.sign * np.where(wrong & here[:, None], worth, 0)
        return found.astype(np.int64)
