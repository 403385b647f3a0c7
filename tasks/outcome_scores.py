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

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset, row_array, row_column, row_matrix, row_numbers
from streed.data.column import distinct
from streed.data.rows import named_labels
from streed.data.single_values import check_finite
from streed.errors import InputError, check_choice, check_known
from streed.exact import Array, Range
from streed.task import Composition, RowCostTask, State, Task
from streed.task.algebra import scale
from streed.tree import Tree

METHODS = ("dm", "ipw", "dr")


def treatments(data: Dataset) -> tuple[Any, ...]:
    """The treatments, in order: the columns of `predicted` by name, or by place those given in the past, or numbers.

    Raises InputError where the two do not fit, and where there is neither.
    """
    given = None
    if "treatment" in data.row_data:
        given = distinct(row_column(data, "treatment", "the policy"), "treatment", "it")[0]
    if "predicted" not in data.row_data:
        if given is None:
            raise InputError("treatment", "there is neither treatment= nor predicted=", "give one of them to solve")
        return given
    predicted, names = row_matrix(data, "predicted", "the policy")
    width = predicted.shape[1]
    known = named_labels(range(width) if names is None else names, given or ())
    if given is None or set(given) <= set(known):
        return known
    if names is None and len(given) == width:
        return given
    found = f"its columns are {known!r}, and the treatments {given!r}"
    raise InputError("predicted", found, "give a column per treatment, named by it in a table")


def scores(method: str, data: Dataset) -> Array:
    """(n, K) the estimated outcome of each row under each treatment, by a method of METHODS; or InputError."""
    known = treatments(data)
    check_given(method, data, known)
    return estimates(method, data, known)


def check_given(method: str, data: Dataset, known: Sequence[Any]) -> None:
    """Raises InputError if the method cannot value a treatment, because it was never given."""
    if method == "dm":
        return
    given = distinct(row_column(data, "treatment", f"PolicyValue({method!r})"), "treatment", "it")[0]
    never = [treatment for treatment in known if treatment not in given]
    if never:
        raise InputError("treatment", f"{never[0]!r} was never given", 'leave it out, or use method "dm"')


def estimates(method: str, data: Dataset, known: Sequence[Any]) -> Array:
    """The scores by treatments that need not all occur."""
    asked_by = f"PolicyValue({method!r})"
    predicted = None if method == "ipw" else row_matrix(data, "predicted", asked_by)[0]
    if predicted is not None and method == "dm":
        return predicted
    given = _places(row_column(data, "treatment", asked_by), known)
    outcome = row_numbers(data, "outcome", asked_by)
    propensity = _propensity(data, given, known, asked_by)
    rows = np.arange(data.n_rows)
    estimated = np.zeros((data.n_rows, len(known))) if predicted is None else predicted.astype(np.float64)
    with np.errstate(over="ignore"):
        estimated[rows, given] += (outcome - estimated[rows, given]) / propensity
    check_finite(estimated[rows, given], "outcome", "divided by its propensity, it")
    return estimated


def _places(values: Array, known: Sequence[Any]) -> Array:
    """(n,) which of the known treatments each is."""
    found, codes = distinct(values, "treatment", "it")
    return np.array(list(map(known.index, found)))[codes]


def _propensity(data: Dataset, given: Array, known: Sequence[Any], asked_by: str) -> Array:
    """(n,) the propensity of the treatment that each row was given, by its place among those that are known."""
    values = row_array(data, "propensity", asked_by)
    if values.dtype.names is None and values.ndim == 1:
        propensity = row_numbers(data, "propensity", asked_by)
    else:
        of_all, names = row_matrix(data, "propensity", asked_by)
        columns = tuple(known) if names is None else named_labels(names, known)
        if len(columns) != of_all.shape[1] or set(columns) != set(known):
            told = f"{of_all.shape[1]} columns for {len(known)} treatments" if names is None else f"columns {names!r}"
            remedy = f"give one column for each of {known!r}, or one number per row"
            raise InputError("propensity", f"it has {told}", remedy)
        if names is None and list(known) != sorted(known):
            found = f"its columns have no names, and those of predicted are {known!r}"
            raise InputError("propensity", found, "give a table whose columns are named by the treatments")
        places = np.array([columns.index(treatment) for treatment in known])
        propensity = of_all[np.arange(len(given)), places[given]]
    probability = Range(above=0, most=1, meaning="the probability of what the row was given; raise those near 0")
    return probability.read_rows("propensity", propensity)


@attrs.frozen
class Estimate:
    """A mean and its standard error."""

    value: float
    standard_error: float
    rows: int

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """The mean, z standard errors to either side."""
        return self.value - z * self.standard_error, self.value + z * self.standard_error


def policy_value(tree: Tree, X: Any, method: str = "dr", **past: Any) -> Estimate:
    """What the policy is worth on rows that it was not grown on, by a method of `PolicyValue`, with its standard error.

    `past` is what `streed.solve` takes: treatment, outcome, propensity, predicted, of these rows; predictions should be
    of models that have not seen them. Raises InputError as the task does, and for treatments that the data lack.
    """
    values = prescribed_scores(tree, X, method, past)
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(float(values.mean()), error, len(values))


def prescribed_scores(tree: Tree, X: Any, method: str, past: Mapping[str, Any]) -> Array:
    """(n,) the estimated outcome of each row under the treatment that the tree prescribes; as `policy_value`."""
    leaves = tree.apply(X)
    data = Dataset.make(np.zeros((len(leaves), 0), np.uint8), **past)
    place_of = {label: place for place, label in enumerate(treatments(data))}
    shown = tree.shows()
    for label in {shown[leaf] for leaf in np.unique(leaves).tolist()} - set(place_of):
        raise InputError("treatment", f"the policy prescribes {label!r}", f"the data know {list(place_of)}")
    places = np.array([place_of.get(label, -1) for label in shown])
    return np.asarray(scores(method, data)[np.arange(len(leaves)), places[leaves]])


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

    value_unit: ClassVar[str] = "mean outcome"
    larger_is_better: ClassVar[bool] = True

    method: str = attrs.field(default="dr", validator=lambda _, __, value: check_choice("method", value, METHODS))

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
    return {key: Range(0, meaning=f"of treatment {key!r}").read("costs", cost) for key, cost in costs.items()}


@final
@attrs.frozen
class TreatmentCosts(RowCostTask):
    """What the treatments of all rows use up, by treatment; those that `costs` does not name use nothing.

    A limit on it is a capacity, `TreatmentCosts({"surgery": 1}) <= 100`, or a budget.
    """

    value_unit: ClassVar[str] = "total cost of treatments"
    worsening: ClassVar[bool] = True

    costs: Mapping[Any, Any] = attrs.field(converter=_copied, hash=False)

    def row_costs(self, data: Dataset) -> Array:
        known = treatments(data)
        check_known("costs", self.costs, known, "treatment")
        costs = [self.costs.get(treatment, 0) for treatment in known]
        whole = all(isinstance(cost, int) for cost in costs)
        return np.tile(np.array(costs, np.int64 if whole else object), (data.n_rows, 1))

    def labels(self, data: Dataset) -> Sequence[Any]:
        return treatments(data)
