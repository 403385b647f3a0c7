"""Limits on groups that are no gap: ratios of rates, rates that every group must have, the balance of both errors.

    notion.ratio >= r           p_a / n_a >= r p_b / n_b of all groups a and b: v n_b p_a - u n_a p_b >= 0 for r = u / v
    notion.lowest >= r          p_a / n_a >= r of every group a: v p_a >= u n_a
    TreatmentEquality(low, high)    low FP_a <= FN_a <= high FP_a of every group a

All of them are bounds on sums over rows in whole numbers, exact as those of `streed.tasks.fairness`. With r = 4 / 5 the
first one is the four-fifths rule on selection rates (29 CFR 1607.4 D). Where no group has any favourable prediction the
ratio is 1, as all are treated alike.

Treatment equality asks for the same FN / FP in every group (Berk et al. 2021), which is no linear condition. That the
ratio lies between two numbers in every group is one, and then no two ratios differ by more than the factor high / low.

>>> import streed
>>> from streed.tasks import Accuracy, DemographicParity
>>> X, y, sex = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 0, 1, 1] * 2, ["f", "m", "m", "m", "f", "f", "m", "m"]
>>> limit = DemographicParity().ratio >= 0.8
>>> streed.solve(Accuracy().subject_to(limit), X, y, max_depth=2, sensitive_features=sex).value
2
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights
from streed.tasks.fairness import (
    Counts,
    Fairness,
    achieved_rates,
    check_notion,
    counted_rows,
    events,
    group_counts,
    positive_of,
)
from streed.tasks.sensitive_groups import check_sizes, groups_of

if TYPE_CHECKING:
    from streed.data import Dataset


def _feature(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@attrs.frozen(order=False)
class _FromBelow:
    """What can be bounded from below only."""

    notion: Fairness = attrs.field(validator=check_notion)

    def __le__(self, limit: Any) -> Any:
        raise TaskError(f"a rate is bounded from below here: write >= {limit!r}")

    def __gt__(self, limit: Any) -> Any:
        raise TaskError(f"write >= {limit!r}: a limit holds with equality too")


@final
@attrs.frozen(order=False)
class RateRatio(_FromBelow):
    """The smallest rate of a group by the largest one; `ratio >= limit` is the limit for `subject_to`."""

    def __ge__(self, limit: Any) -> RatioLimit:
        return RatioLimit(self.notion, limit)


@final
@attrs.frozen(order=False)
class LowestRate(_FromBelow):
    """The smallest rate of a group; `lowest >= limit` is the limit for `subject_to`."""

    def __ge__(self, limit: Any) -> LowestRateLimit:
        return LowestRateLimit(self.notion, limit)


@final
@attrs.frozen
class RatioLimit(SumLimit):
    """The smallest rate of a group is at least a part of the largest one; as in `DemographicParity().ratio >= 0.8`."""

    one_sided: ClassVar[bool] = True

    notion: Fairness = attrs.field(validator=check_notion)
    limit: Any = attrs.field(validator=Range(0, 1))

    def __str__(self) -> str:
        return f"{self.notion}.ratio >= {self.limit}"

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        part = Fraction(exact_number(self.limit))
        found = []
        for kind, sizes in _sizes(self.notion, data).items():
            for a in sizes:
                for b in sizes:
                    if a != b:
                        common = math.gcd(part.denominator * sizes[b], part.numerator * sizes[a])
                        shares = {a: part.denominator * sizes[b] // common, b: -part.numerator * sizes[a] // common}
                        found.append(_at_least(_Weighed(self.notion, kind, shares), 0, data))
        return tuple(found)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        counts = group_counts(self.notion, data, predicted)
        value = min(ratio_of(counts, kind) for kind in counts)
        return achieved_rates(self.notion, data, counts, ">=", value, Fraction(exact_number(self.limit)), what=".ratio")


@final
@attrs.frozen
class LowestRateLimit(SumLimit):
    """Every group's rate is at least a given one; written `EqualOpportunity().lowest >= 0.7`."""

    one_sided: ClassVar[bool] = True

    notion: Fairness = attrs.field(validator=check_notion)
    limit: Any = attrs.field(validator=Range(0, 1))

    def __str__(self) -> str:
        return f"{self.notion}.lowest >= {self.limit}"

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        least = Fraction(exact_number(self.limit))
        return tuple(
            _at_least(_Weighed(self.notion, kind, {group: 1}), math.ceil(least * size), data)
            for kind, sizes in _sizes(self.notion, data).items()
            for group, size in sizes.items()
        )

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        counts = group_counts(self.notion, data, predicted)
        value = min(Fraction(*each) for of in counts.values() for each in of.values())
        return achieved_rates(
            self.notion, data, counts, ">=", value, Fraction(exact_number(self.limit)), what=".lowest"
        )


@final
@attrs.frozen
class TreatmentEquality(SumLimit):
    """In every group there are `low` to `high` false negatives for each false positive.

    `feature` names the sensitive column, or several, and `positive` the favourable label, as of notions of fairness.
    """

    one_sided: ClassVar[bool] = True

    low: Any = attrs.field(validator=Range(0))
    high: Any = attrs.field(validator=Range(0))
    feature: Any = attrs.field(default=None, converter=_feature)
    positive: Any = attrs.field(default=None, kw_only=True)

    def positive_class(self, data: Dataset) -> int:
        return positive_of(self._notion, data)

    def __attrs_post_init__(self) -> None:
        if exact_number(self.low) > exact_number(self.high):
            raise InputError("low", f"{self.low!r} is above {self.high!r}", "give the smaller ratio first")

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        found = []
        for group in groups_of(self._notion, data).names:
            for ratio, sign in ((self.low, 1), (self.high, -1)):
                exact = Fraction(exact_number(ratio))
                found.append(_at_least(_Errors(self._notion, group, exact, sign), 0, data))
        return tuple(found)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        weights, unit = integer_weights(data)
        groups, positive = groups_of(self._notion, data), positive_of(self._notion, data)
        wrong = predicted != data.class_numbers
        missed = groups.sizes(wrong & (data.class_numbers == positive), weights)
        false = groups.sizes(wrong & (predicted == positive), weights)
        low, high = Fraction(exact_number(self.low)), Fraction(exact_number(self.high))
        pairs = dict(zip(groups.names, zip(missed, false, strict=True), strict=True))
        beyond = max((max(low * fp - fn, fn - high * fp) for fn, fp in pairs.values()), default=Fraction(0))
        return {
            "limit_on": type(self).__name__,
            "value": float(unit * max(beyond, Fraction(0))),
            "limit": 0.0,
            "relation": "<=",
            "holds": beyond <= 0,
            "favourable": data.classes[positive],
            "rates": {},
            "counts": {
                "false negatives, false positives": {
                    name: [float(unit * part) for part in pair] for name, pair in pairs.items()
                }
            },
        }

    @property
    def _notion(self) -> Fairness:
        from streed.tasks.fairness import DemographicParity

        return DemographicParity(self.feature, positive=self.positive)


@final
@attrs.frozen
class _Weighed:
    """What an event adds, by the group that the row is in, for any rows."""

    notion: Fairness
    kind: str
    shares: Mapping[str, int]

    def __call__(self, data: Dataset) -> Array:
        groups, positive = groups_of(self.notion, data), positive_of(self.notion, data)
        shares = np.array([self.shares.get(name, 0) for name in groups.names], np.int64)[groups.number]
        counted = counted_rows(self.kind, data, positive)
        return shares[:, None] * events(self.kind, positive, counted, data.class_numbers, data.n_classes)


@final
@attrs.frozen
class _Errors:
    """What an error of a row adds to v FN - u FP of a group, or to its negative, for any rows; u / v is the ratio."""

    notion: Fairness
    group: str
    ratio: Fraction
    sign: int

    def __call__(self, data: Dataset) -> Array:
        groups, positive = groups_of(self.notion, data), positive_of(self.notion, data)
        here = np.array([name == self.group for name in groups.names])[groups.number]
        worth = np.where(data.class_numbers == positive, self.ratio.denominator, -self.ratio.numerator)
        wrong = np.arange(data.n_classes) != data.class_numbers[:, None]
        # A row of another class that gets a third one is no false positive.
        wrong &= (data.class_numbers == positive)[:, None] | (np.arange(data.n_classes) == positive)
        found: Array = self.sign * np.where(wrong & here[:, None], worth[:, None], 0)
        return found.astype(np.int64)


def ratio_of(counts: Counts, kind: str) -> Fraction:
    """The smallest rate of a kind by the largest one; 1 where all are 0."""
    rates = [Fraction(*each) for each in counts[kind].values()]
    return min(rates) / max(rates) if max(rates) else Fraction(1)


def _sizes(notion: Fairness, data: Dataset) -> dict[str, dict[str, int]]:
    """What the rows of each group weigh over which a rate is taken, by kind of rate."""
    nobody = np.full(data.n_rows, -1)
    counts = group_counts(notion, data, nobody)
    found = {kind: {name: size for name, (_, size) in of.items()} for kind, of in counts.items()}
    for kind, sizes in found.items():
        check_sizes(sizes, kind, type(notion).__name__)
    return found


def _at_least(costs: Callable[[Dataset], Array], least: int, data: Dataset) -> BoundedSum:
    """The sum of these costs that must be at least so much."""
    weights, _ = integer_weights(data)
    found = BoundedSum(costs(data), least, least, costs)
    return attrs.evolve(found, most=max(least, found.spread(weights)[1]))
