"""The estimators: any labels, groups and tables, untouched data, what a fitted tree tells, life in pipelines."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import streed
from streed.estimators import (
    Binarizer,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
    cross_validate_fair,
)
from streed.tasks import F1, Accuracy, MinSupport, SparseAccuracy, Splits
from tests.differential import estimators
from tests.differential.estimators import SEX, TABLE, TARGET, TRUTH, N
from tests.unit.outcomes import refused

ESTIMATORS: list[tuple[Any, Any, dict[str, Any]]] = [
    (OptimalTreeClassifier(max_depth=2), TRUTH, {}),
    (OptimalTreeRegressor(max_depth=2), TARGET, {}),
    (FairTreeClassifier(limit=0.2, max_depth=2), TRUTH, {"sensitive_features": SEX}),
    (CostSensitiveTreeClassifier([[0, 1], [5, 0]], max_depth=2), TRUTH, {}),
    (PolicyTree(max_depth=1), np.column_stack([TARGET, 3 - TARGET]), {}),
    (SurvivalTree(max_depth=1), TARGET - TARGET.min(), {"event": TRUTH}),
]
_LONG = (OptimalTreeRegressor, SurvivalTree)  # whose kernels few other tests need

NAMED = pytest.mark.parametrize(
    ("model", "y", "more"),
    [pytest.param(*each, marks=pytest.mark.compiles if isinstance(each[0], _LONG) else ()) for each in ESTIMATORS],
    ids=[type(estimator).__name__ for estimator, _, _ in ESTIMATORS],
)


@NAMED
def test_data_are_not_changed_and_answers_do_not_depend_on_the_library(model: Any, y: Any, more: Any) -> None:
    table, kept = TABLE.copy(deep=True), {name: values.copy() for name, values in more.items()}
    labels = y.copy()
    fitted = clone(model).fit(table, labels, **kept)
    predicted = fitted.predict(table)
    pd.testing.assert_frame_equal(table, TABLE)
    assert (labels == y).all()
    assert all((kept[name] == more[name]).all() for name in more)
    other = pl.DataFrame({name: [None if v != v else v for v in TABLE[name].tolist()] for name in TABLE})
    assert (clone(model).fit(other, labels, **more).predict(other) == predicted).all()
    array = TABLE.to_numpy(dtype=object)
    assert (clone(model).fit(array, labels, **more).predict(array) == predicted).all()


@NAMED
def test_an_estimator_that_is_fitted_again_is_as_a_fresh_one(model: Any, y: Any, more: Any) -> None:
    used = clone(model).fit(TABLE, y, **more)
    for X in (estimators.GRID, TABLE[["age", "member"]], TABLE):
        fresh = clone(model).fit(X, y, **more)
        assert used.fit(X, y, **more).tree_ == fresh.tree_
        assert (used.value_, sorted(vars(used))) == (fresh.value_, sorted(vars(fresh)))
        assert (used.predict(X) == fresh.predict(X)).all()


@NAMED
def test_what_a_fitted_tree_tells(model: Any, y: Any, more: Any) -> None:
    fitted = clone(model).fit(TABLE, y, **more)
    assert fitted.optimal_
    assert 0 <= fitted.gap_ < 1e-9  # the rounding of real numbers
    assert fitted.value_ in (fitted.lower_bound_, fitted.upper_bound_)
    assert fitted.feature_names_in_.tolist() == list(TABLE)
    assert fitted.n_features_in_ == 4
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert (fitted.feature_importances_ >= 0).all()
    assert set(np.flatnonzero(fitted.feature_importances_).tolist()) <= set(fitted.tree_.columns)
    path, leaf = fitted.decision_path(TABLE), fitted.apply(TABLE)
    assert path.shape == (N, fitted.tree_.n_branches + fitted.tree_.n_leaves)
    assert (path[np.arange(N), leaf] == 1).all()
    assert (np.asarray(path[:, 0].todense()) == 1).all()
    assert int(path.sum(axis=1).max()) == fitted.get_depth() + 1
    assert len(set(leaf.tolist())) == fitted.get_n_leaves()
    assert any(question in fitted.to_text() for question in ("age <=", "age is missing", "city?", "member", "since <="))


def test_a_split_on_gaps_and_questions_in_original_units() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[1.0], [None], [2.0], [None]], ["no", "gap", "no", "gap"])
    assert model.to_text().startswith("x0 is missing?")
    assert model.predict([[None], [7.0], [np.nan]]).tolist() == ["gap", "no", "gap"]
    dated = OptimalTreeClassifier(max_depth=1).fit(TABLE[["since"]], TABLE["since"] > "2021-03-05")
    assert dated.to_text().startswith("since <= 2021-03-05")


def test_cuts_say_how_many_thresholds_are_tried() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)

    def grown(**given: Any) -> OptimalTreeClassifier:
        return OptimalTreeClassifier("misclassifications", max_depth=1, **given).fit(X, y)

    every, few = grown(cuts="all"), grown(cuts=3)
    assert (every.searched_over_, few.searched_over_) == ("all 78 thresholds", "6 questions")
    assert grown().searched_over_ == every.searched_over_ == streed.solve(Accuracy(), X, y, max_depth=1).searched_over
    assert grown().value_ == every.value_ <= few.value_
    assert every.bound_over_all_thresholds_ is None
    assert few.bound_over_all_thresholds_ <= every.value_
    said = f"no tree over all thresholds is worth less than {few.bound_over_all_thresholds_:.6g}"
    assert said in few._repr_html_()
    assert "no tree over all" not in every._repr_html_()
    for wrong in ("most", 0, 2.5, True, Binarizer()):
        refused("cuts", call=functools.partial(grown, cuts=wrong))


@pytest.mark.compiles
def test_tasks_limits_and_search_reach_the_solver() -> None:
    y = np.array(["no", "yes"])[TRUTH]
    best = OptimalTreeClassifier("f1", max_depth=2).fit(TABLE, y)
    assert best.value_ == OptimalTreeClassifier(F1(), max_depth=2).fit(TABLE, y).value_
    predicted = best.predict(TABLE)
    hits = np.sum((predicted == "yes") & (y == "yes"))
    assert best.value_ == pytest.approx(2 * hits / (np.sum(predicted == "yes") + np.sum(y == "yes")))
    large = OptimalTreeClassifier(max_depth=3, limits=[MinSupport(20)]).fit(TABLE, y)
    assert min(leaf.rows for leaf in large.tree_.leaves()) >= 20
    assert large.value_ == OptimalTreeClassifier(max_depth=3, limits="min-support(20)").fit(TABLE, y).value_
    sparse = OptimalTreeClassifier(max_depth=3, cost_complexity=0.05).fit(TABLE, y)
    data = streed.Dataset.make(TABLE, y)
    assert sparse.value_ == streed.solve(SparseAccuracy(0.05), data, max_depth=3).value
    counted = OptimalTreeClassifier(Accuracy(), cost_complexity=4, max_depth=3).fit(TABLE, y)
    assert counted.value_ == streed.solve(Accuracy() + 4 * Splits(), data, max_depth=3).value
    refused("limits", "no tree", call=lambda: OptimalTreeClassifier(limits=[MinSupport(N + 1)]).fit(TABLE, y))
    refused("task", "3", call=lambda: OptimalTreeClassifier(3).fit(TABLE, y))
    refused("task", "no class", call=lambda: OptimalTreeClassifier("squared-error").fit(TABLE, TRUTH))


@pytest.mark.compiles
def test_paths_are_the_optima() -> None:
    for model, y in ((OptimalTreeClassifier(max_depth=3), TRUTH), (OptimalTreeRegressor(max_depth=2), TARGET)):
        path = model.cost_complexity_path(TABLE, y)
        assert path.cost_complexities[0] == 0
        assert (np.diff(path.cost_complexities) > 0).all()
        assert (np.diff(path.n_nodes) < 0).all()
        assert path.n_nodes[-1] == 0
        for cost in (0.001, 0.02, 0.07, 0.3):
            place = np.searchsorted(path.cost_complexities, cost, side="right") - 1
            found = clone(model).set_params(cost_complexity=cost).fit(TABLE, y)
            assert found.value_ == pytest.approx(path.task_values[place] + cost * path.n_nodes[place])
        sizes = model.size_path(TABLE, y)
        for most, value in enumerate(sizes.task_values):
            assert clone(model).set_params(max_nodes=most).fit(TABLE, y).value_ == pytest.approx(value)
        assert clone(model).fit(TABLE, y).value_ == pytest.approx(sizes.task_values[-1])
        assert set(path.n_nodes.tolist()) <= set(sizes.n_nodes.tolist())


def test_grid_search_and_pipelines() -> None:
    pipe = make_pipeline(
        ColumnTransformer(
            [("scaled", StandardScaler(), ["age"])], remainder="passthrough", verbose_feature_names_out=False
        ).set_output(transform="pandas"),
        OptimalTreeClassifier(max_depth=1),
    )
    grid = {"optimaltreeclassifier__max_depth": [1, 2], "optimaltreeclassifier__cuts": ["auto", 3]}
    search = GridSearchCV(pipe, grid, cv=2).fit(TABLE, TRUTH)
    assert search.best_params_["optimaltreeclassifier__max_depth"] == 2
    assert search.predict(TABLE).shape == (N,)
    asked = make_pipeline(Binarizer(), OptimalTreeClassifier(max_depth=1))
    thresholds = GridSearchCV(asked, {"binarizer__n_thresholds": [1, 9]}, cv=2).fit(TABLE, TRUTH)
    assert thresholds.predict(TABLE).shape == (N,)


def test_metadata_routing() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairTreeClassifier(limit=0.2, max_depth=1)
        model.set_fit_request(sensitive_features=True, sample_weight=True).set_score_request(sample_weight=True)
        weights = np.arange(N) % 2 + 1
        params = {"sensitive_features": SEX, "sample_weight": weights}
        found = cross_validate(model, TABLE, TRUTH, params=params, cv=2, return_estimator=True)
        assert all(fitted.gap_between_groups_ <= 0.2 for fitted in found["estimator"])
        search = GridSearchCV(model, {"limit": [0.1, 0.3]}, cv=2).fit(TABLE, TRUTH, **params)
        assert search.best_estimator_.gap_between_groups_ <= search.best_params_["limit"]


def test_the_picture_shows_the_tree_and_the_proof() -> None:
    model = OptimalTreeClassifier(max_depth=2)
    assert "streed-tree" not in model._repr_html_()
    shown = model.fit(pd.DataFrame({"<b>": [1.5, 2.5, 3.5] * 5}), ["<i>", "b", "b"] * 5)._repr_html_()
    assert "proved optimal: value 0" in shown
    assert "&lt;b&gt; &lt;=" in shown
    assert "<i>" not in shown.replace("<i>no:", "").replace("<i>yes:", "")
    model.result_ = attrs.evolve(model.result_, status="feasible", lower_bound=-3)
    assert "the optimum lies in -3 to 0 (gap 3)" in model._repr_html_()


@pytest.mark.compiles
def test_an_early_stop_is_told() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((600, 30)), rng.integers(0, 2, 600)
    model = OptimalTreeClassifier(max_depth=5, time_limit=0.05).fit(X, y)
    assert not model.optimal_
    assert model.gap_ > 0
    assert model.lower_bound_ < model.value_
    assert "stopped early" in model._repr_html_()
    refused("time_limit", "path", call=lambda: model.cost_complexity_path(X, y))


PART = ("text as objects", "bool as pandas pyarrow", "int as polars table", "numbers as polars", "as csr", "as masked")
"""Of the cells of `python -m tests.differential.estimators`, those that the default tests try, of two estimators."""


def test_estimators_take_labels_and_tables_of_every_kind() -> None:
    chosen = [
        (name, cell)
        for name, cell in estimators.cells()
        if any(part in name for part in PART)
        and name.startswith(("classifier:", "fair:", "policy:"))
        and "=2" not in name
    ]
    assert len(chosen) > 8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [name for name, cell in chosen if not cell()] == []


def test_data_of_rows_may_be_lazy_and_not_sparse() -> None:
    grid, groups, costs = TABLE[["member"]], pl.LazyFrame({"sex": SEX}), np.eye(2)[TRUTH]
    FairTreeClassifier(max_depth=1).fit(grid, TRUTH, sensitive_features=groups, frequency=TRUTH * 2 + 1)
    odds = FairTreeClassifier("equalized-odds", None, max_depth=2).fit(TABLE, TRUTH, sensitive_features=SEX)
    ratios = [min(of.values()) / max(of.values()) for of in odds.group_rates_.values()]
    assert odds.ratio_between_groups_ == pytest.approx(min(ratios)) != max(ratios)
    model = CostSensitiveTreeClassifier(max_depth=1).fit(grid, TRUTH, costs=pl.LazyFrame(costs, schema=["0", "1"]))
    assert model.value_ == model.fit(grid, TRUTH, costs=costs).value_
    named = pd.DataFrame(costs[:, ::-1] * [3, 1], columns=[1, 0])
    assert model.fit(grid, TRUTH, costs=named).value_ == pytest.approx(-N * model.score(grid, TRUTH, costs=named))
    assert cross_validate_fair(FairTreeClassifier(max_depth=1), grid, TRUTH, sensitive_features=groups, cv=2).kept <= 2
    refused("costs", "toarray", call=lambda: model.fit(grid, TRUTH, costs=scipy.sparse.coo_array(costs)))
