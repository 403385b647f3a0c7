"""Fitted again on other data, an estimator is as one that was never fitted before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from streed.estimators import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)

N = 40


def _numbers(width: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 4, (N, width)).astype(float)


def _named(width: int, seed: int) -> Any:
    frame = pd.DataFrame(_numbers(width, seed), columns=[f"c{j}" for j in range(width)])
    return frame.assign(kind=np.where(frame["c1"] > 1, "p", "q"))


TABLES = {
    "wide": _numbers(6, 1),
    "narrow": _numbers(4, 2),
    "named": _named(5, 3),
    "other names": _named(3, 4).add_prefix("z"),
    "one more": _numbers(5, 5),
}
"""Each estimator is fitted on every one of these after every other."""

CLASSES = {
    "wide": ["no", "yes"],
    "narrow": [3, 7],
    "named": [False, True],
    "other names": ["a", "b"],
    "one more": [0, 1],
}


def _data(kind: str, name: str) -> tuple[Any, Any, dict[str, Any]]:
    """(X, y, row data) of a table for one kind of estimator."""
    X = TABLES[name]
    number = list(TABLES).index(name)
    draw = np.random.default_rng(100 + number)
    values = (X if isinstance(X, np.ndarray) else X.iloc[:, :3].to_numpy().astype(float)).sum(axis=1)
    bits = (values + draw.normal(0, 1, N) > np.median(values)).astype(int)
    labels = np.array(CLASSES[name])[bits]
    if kind == "numbers":
        return X, values + draw.normal(0, 0.1, N).round(2), {}
    if kind == "groups":
        return X, labels, {"sensitive_features": np.where(draw.random(N) < 0.5, "f", "m")}
    if kind == "times":
        return X, draw.integers(1, 9, N), {"event": bits}
    if kind == "treatments":
        names = [f"t{number}", "none"]
        given = draw.integers(0, 2, N)
        return X, values, {"treatment": np.array(names)[given], "propensity": np.full(N, 0.5)}
    if kind == "scores":
        return X, np.column_stack([values, draw.integers(0, 9, (N, 1 + number % 2))]), {}
    return X, labels, {}


MODELS: dict[str, tuple[Any, str]] = {
    "classifier": (OptimalTreeClassifier(max_depth=2), "classes"),
    "regressor": (OptimalTreeRegressor(max_depth=2), "numbers"),
    "fair": (FairTreeClassifier(limit=0.3, max_depth=2), "groups"),
    "costs": (CostSensitiveTreeClassifier([[0, 1], [5, 0]], max_depth=2), "classes"),
    "policy of scores": (PolicyTree(max_depth=1), "scores"),
    "policy of the past": (PolicyTree("ipw", max_depth=1), "treatments"),
    "survival": (SurvivalTree(max_depth=1), "times"),
}

TOLD = ("value_", "optimal_", "lower_bound_", "n_features_in_", "gap_between_groups_")


def _fitted(model: Any, X: Any, y: Any, more: dict[str, Any]) -> dict[str, Any]:
    """All that a fit tells: answers, tree, importances, names, and which attributes there are."""
    model.fit(X, y, **more)
    found = {name: getattr(model, name) for name in TOLD if hasattr(model, name)}
    found["tree"], found["text"] = model.tree_, model.to_text()
    found["names"] = list(getattr(model, "feature_names_in_", ()))
    found["classes"] = list(getattr(model, "classes_", ()))
    found["importances"] = model.feature_importances_.tolist()
    found["predicted"] = model.predict(X).tolist()
    if hasattr(model, "predict_proba"):
        found["shares"] = model.predict_proba(X).tolist()
    found["attributes"] = sorted(vars(model))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_fitted_again_is_as_a_fresh_one(name: str) -> None:
    model, kind = MODELS[name]
    order = ["wide", "narrow", "named", "wide", "other names", "one more", "named", "narrow"]
    used = clone(model)
    for table in order:
        data = _data(kind, table)
        assert _fitted(used, *data) == _fitted(clone(model), *data), table
