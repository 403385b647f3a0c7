"""Treatment parity: how far apart the groups' shares of treated rows lie under a policy, limited exactly.

    TreatmentParity    |{x in g: policy(x) is a treatment that counts}| / |g|, largest minus smallest over the groups g

It is demographic parity of a policy (`streed.tasks.fairness`), whose leaves show treatments and no classes: the same
imbalances n_b p_a - n_a p_b of every two groups, whole numbers that a limit bounds, which a limit on `TreatmentCosts`
(a capacity or a budget) may stand beside. Row data: what the policy's task needs, and `sensitive_features`.

>>> from streed.tasks import PolicyValue, TreatmentCosts, TreatmentParity
>>> policy = PolicyValue("dm").subject_to(TreatmentCosts({"drug": 1}) <= 100, TreatmentParity("sex") <= 0.1)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import BoundedSum, SumLimit, integer_weights
from streed.tasks.outcome_scores import treatments
from streed.tasks.sensitive_groups import Groups, check_sizes, groups_of, present_groups

if TYPE_CHECKING:
    from streed.data import Dataset


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, set, frozenset)) else value


@final
@attrs.frozen(order=False)
class TreatmentParity:
    """The gap between groups in the share of rows that are treated; `TreatmentParity() <= 0.1` is the limit.

    `feature` names the sensitive column, or several; None where there is but one. `treated`: the treatments that count,
    every one but the first unless they are given.
    """

    feature: Any = attrs.field(default=None, converter=_listed)
    treated: Any = attrs.field(default=None, converter=_listed, kw_only=True)

    def __str__(self) -> str:
        given = [] if self.feature is None else [repr(self.feature)]
        given += [] if self.treated is None else [f"treated={self.treated!r}"]
        return f"{type(self).__name__}({', '.join(given)})"

    def __le__(self, limit: Any) -> TreatmentParityLimit:
        return TreatmentParityLimit(self, limit)

    def __lt__(self, limit: Any) -> Any:
        raise TaskError(f"write {self} <= {limit!r}: a limit holds with equality too")

    def __ge__(self, limit: Any) -> Any:
        raise TaskError(f"{type(self).__name__} is a gap, which can be bounded from above only: write <= {limit!r}")

    def counting(self, data: Dataset) -> Array:
        """(K,) int64, 0 or 1: which treatments count."""
        known = treatments(data)
        if self.treated is None:
            return np.array([place > 0 for place in range(len(known))], dtype=np.int64)
        wanted = self.treated if isinstance(self.treated, tuple) else (self.treated,)
        for treatment in wanted:
            if treatment not in known:
                raise InputError("treated", f"there is no treatment {treatment!r}", f"they are {known!r}")
        return np.array([treatment in wanted for treatment in known], dtype=np.int64)


@final
@attrs.frozen
class _Imbalance:
    """What treating a row adds to the imbalance of two groups, for any rows."""

    notion: TreatmentParity
    counting: tuple[int, ...]
    shares: Mapping[str, int]
    """By the name of each of the two groups."""

    def __call__(self, data: Dataset) -> Array:
        return self.of(present_groups(self.notion, data))

    def of(self, groups: Groups) -> Array:
        """(n, K) int64."""
        shares = np.array([self.shares.get(name, 0) for name in groups.names], np.int64)[groups.number]
        return shares[:, None] * np.array(self.counting, np.int64)


@final
@attrs.frozen
class TreatmentParityLimit(SumLimit):
    """At most a given gap between the groups' shares of treated rows; written `TreatmentParity() <= 0.1`."""

    of_classes: ClassVar[bool] = False

    notion: TreatmentParity
    limit: Any = attrs.field(validator=Range(0, 1, meaning="a gap between shares"))

    def __str__(self) -> str:
        return f"{self.notion} <= {self.limit}"

    def bounded_sums(self, data: Dataset) -> tuple[BoundedSum, ...]:
        limit = Fraction(exact_number(self.limit))
        weights, _ = integer_weights(data)
        groups = groups_of(self.notion, data)
        sizes = dict(zip(groups.names, groups.sizes(None, weights), strict=True))
        check_sizes(sizes, "all", type(self.notion).__name__)
        counting = tuple(self.notion.counting(data).tolist())
        found = []
        for a, b in itertools.combinations(groups.names, 2):
            common = math.gcd(sizes[a], sizes[b])
            imbalance = _Imbalance(self.notion, counting, {a: sizes[b] // common, b: -(sizes[a] // common)})
            most = math.floor(limit * (sizes[a] * sizes[b] // common))
            found.append(BoundedSum(imbalance.of(groups), -most, most, imbalance))
        return tuple(found)

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        weights, unit = integer_weights(data)
        groups = groups_of(self.notion, data)
        hits = groups.sizes(self.notion.counting(data)[predicted] == 1, weights)
        sizes = groups.sizes(None, weights)
        rates = [Fraction(*each) for each in zip(hits, sizes, strict=True)]
        value, limit = max(rates) - min(rates), Fraction(exact_number(self.limit))
        told = zip(groups.names, hits, sizes, strict=True)
        return {
            "limit_on": type(self.notion).__name__,
            "value": float(value),
            "limit": float(limit),
            "relation": "<=",
            "holds": value <= limit,
            "rates": {"all": dict(zip(groups.names, map(float, rates), strict=True))},
            "counts": {"all": {name: [float(unit * part), float(unit * whole)] for name, part, whole in told}},
        }
