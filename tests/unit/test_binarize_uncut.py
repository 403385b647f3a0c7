"""The numbers behind a recipe's columns, and what the thresholds that it leaves out can cost."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import streed
from streed.binarize import Settings, make_recipe
from streed.binarize.uncut import uncut_numbers
from streed.estimators import Binarizer, OptimalTreeClassifier, OptimalTreeRegressor
from streed.tasks import Misclassifications, SquaredError


def test_numbers_and_dates_with_the_cuts_of_the_recipe() -> None:
    days = [dt.date(2024, 1, day) for day in (1, 2, 3, 4, 9, 9)]
    table = {"a": [5.0, 1.0, 2.0, 2.0, 4.0, 3.0], "day": days, "c": list("xyxyxz"), "b": [True, False] * 3}
    recipe = make_recipe(table, settings=Settings(n_thresholds=2))
    (ranks, values), (of_days, moments) = uncut_numbers(recipe, table)
    assert ranks.tolist() == [4, 0, 1, 1, 3, 2]
    assert values.values.tolist() == [1, 2, 3, 4, 5]
    assert of_days.tolist() == [0, 1, 2, 3, 4, 4]
    for each, column in ((values, recipe.columns[0]), (moments, recipe.columns[1])):
        assert len(each.cuts) == len(column.thresholds) == 2
        assert [bool((each.values[: c + 1] <= t).all()) for c, t in zip(each.cuts, column.thresholds, strict=True)]


def test_steps_of_a_scale() -> None:
    pandas = pytest.importorskip("pandas")
    sizes = pandas.Categorical(list("smlsxmlx"), categories=list("smlx"), ordered=True)
    table = pandas.DataFrame({"size": sizes})
    recipe = make_recipe(table, settings=Settings(n_thresholds=1))
    ((ranks, values),) = uncut_numbers(recipe, table)
    assert ranks.tolist() == [0, 1, 2, 0, 3, 1, 2, 3]
    assert values.cuts.tolist() == [int(recipe.columns[0].thresholds[0])]


def test_nothing_is_said_where_numbers_are_missing() -> None:
    table: dict[str, list[Any]] = {"a": [1.0, None, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 4.0]}
    assert uncut_numbers(make_recipe(table, settings=Settings(n_thresholds=1)), table) == ()


@pytest.mark.parametrize("seed", range(3))
def test_no_tree_over_all_thresholds_is_better_than_the_bound(seed: int) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(60, 3)).round(1)
    y = ((X[:, 0] > 0.4) ^ (X[:, 1] > 0) ^ (draw.random(60) < 0.1)).astype(int)
    found = set()
    for cuts in (5, 9, 25):
        grown: Any = OptimalTreeClassifier("misclassifications", max_depth=2, cuts=Binarizer(n_thresholds=cuts)).fit(
            X, y
        )
        every: Any = streed.solve(Misclassifications(), X, y, max_depth=2).value
        assert grown.bound_over_all_thresholds_ <= every <= grown.value_
        found.add(grown.bound_over_all_thresholds_)
        numbers = OptimalTreeRegressor(max_depth=1, cuts=Binarizer(n_thresholds=cuts)).fit(X, y + X[:, 2])
        best: Any = streed.solve(SquaredError(), X, y + X[:, 2], max_depth=1)
        assert numbers.result_.stats.get("bound_over_all_thresholds", 0) <= best.value
    assert max(found) > 0


def test_gains_are_bounded_from_above() -> None:
    draw = np.random.default_rng(5)
    X = draw.normal(size=(80, 2))
    y = (X[:, 0] > 0.1).astype(int)
    few: Any = OptimalTreeClassifier("balanced-accuracy", max_depth=1, cuts=Binarizer(n_thresholds=9)).fit(X, y)
    assert few.value_ < few.bound_over_all_thresholds_ == 1
