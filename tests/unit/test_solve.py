"""`streed.solve` as a user meets it: what comes back, for every shipped task, any labels, weights and tables."""

from __future__ import annotations

import copy
import re
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
import streed.tasks
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import Evaluation
from streed.result import Result
from streed.solve import solve
from streed.task import Limit, RowCostTask, State, Task
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, Misclassifications, SparseAccuracy, Splits
from streed.tree import Tree
from tests.unit.specimens import XOR

CUBE = [[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)]
"""All rows of three binary columns."""

BOTH = [0, 0, 0, 0, 0, 0, 1, 1]
"""Whether the first two of them are 1: a leaf errs twice, one split errs twice, two splits never."""

TASKS: list[tuple[str, dict[str, Any], Any]] = [
    ("Accuracy()", {"max_depth": 0}, 2),
    ("Accuracy()", {"max_depth": 1}, 2),
    ("Accuracy()", {"max_depth": 2}, 0),
    ("Accuracy()", {"max_nodes": 1}, 2),
    ("Accuracy()", {"max_nodes": 2}, 0),
    ("Misclassifications()", {"max_depth": 1}, 2),
    ("3 * Misclassifications()", {"max_depth": 1}, 6),
    ("Splits()", {}, 0),
    ("Misclassifications() + Splits()", {}, 2),
    ("Misclassifications() + 0.5 * Splits()", {}, 1.0),
    ("minimize(Misclassifications() + 2.5 * Splits())", {}, 2.0),
    ("SparseAccuracy(0.05)", {}, 0.1),
    ("SparseAccuracy(0.125)", {}, 0.25),
    ("SparseAccuracy(0.2)", {"max_depth": 2}, 0.25),
    ("SparseAccuracy(0)", {"max_depth": 2}, 0.0),
    ("WeightedAccuracy({1: 5})", {"max_depth": 0}, 6),
    ("WeightedAccuracy({1: 5})", {"max_depth": 1}, 2),
    ("WeightedAccuracy({1: 0.5})", {"max_depth": 1}, 1.0),
    ("WeightedAccuracy({0: 0})", {}, 0),
    ("BalancedAccuracy()", {"max_depth": 0}, 0.5),
    ("BalancedAccuracy()", {"max_depth": 1}, 1 - 1 / 6),
    ("BalancedAccuracy()", {"max_depth": 2}, 1.0),
    ("Accuracy().subject_to(MinSupport(2))", {"max_depth": 2}, 0),
    ("Accuracy().subject_to(MinSupport(3))", {"max_depth": 2}, 2),
    ("SparseAccuracy(0.05).subject_to(MinSupport(3))", {}, 0.25),
    ("BalancedAccuracy().subject_to(MinSupport(3))", {}, 1 - 1 / 6),
]
"""A task, limits and the optimum of `BOTH`, by hand."""


def task_of(source: str) -> Task:
    task = eval(source, {**vars(streed.tasks), "minimize": streed.minimize})
    assert isinstance(task, Task)
    return task


def tree_of(result: Result) -> Tree:
    assert result.tree is not None
    return result.tree


def errors(result: Result, X: Any, y: Any) -> int:
    return int((tree_of(result).predict(X) != np.array(y)).sum())


def check(result: Result, data: Dataset, limits: dict[str, Any]) -> None:
    """Assert that a result is proved, that its tree keeps the limits, and that by the reference it costs its value."""
    task, root = result.task, tree_of(result).root
    evaluation = Evaluation(task, data)
    assert float(task.score(evaluation.cost(root))) == pytest.approx(result.value, rel=1e-12)
    assert evaluation.broken_limits(root, **limits) == []
    assert (result.status, result.gap) == ("optimal", 0)
    assert result.lower_bound == result.value == result.upper_bound
    assert result.front == ((result.value, result.tree),)


# -- every task --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "limits", "optimum"), TASKS)
def test_the_optimum_of_every_task(source: str, limits: dict[str, Any], optimum: Any) -> None:
    result = solve(task_of(source), CUBE, BOTH, **limits)
    assert result.value == optimum
    assert type(result.value) is type(result.lower_bound) is type(result.upper_bound) is type(optimum)
    check(result, Dataset.make(CUBE, BOTH), limits)


def test_every_task_that_ships_is_among_them() -> None:
    tried = {name for source, _, _ in TASKS for name in re.findall(r"[A-Z]\w+", source)}
    assert tried == set(streed.tasks.__all__)


def test_the_public_names() -> None:
    assert streed.solve is solve
    assert streed.solve(streed.tasks.Accuracy(), XOR, [0, 1, 1, 0]).value == 0


@pytest.mark.parametrize(
    ("source", "limits", "optimum"),
    [
        ("Accuracy()", {"max_depth": 0}, 5),
        ("Accuracy()", {"max_depth": 1}, 3),
        ("Accuracy()", {"max_depth": 2}, 1),
        ("SparseAccuracy(0.01)", {"max_nodes": 2}, 0.145),
        ("BalancedAccuracy()", {"max_depth": 0}, 1 - 2 / 3),
    ],
)
def test_several_classes(source: str, limits: dict[str, Any], optimum: Any) -> None:
    X, y = CUBE, ["a", "a", "a", "b", "b", "b", "c", "c"]
    result = solve(task_of(source), X, y, **limits)
    assert result.value == optimum
    check(result, Dataset.make(X, y), limits)


def test_a_task_of_ones_own() -> None:
    @attrs.frozen
    class Regret(RowCostTask):
        """A wrong 1 costs 3, a wrong 0 costs 1."""

        def row_costs(self, data: Dataset) -> np.ndarray[Any, Any]:
            return np.column_stack([data.y, 3 * (1 - data.y)])

    assert [solve(Regret(), CUBE, BOTH, max_depth=d).value for d in range(3)] == [2, 2, 0]
    noisy = [1, 0, 0, 0, 0, 0, 1, 1]
    assert [solve(Regret() + 0.25 * Splits(), CUBE, noisy, max_depth=d).value for d in range(4)] == [
        3.0,
        3.0,
        1.5,
        1.0,
    ]


@attrs.frozen
class Largest(Task):
    """The largest number of errors in a leaf: separable, but no sum over rows."""

    def statistics(self, data: Dataset) -> dict[str, np.ndarray[Any, Any]]:
        return {"wrong": Misclassifications().row_costs(data)}

    def labels(self, data: Dataset) -> Any:
        return data.classes

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.wrong[k]

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@attrs.frozen
class Even(Limit):
    """An even number of rows in every leaf: a limit that no number of rows describes."""

    def allows(self, s: State) -> bool:
        return s.rows % 2 == 0


def test_tasks_that_the_driver_cannot_search() -> None:
    with pytest.raises(TaskError, match=r"depth-first.*Largest.*RowCostTask"):
        solve(Largest(), CUBE, BOTH)
    with pytest.raises(TaskError, match=r"depth-first.*Even.*MinSupport"):
        solve(Accuracy().subject_to(Even()), CUBE, BOTH)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "optimum"), [(0, 6), (1, 6), (2, 3), (3, 0), (4, 0), (None, 0)])
def test_branching_nodes(nodes: int | None, optimum: int) -> None:
    y = [0, 1, 1, 0] * 3
    for depth in (None, 2, 3, 9):
        result = solve(Accuracy(), XOR * 3, y, max_depth=depth, max_nodes=nodes)
        assert result.value == optimum == errors(result, XOR * 3, y)
        assert tree_of(result).n_branches <= (3 if nodes is None else nodes)


@pytest.mark.parametrize("limit", ["max_depth", "max_nodes"])
def test_no_limit_is_a_large_limit(limit: str) -> None:
    y = [0, 1, 1, 0, 1, 0, 0, 1]
    trees = {tree_of(solve(Accuracy(), CUBE, y, **{limit: most})) for most in (None, 8, 2**31, 2**70, np.int64(9))}
    assert len(trees) == 1
    assert trees.pop().n_branches == 7


@pytest.mark.parametrize(("least", "optimum"), [(1, 0), (2, 0), (3, 2), (4, 2), (5, 2), (8, 2)])
def test_rows_in_a_leaf(least: int, optimum: int) -> None:
    for limits in ({"max_depth": 2}, {"max_depth": 5}, {"max_nodes": 3}, {}):
        for task in (Accuracy(), Accuracy().subject_to(MinSupport(least))):
            result = solve(task, CUBE, BOTH, min_leaf=least if task == Accuracy() else 1, **limits)
            assert result.value == optimum
            assert min(leaf.rows for leaf in tree_of(result).leaves()) >= least


@pytest.mark.parametrize("least", [9, 2**31, 2**59, 2**61, 2**70])
def test_no_tree_has_enough_rows_in_a_leaf(least: int) -> None:
    result = solve(Accuracy().subject_to(MinSupport(least)), CUBE, BOTH, max_depth=2)
    assert (result.status, result.value, result.tree, result.front) == ("infeasible", None, None, ())
    assert (result.lower_bound, result.upper_bound, result.gap) == (None, None, None)


def rare_below() -> tuple[Any, Any, dict[str, Any]]:
    """A category that only a few rows have, which another column tells apart: only below that, categories may split."""
    rng = np.random.default_rng(0)
    apart, sign, category = np.arange(64) < 4, rng.integers(0, 2, 64), rng.integers(0, 2, 64)
    y = sign ^ category
    category[:4], y[:4] = [2, 0, 0, 1], 0
    a, b = rng.integers(0, 2, (2, 64))
    c = a ^ b ^ y ^ (np.arange(64) == 10)
    return np.column_stack([a, b, c, apart, sign, category]), y, {"max_depth": 3}


def rare_within_budget() -> tuple[Any, Any, dict[str, Any]]:
    """Two such categories, told apart by two columns; with three nodes there is also a tree that errs once."""
    rng = np.random.default_rng(0)
    mix = [0] * 5 + [1] * 5
    j, f = np.repeat([1, 0, 0], [11, 11, 60]), np.repeat([1, 0, 1], [11, 11, 60])
    category = np.array([2, *mix, 3, *mix, *[0] * 30, *[1] * 30])
    y = np.repeat([2, 0, 1], [22, 30, 30])
    a = np.where(y == 2, 1, np.where(y == 0, 0, rng.integers(0, 2, 82)))
    b = np.where(a == 0, y == 1, rng.integers(0, 2, 82))
    c = np.where(a == 1, y == 1, rng.integers(0, 2, 82))
    b[[24, 56]] ^= True
    c[55] ^= True
    return np.column_stack([a, b, c, j, f, category]), y, {"max_nodes": 3}


@pytest.mark.parametrize("case", [rare_below, rare_within_budget])
def test_a_rare_category_may_forbid_a_split_above_but_not_below(case: Any) -> None:
    X, y, limits = case()
    result = solve(Accuracy(), X, y, categorical=[5], min_leaf=2, **limits)
    assert (result.status, result.value) == ("optimal", 0)
    assert errors(result, X, y) == 0


# -- labels ------------------------------------------------------------------------------------------------------------

LABELS: list[Any] = [
    [0, 1],
    [-1, 1],
    [1, 2],
    [0, 10**6],
    [-(2**70), 2**70],
    ["no", "yes"],
    [False, True],
    [0.0, 1.0],
    [Fraction(1, 3), Fraction(2, 3)],
    [(0, "a"), (0, "b")],
]


@pytest.mark.parametrize("pair", LABELS)
def test_any_labels(pair: Any) -> None:
    y = [pair[k] for k in [0, 1, 1, 0]]
    for task in (Accuracy(), SparseAccuracy(0.01), BalancedAccuracy()):
        predicted = tree_of(solve(task, XOR, y, max_depth=2)).predict(XOR)
        assert predicted.tolist() == y
        assert [type(label) for label in predicted.tolist()] == [type(label) for label in y]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series])
def test_labels_in_any_container(kind: Any) -> None:
    for y in ([2, 7, 7, 2], ["x", "y", "y", "x"], [True, False, False, True]):
        result = solve(Accuracy(), XOR, kind(y), max_depth=2)
        assert (result.value, tree_of(result).predict(XOR).tolist()) == (0, y)


def test_no_labels_one_label_and_one_row() -> None:
    for X, y, shown in (
        (CUBE, None, None),
        (CUBE, ["only"] * 8, "only"),
        (CUBE, [True] * 8, True),
        ([[1, 0]], [7], 7),
        ([[0]], ["x"], "x"),
    ):
        for limits in ({}, {"max_depth": 0}, {"max_depth": 4}, {"max_nodes": 2}):
            result = solve(Accuracy(), X, y, **limits)
            assert (result.value, result.status, tree_of(result).shows()) == (0, "optimal", (shown,))
    assert solve(BalancedAccuracy(), CUBE, [3] * 8).value == 1
    assert solve(SparseAccuracy(0.1), [[1, 0]], [7]).value == 0


def test_the_label_of_a_tie_is_the_smallest() -> None:
    assert tree_of(solve(Accuracy(), CUBE, ["b", "a"] * 4, max_depth=0)).shows() == ("a",)


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "optimum"),
    [
        ([1, 1, 1, 1, 1, 1, 3, 4], 6),
        ([0, 0, 0, 0, 1, 1, 1, 1], 2),
        ([2**40] * 8, 2**41),
        ([0.5] * 8, 1.0),
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.4], 0.6),
        ([Decimal("0.1")] * 8, 0.2),
        ([Fraction(1, 4)] * 8, 0.5),
        ([True] * 8, 2),
        (np.full(8, 1.0), 2),
        (np.full(8, 2.0), 4.0),
        (pd.Series([3] * 8), 6),
        (pl.Series([0.125] * 8), 0.25),
    ],
)
def test_weights_are_exact(weights: Any, optimum: Any) -> None:
    result = solve(Accuracy(), CUBE, BOTH, sample_weight=weights, max_depth=0)
    assert (result.value, result.stats["exact"]) == (optimum, True)
    check(result, Dataset.make(CUBE, BOTH, sample_weight=weights), {"max_depth": 0})


def test_real_weights_are_rounded_by_next_to_nothing() -> None:
    weights = np.pi * np.arange(1, 9)
    result = solve(Accuracy(), CUBE, BOTH, sample_weight=weights, max_depth=0)
    assert result.value == pytest.approx(15 * np.pi, rel=8 * 2**-44)
    assert (result.status, result.gap, result.stats["exact"]) == ("optimal", 0, False)


@pytest.mark.parametrize("source", ["Accuracy()", "SparseAccuracy(0.03)", "BalancedAccuracy()"])
def test_a_row_of_weight_three_is_three_rows(source: str) -> None:
    rng = np.random.default_rng(3)
    X, y, weights = rng.integers(0, 2, (20, 5)), rng.integers(0, 3, 20), rng.integers(0, 4, 20)
    for limits in ({"max_depth": 2}, {"max_nodes": 3}):
        weighted = solve(task_of(source), X, y, sample_weight=weights, **limits)
        repeated = solve(task_of(source), X.repeat(weights, axis=0), y.repeat(weights), **limits)
        assert weighted.value == pytest.approx(repeated.value, rel=1e-15)


# -- tables ------------------------------------------------------------------------------------------------------------

TABLE = {
    "colour": ["red", "green", "blue", "red", "green", "blue", "red", "blue"],
    "size": ["small", "large"] * 4,
    "round": [0, 0, 1, 1, 0, 0, 1, 1],
}
GOOD = ["yes", "yes", "no", "yes", "yes", "no", "yes", "no"]
"""Whatever is not blue."""


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_a_table_with_a_categorical_column(frame: Any) -> None:
    table = frame(TABLE)
    result = solve(SparseAccuracy(0.01), table, GOOD)
    assert (result.value, errors(result, table, GOOD)) == (0.01, 0)
    tree = tree_of(result)
    assert (tree.n_branches, tree.n_leaves, tree.depth) == (1, 3, 1)
    assert {column.name: column.categories for column in tree.columns.values()} == {"colour": ("blue", "green", "red")}
    assert tree.predict(frame({"colour": ["blue", "red"]})).tolist() == ["no", "yes"]


def test_a_declared_order_of_categories() -> None:
    colours = pd.Categorical(TABLE["colour"], categories=["red", "green", "blue"])
    for frame in (
        pd.DataFrame({**TABLE, "colour": colours}),
        pl.DataFrame({**TABLE}, schema_overrides={"colour": pl.Enum(["red", "green", "blue"])}),
    ):
        tree = tree_of(solve(Accuracy(), frame, GOOD, max_depth=1))
        assert tree.shows() == ("yes", "yes", "no")


def test_columns_of_two_texts_and_booleans() -> None:
    X = pd.DataFrame({"sex": ["f", "m", "f", "m"], "old": [False, False, True, True]})
    tree = tree_of(solve(Accuracy(), X, ["p", "q", "q", "p"], max_depth=2))
    assert sorted(column.name for column in tree.columns.values()) == ["old", "sex"]
    assert tree.predict(X).tolist() == ["p", "q", "q", "p"]


def test_numbers_as_categories() -> None:
    X, y = np.array([[3, 0], [5, 0], [9, 1], [3, 1], [5, 1], [9, 0]]), [0, 1, 0, 0, 1, 0]
    for categorical in ([0], ["x0"], True):
        result = solve(Accuracy(), X, y, max_depth=1, categorical=categorical)
        assert (result.value, tree_of(result).n_leaves, errors(result, X, y)) == (0, 3, 0)


def test_a_data_set_made_before() -> None:
    data = Dataset.make(TABLE, GOOD)
    result = solve(Accuracy(), data, max_depth=1)
    assert (result.value, tree_of(result).predict(data).tolist()) == (0, GOOD)


def test_columns_that_say_nothing_or_the_same() -> None:
    ones, zeros = np.ones((8, 1)), np.zeros((8, 1))
    for X in (np.hstack([ones, zeros]), np.zeros((8, 0)), ones):
        assert (solve(Accuracy(), X, BOTH).value, solve(Accuracy(), X, BOTH, max_depth=3).status) == (2, "optimal")
    cube = np.array(CUBE)
    X = np.hstack([ones, 1 - cube, cube, zeros, cube])
    result = solve(Accuracy(), X, BOTH, max_depth=2)
    assert (result.value, errors(result, X, BOTH), result.stats["columns"]) == (0, 0, 3)
    assert set(tree_of(result).columns) == {1, 2}


# -- the caller's own --------------------------------------------------------------------------------------------------


def test_the_callers_objects_are_not_changed() -> None:
    X, y, weights = np.array(CUBE, dtype=np.uint8), np.array(BOTH), np.arange(8.0)
    for array in (X, y, weights):
        array.setflags(write=False)
    result = solve(BalancedAccuracy(), X, y, sample_weight=weights, max_depth=2)
    kept = tree_of(result)
    assert X.tolist() == CUBE
    assert y.tolist() == BOTH
    assert weights.tolist() == list(range(8))
    rows, labels = copy.deepcopy(CUBE), copy.deepcopy(BOTH)
    solve(Accuracy(), rows, labels, sample_weight=rows[7] * 2 + [1, 1], categorical=(names := ["x0"]), max_depth=2)
    assert (rows, labels, names) == (CUBE, BOTH, ["x0"])
    frame, target = pd.DataFrame(TABLE, index=list("hgfedcba")), pd.Series(GOOD, index=list("abcdefgh"))
    before = frame.copy(), target.copy()
    solve(Accuracy(), frame, target, max_depth=2)
    pd.testing.assert_frame_equal(frame, before[0])
    pd.testing.assert_series_equal(target, before[1])
    assert kept == result.tree


def test_what_the_caller_changes_later_does_not_change_the_result() -> None:
    X, y = np.array(XOR, dtype=np.uint8), np.array([0, 1, 1, 0])
    data = Dataset.make(X, y)
    X[:], y[:] = 0, 0
    assert solve(Accuracy(), data, max_depth=1).value == 2


# -- the same again ----------------------------------------------------------------------------------------------------


def random_problem(seed: int, rows: int = 150, columns: int = 14) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < 0.4).astype(np.uint8)
    return X, X[:, 0] ^ X[:, 1] & X[:, 2] ^ (rng.random(rows) < 0.2)


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        ("Accuracy()", {"max_depth": 4}),
        ("Accuracy()", {"max_depth": 3, "min_leaf": 4}),
        ("SparseAccuracy(0.01)", {}),
        ("SparseAccuracy(0.02)", {"max_nodes": 4}),
        ("BalancedAccuracy()", {"max_depth": 4}),
    ],
)
def test_the_same_input_gives_the_same_tree(source: str, limits: dict[str, Any]) -> None:
    X, y = random_problem(5)
    first, again = (solve(task_of(source), X, y, **limits) for _ in range(2))
    assert (first.value, tree_of(first).to_json()) == (again.value, tree_of(again).to_json())
    check(first, Dataset.make(X, y), limits)


THREADED: list[tuple[str, dict[str, Any]]] = [
    ("Accuracy()", {"max_depth": 4}),
    ("Accuracy()", {"max_depth": 4, "min_leaf": 5}),
    ("SparseAccuracy(0.01)", {"max_depth": 4}),
    ("Accuracy()", {"max_nodes": 4}),
    ("BalancedAccuracy()", {"max_depth": 4}),
]


@pytest.mark.parametrize(("source", "limits"), THREADED)
def test_two_threads_prove_the_same_value(source: str, limits: dict[str, Any]) -> None:
    for seed in range(4):
        X, y = random_problem(seed, columns=80)
        one, two = (solve(task_of(source), X, y, threads=n, **limits) for n in (1, 2))
        assert two.value == one.value
        assert (one.stats["threads"], two.stats["threads"]) == (1, 2)
        check(two, Dataset.make(X, y), limits)


@pytest.mark.parametrize(("source", "limits"), THREADED)
def test_two_threads_find_the_same_tree(source: str, limits: dict[str, Any]) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = (rng.random((150, 80)) < 0.4).astype(np.uint8), rng.integers(0, 2, 150)
        trees = {tree_of(solve(task_of(source), X, y, threads=n, **limits)) for n in (1, 2, 2)}
        assert len(trees) == 1, seed


def test_solves_in_several_threads_at_once() -> None:
    def one(i: int, into: dict[int, Any]) -> None:
        X, y = random_problem(i)
        task = (Accuracy(), SparseAccuracy(0.01), BalancedAccuracy().subject_to(MinSupport(3)))[i % 3]
        result = solve(task, X, y, max_depth=3 + i % 2)
        into[i] = result.value, tree_of(result).to_json()

    alone: dict[int, Any] = {}
    for i in range(9):
        one(i, alone)
    together: dict[int, Any] = {}
    threads = [threading.Thread(target=one, args=(i, together)) for i in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
