"""What a policy is worth on rows that it was not learned from, with an interval."""

from __future__ import annotations

import math
import numbers
import statistics
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import Bunch, _safe_indexing

from streed.data import Dataset
from streed.errors import InputError
from streed.estimators.policy import PolicyTree, _method, _past
from streed.exact import Array
from streed.tasks.sensitive_groups import ROW_DATA


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
    scores, known = estimated(estimator, X, y, treatment, propensity, predicted, random_state)
    n = len(scores)
    chosen = np.empty(n, dtype=np.int64)
    values = []
    for train, test in KFold(cv, shuffle=True, random_state=random_state).split(scores):
        model = clone(estimator).set_params(method="dm", **_in_proportion(estimator, known, len(train) / n))
        groups = None if estimator.parity is None else _safe_indexing(sensitive_features, train)
        model.fit(_safe_indexing(X, train), scores[train], sensitive_features=groups)
        chosen[test] = [int(place) for place in model.predict(_safe_indexing(X, test))]
        values.append(float(scores[test, chosen[test]].mean()))
    got = scores[np.arange(n), chosen]
    control = 0 if estimator.control is None else known.index(estimator.control)
    value, interval = _mean(got, confidence)
    told = (
        {} if sensitive_features is None else {"group_rates": _rates(chosen != control, sensitive_features, confidence)}
    )
    return Bunch(
        value=value,
        interval=interval,
        gains={label: _mean(got - scores[:, place], confidence) for place, label in enumerate(known)},
        treated=float((chosen != control).mean()),
        fold_values=np.array(values),
        **told,
    )


def estimated(
    estimator: PolicyTree, X: Any, y: Any, treatment: Any, propensity: Any, predicted: Any, seed: int
) -> tuple[Array, list[Any]]:
    """(outcomes (n, K) of every row under every treatment, the treatments)."""
    from streed.estimators.teachers import teach
    from streed.tasks.outcome_scores import scores, treatments

    rows = len(y)
    past = {k: v for k, v in _past(y, rows, treatment, propensity, predicted).items() if v is not None}
    if "treatment" in past and not {"propensity", "predicted"} & set(past):
        lesson = teach(Dataset.make(X).X, past["treatment"], past["outcome"], seed=seed, seconds=estimator.time_limit)
        past = lesson.row_data(past["treatment"], past["outcome"])
    data = Dataset.make(np.zeros((rows, 0), np.uint8), **past)
    return scores(_method(estimator.method, data.row_data), data), list(treatments(data))


def _in_proportion(estimator: PolicyTree, known: list[Any], share: float) -> dict[str, Any]:
    """The limits for a part of the rows, whose treatments are called by their numbers."""
    found: dict[str, Any] = {}
    if estimator.control is not None:
        if estimator.control not in known:
            raise InputError("control", f"there is no treatment {estimator.control!r}", f"they are {known!r}")
        found["control"] = known.index(estimator.control)
    capacity = estimator.capacity
    if isinstance(capacity, numbers.Integral) or (capacity is not None and capacity >= 1):
        found["capacity"] = math.floor(capacity * share)
    if estimator.budget is not None and estimator.treatment_costs is not None:
        found["budget"] = float(f"{float(estimator.budget) * share:.9g}")
        found["treatment_costs"] = {known.index(label): cost for label, cost in estimator.treatment_costs.items()}
    return found


def _rates(treated: Array, sensitive_features: Any, confidence: float) -> dict[Any, tuple[float, tuple[float, float]]]:
    """By group, the share of its rows that are treated, and its interval."""
    groups = np.asarray(sensitive_features)
    if groups.shape != treated.shape:
        raise InputError(ROW_DATA, f"it has the shape {groups.shape}", f"give one column of {len(treated)} groups")
    names = sorted(set(groups.tolist()))
    return {name: _mean(treated[groups == name].astype(float), confidence) for name in names}


def _mean(values: Array, confidence: float) -> tuple[float, tuple[float, float]]:
    """(the mean, its normal interval)."""
    mean = float(values.mean())
    half = statistics.NormalDist().inv_cdf((1 + confidence) / 2) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)
