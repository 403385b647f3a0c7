"""Rates of an event among the rows that count, of each group or of all rows, and limits on them, exactly.

With hits p_a of n_a rows in group a and a limit u / v, these are sums over rows in whole numbers, of which the right
side may be rounded: no epsilon.

    rate <= u / v              |n_b p_a - n_a p_b| <= u n_a n_b / v  of all groups a, b: a gap
    rate.ratio >= u / v        v n_b p_a - u n_a p_b >= 0            of all a and b; 1 where nobody has the event
    rate.lowest >= u / v       p_a >= u n_a / v                      of every group; rate.highest <= u / v likewise

The two parts of each are worsening sums with thresholds, which are anti-monotone (STreeD, Eq. 11 and Prop. A.3). Rows
count by their weights. `streed.tasks.fairness` has the rates of groups; those of all rows are

    Recall      TP / P          Specificity  TN / N          Precision  TP / (TP + FP), 1 where nothing is positive

>>> import streed
>>> from streed.tasks import Accuracy, Recall
>>> X, y = [[0]] * 3 + [[1]] * 5, [0, 0, 0, 0, 0, 0, 1, 1]
>>> streed.solve(Accuracy().subject_to(Recall() >= 1), X, y, max_depth=1).tree.predict([[1]])
array([1])
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, TaskError, check_kind
from streed.exact import Array, Range, exact_number
from streed.task.analysis.facts import classes_found, given_class, positive_number
from streed.task.bounded_sums import Gap, RowSum, SumLimit, integer_weights, least_of_labels, most_of_labels
from streed.tasks.support import ROW_DATA, Groups, RowKinds, Shares, present_groups, row_kinds


def listed(value: Any) -> Any:
    """The value, as a tuple where it lists several."""
    return tuple(value) if isinstance(value, (list, set, frozenset)) else value


Bounds = tuple[Shares, int | None, int | None]
"""What a sum is of, and the least and the most that it may be, None for any."""

Counts = Mapping[str, Mapping[str, tuple[int, int]]]
"""By kind of event and group: what the rows weigh that it happens to, and all that it may happen to."""


class Events:
    """Events of some kinds among the rows that count, by the values of sensitive columns, which `feature` names."""

    __slots__ = ()

    rates: ClassVar[tuple[str, ...]] = ("all",)
    one_sided: ClassVar[bool] = False
    """Whether the other class would be another question."""
    feature: Any
    positive: Any = None

    def positive_class(self, data: Dataset) -> int | None:
        """The number of the favourable label; of errors, which need none, None."""
        if self.rates == ("errors",):
            return None
        if self.positive is None and data.n_classes != 2:
            remedy = f"say which one is favourable: {type(self).__name__}(positive=...)"
            raise InputError("y", classes_found(data), remedy)
        return given_class(data, self.positive)

    def happens(self, kind: str, labels: Array, data: Dataset) -> Array:
        """(n,) bool: whether the event happens to rows of these labels (n,)."""
        y, positive = data.class_numbers, self.positive_class(data)
        if kind == "errors":
            return np.asarray(labels != y)
        if kind in ("false negatives", "false positives"):  # a row of another class that gets a third one is neither
            return np.asarray((labels != y) & ((y if kind == "false negatives" else labels) == positive))
        return np.asarray((labels == positive) == (kind != "true negatives"))

    def counted(self, kind: str, data: Dataset) -> Array:
        """(n,) bool: the rows over which a rate is taken."""
        if kind not in ("positive", "negative", "true negatives"):
            return np.ones(data.n_rows, bool)
        return np.asarray((data.class_numbers == self.positive_class(data)) == (kind == "positive"))

    def groups(self, data: Dataset, fewest: int = 0) -> Groups:
        """The groups that have rows; raises InputError where there are fewer than so many."""
        groups = present_groups(data, type(self).__name__, self.feature)
        if len(groups.names) < fewest:
            raise InputError(ROW_DATA, f"there is one group only, {groups.names[0]!r}", "rates compare two or more")
        return groups

    def n_labels(self, data: Dataset) -> int:
        """How many labels there are."""
        return data.n_classes

    def sums_of(self, wanted: Sequence[Bounds], data: Dataset) -> list[RowSum]:
        """The sums of what events count for, within bounds; raises InputError if they may be beyond 2**60."""
        unit, kinds, found = integer_weights(data)[1], row_kinds(data, self), []
        known = data, kinds
        costs = kinds.costs([shares for shares, _, _ in wanted])
        if kinds.weights is not None:
            costs *= kinds.weights[:, None]
        for own, (shares, least, most) in zip(costs, wanted, strict=True):
            least = int(least_of_labels(own) @ kinds.sizes) if least is None else least
            most = max(least, int(most_of_labels(own) @ kinds.sizes)) if most is None else most
            found.append(RowSum(own, 0, unit, least, most, functools.partial(self._of, shares, known), kinds.number))
        return found

    def _of(self, shares: Shares, known: tuple[Dataset, RowKinds], data: Dataset) -> Array:
        """(n, K) what rows add to a sum by their labels, for each unit of their weights; `known`: data, and kinds."""
        kinds = known[1] if data is known[0] else row_kinds(data, self)
        costs: Array = kinds.costs([shares])[0][kinds.number]
        return costs

    def counts(self, data: Dataset, predicted: Array) -> Counts:
        """The counts for predictions (n,), numbers of labels, from the raw rows; weights of parts are scaled up."""
        weights, groups, found = integer_weights(data)[0], self.groups(data, 2), {}
        for kind in self.rates:
            counted = self.counted(kind, data)
            hits = groups.sizes(self.happens(kind, predicted, data) & counted, weights)
            found[kind] = dict(zip(groups.names, zip(hits, groups.sizes(counted, weights), strict=True), strict=True))
        return found

    def told(self, data: Dataset, counts: Counts) -> dict[str, Any]:
        """What a limit says of the favourable label and of the counts, in the row weights' own unit."""
        unit: Any = integer_weights(data)[1]
        unit = 1 if unit == 1 else unit  # fractions take ten times as long
        number = self.positive_class(data)
        found = {x: {name: [float(unit * n) for n in pair] for name, pair in of.items()} for x, of in counts.items()}
        return {"favourable": None if number is None else data.classes[number], "counts": found}


class Bounded:
    """What `side` says of the rates `notion`; compared with a number it is the limit for `subject_to`."""

    __slots__ = ()

    def _compared(self: Any, relation: str, limit: Any) -> RateLimit:
        wanted, end = ("<=", "above") if self.side in FROM_ABOVE else (">=", "below")
        if relation == wanted:
            return RateLimit(self.notion, self.side, limit)
        if relation == wanted[0]:
            raise TaskError(f"write {wanted} {limit!r}: a limit holds with equality too")
        raise TaskError(f"the {self.side} of {self.notion} can be bounded from {end} only: write {wanted} {limit!r}")

    __le__, __ge__ = functools.partialmethod(_compared, "<="), functools.partialmethod(_compared, ">=")
    __lt__, __gt__ = functools.partialmethod(_compared, "<"), functools.partialmethod(_compared, ">")


FROM_ABOVE = ("gap", "highest")
"""What of rates is limited from above; the ratio and the lowest one are from below."""


@attrs.frozen(order=False)
class Rate(Bounded, Events):
    """Rates of events: the share of the rows that count to which each happens."""

    of_classes: ClassVar[bool] = True
    side: ClassVar[str] = "lowest"

    @property
    def notion(self) -> Rate:
        return self

    def sizes(self, kind: str, data: Dataset) -> dict[str, int]:
        """What the rows of each group weigh over which a rate is taken."""
        groups = self.groups(data, 2)
        return dict(zip(groups.names, groups.sizes(self.counted(kind, data), integer_weights(data)[0]), strict=True))

    def _pairs(self, data: Dataset) -> list[tuple[Shares, int]]:
        """The imbalance of every two groups, by kind of rate: n_b p_a - n_a p_b, and n_a n_b."""
        found: list[tuple[Shares, int]] = []
        for kind in self.rates:
            for (a, of_a), (b, of_b) in itertools.combinations(self.sizes(kind, data).items(), 2):
                common = math.gcd(of_a, of_b)
                shares = {(kind, a): of_b // common, (kind, b): -(of_a // common)}
                found.append((shares, of_a * of_b // common))
        return found

    def ratios(self, data: Dataset) -> tuple[tuple[RowSum, int], ...]:
        pairs = self._pairs(data)
        sums = self.sums_of([(shares, None, None) for shares, _ in pairs], data)
        return tuple((signed, size) for signed, (_, size) in zip(sums, pairs, strict=True))

    def sums(self, side: str, limit: Fraction, data: Dataset) -> list[RowSum]:
        """The sums that say that the gap, the ratio, the lowest or the highest rate is within the limit."""
        wanted: list[Bounds] = []
        if side == "gap":
            for shares, size in self._pairs(data):
                most = limit.numerator * size // limit.denominator
                wanted.append((shares, -most, most))
            return self.sums_of(wanted, data)
        sign = 1 if side == "lowest" else -1
        for kind in self.rates:
            sizes = self.sizes(kind, data)
            for a, b in itertools.permutations(sizes, 2) if side == "ratio" else ():
                more, less = limit.denominator * sizes[b], limit.numerator * sizes[a]
                common = math.gcd(more, less)
                wanted.append(({(kind, a): more // common, (kind, b): -less // common}, 0, None))
            for group, size in sizes.items() if side != "ratio" else ():
                wanted.append(({(kind, group): sign}, math.ceil(sign * limit * size), None))
        return self.sums_of(wanted, data)

    def __str__(self) -> str:
        """As it is written, without what is None."""
        given = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        told = [repr(x) if name == "feature" else f"{name}={x!r}" for name, x in given.items() if x is not None]
        return f"{type(self).__name__}({', '.join(told)})"


@attrs.frozen(order=False)
class GroupRates(Rate, Gap):
    """Rates by group; `rates <= limit` limits the gap between the groups, for `subject_to`."""

    side: ClassVar[str] = "gap"

    feature: Any = attrs.field(default=None, converter=listed)

    @property
    def ratio(self) -> Side:
        """The smallest rate of a group by the largest one, for a limit such as `DemographicParity().ratio >= 0.8`."""
        return Side(self, "ratio")

    @property
    def lowest(self) -> Side:
        """The smallest rate of a group, for a limit such as `EqualOpportunity().lowest >= 0.7`."""
        return Side(self, "lowest")

    @property
    def highest(self) -> Side:
        """The largest rate of a group, for a limit such as `ErrorRateParity().highest <= 0.2`."""
        return Side(self, "highest")

    def sizes(self, kind: str, data: Dataset) -> dict[str, int]:
        """As of any rates; raises InputError for a group without any rows that count."""
        sizes = super().sizes(kind, data)
        empty = [group for group, size in sizes.items() if size == 0]
        if empty:
            of_kind = "" if kind in ("all", "errors") else f"{kind} "
            remedy = f"its rate for {type(self).__name__} is undefined; leave it out"
            raise InputError(ROW_DATA, f"group {empty[0]!r} has no {of_kind}rows of any weight", remedy)
        return sizes


@attrs.frozen(order=False)
class RightPredictions(Rate):
    """A rate of right predictions in two classes; `rate >= limit` is the limit for `subject_to`.

    `positive` is the positive class, the second of two in sorted order unless it is given.
    """

    one_sided: ClassVar[bool] = True

    positive: Any = attrs.field(default=None, kw_only=True)

    def positive_class(self, data: Dataset) -> int:
        return positive_number(data, self.positive, type(self).__name__)

    def groups(self, data: Dataset, fewest: int = 0) -> Groups:
        return Groups(("",), np.zeros(data.n_rows, np.int64))


@final
@attrs.frozen(order=False)
class Recall(RightPredictions):
    """The share of the positive rows that are predicted positive (sensitivity, true positive rate)."""

    rates: ClassVar[tuple[str, ...]] = ("positive",)


@final
@attrs.frozen(order=False)
class Specificity(RightPredictions):
    """The share of the negative rows that are predicted negative (true negative rate)."""

    rates: ClassVar[tuple[str, ...]] = ("true negatives",)


@final
@attrs.frozen(order=False)
class Precision(RightPredictions):
    """The share of the rows predicted positive that are positive."""

    rates: ClassVar[tuple[str, ...]] = ("positive", "false positives")

    def counts(self, data: Dataset, predicted: Array) -> Counts:
        (right, _), (wrong, _) = (of[""] for of in super().counts(data, predicted).values())
        return {"predicted positive": {"": (right, right + wrong)}}

    def sums(self, side: str, limit: Fraction, data: Dataset) -> list[RowSum]:
        """TP / (TP + FP) >= u / v where (v - u) TP - u FP >= 0."""
        worth = limit.denominator - limit.numerator, -limit.numerator
        shares = {(event, ""): each for event, each in zip(self.rates, worth, strict=True)}
        return self.sums_of([(shares, 0, None)], data)


def _check_rate(limit: Any, attribute: Any, value: Any) -> None:
    check_kind(attribute.name, value, Rate)


@final
@attrs.frozen(order=False)
class Side(Bounded):
    """A ratio of rates, the lowest or the highest one."""

    notion: Rate = attrs.field(validator=_check_rate)
    side: str


@final
@attrs.frozen
class RateLimit(SumLimit):
    """A limit on the gap, the ratio, the lowest or the highest of some rates."""

    notion: Rate = attrs.field(validator=_check_rate)
    side: str = attrs.field(validator=attrs.validators.in_(("gap", "ratio", "lowest", "highest")))
    limit: Any = attrs.field(validator=Range(0, 1, meaning="a rate, a ratio of rates, or a gap between them"))

    @functools.cached_property
    def _exact(self) -> Fraction:
        return Fraction(exact_number(self.limit))

    @property
    def of_classes(self) -> bool:  # type: ignore[override]
        return self.notion.of_classes

    @property
    def one_sided(self) -> bool:
        return self.side != "gap" or self.notion.one_sided

    @property
    def positive(self) -> Any:
        """The class that is called positive, if one was chosen."""
        return self.notion.positive

    def positive_class(self, data: Dataset) -> int | None:
        """Its number, or that of the class that is taken."""
        return self.notion.positive_class(data)

    @property
    def relation(self) -> str:
        """How the limited quantity is compared with the limit."""
        return "<=" if self.side in FROM_ABOVE else ">="

    @property
    def _of(self) -> str:
        return "" if self.side == self.notion.side else f".{self.side}"

    def __str__(self) -> str:
        return f"{self.notion}{self._of} {self.relation} {self.limit}"

    def bounded_sums(self, data: Dataset) -> tuple[RowSum, ...]:
        return tuple(self.notion.sums(self.side, self._exact, data))

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        rate, counts, exact = self.notion, self.notion.counts(data, predicted), self._exact
        each, is_upper = [measure(self.side, counts, kind) for kind in counts], self.relation == "<="
        value = max(each) if is_upper else min(each)
        holds = value <= exact if is_upper else value >= exact
        told = {"limit_on": type(rate).__name__ + self._of, "value": float(value), "limit": float(exact)}
        told |= {"relation": self.relation, "holds": holds, "rates": {}}
        if not isinstance(rate, GroupRates):
            return told
        return told | {"rates": shares(counts)} | rate.told(data, counts)


def shares(counts: Counts) -> dict[str, dict[str, float]]:
    """The rate of every group that has rows to take it over, by kind of event."""
    return {kind: {name: hits / size for name, (hits, size) in of.items() if size} for kind, of in counts.items()}


MEASURES: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "gap": lambda rates: max(rates) - min(rates),
    "ratio": lambda rates: min(rates) / max(rates) if max(rates) else Fraction(1),
    "lowest": min,
    "highest": max,
}
"""What is limited of the rates of groups; a ratio is 1 where all are 0."""


def measure(side: str, counts: Counts, kind: str) -> Fraction:
    """What `MEASURES` says of the rates of a kind; one over no rows is 1."""
    return MEASURES[side]([Fraction(*each) if each[1] else Fraction(1) for each in counts[kind].values()])
