"""Policies: for each leaf the treatment whose outcomes, as past data tell them, are best.

>>> from streed.estimators import PolicyTree
>>> age, outcome, given = [[20], [30], [60], [70]], [3.0, 1.0, 0.0, 2.0], ["a", "b", "a", "b"]
>>> model = PolicyTree("ipw", max_depth=1).fit(age, outcome, treatment=given, propensity=[0.5] * 4)
>>> model.predict([[25], [65]]).tolist(), model.value_
(['a', 'b'], 3.0)

What past data teach, predicted outcomes and propensities, is cross-fitted with scikit-learn's models: the data are cut
into folds, and the models for a fold are fitted on the others, so that each row's have not seen it.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import statistics
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import attrs
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import Bunch
from sklearn.utils.validation import check_array, check_consistent_length

from streed.data import Dataset
from streed.data.column import distinct
from streed.data.reading import read_values
from streed.data.single_values import missing_value
from streed.data.table import named_columns
from streed.errors import InputError, argument_names, brief, check_choice, check_known, members
from streed.estimators import reading
from streed.estimators.base import OptimalTree
from streed.exact import Array, Range, as_objects, exact_number
from streed.result import Result
from streed.task import Task
from streed.tasks.fairness import TreatmentParity
from streed.tasks.outcome_scores import PolicyValue, TreatmentCosts, prescribed_scores, scores, treatments
from streed.tasks.support import ROW_DATA
from streed.tree import Tree


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class PolicyTree(OptimalTree):
    """The tree of the best estimated mean outcome; see `OptimalTree` for what all estimators share.

    `method`: how outcomes are estimated: "dm" by predicted ones, "ipw" by propensities, "dr" doubly robust, by both;
    "auto" takes the best that the data given to `fit` allow. With treatments and outcomes alone, both are learned by
    cross-fitted random forests on the coded columns, seeded by `random_state`. `cost_complexity`: what a branching
    node costs, in mean outcome per row. `value_` is the estimated mean outcome of the training rows.

    `capacity`: at most so many of the training rows, or such a share of them (a float below 1), get another treatment
    than `control`, which is the first one unless it is named. `treatment_costs` (by treatment, 0 where not named) and
    `budget`: at most so much is spent on all training rows. Rows count by their weights. On other rows, what the policy
    uses up is in proportion, and so only about the same share: `cross_validate_policy` tells. `parity`: the groups of
    the `sensitive_features` given to `fit` are treated (with another treatment than `control`) at rates that lie at
    most so far apart on the training rows, also together with a capacity or a budget.

    Fitted: `treatments_`, and what `OptimalTree` says.
    """

    method: str = dataclasses.field(default="auto", kw_only=False)
    capacity: int | float | None = None
    control: Any = None
    treatment_costs: Mapping[Any, Any] | None = None
    budget: Any = None
    parity: Any = None
    random_state: int = 0

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        treatment: Any = None,
        propensity: Any = None,
        predicted: Any = None,
        sensitive_features: Any = None,
        *,
        frequency: Any = None,
    ) -> Self:
        """Grows and proves the policy on the rows X (n, m).

        `y`: the outcome (n,) under the `treatment` (n,) that was given, or a score (n, K) for each treatment 0 ... K-1,
        larger is better. `propensity`: the probability of the treatment that was given (n,), or of all (n, K).
        `predicted`: outcomes under each treatment, (n, K) or a table with a column named after each.
        `sensitive_features`: the groups, for `parity`. `frequency`: not where propensities are learned here.
        """
        reading.together(parity=self.parity, sensitive_features=sensitive_features)
        past = {"treatment": treatment, "propensity": propensity, "predicted": predicted}
        with argument_names(outcome="y"):
            self._grow(X, y, sample_weight, {**past, reading.FREQUENCY: frequency, ROW_DATA: sensitive_features})
        return self

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        treatment: Any = None,
        propensity: Any = None,
        predicted: Any = None,
    ) -> float:
        """The estimated mean outcome of the policy on other rows, given as for `fit`; nothing is learned from them."""
        encoded = self._encoded(X)
        past = {k: v for k, v in _past(y, len(encoded), treatment, propensity, predicted).items() if v is not None}
        if not {"propensity", "predicted"} & set(past):
            raise InputError("propensity", "there is none", "give it, or predicted=; nothing is learned here")
        values = prescribed_scores(self.tree_, encoded, chosen_method(self.method, past), past)
        return float(np.average(values, weights=reading.checked_weights(sample_weight, len(values))))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        check_choice("method", self.method, ("auto", "dm", "ipw", "dr"))
        X, weights = self._checked(X, sample_weight)
        beside = {name: row_data.get(name) for name in (reading.FREQUENCY, ROW_DATA)}
        past = {name: values for name, values in row_data.items() if name not in beside}
        data = self._make_data(X, None, weights, {**_past(y, len(X), **past), **beside})
        if "treatment" in data.row_data and not {"propensity", "predicted"} & set(data.row_data):
            if data.frequency is not None:
                found = "propensities and outcomes are learned here from single rows"
                raise InputError("frequency", found, "give propensity= or predicted=, or repeat the rows")
            known = data.row_data
            lesson = teach(data.X, known["treatment"], known["outcome"], seed=self.random_state, seconds=self._left())
            data = attrs.evolve(data, row_data={**known, **lesson})
        self._method = chosen_method(self.method, data.row_data)
        return data

    def _objective(self, cost_complexity: Any) -> Task:
        return reading.with_splits(PolicyValue(self._method), cost_complexity)

    def _further_limits(self, data: Dataset) -> list[Any]:
        found: list[Any] = []
        reading.together(treatment_costs=self.treatment_costs, budget=self.budget)
        if self.treatment_costs is not None:
            with argument_names(costs="treatment_costs", limit="budget"):
                found.append(TreatmentCosts(self.treatment_costs) <= self.budget)
        known = treatments(data)
        control = known[0] if self.control is None else self.control
        if np.ndim(control) or control not in known:
            raise InputError("control", f"there is no treatment {brief(control)}", f"they are {known!r}")
        treated = [treatment for treatment in known if treatment != control]
        if self.capacity is not None:
            found.append(TreatmentCosts(dict.fromkeys(treated, 1)) <= self._room(data))
        if self.parity is not None:
            with argument_names(limit="parity"):
                found.append(TreatmentParity(treated=treated) <= self.parity)
        return found

    def _solve(self, data: Dataset, **other: Any) -> Result:
        spent = {} if self.budget is None or members(self.limits) else {"limits": "budget"}
        with argument_names(costs="treatment_costs", **spent):
            return super()._solve(data, **other)

    def _room(self, data: Dataset) -> Any:
        """How many rows, by weight, may be treated."""
        most: Any = self.capacity
        kind = Range(0, meaning="a whole number of rows, or a share of them such as 0.2")
        if kind.read("capacity", most) > 1:
            attrs.evolve(kind, whole=True).read("capacity", int(most) if most % 1 == 0 else most)
        if isinstance(most, numbers.Integral) or most >= 1:
            return most
        return math.floor(Fraction(exact_number(most)) * Fraction(sum(data.class_totals())))

    def _statistics(self, data: Dataset) -> Array:
        return scores(self._method, data)

    def _impurity(self, sums: Array) -> Array:
        """Minus the outcome under the best treatment."""
        return np.asarray(-sums.max(axis=1))

    def _predictions(self, tree: Tree) -> Array:
        self.treatments_ = as_objects(tree.labels)
        if {type(label) for label in tree.labels} <= {bool, int, float, str}:
            self.treatments_ = np.array(tree.labels)
        return self.treatments_[[tree.labels.index(shown) for shown in tree.shows()]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # With y alone, it has a column for each treatment.
        tags.target_tags.two_d_labels = tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


def _past(y: Any, n_rows: int, treatment: Any = None, propensity: Any = None, predicted: Any = None) -> dict[str, Any]:
    """What `streed.solve` is told of the past."""
    if y is None:
        raise ValueError("This PolicyTree estimator requires y to be passed, but the target y is None.")
    columns = named_columns(y, "y")
    if columns is not None and len(columns) == 1 and treatment is not None:
        (y,), columns = columns.values(), None
        y = np.asarray(read_values(y, "y", "it"))
    if np.ma.is_masked(y):  # which scikit-learn would read
        raise missing_value("y", "it", int(np.argwhere(np.atleast_1d(np.ma.getmaskarray(y)))[0, 0]))
    with reading.named_errors("y", "give one number per row, or a score for each treatment"):
        outcomes = y if columns is not None else check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    if columns is None and outcomes.ndim == 2 and outcomes.shape[1] == 1 and treatment is not None:
        outcomes = outcomes[:, 0]
    if columns is not None or outcomes.ndim == 2:
        if any(given is not None for given in (treatment, propensity, predicted)):
            found = "it has a score for each treatment, and there is more"
            raise InputError("y", found, "give y alone, or outcomes (n,)")
        return {"predicted": outcomes}
    with reading.named_errors("y", "give one number per row"):
        check_consistent_length(np.zeros(n_rows), outcomes)
    if treatment is None:
        raise InputError("treatment", "there is none", "say which treatment each outcome is of, or give scores (n, K)")
    return {"treatment": treatment, "outcome": outcomes, "propensity": propensity, "predicted": predicted}


def chosen_method(method: str, past: Any) -> str:
    """The method that the data allow, if none was chosen."""
    if "outcome" not in past:
        return "dm"
    if method != "auto":
        return method
    return "dm" if "propensity" not in past else "dr" if "predicted" in past else "ipw"


def cross_validate_policy(
    estimator: PolicyTree,
    X: Any,
    y: Any,
    *,
    treatment: Any = None,
    propensity: Any = None,
    predicted: Any = None,
    sensitive_features: Any = None,
    cv: int = 5,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Bunch:
    """An honest estimate of a policy: each fold's rows are valued under the tree that the other folds gave.

    Arguments are those of `PolicyTree.fit`. Outcomes under every treatment are estimated once, by the estimator's
    method (where propensities and outcomes are not given, by models that are cross-fitted themselves); a tree is then
    learned from the estimates of some folds and judged by those of another. Returned: `value` and its `interval`, the
    mean over all rows with the normal one for their standard error; `gains[t]`, the same of the policy minus giving t
    to everybody, as (gain, interval); `treated`, the share of held-out rows that get another treatment than the
    control; `fold_values`; with `sensitive_features`, one column of groups, also `group_rates`, the share of each
    group's held-out rows that are treated, with its interval. A capacity that is a number of rows is held for the
    training rows of a fold in proportion.
    """
    alone = clone(estimator).set_params(parity=None, capacity=None, random_state=random_state)
    past = {"treatment": treatment, "propensity": propensity, "predicted": predicted}
    data = alone.training_data(X, y, **past)
    valued = scores(chosen_method(estimator.method, data.row_data), data)
    # What was learned is handed on, so that it is not learned again; scores of every treatment are all there is to y.
    past = {name: data.row_data[name] for name in past if name in data.row_data and "outcome" in data.row_data}
    known, n = list(treatments(data)), len(valued)
    place_of = {label: place for place, label in enumerate(known)}
    check_known("control", [] if estimator.control is None else [estimator.control], known, "treatment")
    chosen, values = np.empty(n, dtype=np.int64), []
    for train, test in KFold(cv, shuffle=True, random_state=random_state).split(valued):
        # Numbers of rows and budgets are for a part of the rows; shares are not.
        capacity, budget, part = estimator.capacity, estimator.budget, len(train) / n
        room = capacity if capacity is None or 0 < capacity < 1 else math.floor(capacity * part)
        spent = None if budget is None else float(f"{float(budget) * part:.9g}")
        model = clone(estimator).set_params(capacity=room, budget=spent)
        groups = None if estimator.parity is None else reading.take_rows(sensitive_features, train)
        given = {name: reading.take_rows(column, train) for name, column in past.items()}
        model.fit(reading.take_rows(X, train), reading.take_rows(y, train), sensitive_features=groups, **given)
        chosen[test] = [place_of[label] for label in model.predict(reading.take_rows(X, test)).tolist()]
        values.append(float(valued[test, chosen[test]].mean()))
    got, treated = valued[np.arange(n), chosen], chosen != place_of.get(estimator.control, 0)
    value, interval = _mean(got, confidence)
    found = Bunch(value=value, interval=interval, treated=float(treated.mean()), fold_values=np.array(values))
    found.gains = {label: _mean(got - valued[:, place], confidence) for label, place in place_of.items()}
    if sensitive_features is not None:
        groups = np.asarray(sensitive_features)
        if groups.shape != treated.shape:
            raise InputError("sensitive_features", f"it has the shape {groups.shape}", f"give one column of {n} groups")
        names = sorted(set(groups.tolist()))
        found.group_rates = {name: _mean(treated[groups == name].astype(float), confidence) for name in names}
    return found


def _mean(values: Array, confidence: float) -> tuple[float, tuple[float, float]]:
    """(the mean, its normal interval)."""
    mean = float(values.mean())
    half = statistics.NormalDist().inv_cdf((1 + confidence) / 2) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


LEAST_PROPENSITY = 0.01
"""Propensities below this are raised to it: one row would else outweigh a hundred."""

_SHARE = 0.5
"""Of a time limit that may be spent on learning outcomes and propensities."""

_FEWEST_ROWS, _ROWS_PER_SECOND = 500, 1e5
"""Of a tree of a forest that is grown when time is short: roughly what a core takes."""


def teach(
    X: Any,
    treatment: Any,
    outcome: Any,
    *,
    regressor: Any = None,
    classifier: Any = None,
    folds: int = 5,
    seed: int = 0,
    seconds: float | None = None,
) -> dict[str, Any]:
    """What `streed.solve` is told of the past, by name: predicted outcomes and propensities, by models of other folds.

    X (n, m) are the features that the models see; treatment (n,), outcome (n,). `regressor` and `classifier` are
    scikit-learn estimators, cloned for every fold and treatment; default: random forests. `seconds`: forests have as
    many trees as are grown in half of them.
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    features, given, outcomes = np.asarray(X), np.asarray(treatment), np.asarray(outcome, dtype=np.float64)
    with reading.named_errors("treatment", "give one entry per row"):
        check_consistent_length(features, given, outcomes)
    if given.dtype.kind == "O":
        distinct(given.tolist(), "treatment", "it")
    known, codes, counts = np.unique(given, return_inverse=True, return_counts=True)
    Range(2, whole=True).read("folds", folds)
    if counts.min() < folds:
        found = f"{known.tolist()[counts.argmin()]!r} was given to {counts.min()} rows, fewer than the {folds} folds"
        raise InputError("treatment", found, "leave its rows out, or give propensity= or predicted=")
    regressor = RandomForestRegressor(min_samples_leaf=5, random_state=seed) if regressor is None else regressor
    classifier = RandomForestClassifier(min_samples_leaf=5, random_state=seed) if classifier is None else classifier
    until = None if seconds is None else time.perf_counter() + _SHARE * seconds
    models = folds * (1 + len(known))
    predicted, propensities = np.zeros((2, len(features), len(known)))
    for others, held_out in StratifiedKFold(folds, shuffle=True, random_state=seed).split(features, codes):
        chances = _fitted(classifier, features[others], codes[others], until, models)
        models -= 1
        propensities[np.ix_(held_out, chances.classes_)] = chances.predict_proba(features[held_out])
        for k in range(len(known)):
            rows = others[codes[others] == k]
            model = _fitted(regressor, features[rows], outcomes[rows], until, models)
            models -= 1
            predicted[held_out, k] = model.predict(features[held_out])
    beside = {"propensity": np.maximum(propensities, LEAST_PROPENSITY), "predicted": predicted}
    return {"treatment": treatment, "outcome": outcome, **beside}


def _fitted(model: Any, X: Array, y: Array, until: float | None, models: int) -> Any:
    """The model, fitted, the first of so many until then; where time is short, a forest has fewer trees, of fewer rows.

    Under no limit, and where all its trees are grown in time, it is as it would be without one.
    """
    made = clone(model)
    known, began = made.get_params(), time.perf_counter()
    if until is None or not {"n_estimators", "warm_start"} <= set(known):
        return made.fit(X, y)
    share, most, trees = max(until - began, 0.0) / models, made.n_estimators, 1
    rows = max(_FEWEST_ROWS, int(share * _ROWS_PER_SECOND))
    if known.get("bootstrap") and known.get("max_samples") is None and rows < len(X):
        made.set_params(max_samples=rows)
    while True:
        made.set_params(n_estimators=min(trees, most), warm_start=True).fit(X, y)
        if trees >= most or 2 * (time.perf_counter() - began) > share:  # as many again take as long again
            return made
        trees *= 2
