"""What past data teach a policy: predicted outcomes and propensities, cross-fitted with scikit-learn's models.

Each row's predictions come from models that have not seen it: the data are cut into folds, and the models for a fold
are fitted on the others.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import StratifiedKFold

from streed.data.column import distinct
from streed.errors import InputError
from streed.exact import Array, Range

LEAST_PROPENSITY = 0.01
"""Propensities below this are raised to it: one row would else outweigh a hundred."""

_TREES = 10
"""Of a forest that are grown between two looks at the clock."""


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

    X (n, m) are the features that the models see, real ones if you have them; treatment (n,), outcome (n,). `regressor`
    and `classifier` are scikit-learn estimators, cloned for every fold; default: random forests. For each treatment a
    regressor of its own is fitted on the rows that were given it. Raises InputError where a treatment was given to
    fewer rows than there are folds, and where the models are not fitted within `seconds`.
    """
    features, given, outcomes = np.asarray(X), np.asarray(treatment), np.asarray(outcome, dtype=np.float64)
    lengths = list(map(len, (features, given, outcomes)))
    if len(set(lengths)) > 1:
        found = "X, treatment and outcome have {}, {} and {} rows".format(*lengths)
        raise InputError("treatment", found, "give one entry per row")
    if given.dtype.kind == "O":
        distinct(given.tolist(), "treatment", "it")
    known, codes, counts = np.unique(given, return_inverse=True, return_counts=True)
    Range(2, whole=True).read("folds", folds)
    if counts.min() < folds:
        found = f"{known.tolist()[counts.argmin()]!r} was given to {counts.min()} rows, fewer than the {folds} folds"
        raise InputError("treatment", found, "give fewer folds, or leave the treatment out")
    regressor = RandomForestRegressor(min_samples_leaf=5, random_state=seed) if regressor is None else regressor
    classifier = RandomForestClassifier(min_samples_leaf=5, random_state=seed) if classifier is None else classifier
    until = None if seconds is None else time.perf_counter() + seconds
    predicted, propensities = np.zeros((2, len(features), len(known)))
    for others, held_out in StratifiedKFold(folds, shuffle=True, random_state=seed).split(features, codes):
        chances = _fitted(classifier, features[others], codes[others], until)
        propensities[np.ix_(held_out, chances.classes_)] = chances.predict_proba(features[held_out])
        for k in range(len(known)):
            rows = others[codes[others] == k]
            model = _fitted(regressor, features[rows], outcomes[rows], until)
            predicted[held_out, k] = model.predict(features[held_out])
    beside = {"propensity": np.maximum(propensities, LEAST_PROPENSITY), "predicted": predicted}
    return {"treatment": treatment, "outcome": outcome, **beside}


def _fitted(model: Any, X: Array, y: Array, until: float | None) -> Any:
    """The model, fitted; a forest grows some trees at a time, the same ones. Raises InputError when it is too late."""
    made = clone(model)
    grows = until is not None and {"n_estimators", "warm_start"} <= set(made.get_params())
    for trees in [*range(_TREES, made.n_estimators, _TREES), made.n_estimators] if grows else [None]:
        if until is not None and time.perf_counter() > until:
            found = "it was over before outcomes and propensities were learned"
            raise InputError("time_limit", found, "allow more time, or give propensity= and predicted=")
        made.set_params(**({} if trees is None else {"n_estimators": trees, "warm_start": True})).fit(X, y)
    return made
