"""Prescriptive policies: the treatment for each leaf whose outcomes, as past data tell them, are best on average.

    maximise (1 / n) * sum over rows i of score[i, treatment of the leaf of i]

where past outcomes y_i of treatments k_i, their propensities mu_i and predicted outcomes v_i[k] give the scores:

    "dm"   direct method, regress and compare    v_i[k]                                         (STreeD, Eq. 62)
    "ipw"  inverse propensity weighting          [k = k_i] y_i / mu_i                           (Eq. 63, with outcomes)
    "dr"   doubly robust                         v_i[k] + [k = k_i] (y_i - v_i[k_i]) / mu_i     (Eq. 64)

Separable: a sum over rows (Eq. 65); with a limit on `TreatmentCosts` by Prop. A.3 and A.4. Row data: `treatment` (n,),
`outcome` (n,), `propensity`, of the treatment that was given (n,) or of all (n, K), and `predicted` (n, K). Scores of
one's own go in as `predicted` of the direct method. Reference: STreeD, Appendix D.

>>> import streed
>>> from streed.tasks import PolicyValue
>>> past = {"treatment": ["a", "b", "a", "b"], "outcome": [2, 1, 0, 3], "propensity": [0.5, 0.5, 0.5, 0.5]}
>>> result = streed.solve(PolicyValue("ipw"), [[0], [0], [1], [1]], max_depth=1, **past)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(2.5, ['a', 'b'])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array, Range
from streed.task import Composition, RowCostTask, State, Task
from streed.task.algebra import scale
from streed.tasks.outcome_scores import METHODS, check_given, estimates, treatments

if TYPE_CHECKING:
    from streed.data import Dataset


def _known_method(task: PolicyValue, attribute: Any, value: Any) -> None:
    if value not in METHODS:
        raise InputError("method", f"{value!r}", f"use one of {', '.join(METHODS)}")


@final
@attrs.frozen
class PolicyLoss(RowCostTask):
    """Minus the sum of the estimated outcomes, row weights counting."""

    method: str
    known: tuple[Any, ...]
    """The treatments, of which some may occur in no row of a part of the data."""

    def row_costs(self, data: Dataset) -> Array:
        return -estimates(self.method, data, self.known)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.known


@final
@attrs.frozen
class PolicyValue(Composition):
    """The (weighted) mean of the estimated outcomes, maximised; `method` is "dm", "ipw" or "dr"."""

    method: str = attrs.field(default="dr", validator=_known_method)

    @property
    def larger_is_better(self) -> bool:
        return True

    def compose(self, data: Dataset) -> Task:
        known = treatments(data)
        check_given(self.method, data, known)
        return scale(Fraction(1) / Fraction(sum(data.class_totals())), PolicyLoss(self.method, known))

    def labels(self, data: Dataset) -> Sequence[Any]:
        return treatments(data)

    def score(self, value: Any, totals: State) -> Any:
        return -value


def _copied(costs: Mapping[Any, Any]) -> dict[Any, Any]:
    if not isinstance(costs, Mapping):
        raise InputError("costs", f"{costs!r} maps no treatments", 'give a dict, such as {"surgery": 1}')
    return {treatment: Range(0, meaning=f"of {treatment!r}").read("costs", cost) for treatment, cost in costs.items()}


@final
@attrs.frozen
class TreatmentCosts(RowCostTask):
    """What the treatments of all rows use up, by treatment; those that `costs` does not name use nothing.

    A limit on it is a capacity, `TreatmentCosts({"surgery": 1}) <= 100`, or a budget.
    """

    worsening: ClassVar[bool] = True

    costs: Mapping[Any, Any] = attrs.field(converter=_copied, hash=False)

    def row_costs(self, data: Dataset) -> Array:
        known = treatments(data)
        for treatment in self.costs:
            if treatment not in known:
                raise InputError("costs", f"there is no treatment {treatment!r}", f"the treatments are {known!r}")
        costs = [self.costs.get(treatment, 0) for treatment in known]
        whole = all(isinstance(cost, int) for cost in costs)
        return np.tile(np.array(costs, np.int64 if whole else object), (data.n_rows, 1))

    def labels(self, data: Dataset) -> Sequence[Any]:
        return treatments(data)
