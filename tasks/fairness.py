"""Group fairness: how far the groups' rates of favourable predictions lie apart, limited exactly.

A notion compares a rate over the rows of each group g, and its gap is the largest rate minus the smallest one:

    DemographicParity    |{x in g: tree(x) = +}| / |g|
    EqualOpportunity     the same of the positive rows only: true positive rates
    PredictiveEquality   the same of the negative rows only: false positive rates
    EqualizedOdds        the larger gap of the last two
    ErrorRateParity      |{x in g: tree(x) is wrong}| / |g|

With rates p_a / n_a, the gap is at most d if and only if |n_b p_a - n_a p_b| <= d n_a n_b for all pairs of groups a, b;
the left side is a whole number, so the right one may be rounded down: no epsilon. The imbalance n_b p_a - n_a p_b is a
sum over rows; its two parts are worsening sums with thresholds, which are anti-monotone constraints (STreeD, Eq. 11 and
Prop. A.3). Rows count by their weights.

The groups are row data, `sensitive_features`: one column of any kind, or a table with named ones of which a notion
names one, or several whose combinations are the groups. They are no columns of X, unless the caller puts them there.

>>> import streed
>>> from streed.tasks import Accuracy, DemographicParity
>>> X, y, sex = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 0, 1, 1] * 2, ["f", "m", "m", "m", "f", "f", "m", "m"]
>>> streed.solve(Accuracy(), X, y, max_depth=2).value
0
>>> streed.solve(Accuracy().subject_to(DemographicParity() <= 0.1), X, y, max_depth=2, sensitive_features=sex).value
4
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, Gap, Ratio, SumLimit, integer_weights
from streed.task.positive import given_class
from streed.tasks.sensitive_groups import Groups, check_sizes, groups_of, present_groups

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.tasks.group_limits import LowestRate, RateRatio


RATES = {
    "all": "rate of favourable predictions",
    "positive": "true positive rate",
    "negative": "false positive rate",
    "errors": "rate of errors",
}
"""What each kind of rate is called."""


def _feature(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@attrs.frozen(order=False)
class Fairness(Gap):
    """A notion of fairness; `notion <= limit` is the limit for `subject_to`.

    `feature` names the sensitive column, or several; None where there is but one. `positive` is the favourable label,
    the second of two in sorted order unless it is given.
    """

    feature: Any = attrs.field(default=None, converter=_feature)
    positive: Any = attrs.field(default=None, kw_only=True)

    rates: ClassVar[tuple[str, ...]]
    """What is compared: rates of favourable predictions among "all" rows, the "positive" or the "negative" ones; the
    rate of "errors" among all."""

    def positive_class(self, data: Dataset) -> int | None:
        return None if self.rates == ("errors",) else positive_of(self, data)

    def __str__(self) -> str:
        given = [] if self.feature is None else [repr(self.feature)]
        given += [] if self.positive is None else [f"positive={self.positive!r}"]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def ratio(self) -> RateRatio:
        """The smallest rate of a group by the largest one, for a limit such as `DemographicParity().ratio >= 0.8`."""
        from streed.tasks.group_limits import RateRatio

        return RateRatio(self)

    @property
    def lowest(self) -> LowestRate:
        """The smallest rate of a group, for a limit such as `EqualOpportunity().lowest >= 0.7`."""
        from streed.tasks.group_limits import LowestRate

        return LowestRate(self)

    def ratios(self, data: Dataset) -> tuple[Ratio, ...]:
        """The imbalance of every two groups, by kind of rate: n_b p_a - n_a p_b, and n_a n_b."""
        positive = positive_of(self, data)
        weights, _ = integer_weights(data)
        found = []
        groups = groups_of(self, data)
        for kind in self.rates:
            counted = counted_rows(kind, data, positive)
            sizes = dict(zip(groups.names, groups.sizes(counted, weights), strict=True))
            check_sizes(sizes, kind, type(self).__name__)
            for a, b in itertools.combinations(groups.names, 2):
                common = math.gcd(sizes[a], sizes[b])
                shares = {a: sizes[b] // common, b: -(sizes[a] // common)}
                imbalance = _Imbalance(self, kind, positive, shares)
                costs = imbalance.of(groups, counted, data.class_numbers, data.n_classes)
                found.append(Ratio(costs, sizes[a] * sizes[b] // common, imbalance))
        return tuple(found)

    def __le__(self, limit: Any) -> FairnessLimit:
        return FairnessLimit(self, limit)

    def __lt__(self, limit: Any) -> FairnessLimit:
        raise TaskError(f"write {type(self).__name__}(...) <= {limit!r}: a limit holds with equality too")

    def __ge__(self, limit: Any) -> FairnessLimit:
        raise TaskError(f"{type(self).__name__} is a gap, which can be bounded from above only: write <= {limit!r}")


@final
@attrs.frozen
class _Imbalance:
    """What a favourable prediction adds to the imbalance of two groups, for any rows."""

    notion: Fairness
    kind: str
    positive: int
    shares: Mapping[str, int]
    """By the name of each of the two groups."""

    def __call__(self, data: Dataset) -> Array:
        counted = counted_rows(self.kind, data, self.positive)
        return self.of(present_groups(self.notion, data), counted, data.class_numbers, data.n_classes)

    def of(self, groups: Groups, counted: Array | None, y: Array, n_classes: int) -> Array:
        """(n, n_classes) int64, for rows of the classes y (n,), of which those `counted` (n,) count."""
        shares = np.array([self.shares.get(name, 0) for name in groups.names], np.int64)[groups.number]
        return shares[:, None] * events(self.kind, self.positive, counted, y, n_classes)


@final
@attrs.frozen(order=False)
class DemographicParity(Fairness):
    """The gap between groups in the rate of favourable predictions (statistical parity)."""

    rates: ClassVar[tuple[str, ...]] = ("all",)


@final
@attrs.frozen(order=False)
class EqualOpportunity(Fairness):
    """The gap between groups in the rate of favourable predictions among the positive rows (true positive rates)."""

    rates: ClassVar[tuple[str, ...]] = ("positive",)
    one_sided: ClassVar[bool] = True


@final
@attrs.frozen(order=False)
class PredictiveEquality(Fairness):
    """The gap between groups in the rate of favourable predictions among the negative rows (false positive rates)."""

    rates: ClassVar[tuple[str, ...]] = ("negative",)
    one_sided: ClassVar[bool] = True


@final
@attrs.frozen(order=False)
class EqualizedOdds(Fairness):
    """The larger one of the gaps in true and in false positive rates."""

    rates: ClassVar[tuple[str, ...]] = ("positive", "negative")


@final
@attrs.frozen(order=False)
class ErrorRateParity(Fairness):
    """The gap between groups in the rate of wrong predictions (overall accuracy equality); of any number of classes."""

    rates: ClassVar[tuple[str, ...]] = ("errors",)


def check_notion(limit: Any, attribute: Any, value: Any) -> None:
    """Raises InputError for what is no notion of fairness."""
    if not isinstance(value, Fairness):
        raise InputError("notion", f"{value!r} is no notion of fairness", "give one such as DemographicParity()")


@final
@attrs.frozen
class FairnessLimit(SumLimit):
    """At most a given gap by a notion of fairness; written `DemographicParity() <= 0.01`."""

    notion: Fairness = attrs.field(validator=check_notion)
    limit: Any = attrs.field(validator=Range(0, 1, meaning="a gap between rates"))

    def __str__(self) -> str:
        return f"{self.notion} <= {self.limit}"

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        found = []
        for ratio in self.notion.ratios(data):
            most = math.floor(self._exact * ratio.size)
            found.append(BoundedSum(ratio.costs, -most, most, ratio.on))
        return tuple(found)

    @functools.cached_property
    def _exact(self) -> Fraction:
        """The limit, exactly."""
        return Fraction(exact_number(self.limit))

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        counts = group_counts(self.notion, data, predicted)
        value = max([gap_of(counts, kind) for kind in counts])
        return achieved_rates(self.notion, data, counts, "<=", value, self._exact)


def group_rates(
    notion: Fairness, data: Dataset, predicted: Array
) -> tuple[dict[str, Fraction], dict[str, dict[str, Fraction]]]:
    """(gap, rate of every group) by kind of rate, for predictions (n,) that are numbers of labels, row by row.

    Counted anew from the raw rows, with nothing of the sums that a search bounds.
    """
    counts = group_counts(notion, data, predicted)
    rates = {kind: {name: Fraction(*each) for name, each in found.items()} for kind, found in counts.items()}
    return {kind: gap_of(counts, kind) for kind in counts}, rates


Counts = Mapping[str, Mapping[str, tuple[int, int]]]
"""By kind of rate and group: what the rows weigh that the event happens to, and all that it may happen to."""


def group_counts(notion: Fairness, data: Dataset, predicted: Array) -> Counts:
    """The counts for predictions (n,) that are numbers of labels; weights that are no whole numbers are scaled up."""
    positive = positive_of(notion, data)
    weights, _ = integer_weights(data)
    groups = groups_of(notion, data)
    found = {}
    for kind in notion.rates:
        counted = counted_rows(kind, data, positive)
        event = predicted != data.class_numbers if kind == "errors" else predicted == positive
        sizes = groups.sizes(counted, weights)
        hits = groups.sizes(event if counted is None else event & counted, weights)
        found[kind] = dict(zip(groups.names, zip(hits, sizes, strict=True), strict=True))
    return found


def gap_of(counts: Counts, kind: str) -> Fraction:
    """The largest rate of a kind minus the smallest one."""
    if len(counts[kind]) == 2:
        (hits, size), (others, rest) = counts[kind].values()
        return Fraction(abs(hits * rest - others * size), size * rest)
    rates = [Fraction(*each) for each in counts[kind].values()]
    return max(rates) - min(rates)


def achieved_rates(
    notion: Fairness, data: Dataset, counts: Counts, relation: str, value: Fraction, limit: Fraction, what: str = ""
) -> Mapping[str, Any]:
    """What a limit on rates says of predictions, as `SumLimit.achieved` does; `what` follows the notion's name."""
    unit: Any = integer_weights(data)[1]
    if unit == 1:
        unit = 1  # fractions take ten times as long
    errors = notion.rates == ("errors",)
    return {
        "limit_on": type(notion).__name__ + what,
        "value": float(value),
        "limit": float(limit),
        "relation": relation,
        "holds": value <= limit if relation == "<=" else value >= limit,
        "favourable": None if errors else data.classes[positive_of(notion, data)],
        "rates": {kind: {name: hits / size for name, (hits, size) in of.items()} for kind, of in counts.items()},
        "counts": {
            kind: {name: [float(unit * part) for part in each] for name, each in of.items()}
            for kind, of in counts.items()
        },
    }


def events(kind: str, positive: int, counted: Array | None, y: Array, n_classes: int) -> Array:
    """(n, n_classes) int64, 0 or 1: whether giving a row a class is the event whose rate is taken."""
    if kind == "errors":
        wrong: Array = np.arange(n_classes) != y[:, None]
        return wrong.astype(np.int64)
    found = np.zeros((len(y), n_classes), np.int64)
    found[:, positive] = 1 if counted is None else counted
    return found


def positive_of(notion: Fairness, data: Dataset) -> int:
    """The number of the favourable label; of errors, which need none, any."""
    classes = list(data.classes)
    if notion.rates == ("errors",):
        return 0
    if notion.positive is not None:
        return given_class(classes, notion.positive)
    if len(classes) != 2:
        raise InputError(
            "y", f"it has {len(classes)} classes", f"say which one is favourable: {type(notion).__name__}(positive=...)"
        )
    return 1


def counted_rows(kind: str, data: Dataset, positive: int) -> Array | None:
    """(n,) bool: the rows over which a rate is taken; None for all."""
    if kind in ("all", "errors"):
        return None
    counted: Array = data.class_numbers == positive if kind == "positive" else data.class_numbers != positive
    return counted
