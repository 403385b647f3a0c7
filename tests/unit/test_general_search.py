"""The general search: what it tries once, what it prunes, and that it checks what it hands out."""

from __future__ import annotations

import itertools
import random
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.dp.budgets import Budgets
from streed.dp.search import search_general
from streed.errors import MismatchError
from streed.exact import Array
from streed.problem import Problem, SearchLimits
from streed.reference import optimal_front, optimum
from streed.reference.recursion import Recursion
from streed.task import GeneralTask, State, Task
from streed.task.analysis.dependence import reads_path, reads_split
from streed.tasks import AbsoluteError, Accuracy, MinSupport
from tests.unit.specimens import chain
from tests.unit.unusual_tasks import (
    ByOwnDominance,
    ClassCounts,
    Discounted,
    ErrorsByClass,
    FewOfEach,
    Gini,
    Lexicographic,
    Priced,
    WorstLeaf,
    general,
    random_data,
)

# -- what costs depend on ----------------------------------------------------------------------------------------------


@attrs.frozen
class Nested(ClassCounts):
    """Uses both arguments where they are easily overlooked."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 0

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return sum(column == split for column in range(3) if column in path)


@attrs.frozen
class Sly(Nested):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return len(locals()["path"])


@attrs.frozen
class Collected(Nested):
    def branching_cost(self, *arguments: Any) -> Any:
        return arguments[0]


def test_what_a_branching_cost_reads() -> None:
    assert [reads_path(task) for task in (ErrorsByClass(), Priced(), Discounted())] == [False, False, True]
    assert [reads_split(task) for task in (ErrorsByClass(), Priced(), Discounted())] == [False, True, True]
    for task in (Nested(), Sly(), Collected()):
        assert reads_path(task)
        assert reads_split(task)


def test_costs_hidden_from_a_glance_are_searched_with_their_path() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (16, 3))
    data = Dataset.make(np.column_stack([codes, 1 - codes[:, 0]]), rng.integers(0, 2, 16))
    for task in (Discounted(), Discounted().subject_to(MinSupport(2))):
        found = optimum(task, data, max_depth=3)
        assert found is not None
        assert general(task, data, max_depth=3).value == found[0]


# -- columns -----------------------------------------------------------------------------------------------------------


def test_columns_that_separate_the_same_rows_are_tried_once() -> None:
    data = random_data(30, 4)
    again = np.column_stack([data.X, data.X, 1 - data.X, np.zeros((30, 2), dtype=np.uint8)])
    for task in (Gini(), FewOfEach(), ErrorsByClass(), AbsoluteError()):
        plain = general(task, data, max_depth=3)
        twice = general(task, again, data.y, max_depth=3)
        assert plain.front == twice.front or [v for v, _ in plain.front] == [v for v, _ in twice.front]
        for name in ("nodes", "subproblems", "leaves"):
            assert plain.stats[name] == twice.stats[name]


def test_equal_columns_of_different_price_are_not_the_same() -> None:
    column = [0, 0, 1, 1]
    result = general(Priced(), [[0, 0, c, c] for c in column], column)
    assert result.tree is not None
    assert (result.value, result.tree.root.column) == (2, 2)  # type: ignore[union-attr]
    dear_first = general(Dearer(), [[c, c] for c in column], column)
    assert dear_first.value == 1


@attrs.frozen
class Dearer(ClassCounts):
    """Errors, twice each, and 2 for a branch on column 0, 1 for one on column 1."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * (sum(s.rows_of) - s.rows_of[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 2 - split


# -- budgets -----------------------------------------------------------------------------------------------------------


def test_useful_limits_are_those_of_the_reference() -> None:
    for size, min_leaf, n_columns in itertools.product((1, 2, 3, 5, 9, 40), (1, 2), (0, 2, 5)):
        data = Dataset.make(np.zeros((size, n_columns), dtype=np.uint8), [0] * size)
        o = Recursion(streed.reference.definition.OptimizationTask(Accuracy(), data, min_leaf))
        budgets = Budgets(n_columns, 2)
        for depth, nodes in itertools.product((None, 0, 1, 2, 4, 9), (None, 0, 1, 3, 7, 50)):
            assert budgets.useful(size // min_leaf, depth, nodes) == o._useful(o.o.s0, depth, nodes)


def test_nobody_is_given_more_nodes_than_it_has_a_use_for() -> None:
    budgets = Budgets(9, 2)
    assert list(budgets.shares([9, 9], None, None)) == [(None, None)]
    assert list(budgets.shares([9, 2], None, 3)) == [(2, 1), (3, 0)]
    assert list(budgets.shares([9, 9], 1, 1)) == [(0, 1), (1, 0)]
    assert list(budgets.shares([9, 9], 1, 2)) == [(None, None)]
    assert list(budgets.shares([3, 1, 2], None, 1)) == [(0, 0, 1), (1, 0, 0)]


# -- numbers -----------------------------------------------------------------------------------------------------------


@attrs.frozen
class SquaredError(Task):
    """The sum of squared deviations from the mean of the row data `t`."""

    superadditive: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        t = data.row_data["t"]
        return {"total": t, "squares": t * t, "weight": np.ones(len(t))}

    def labels(self, data: Dataset) -> tuple[str, ...]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.squares - s.total * s.total / s.weight if s.weight else 0

    def leaf_label(self, s: State, k: int) -> Any:
        return float(s.total / s.weight)


def test_a_statistic_of_real_numbers() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (60, 5))
    data = Dataset.make(X, t=X[:, 0] * 3 + X[:, 1] + rng.normal(size=60))
    found = optimum(SquaredError(), data, max_depth=2)
    assert found is not None
    result = general(SquaredError(), data, max_depth=2)
    assert result.value == pytest.approx(float(found[0]), rel=1e-12)
    assert result.stats["exact"]  # its methods take fractions
    assert result.gap == 0
    assert result.tree is not None
    assert abs(result.tree.predict(X) - data.row_data["t"]).max() < 4


@pytest.mark.parametrize("factor", [1, 2**30, 2**52, 0.1, 1e-7])
def test_weights_of_every_size_stay_exact(factor: float) -> None:
    draw = random.Random(5)
    X = [[draw.randint(0, 1) for _ in range(4)] for _ in range(20)]
    y = [draw.randint(0, 1) for _ in X]
    weights = [factor * draw.randint(1, 9) for _ in X]
    data = Dataset.make(X, y, sample_weight=weights)
    for task in (FewOfEach(), Lexicographic()):
        expected = optimal_front(task, data, max_depth=2)
        outcome = search_general(Problem(data, task.bind(data), 2, None, 1), SearchLimits())
        assert outcome.stats["exact"]
        assert sorted(each.value for each in outcome.solutions) == sorted(value for value, _ in expected)


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_bounds_save_work_and_nothing_else() -> None:
    data = random_data(80, 8)
    free = general(WorstLeaf(), data, max_depth=3)
    bounded = general(WorstLeaf(bounded=True), data, max_depth=3)
    assert free.value == bounded.value
    assert bounded.stats["nodes"] < free.stats["nodes"]
    assert bounded.stats["leaves"] <= free.stats["leaves"]


@attrs.frozen
class BlindGini(Gini):
    """Gini that does not say that splitting never costs."""

    superadditive: ClassVar[bool] = False


def test_rows_that_no_split_separates_bound_the_cost() -> None:
    rng = np.random.default_rng(1)
    data = Dataset.make(rng.integers(0, 2, (300, 6)), rng.integers(0, 2, 300))
    known, blind = (general(task, data, max_depth=4) for task in (Gini(), BlindGini()))
    assert known.value == blind.value
    assert known.stats["nodes"] < blind.stats["nodes"]


# -- deep trees --------------------------------------------------------------------------------------------------------


@attrs.frozen
class Orderly(ClassCounts):
    """Errors, where only the column after those above may be asked about: one tree of every depth."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.rows_of) - s.rows_of[k]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 0 if split == len(path) else 10**6

    def lower_bound(self, s: State) -> Any:
        return 0


def test_a_tree_of_hundreds_of_levels() -> None:
    _, data = chain(340)
    result = general(Orderly(), data.X, data.y)
    assert (result.value, result.status) == (0, "optimal")
    assert result.tree is not None
    assert result.tree.depth == 340


# -- trust -------------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Fickle(GeneralTask):
    """Costs that change with every call."""

    calls: list[int] = attrs.field(factory=lambda: [0])

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        self.calls[0] += 1
        return self.calls[0]


def test_a_tree_that_does_not_have_its_value_is_an_error() -> None:
    with pytest.raises(MismatchError, match="the search claimed"):
        general(Fickle(), random_data(8, 2), max_depth=1)


def test_the_same_tree_every_time() -> None:
    data = random_data(60, 7, n_classes=3)
    for task in (AbsoluteError(), FewOfEach(), ErrorsByClass(), Gini(), Discounted(), ByOwnDominance()):
        first, second = (general(task, data, max_depth=3) for _ in range(2))
        assert first.front == second.front


def test_of_equally_good_trees_the_shallowest_and_first() -> None:
    constant = general(Gini(), [[0, 0], [0, 1], [1, 0], [1, 1]], [0] * 4)
    assert constant.tree is not None
    assert constant.tree.n_branches == 0
    either = general(Gini(), [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], [0, 0, 1, 1])
    assert either.tree is not None
    assert either.tree.to_text().startswith("x0")


def test_an_empty_category_shows_what_its_parent_would() -> None:
    table = {"c": ["a", "b", "d", "a", "b", "d"], "x": [0, 0, 0, 1, 1, 0]}
    result = general(AbsoluteError(), table, [5, 1, 3, 7, 2, 3], max_depth=2)
    assert result.value == 0
    assert result.tree is not None
    for c, expected in (("a", 7), ("b", 2)):
        assert result.tree.predict({"c": [c], "x": [1]}).tolist() == [expected]
    first_x = general(AbsoluteError(), {"x": [0, 0, 1, 1, 1], "c": list("abdab")}, [9, 1, 5, 5, 5], max_depth=2)
    assert first_x.tree is not None
    assert first_x.tree.predict({"x": [1, 0], "c": ["d", "d"]}).tolist()[0] == 5
