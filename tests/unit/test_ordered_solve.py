"""Solves of raw numbers: the optimum over all thresholds, by every driver, and trees that read raw rows."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streed
from streed import reference
from streed.data import Cut, Dataset
from streed.drivers import drivers
from streed.encoding.ordered import ranks_of
from streed.task import RowCostTask
from streed.tasks import (
    F1,
    Accuracy,
    CostSensitive,
    Misclassifications,
    MonotoneErrors,
    QuinlanMDL,
    Splits,
    SquaredError,
)
from streed.tree import Branch, Leaf, Tree, walk
from tests.differential.ordered import OwnGini
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
    assert optimum is not None
    assert result.status == "optimal"
    assert result.value == optimum[0]
    assert (result.tree.predict(X) != Y).sum() == result.value  # type: ignore[union-attr]
    assert result.stats["route"] == ("general" if search == "general" else "row costs by questions")


@pytest.mark.parametrize("search", ["depth-first", "general"])
def test_squared_error_and_f1(search: str) -> None:
    data = Dataset.make(X[:, :2], Y)
    for task in (SquaredError(), F1()):
        result = streed.solve(task, data, max_depth=2, search=search)
        best = reference.optimal_front(task, data, max_depth=2)
        scores = [task.score(value, streed.task.Totals(task, data)) for value, _ in best]
        assert result.value == pytest.approx(float((max if task.larger_is_better else min)(scores)), rel=1e-12)


def test_thresholds_lie_between_neighbours_and_go_left() -> None:
    result = streed.solve(Accuracy(), [[1.0], [2.0], [4.0]], ["a", "a", "b"], max_depth=1)
    assert result.tree is not None
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
        assert tree is not None
        with pytest.warns(UserWarning, match="'x0' has a missing value"):
            assert tree.predict([[NAN], [None]]).tolist() == [expected] * 2


def test_new_rows_may_be_of_any_numeric_type() -> None:
    whole = streed.solve(Accuracy(), np.array([[2**60], [2**60 + 1], [5]]), [0, 1, 0], max_depth=1).tree
    assert whole is not None
    assert whole.predict(np.array([[2**60], [2**60 + 1]], object)).tolist() == [0, 1]
    assert whole.predict([[float(2**60)], [2.0**61]]).tolist() == [0, 1]
    assert whole.predict(np.array([[2**60 + 1]], np.uint64)).tolist() == [1]
    real = streed.solve(Accuracy(), np.array([[0.1], [0.2], [0.9]], np.float32), [0, 0, 1], max_depth=1).tree
    assert real is not None
    assert real.predict(np.array([[0.2], [0.9]], np.float32)).tolist() == [0, 1]
    assert real.predict(np.array([[0], [1]], bool)).tolist() == [0, 1]
    refused("X", "'x0'", "numbers", call=lambda: real.predict([["a"]]))
    refused("X", "'x0'", "numbers", call=lambda: real.predict(np.array([["2020-01-01"]], "datetime64[D]")))


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
    assert optimum is not None
    assert result.value == optimum[0] == 0
    assert result.tree is not None
    assert result.tree.predict(table).tolist() == y
    assert result.tree.predict(data).tolist() == y
    assert Tree.from_json(result.tree.to_json()) == result.tree


@pytest.mark.parametrize(
    ("column", "labels", "text"),
    [
        ([dt.date(2020, 1, 1), dt.date(2020, 3, 1)], [0, 1], "d <= 2020-01-31?"),
        ([10, 30, 20], [0, 1, 0], "d <= 25?"),
        ([0.1, 0.30000000000000004, 0.3], [0, 1, 0], "d <= 0.3?"),
    ],
)
def test_text(column: Any, labels: Any, text: str) -> None:
    tree = streed.solve(Accuracy(), {"d": [*column, column[0]]}, [*labels, 0], max_depth=1).tree
    assert tree is not None
    assert tree.to_text().splitlines()[0] == text
    assert text in tree.to_dot()


def test_max_cuts_limits_the_search() -> None:
    column = np.arange(20.0)[:, None]
    y = (np.arange(20) > 2).astype(int)
    assert streed.solve(Misclassifications(), column, y, max_depth=1).value == 0
    assert streed.solve(Misclassifications(), column, y, max_depth=1, max_cuts=1).value == 3


def test_costs_that_depend_on_the_column_are_searched_by_the_general_route() -> None:
    from streed.tasks.cost_tables import CostTable, TestCost

    table = {"cheap": X[:, 0], "dear": X[:, 1], "flag": (X[:, 2] > 0).astype(int)}
    costs = CostTable(((0, 1), (1, 0)), (TestCost("cheap", 0.01, 0.01), TestCost("dear", 0.02, 0.02)))
    data = Dataset.make(table, Y)
    result = streed.solve(CostSensitive(costs), data, max_depth=2)
    optimum = reference.optimum(CostSensitive(costs), data, max_depth=2)
    assert optimum is not None
    assert result.value == float(optimum[0])
    assert result.status == "optimal"


def test_leaves_that_rise_with_an_ordered_column() -> None:
    column = np.array([[1.0], [2.0], [3.0], [4.0]])
    free = streed.solve(Misclassifications(), column, [1, 1, 0, 1], max_depth=2)
    result = streed.solve(MonotoneErrors([0]), column, [1, 1, 0, 1], max_depth=2)
    falling = streed.solve(MonotoneErrors([0]), column, [1, 1, 0, 0], max_depth=2)
    assert (free.value, result.value, falling.value) == (0, 1, 2)
    assert streed.solve(MonotoneErrors([0]), column, [0, 0, 1, 1], max_depth=2).value == 0
    gaps = {"a": [1.0, 2.0, None, 4.0]}
    refused("increasing", "gaps", call=lambda: streed.solve(MonotoneErrors(["a"]), gaps, [0, 0, 1, 1], max_depth=1))


def test_a_description_names_one_of_all_questions() -> None:
    column = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    bound = QuinlanMDL().bind(Dataset.make(column, [0, 0, 1, 1, 1]))
    assert bound.branching_cost(5, (), 0) == 1 + math.log2(4)


class OwnColumns(RowCostTask):
    """Errors, twice as dear in rows of the upper half of a column that the task reads itself."""

    def row_costs(self, data: Dataset) -> Any:
        wrong = (data.class_numbers[:, None] != np.arange(len(data.class_labels))).astype(int)
        return wrong * (1 + (data.X[:, 0] > 1))[:, None]


def test_a_task_of_ones_own_that_reads_columns_reads_ranks() -> None:
    column = np.array([[1.5, 0], [2.5, 1], [3.5, 0], [4.5, 1]])
    result = streed.solve(OwnColumns(), column, [0, 1, 1, 0], max_depth=1)
    assert result.value == reference.optimum(OwnColumns(), Dataset.make(column, [0, 1, 1, 0]), max_depth=1)[0]  # type: ignore[index]


def test_too_many_thresholds_for_memory_are_an_input_error() -> None:
    column = np.arange(40_000.0)[:, None]
    refused(
        "memory_limit",
        "39,999 questions",
        call=lambda: streed.solve(
            OwnGini(), column, np.arange(40_000) % 2, max_depth=2, memory_limit=2 * 10**9, time_limit=5
        ),
    )


def test_ranks_for_a_search_that_reads_thresholds() -> None:
    data = Dataset.make({"a": [3.5, 1.5, None, 2.5], "b": [0, 1, 0, 1], "c": [10, 30, 20, 30]}, max_cuts=None)
    found = ranks_of(data)
    assert found.ranks.dtype == np.int32
    assert found.ranks.tolist() == [[2, 0, 3, 1], [3, 1, 0, 2], [0, 2, 1, 2]]
    assert found.sizes.tolist() == [4, 4, 3]
    for feature in range(3):
        for threshold in range(found.sizes[feature] - 1):
            j, limit, gaps = found.question(feature, threshold)
            sides = data.ordered[j].sides(data.X[:, j], data.ordered[j].cut(limit, gaps))
            below = found.ranks[feature] <= threshold
            if limit == -2 and not found.gaps_last[feature]:
                below = ~below
            assert (sides == 0).tolist() == below.tolist()


def test_every_branch_on_an_ordered_column_has_a_cut() -> None:
    tree = streed.solve(Misclassifications(), X, Y, max_depth=3).tree
    assert tree is not None
    assert all(node.cut is not None for node in walk(tree.root) if isinstance(node, Branch))


@pytest.mark.parametrize("depth", [1, 2])
def test_wide_tables_take_no_memory_for_pairs_of_columns(depth: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 5_000)), rng.integers(0, 2, 40)
    X[:, 4_321], y[:] = y, y ^ (rng.random(40) < 0.1)
    found = streed.solve(Misclassifications(), X, y, max_depth=depth)
    assert found.stats["route"] == "thresholds"
    assert found.status == "optimal"
    stump = min(int(min((X[:, j] != y).sum(), (X[:, j] == y).sum())) for j in range(5_000))
    assert found.value == stump if depth == 1 else found.value <= stump
    assert (found.tree.predict(X) != y).sum() == found.value  # type: ignore[union-attr]


def test_wide_numbers_of_scores_and_of_tasks_without_kernels_fit_into_memory() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(16, 8_000)), rng.random(16) < 0.4
    best = 0.0
    for below in (X[:, :, None] <= np.sort(X, 0).T[None, :, :-1], X[:, :, None] > np.sort(X, 0).T[None, :, :-1]):
        hits = (below & y[:, None, None]).sum(0)
        best = max(best, float((2 * hits / (below.sum(0) + y.sum())).max()))
    found = streed.solve(F1(), X, y, max_depth=1, max_cuts="all")
    assert (found.status, found.value) == ("optimal", pytest.approx(best))


@pytest.mark.parametrize(
    ("task", "limits"),
    [
        (Accuracy(), {"max_depth": 5}),
        (Accuracy(), {"max_depth": 6, "max_nodes": 9}),
        (Accuracy() + Splits(), {"max_depth": None}),
        (SquaredError(), {"max_depth": 5}),
        (F1(), {"max_depth": 5}),
    ],
    ids=lambda each: getattr(each, "name", None),
)
@pytest.mark.parametrize("time_limit", [1e-9, 0.3])
def test_a_stopped_search_of_all_thresholds_has_a_tree_and_a_bound(
    task: Any, limits: dict[str, Any], time_limit: float
) -> None:
    rng = np.random.default_rng(83)
    X, y = rng.normal(size=(400, 8)), rng.integers(0, 2, 400)
    result = streed.solve(task, X, y, time_limit=time_limit, threads=2, max_cuts="all", **limits)
    assert result.status == "feasible"
    assert result.stats["stopped"] == "time"
    assert result.stats["threads"] == 1
    assert result.tree is not None
    assert result.value in (result.lower_bound, result.upper_bound)
    assert result.lower_bound < result.upper_bound
    if type(task) is Accuracy:
        assert (result.tree.predict(X) != y).sum() == result.value
