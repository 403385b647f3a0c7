"""Solves of raw numbers: the optimum over all thresholds, by every driver, and trees that read raw rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streed
from streed import reference
from streed.data import Cut, Dataset
from streed.drivers import drivers
from streed.task import Task
from streed.task.analysis.extent import OVER_ALL, cut_loss
from streed.tasks import Accuracy, BalancedAccuracy, Gini, InstanceCosts, Misclassifications, Splits, SquaredError
from streed.tree import Branch, Leaf, Tree
from tests.unit.refusal import refused

NAN = math.nan
RNG = np.random.default_rng(5)
X = np.round(RNG.normal(size=(40, 3)), 1)
X[RNG.random(40) < 0.2, 1] = NAN
Y = ((X[:, 0] > 0.2) ^ (np.nan_to_num(X[:, 1], nan=5.0) > 0.4)).astype(int)


@pytest.mark.parametrize("search", sorted(set(drivers()) - {"fronts"}))
def test_every_driver_finds_the_optimum_of_the_reference(search: str) -> None:
    optimum = reference.optimum(Misclassifications(), Dataset.make(X, Y), max_depth=2)
    result = streed.solve(Misclassifications(), X, Y, max_depth=2, search=search)
    assert result.status == "optimal"
    assert result.value == optimum[0]
    assert (result.tree.predict(X) != Y).sum() == result.value
    assert result.stats["route"] == ("general" if search == "general" else "row costs by questions")


def test_thresholds_lie_between_neighbours_and_go_left() -> None:
    result = streed.solve(Accuracy(), [[1.0], [2.0], [4.0]], ["a", "a", "b"], max_depth=1)
    assert result.tree.root == Branch(0, (Leaf(0, 2, 0), Leaf(1, 1, 0)), 3, Cut(3.0, 0))
    assert result.tree.predict([[3.0], [3.0001], [-1e300]]).tolist() == ["a", "b", "a"]
    assert str(result.tree).splitlines()[0] == "x0 <= 3?"


def test_gaps_go_to_the_best_side() -> None:
    column = [[1.0], [2.0], [NAN], [3.0], [NAN]]
    low = streed.solve(Misclassifications(), column, [0, 0, 0, 1, 0], max_depth=1).tree
    high = streed.solve(Misclassifications(), column, [0, 0, 1, 1, 1], max_depth=1).tree
    alone = streed.solve(Misclassifications(), column, [0, 0, 1, 0, 1], max_depth=1).tree
    assert low is not None
    assert high is not None
    assert alone is not None
    assert [each.root.cut for each in (low, high, alone) if isinstance(each.root, Branch)] == [
        Cut(2.5, 0),
        Cut(2.5, 1),
        Cut(None, 1),
    ]
    assert "yes or missing" in str(low)
    assert "no or missing" in str(high)
    assert str(alone).startswith("x0 is missing?")


def test_a_gap_where_there_was_none_goes_to_the_child_with_more_rows() -> None:
    many_low = streed.solve(Misclassifications(), [[1.0], [2.0], [3.0]], [0, 0, 1], max_depth=1).tree
    many_high = streed.solve(Misclassifications(), [[1.0], [2.0], [3.0]], [0, 1, 1], max_depth=1).tree
    by_frequency = streed.solve(Misclassifications(), [[1.0], [2.0]], [0, 1], frequency=[3, 4], max_depth=1).tree
    even = streed.solve(Misclassifications(), [[1.0], [2.0]], [0, 1], max_depth=1).tree
    for tree, expected in ((many_low, 0), (many_high, 1), (by_frequency, 1), (even, 0)):
        with pytest.warns(UserWarning, match="'x0' has a missing value"):
            assert tree.predict([[NAN], [None]]).tolist() == [expected] * 2


def test_new_rows_may_be_of_any_numeric_type() -> None:
    whole = streed.solve(Accuracy(), np.array([[2**60], [2**60 + 1], [5]]), [0, 1, 0], max_depth=1).tree
    assert whole.predict(np.array([[2**60], [2**60 + 1]], object)).tolist() == [0, 1]
    assert whole.predict([[float(2**60)], [2.0**61]]).tolist() == [0, 1]
    assert whole.predict(np.array([[2**60 + 1]], np.uint64)).tolist() == [1]
    real = streed.solve(Accuracy(), np.array([[0.1], [0.2], [0.9]], np.float32), [0, 0, 1], max_depth=1).tree
    assert real.predict(np.array([[0.2], [0.9]], np.float32)).tolist() == [0, 1]
    assert real.predict(np.array([[0], [1]], bool)).tolist() == [0, 1]
    refused("X", "'x0'", "numbers", call=lambda: real.predict([["a"]]))
    refused("X", "'x0'", "numbers", call=lambda: real.predict(np.array([["2020-01-01"]], "datetime64[D]")))


@pytest.mark.compiles
def test_tables_of_all_kinds_of_columns() -> None:
    table = pd.DataFrame(
        {
            "age": [22.5, 38.0, None, 26.0, 35.0, 54.0],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-02-01", None, "2021-01-01", "2022-01-01"]),
            "size": pd.Categorical(["s", "m", "l", "l", "m", "s"], categories=["s", "m", "l"], ordered=True),
            "city": ["Rome", "Bonn", "Oslo", "Oslo", "Bonn", "Rome"],
            "flag": [True, False, True, False, True, False],
        }
    )
    y = ["no", "yes", "yes", "no", "yes", "no"]
    data = Dataset.make(table, y)
    optimum = reference.optimum(Misclassifications(), data, max_depth=2)
    result = streed.solve(Misclassifications(), table, y, max_depth=2)
    assert result.value == optimum[0] == 0
    assert result.tree.predict(table).tolist() == y
    assert result.tree.predict(data).tolist() == y
    assert Tree.from_json(result.tree.to_json()) == result.tree


def test_by_hand() -> None:
    x = np.arange(10.0)[:, None]
    y = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    data = Dataset.make(x, y, max_cuts=1)
    assert data.is_cut
    assert data.ordered[0].cuts.tolist() == [4]
    task = Misclassifications().bind(data)
    # the threshold behind 2 is 2 rows from the one behind 4, and 3 from none; so is that behind 6
    assert cut_loss(task, data, 1, None) == 2
    assert cut_loss(task, data, 2, None) == 2 + 4
    assert cut_loss(task, data, 2, 2) == 4
    assert cut_loss(task, data, None, None) == 10
    assert cut_loss(task, Dataset.make(x, y), 2, None) == 0
    assert not Dataset.make(x, y).is_cut
    result = streed.solve(Misclassifications(), data, max_depth=1)
    assert (result.value, result.stats[OVER_ALL]) == (2, 0)
    assert OVER_ALL not in streed.solve(Misclassifications(), x, y, max_depth=1).stats


TASKS: dict[str, Task] = {
    "errors": Misclassifications(),
    "price": Misclassifications() + Splits(),
    "balanced": BalancedAccuracy(),
    "costs": InstanceCosts(),
    "squared": SquaredError(),
    "gini": Gini(),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", list(TASKS))
def test_no_tree_over_all_thresholds_is_better(name: str) -> None:
    task, told, near = TASKS[name], 0, 0
    for seed in range(25):
        rng = np.random.default_rng([21, seed])
        n = int(rng.integers(12, 40))
        X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 3)))
        if rng.random() < 0.4:
            X[rng.random(n) < 0.2, 1] = np.nan
        y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
        y[:2] = 0, 1
        given: dict[str, Any] = {"max_depth": int(rng.integers(1, 3))}
        if rng.random() < 0.5:
            given["sample_weight"] = rng.integers(1, 4, n)
        if rng.random() < 0.5:
            given["frequency"] = rng.integers(1, 3, n)
        if name == "costs":
            given["costs"] = rng.integers(0, 9, (n, 2))
        if rng.random() < 0.3:
            given["max_nodes"] = 2
        cut = streed.solve(task, X, y, **given, max_cuts=int(rng.integers(2, 7)))
        best = streed.solve(task, X, y, **given)
        sign = -1 if task.larger_is_better else 1
        assert sign * best.value <= sign * cut.value
        if OVER_ALL in cut.stats:
            told += 1
            assert sign * cut.stats[OVER_ALL] <= sign * best.value + 1e-9
            near += cut.stats[OVER_ALL] != 0 and abs(cut.stats[OVER_ALL] - best.value) < 0.5 * abs(best.value)
    assert told > 15
    assert near > 0
