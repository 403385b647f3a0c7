"""What a limit on fairness, or a policy, is worth on rows that the tree was not grown on, with intervals."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import Bunch

from streed.errors import InputError
from streed.estimators.policy import PolicyTree, chosen_method
from streed.estimators.reading import take_rows
from streed.exact import Array
from streed.tasks.outcome_scores import scores, treatments

Interval = tuple[float, float]


def cross_validate_fair(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    cv: int = 5,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Bunch:
    """What a fair estimator's limit is worth on rows that it was not fitted on, from `cv` folds by label and group.

    `accuracy` and `gaps` hold a number for each fold. `rates[kind][group]` is (rate, (low, high)) with Wilson's
    interval of the held-out rows of all folds, and `gap` (difference, (low, high)) of the two groups that are furthest
    apart, with Newcombe's. `kept`: in how many folds the held-out gap is within the limit. Intervals treat the folds'
    trees as one and take no account of the choice of the two groups: read them as a lower bound on what is not known.
    """
    labels = np.asarray(y)
    strata = [f"{g} {k}" for g, k in zip(np.asarray(sensitive_features).tolist(), labels.tolist(), strict=True)]
    accuracy, counts = [], []
    for train, test in StratifiedKFold(cv, shuffle=True, random_state=random_state).split(strata, strata):
        grown, held = take_rows(sensitive_features, train), take_rows(sensitive_features, test)
        model = clone(estimator).fit(take_rows(X, train), labels[train], sensitive_features=grown)
        accuracy.append(model.score(take_rows(X, test), labels[test]))
        counts.append(model.group_counts(take_rows(X, test), labels[test], sensitive_features=held))
    totals: dict[str, dict[str, tuple[int, int]]] = {}
    for kind in counts[0]:
        names = dict.fromkeys(name for fold in counts for name in fold[kind])
        found = {name: np.sum([fold[kind].get(name, (0, 0)) for fold in counts], axis=0).tolist() for name in names}
        totals[kind] = {name: (int(hits), int(size)) for name, (hits, size) in found.items()}
    pairs = [(kind, a, b) for kind, of in totals.items() for a, b in itertools.permutations(of, 2)]
    kind, a, b = max(pairs, key=lambda each: _share(totals[each[0]][each[1]]) - _share(totals[each[0]][each[2]]))
    shares = [[_share(each) for each in of.values()] for fold in counts for of in fold.values()]
    gaps = np.array([max(of) - min(of) for of in shares]).reshape(len(counts), -1).max(axis=1)
    return Bunch(
        accuracy=np.array(accuracy),
        gaps=gaps,
        kept=int((gaps <= (1 if estimator.limit is None else estimator.limit)).sum()),
        rates={k: {name: (_share(n), wilson(n, confidence)) for name, n in of.items()} for k, of in totals.items()},
        gap=difference(totals[kind][a], totals[kind][b], confidence),
        groups=(kind, a, b),
    )


def _share(counts: tuple[int, int]) -> float:
    return counts[0] / counts[1]


def wilson(counts: tuple[int, int], confidence: float) -> Interval:
    """Wilson's interval (1927), two-sided, of the share of hits, of (hits, size)."""
    found = binomtest(*counts).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def difference(first: tuple[int, int], second: tuple[int, int], confidence: float) -> tuple[float, Interval]:
    """The first share minus the second, of (hits, size), and Newcombe's interval (1998, method 10)."""
    p, q = _share(first), _share(second)
    (low_p, high_p), (low_q, high_q) = wilson(first, confidence), wilson(second, confidence)
    return p - q, (p - q - math.hypot(p - low_p, high_q - q), p - q + math.hypot(high_p - p, q - low_q))


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
    if estimator.control is not None and estimator.control not in place_of:
        raise InputError("control", f"there is no treatment {estimator.control!r}", f"they are {known!r}")
    chosen, values = np.empty(n, dtype=np.int64), []
    for train, test in KFold(cv, shuffle=True, random_state=random_state).split(valued):
        # Numbers of rows and budgets are for a part of the rows; shares are not.
        capacity, budget, part = estimator.capacity, estimator.budget, len(train) / n
        room = capacity if capacity is None or 0 < capacity < 1 else math.floor(capacity * part)
        spent = None if budget is None else float(f"{float(budget) * part:.9g}")
        model = clone(estimator).set_params(capacity=room, budget=spent)
        groups = None if estimator.parity is None else take_rows(sensitive_features, train)
        given = {name: take_rows(column, train) for name, column in past.items()}
        model.fit(take_rows(X, train), take_rows(y, train), sensitive_features=groups, **given)
        chosen[test] = [place_of[label] for label in model.predict(take_rows(X, test)).tolist()]
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


def _mean(values: Array, confidence: float) -> tuple[float, Interval]:
    """(the mean, its normal interval)."""
    mean = float(values.mean())
    half = statistics.NormalDist().inv_cdf((1 + confidence) / 2) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)
