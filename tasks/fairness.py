"""Group fairness: rates of an event among the rows of each group, how far they lie apart or what they must reach.

A notion takes a rate of each group g, of the rows that count there:

    DemographicParity    |{x in g: tree(x) = +}| / |g|
    EqualOpportunity     the same of the positive rows only: true positive rates
    PredictiveEquality   the same of the negative rows only: false positive rates
    EqualizedOdds        the last two
    ErrorRateParity      |{x in g: tree(x) is wrong}| / |g|
    TreatmentParity      |{x in g: policy(x) is a treatment that counts}| / |g|

and is limited as a gap, a ratio, or by group, as `streed.tasks.rates` says. A ratio of 4 / 5 is the four-fifths rule on
selection rates (29 CFR 1607.4 D). The same FN / FP in every group, treatment equality (Berk et al. 2021), is no linear
condition; that the ratio lies between two numbers is one:

    TreatmentEquality(l, h)    l FP_a <= FN_a <= h FP_a of every group a

The groups are row data, `sensitive_features`: one column of any kind, or a table with named ones of which a notion
names one, or several whose combinations are the groups. They are no columns of X, unless the caller puts them there.

>>> import streed
>>> from streed.tasks import Accuracy, DemographicParity
>>> X, y, sex = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 0, 1, 1] * 2, ["f", "m", "m", "m", "f", "f", "m", "m"]
>>> streed.solve(Accuracy().subject_to(DemographicParity() <= 0.1), X, y, max_depth=2, sensitive_features=sex).value
4
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, check_known
from streed.exact import Array, Range, exact_number
from streed.task.bounded_sums import RowSum, SumLimit, integer_weights
from streed.tasks.outcome_scores import treatments
from streed.tasks.rates import Events, GroupRates, listed

RATES = {
    "all": "rate of favourable predictions",
    "positive": "true positive rate",
    "negative": "false positive rate",
    "errors": "rate of errors",
}
"""What each kind of rate is called."""


@attrs.frozen(order=False)
class Fairness(GroupRates):
    """A notion of fairness of classes by `feature`, the sensitive column or several (None: the only one).

    `notion <= limit` is the limit for `subject_to`. `positive` is the favourable label (None: the second of two).
    """

    positive: Any = attrs.field(default=None, kw_only=True)


@final
@attrs.frozen(order=False)
class DemographicParity(Fairness):
    """The gap between groups in the rate of favourable predictions (statistical parity)."""


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


@final
@attrs.frozen(order=False)
class TreatmentParity(GroupRates):
    """The gap between groups in the share of rows that a policy treats; `TreatmentParity() <= 0.1` is the limit.

    `feature` names the sensitive column, or several; None where there is but one. `treated`: the treatments that count,
    every one but the first unless they are given.
    """

    treated: Any = attrs.field(default=None, converter=listed, kw_only=True)

    of_classes: ClassVar[bool] = False

    def positive_class(self, data: Dataset) -> None:
        return None

    def n_labels(self, data: Dataset) -> int:
        return len(treatments(data))

    def happens(self, kind: str, labels: Array, data: Dataset) -> Array:
        known = treatments(data)
        wanted = self.treated if isinstance(self.treated, tuple) else (self.treated,)
        check_known("treated", () if self.treated is None else wanted, known, "treatment")
        treats = [place > 0 if self.treated is None else each in wanted for place, each in enumerate(known)]
        return np.asarray(np.array(treats)[labels])


@final
@attrs.frozen
class TreatmentEquality(Events, SumLimit):
    """In every group there are `low` to `high` false negatives for each false positive.

    `feature` names the sensitive column, or several, and `positive` the favourable label, as of notions of fairness.
    """

    rates: ClassVar[tuple[str, ...]] = ("false negatives", "false positives")
    one_sided: ClassVar[bool] = True

    low: Any = attrs.field(validator=Range(0))
    high: Any = attrs.field(validator=Range(0))
    feature: Any = attrs.field(default=None, converter=listed)
    positive: Any = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if exact_number(self.low) > exact_number(self.high):
            raise InputError("low", f"{self.low!r} is above {self.high!r}", "give the smaller ratio first")

    def _ends(self) -> tuple[Fraction, Fraction]:
        return Fraction(exact_number(self.low)), Fraction(exact_number(self.high))

    def bounded_sums(self, data: Dataset) -> tuple[RowSum, ...]:
        low, high = self._ends()
        ends = [(low.denominator, -low.numerator), (-high.denominator, high.numerator)]
        names = itertools.product(self.groups(data).names, ends)
        shares = (dict(zip(itertools.product(self.rates, [group]), each, strict=True)) for group, each in names)
        return tuple(self.sums_of([(each, 0, None) for each in shares], data))

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        low, high = self._ends()
        missed, false = self.counts(data, predicted).values()
        pairs = {name: (fn, false[name][0]) for name, (fn, _) in missed.items()}
        beyond = max(Fraction(0), *(max(low * fp - fn, fn - high * fp) for fn, fp in pairs.values()))
        value = float(integer_weights(data)[1] * beyond)
        told = {"limit_on": type(self).__name__, "value": value, "limit": 0.0, "relation": "<=", "holds": beyond == 0}
        return told | {"rates": {}} | self.told(data, {", ".join(self.rates): pairs})
