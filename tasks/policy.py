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

from streed.algebra import scale
from streed.errors import InputError
from streed.exact import Array, exact_number
from streed.task import Composition, RowCostTask, State, Task
from streed.tasks.given import row_array, row_matrix, row_numbers

if TYPE_CHECKING:
    from streed.data import Dataset

METHODS = ("dm", "ipw", "dr")


def treatments(data: Dataset) -> tuple[Any, ...]:
    """The treatments of a data set, in order: the columns of `predicted` by name, or those given in the past.

    Columns without names are those of the sorted treatments, or numbered from 0. Raises InputError where the two do not
    fit, and where there is neither.
    """
    given = None if "treatment" not in data.row_data else _distinct(data.row_data["treatment"])
    if "predicted" not in data.row_data:
        if given is None:
            raise InputError("treatment", "there is neither treatment= nor predicted=", "give one of them to solve")
        return given
    predicted, names = row_matrix(data, "predicted", "the policy")
    width = predicted.shape[1]
    known = tuple(range(width)) if names is None else names
    if given is None or set(given) <= set(known):
        return known
    if names is None and len(given) == width:
        return given
    found = f"its columns are {known!r}, and the treatments {given!r}"
    raise InputError("predicted", found, "give a column per treatment, named by it in a table")


def scores(method: str, data: Dataset) -> Array:
    """(n, K) the estimated outcome of each row under each treatment, by a method of METHODS.

    Raises InputError for row data that are missing, propensities that are not above 0 and at most 1, and treatments
    that were never given, which only the direct method can value.
    """
    known = treatments(data)
    _check_given(method, data, known)
    return _estimates(method, data, known)


def _check_given(method: str, data: Dataset, known: Sequence[Any]) -> None:
    """Raises InputError if the method cannot value a treatment, because it was never given."""
    if method == "dm":
        return
    given = set(row_array(data, "treatment", f"PolicyValue({method!r})").tolist())
    never = [treatment for treatment in known if treatment not in given]
    if never:
        raise InputError("treatment", f"{never[0]!r} was never given", 'leave it out, or use method "dm"')


def _estimates(method: str, data: Dataset, known: Sequence[Any]) -> Array:
    """The scores by treatments that need not all occur."""
    predicted = None if method == "ipw" else row_matrix(data, "predicted", f"PolicyValue({method!r})")[0]
    if method == "dm":
        assert predicted is not None
        return predicted
    asked_by = f"PolicyValue({method!r})"
    place_of = {treatment: place for place, treatment in enumerate(known)}
    given = np.array([place_of[treatment] for treatment in row_array(data, "treatment", asked_by).tolist()])
    outcome = row_numbers(data, "outcome", asked_by)
    propensity = _propensity(data, given, asked_by)
    rows = np.arange(data.n_rows)
    estimated = np.zeros((data.n_rows, len(known))) if predicted is None else predicted.astype(np.float64)
    estimated[rows, given] += (outcome - estimated[rows, given]) / propensity
    return estimated


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
        return -_estimates(self.method, data, self.known)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.known


@final
@attrs.frozen
class PolicyValue(Composition):
    """The (weighted) mean of the estimated outcomes, maximised; `method` is "dm", "ipw" or "dr"."""

    maximize: ClassVar[bool] = True

    method: str = attrs.field(default="dr", validator=_known_method)

    def compose(self, data: Dataset) -> Task:
        known = treatments(data)
        _check_given(self.method, data, known)
        return scale(Fraction(1) / Fraction(sum(data.class_totals())), PolicyLoss(self.method, known))

    def labels(self, data: Dataset) -> Sequence[Any]:
        return treatments(data)

    def score(self, value: Any, totals: State) -> Any:
        return -value


def _copied(costs: Mapping[Any, Any]) -> dict[Any, Any]:
    if not isinstance(costs, Mapping):
        raise InputError("costs", f"{costs!r} maps no treatments", 'give a dict, such as {"surgery": 1}')
    return {treatment: exact_number(cost, "costs") for treatment, cost in costs.items()}


def _affordable(task: TreatmentCosts, attribute: Any, value: Any) -> None:
    if min(value.values(), default=0) < 0:
        raise InputError("costs", "a treatment costs less than nothing", "give costs >= 0")


@final
@attrs.frozen
class TreatmentCosts(RowCostTask):
    """What the treatments of all rows use up, by treatment; those that `costs` does not name use nothing.

    A limit on it is a capacity, `TreatmentCosts({"surgery": 1}) <= 100`, or a budget.
    """

    worsening: ClassVar[bool] = True

    costs: Mapping[Any, Any] = attrs.field(converter=_copied, validator=_affordable, hash=False)

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


def _distinct(values: Array) -> tuple[Any, ...]:
    try:
        return tuple(sorted(set(values.tolist())))
    except TypeError:
        raise InputError("treatment", "its values cannot be sorted", "use texts only, or numbers only") from None


def _propensity(data: Dataset, given: Array, asked_by: str) -> Array:
    """(n,) the propensity of the treatment that each row was given."""
    values = row_array(data, "propensity", asked_by)
    if values.dtype.names is None and values.ndim == 1:
        propensity = row_numbers(data, "propensity", asked_by)
    else:
        of_all, _ = row_matrix(data, "propensity", asked_by)
        if of_all.shape[1] <= given.max():
            found = f"it has {of_all.shape[1]} columns for {len(treatments(data))} treatments"
            raise InputError("propensity", found, "give one column per treatment, or one number per row")
        propensity = of_all[np.arange(len(given)), given]
    outside = ~((propensity > 0) & (propensity <= 1))
    if outside.any():
        row = int(np.argmax(outside))
        found = f"row {row} has {propensity[row]} for the treatment that it was given"
        raise InputError(
            "propensity", found, "give probabilities above 0 and at most 1; raise those near 0, or drop them"
        )
    return propensity
