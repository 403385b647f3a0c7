"""Rates of an event among the rows of each group, and limits on them: `streed.tasks.fairness` says which and how."""

from __future__ import annotations

import abc
import functools
import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, Gap, Ratio, SumLimit, integer_weights, sum_at_least
from streed.tasks.sensitive_groups import check_sizes, groups_of, present_groups

if TYPE_CHECKING:
    from streed.data import Dataset


def listed(value: Any) -> Any:
    """The value, as a tuple where it lists several."""
    return tuple(value) if isinstance(value, (list, set, frozenset)) else value


@attrs.frozen(order=False)
class GroupRates(Gap):
    """Rates of events by group; `rates <= limit` limits the gap between the groups, for `subject_to`."""

    feature: Any = attrs.field(default=None, converter=listed)

    rates: ClassVar[tuple[str, ...]] = ("all",)
    of_classes: ClassVar[bool] = True

    @abc.abstractmethod
    def happens(self, kind: str, labels: Array, data: Dataset) -> Array:
        """Whether the event happens to rows of these labels: (n,) of a label each, or (n or 1, K) of (1, K) labels."""

    def counted(self, kind: str, data: Dataset) -> Array | None:
        """(n,) bool: the rows over which a rate is taken; None for all."""
        return None

    def n_labels(self, data: Dataset) -> int:
        """How many labels there are."""
        return data.n_classes

    def favourable(self, data: Dataset) -> Any:
        """The label that is favourable; None if there is no such."""
        return None

    def __str__(self) -> str:
        given = []
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            if value is not None:
                given.append(repr(value) if field.name == "feature" else f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"

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
        """What the rows of each group weigh over which a rate is taken; raises InputError for groups without any."""
        weights, _ = integer_weights(data)
        groups = groups_of(self, data)
        sizes = dict(zip(groups.names, groups.sizes(self.counted(kind, data), weights), strict=True))
        check_sizes(sizes, kind, type(self).__name__)
        return sizes

    def ratios(self, data: Dataset) -> tuple[Ratio, ...]:
        """The imbalance of every two groups, by kind of rate: n_b p_a - n_a p_b, and n_a n_b."""
        found = []
        for kind in self.rates:
            sizes = self.sizes(kind, data)
            for a, b in itertools.combinations(sizes, 2):
                common = math.gcd(sizes[a], sizes[b])
                costs = _Weighed(self, kind, {a: sizes[b] // common, b: -(sizes[a] // common)})
                found.append(Ratio(costs(data), sizes[a] * sizes[b] // common, costs))
        return tuple(found)

    def __le__(self, limit: Any) -> GroupLimit:
        return GroupLimit(self, "gap", limit)

    def __lt__(self, limit: Any) -> GroupLimit:
        raise TaskError(f"write {type(self).__name__}(...) <= {limit!r}: a limit holds with equality too")

    def __ge__(self, limit: Any) -> GroupLimit:
        raise TaskError(f"{type(self).__name__} is a gap, which can be bounded from above only: write <= {limit!r}")


@final
@attrs.frozen
class _Weighed:
    """What an event adds, by the group that the row is in, for any rows."""

    notion: GroupRates
    kind: str
    shares: Mapping[str, int]

    def __call__(self, data: Dataset) -> Array:
        groups, counted = present_groups(self.notion, data), self.notion.counted(self.kind, data)
        shares = np.array([self.shares.get(name, 0) for name in groups.names], np.int64)[groups.number]
        if counted is not None:
            shares = shares * counted
        labels = np.arange(self.notion.n_labels(data))[None, :]
        found: Array = shares[:, None] * self.notion.happens(self.kind, labels, data)
        return found


def _check_notion(limit: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, GroupRates):
        raise InputError("notion", f"{value!r} is no notion of fairness", "give one such as DemographicParity()")


@final
@attrs.frozen(order=False)
class Side:
    """A ratio of rates, the lowest or the highest one; compared with a number it is the limit for `subject_to`."""

    notion: GroupRates = attrs.field(validator=_check_notion)
    side: str

    def __ge__(self, limit: Any) -> GroupLimit:
        if self.side == "highest":
            raise TaskError(f"the highest rate is bounded from above: write <= {limit!r}")
        return GroupLimit(self.notion, self.side, limit)

    def __le__(self, limit: Any) -> GroupLimit:
        if self.side != "highest":
            raise TaskError(f"a rate is bounded from below here: write >= {limit!r}")
        return GroupLimit(self.notion, self.side, limit)

    def __gt__(self, limit: Any) -> Any:
        raise TaskError(f"write >= {limit!r}: a limit holds with equality too")

    def __lt__(self, limit: Any) -> Any:
        raise TaskError(f"write <= {limit!r}: a limit holds with equality too")


@final
@attrs.frozen
class GroupLimit(SumLimit):
    """A limit on the gap, the ratio, the lowest or the highest of the groups' rates."""

    notion: GroupRates = attrs.field(validator=_check_notion)
    side: str = attrs.field(validator=attrs.validators.in_(("gap", "ratio", "lowest", "highest")))
    limit: Any = attrs.field(validator=Range(0, 1, meaning="a rate, a ratio of rates, or a gap between them"))

    @property
    def of_classes(self) -> bool:  # type: ignore[override]
        return self.notion.of_classes

    @property
    def one_sided(self) -> bool:
        """Whether the other class would be another question."""
        return self.side != "gap"

    @property
    def relation(self) -> str:
        """How the limited quantity is compared with the limit."""
        return "<=" if self.side in ("gap", "highest") else ">="

    @property
    def _of(self) -> str:
        return "" if self.side == "gap" else f".{self.side}"

    def __str__(self) -> str:
        return f"{self.notion}{self._of} {self.relation} {self.limit}"

    @functools.cached_property
    def _exact(self) -> Fraction:
        return Fraction(exact_number(self.limit))

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        found, limit = [], self._exact
        if self.side == "gap":
            for ratio in self.notion.ratios(data):
                most = math.floor(limit * ratio.size)
                found.append(BoundedSum(ratio.costs, -most, most, ratio.on))
            return tuple(found)
        for kind in self.notion.rates:
            sizes = self.notion.sizes(kind, data)
            if self.side == "ratio":
                for a, b in itertools.permutations(sizes, 2):
                    more, less = limit.denominator * sizes[b], limit.numerator * sizes[a]
                    common = math.gcd(more, less)
                    shares = {a: more // common, b: -less // common}
                    found.append(sum_at_least(_Weighed(self.notion, kind, shares), 0, data))
                continue
            sign = 1 if self.side == "lowest" else -1
            for group, size in sizes.items():
                costs = _Weighed(self.notion, kind, {group: sign})
                found.append(sum_at_least(costs, math.ceil(sign * limit * size), data))
        return tuple(found)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        counts = group_counts(self.notion, data, predicted)
        unit: Any = integer_weights(data)[1]
        unit = 1 if unit == 1 else unit  # fractions take ten times as long
        measures: dict[str, Callable[[Counts, str], Fraction]] = {"gap": gap_of, "ratio": ratio_of}
        measures |= {
            "lowest": lambda of, kind: min(_rates(of, kind)),
            "highest": lambda of, kind: max(_rates(of, kind)),
        }
        each = [measures[self.side](counts, kind) for kind in counts]
        value = max(each) if self.relation == "<=" else min(each)
        return {
            "limit_on": type(self.notion).__name__ + self._of,
            "value": float(value),
            "limit": float(self._exact),
            "relation": self.relation,
            "holds": value <= self._exact if self.relation == "<=" else value >= self._exact,
            "favourable": self.notion.favourable(data),
            "rates": {kind: {name: hits / size for name, (hits, size) in of.items()} for kind, of in counts.items()},
            "counts": {
                kind: {name: [float(unit * part) for part in pair] for name, pair in of.items()}
                for kind, of in counts.items()
            },
        }


Counts = Mapping[str, Mapping[str, tuple[int, int]]]
"""By kind of rate and group: what the rows weigh that the event happens to, and all that it may happen to."""


def group_counts(notion: GroupRates, data: Dataset, predicted: Array) -> Counts:
    """The counts for predictions (n,) that are numbers of labels; weights that are no whole numbers are scaled up.

    Counted anew from the raw rows, with nothing of the sums that a search bounds.
    """
    weights, _ = integer_weights(data)
    groups = groups_of(notion, data)
    found = {}
    for kind in notion.rates:
        counted, event = notion.counted(kind, data), notion.happens(kind, predicted, data)
        hits = groups.sizes(event if counted is None else event & counted, weights)
        found[kind] = dict(zip(groups.names, zip(hits, groups.sizes(counted, weights), strict=True), strict=True))
    return found


def group_rates(
    notion: GroupRates, data: Dataset, predicted: Array
) -> tuple[dict[str, Fraction], dict[str, dict[str, Fraction]]]:
    """(gap, rate of every group) by kind of rate, for predictions (n,) that are numbers of labels, row by row."""
    counts = group_counts(notion, data, predicted)
    rates = {kind: {name: Fraction(*each) for name, each in found.items()} for kind, found in counts.items()}
    return {kind: gap_of(counts, kind) for kind in counts}, rates


def _rates(counts: Counts, kind: str) -> list[Fraction]:
    return [Fraction(*each) for each in counts[kind].values()]


def gap_of(counts: Counts, kind: str) -> Fraction:
    """The largest rate of a kind minus the smallest one."""
    rates = _rates(counts, kind)
    return max(rates) - min(rates)


def ratio_of(counts: Counts, kind: str) -> Fraction:
    """The smallest rate of a kind by the largest one; 1 where all are 0."""
    rates = _rates(counts, kind)
    return min(rates) / max(rates) if max(rates) else Fraction(1)


_MEASURES: dict[str, Callable[[Counts, str], Fraction]] = {
    "gap": gap_of,
    "ratio": ratio_of,
    "lowest": lambda counts, kind: min(_rates(counts, kind)),
    "highest": lambda counts, kind: max(_rates(counts, kind)),
}
