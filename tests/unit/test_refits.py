"""Fitted again on other data, an estimator is as one that was never fitted before."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from streed.errors import InputError
from streed.estimators import (
    Binarizer,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)
from streed.tasks import MinSupport
from streed.tasks.cost_tables import CostTable, TestCost
from tests.unit.refusal import refused

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


def test_the_binarizer_fitted_again_is_as_a_fresh_one() -> None:
    used = Binarizer(n_thresholds=3)
    for table in TABLES.values():
        again, fresh = used.fit(table), Binarizer(n_thresholds=3).fit(table)
        assert again.recipe_ == fresh.recipe_
        assert again.get_feature_names_out().tolist() == fresh.get_feature_names_out().tolist()
        assert again.transform(table).tolist() == fresh.transform(table).tolist()


@pytest.mark.parametrize("sensitive", [[0], 0, [-1], [1, 0]])
@pytest.mark.parametrize("as_list", [False, True])
def test_groups_in_columns_are_never_features(sensitive: Any, as_list: bool) -> None:
    """After a fit on 6 columns, a fit on 4 took the group as a feature."""
    used = FairTreeClassifier(limit=0.4, sensitive=sensitive, max_depth=2)
    named = [sensitive] if isinstance(sensitive, int) else sensitive
    for width, seed in ((6, 1), (4, 2), (5, 3), (4, 4), (6, 5)):
        X = np.random.default_rng(seed).integers(0, 2, (N, width))
        y = X[:, 0] ^ (np.random.default_rng(seed).random(N) < 0.1)
        given = X.tolist() if as_list else X
        found = _fitted(used, given, y, {})
        assert found == _fitted(clone(used), given, y, {})
        assert used.n_features_in_ == width - len(named)
        groups = {f"x{j % width}": X[:, j] for j in named}
        rest = np.delete(X, named, axis=1)
        apart = FairTreeClassifier(limit=0.4, max_depth=2).fit(rest, y, sensitive_features=groups)
        assert used.tree_ == apart.tree_
        # Afterwards the groups need not be there; rates of groups cannot be told without them.
        assert used.predict(rest).tolist() == found["predicted"]
        assert used.group_rates(given) == used.group_rates_
        refused("sensitive_features", "only the", call=partial(used.group_rates, rest))


@pytest.mark.parametrize(("sensitive", "said"), [([9], "no column 9"), (["sex"], "no names"), ([-5], "no column -5")])
def test_groups_that_are_not_there_are_named(sensitive: Any, said: str) -> None:
    X = np.arange(N * 4).reshape(N, 4) % 3
    model = FairTreeClassifier(sensitive=sensitive)
    refused("sensitive", said, call=lambda: model.fit(X, X[:, 0] > 0))


@pytest.mark.parametrize("name", MODELS)
def test_a_refit_that_fails_leaves_no_tree(name: str) -> None:
    """A tree of the old data with the classes of the new would answer, and wrongly."""
    model, kind = MODELS[name]
    X, y, more = _data(kind, "wide")
    used = clone(model).fit(X, y, **more)
    used.set_params(limits=[MinSupport(N + 1)])
    X, y, more = _data(kind, "narrow")
    with pytest.raises(InputError):
        used.fit(X, y, **more)
    assert not hasattr(used, "tree_")
    with pytest.raises(NotFittedError):
        used.predict(X)


def test_prices_of_tests_follow_the_columns_of_the_last_fit() -> None:
    costs = CostTable.of([[0, 9], [9, 0]], [TestCost("c0", 1), TestCost("c1", 2)])
    used = CostSensitiveTreeClassifier(costs, max_depth=2)
    for width, seed in ((5, 3), (3, 4), (4, 6)):
        X = _named(width, seed)
        y = (X["c0"] + X["c1"] > 2).to_numpy().astype(int)
        assert _fitted(used, X, y, {}) == _fitted(clone(used), X, y, {})
        assert used.score(X, y) == clone(used).fit(X, y).score(X, y)
