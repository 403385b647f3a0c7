"""Ordered columns: exact ranks, where thresholds lie, gaps, and the optimum over all thresholds by every driver."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streed
from streed import reference
from streed.data import Column, Cut, Dataset, Kind
from streed.data.ordered import between, between_moments, threshold_text
from streed.data.single_values import date_text, microseconds
from streed.drivers import drivers
from streed.ordered import search as by_thresholds
from streed.task import Task
from streed.task.analysis.extent import OVER_ALL, cut_loss
from streed.tasks import Accuracy, BalancedAccuracy, Gini, InstanceCosts, Misclassifications, Splits, SquaredError
from streed.tree import Branch, Leaf, Tree
from tests.unit.outcomes import refused

NAN, INF = math.nan, math.inf
TINY = 5e-324


def cuts_of(data: Dataset, j: int = 0) -> list[Cut]:
    values = data.ordered[j]
    return [values.cut(*each) for each in values.questions().tolist()]


FLOATS = st.floats(allow_nan=False, width=64)


@given(FLOATS, FLOATS)
def test_a_threshold_separates_and_reads_back(a: float, b: float) -> None:
    low, high = sorted((a, b))
    if low == high:
        return
    t = between(low, high)
    assert low <= t < high
    assert float(repr(t)) == t
    assert float(threshold_text(t, Kind.NUMBER, ())) == t
    with np.errstate(over="ignore"):
        near, far = np.float32(low), np.float32(high)
    if near < far and math.isfinite(near) and math.isfinite(far):
        assert float(near) <= t < float(far)
        assert near <= np.float32(t) < far


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ((2020, 1, 1), (2020, 1, 4), "2020-01-02"),
        ((2020, 1, 1, 9), (2020, 1, 1, 17), "2020-01-01T13:00:00"),
        ((2020, 1, 1, 0, 0, 0, 1), (2020, 1, 1, 0, 0, 0, 4), "2020-01-01T00:00:00.000002"),
        ((1960, 1, 1), (1960, 1, 2), "1960-01-01"),
    ],
)
def test_a_threshold_between_moments(low: Any, high: Any, expected: str) -> None:
    first, last = microseconds(dt.datetime(*low)), microseconds(dt.datetime(*high))  # noqa: DTZ001 - without a zone
    found = between_moments(first, last)
    assert first <= found < last
    assert date_text(found) == expected
    east = 2 * 3600 * 10**6  # where the day begins two hours earlier
    assert between_moments(21 * east // 2, 25 * east // 2, lambda moment: east) == 11 * east


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ([3.5, -0.0, 0.0, -1.0], [-1.0, 0.0, 3.5]),
        ([INF, -INF, 0.0, 1.0], [-INF, 0.0, 1.0, INF]),
        ([TINY, 0.0, 2 * TINY, -TINY], [-TINY, 0.0, TINY, 2 * TINY]),
        ([1.0, math.nextafter(1.0, 2.0), 1.0, math.nextafter(1.0, 0.0)], [1 - 2**-53, 1.0, 1 + 2**-52]),
        ([2**53 + 1, 2**53, 2**53 + 2, 0], [0, 2**53, 2**53 + 1, 2**53 + 2]),
        ([2**70, 3, 2**70 + 1, 3], [3, 2**70, 2**70 + 1]),
        ([2**70, 0.5, 2.0**70, 3], [0.5, 3, 2**70]),
    ],
)
def test_values_are_ranked_exactly(column: list[Any], values: list[Any]) -> None:
    data = Dataset.make({"a": column, "b": [0, 1, 0, 1]})
    assert data.ordered[0].values.tolist() == values
    assert [values[code] for code in data.X[:, 0].tolist()] == column
    thresholds = [cut.threshold for cut in cuts_of(data)]
    assert len(thresholds) == len(values) - 1
    for threshold, (low, high) in zip(thresholds, itertools.pairwise(values), strict=True):
        assert low <= threshold < high


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long doubles are doubles here")
def test_more_than_double_precision_is_refused_where_it_matters() -> None:
    fine = np.array([[1], [2], [3]], np.longdouble)
    assert Dataset.make(fine).ordered[0].values.tolist() == [1, 2, 3]
    fine[1] += np.finfo(np.longdouble).eps
    fine[1] = np.nextafter(np.longdouble(2), np.longdouble(3))
    refused("X", "row 1", "double precision", call=lambda: Dataset.make(fine))


@pytest.mark.parametrize(
    "table",
    [
        {"a": [2.5, None, 1.5, NAN]},
        {"a": np.array([2.5, NAN, 1.5, NAN])},
        pd.DataFrame({"a": [2.5, None, 1.5, None]}),
        pl.DataFrame({"a": pl.Series([2.5, None, 1.5, NAN])}),
        pd.DataFrame({"a": pd.array([2.5, None, 1.5, None], dtype="Float64")}),
    ],
)
def test_gaps_are_asked_on_either_side_and_for_themselves(table: Any) -> None:
    data = Dataset.make(table)
    assert data.X[:, 0].tolist() == [1, 2, 0, 2]
    assert cuts_of(data) == [Cut(2.0, 1), Cut(2.0, 0), Cut(None, 1)]
    assert data.columns == (Column("a", (), False, Kind.NUMBER, has_gaps=True),)


@pytest.mark.parametrize(
    "column",
    [
        [dt.date(2020, 1, 5), dt.date(2020, 1, 1), None],
        [dt.datetime(2020, 1, 5), dt.datetime(2020, 1, 1), None],  # noqa: DTZ001 - dates without a zone
        np.array(["2020-01-05", "2020-01-01", "NaT"], "datetime64[D]"),
        np.array(["2020-01-05", "2020-01-01", "NaT"], "datetime64[ns]"),
        pd.Series(pd.to_datetime(["2020-01-05", "2020-01-01", None])),
        pl.Series([dt.date(2020, 1, 5), dt.date(2020, 1, 1), None]),
    ],
)
def test_dates(column: Any) -> None:
    data = Dataset.make({"day": column})
    assert data.X[:, 0].tolist() == [1, 0, 2]
    (cut, other, missing) = cuts_of(data)
    assert data.columns[0].written(cut) == "2020-01-03"
    assert (cut.gaps, other.gaps, missing) == (1, 0, Cut(None, 1))


def test_max_cuts_are_quantiles_of_the_rows() -> None:
    column = np.arange(100)[:, None]
    assert [cut.threshold for cut in cuts_of(Dataset.make(column, max_cuts=3))] == [24, 49, 74]
    weights = np.where(np.arange(100) < 50, 99, 1)
    heavy = cuts_of(Dataset.make(column, max_cuts=1, sample_weight=weights))
    assert heavy == cuts_of(Dataset.make(column, max_cuts=1, frequency=weights)) == [Cut(24, 1)]
    light, five = [0.01] * 5, column[:5]  # in any unit of weights
    assert cuts_of(Dataset.make(five, max_cuts=1, sample_weight=light)) == cuts_of(Dataset.make(five, max_cuts=1))
    assert len(cuts_of(Dataset.make(column, max_cuts=1000))) == 99
    assert [cut.threshold for cut in cuts_of(Dataset.make([[2], [4], [6]], max_cuts=1))] == [3]  # as near as 5


MINUTES = [-90, 0, 5, 29, 31, 45, 600, 10_000]
LATE = ["no" if minutes < 30 else "yes" for minutes in MINUTES]
WAITS = [dt.timedelta(minutes=minutes) for minutes in MINUTES]


@pytest.mark.parametrize(
    "column", [WAITS, np.array(WAITS, "timedelta64[s]"), list(np.array(WAITS, "timedelta64[m]")), pl.Series(WAITS)]
)
def test_durations_in_every_table_give_the_same_tree(column: Any) -> None:
    tree = streed.solve(Accuracy(), {"wait": column}, LATE, max_depth=1).tree
    assert tree.columns[0].scale is Kind.DURATION
    assert "wait <= 0:30:00" in tree.to_text()
    new = {"wait": [dt.timedelta(minutes=30), dt.timedelta(minutes=30, microseconds=1)]}
    assert tree.predict(new).tolist() == ["no", "yes"]
    refused("X", "held durations before", call=lambda: tree.predict({"wait": [1.5, 2.5, 3.5]}))


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ([dt.timedelta(days=999_999_999), dt.timedelta(0), dt.timedelta(1)], "give it as a number, such as days"),
        (np.array([1, 2, 3], "timedelta64[ns]"), "no whole microsecond"),
        (np.array([1, 2, 3], "timedelta64[M]"), "the type timedelta64[M]"),
    ],
)
def test_durations_that_are_refused(column: Any, found: str) -> None:
    refused("X", found, call=lambda: Dataset.make({"wait": column}, [0, 1, 1]))


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
    two: Any = ([[1.0], [2.0]], [0, 1])
    by_frequency = streed.solve(Misclassifications(), *two, frequency=[3, 4], max_depth=1, min_leaf=3).tree
    even = streed.solve(Misclassifications(), *two, max_depth=1).tree
    for tree, expected in ((many_low, 0), (many_high, 1), (by_frequency, 1), (even, 0)):
        with pytest.warns(UserWarning, match="'x0' has a missing value"):
            assert tree.predict([[NAN], [None]]).tolist() == [expected] * 2


def test_new_rows_may_be_of_any_numeric_type() -> None:
    whole = streed.solve(Accuracy(), np.array([[2**60], [2**60 + 1], [5]]), [0, 1, 0], max_depth=1).tree
    assert whole.predict(np.array([[2**60], [2**60 + 1]], object)).tolist() == [0, 1]
    assert whole.predict([[float(2**60)], [2.0**61]]).tolist() == [0, 1]
    assert whole.predict(np.array([[2**60 + 1]], np.uint64)).tolist() == [1]
    far = streed.solve(Accuracy(), np.array([[2**60 + 100], [2**60 + 300]]), [0, 1], max_depth=1).tree
    assert far.predict([[2.0**60 + 256]]).tolist() == [1]  # above 2**60 + 200, whose nearest float it is
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


@pytest.mark.compiles
def test_costs_near_the_largest_total() -> None:
    rng = np.random.default_rng(0)
    x, costs = np.sort(rng.random(300)), (rng.random((300, 2)) * 2**59.5 / 300).astype(np.int64)
    sums = costs.cumsum(axis=0)
    best = min(int(each.min() + (sums[-1] - each).min()) for each in sums)
    assert streed.solve(InstanceCosts(), x[:, None], costs=costs, max_depth=1).value == best


TASKS: dict[str, Task] = {
    "errors": Misclassifications(),
    "price": Misclassifications() + Splits(),
    "balanced": BalancedAccuracy(),
    "costs": InstanceCosts(),
    "squared": SquaredError(),
    "gini": Gini(),
}


@pytest.mark.parametrize(
    "name", ["errors", "price", *(pytest.param(name, marks=pytest.mark.compiles) for name in list(TASKS)[2:])]
)
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
        given: dict[str, Any] = {"max_depth": int(rng.choice([1, 2, 5]))}
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
        with mock.patch.object(by_thresholds, "FEW", -1):  # questions are few, which another search would take
            assert streed.solve(task, X, y, **given).value == pytest.approx(best.value, rel=1e-9)
        sign = -1 if task.larger_is_better else 1
        assert sign * best.value <= sign * cut.value
        if OVER_ALL in cut.stats:
            told += 1
            assert sign * cut.stats[OVER_ALL] <= sign * best.value + 1e-9
            near += cut.stats[OVER_ALL] != 0 and abs(cut.stats[OVER_ALL] - best.value) < 0.5 * abs(best.value)
    assert told > 15
    assert near > 0
