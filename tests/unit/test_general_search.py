"""The general search: what it tries once, what it prunes, and that it checks what it hands out."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.errors import MismatchError
from streed.exact import Array
from streed.reference import optimum
from streed.task import GeneralTask, State
from streed.tasks import AbsoluteError, MinSupport
from tests.unit.specimens import chain
from tests.unusual_tasks import (
    ClassCounts,
    Discounted,
    Gini,
    Priced,
    general,
    random_data,
)

# -- what costs depend on ----------------------------------------------------------------------------------------------


def test_costs_hidden_from_a_glance_are_searched_with_their_path() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (16, 3))
    data = Dataset.make(np.column_stack([codes, 1 - codes[:, 0]]), rng.integers(0, 2, 16))
    for task in (Discounted(), Discounted().subject_to(MinSupport(2))):
        found = optimum(task, data, max_depth=3)
        assert general(task, data, max_depth=3).value == found[0]


# -- columns -----------------------------------------------------------------------------------------------------------


def test_equal_columns_of_different_price_are_not_the_same() -> None:
    column = [0, 0, 1, 1]
    result = general(Priced(), [[0, 0, c, c] for c in column], column)
    assert (result.value, result.tree.root.column) == (2, 2)
    dear_first = general(Dearer(), [[c, c] for c in column], column)
    assert dear_first.value == 1


@attrs.frozen
class Dearer(ClassCounts):
    """Errors, twice each, and 2 for a branch on column 0, 1 for one on column 1."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * (sum(s.rows_of) - s.rows_of[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 2 - split


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
    _, data = chain(240)
    result = general(Orderly(), data.X, data.y)
    assert (result.value, result.status) == (0, "optimal")
    assert result.tree.depth == 240


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


def test_of_equally_good_trees_the_shallowest_and_first() -> None:
    constant = general(Gini(), [[0, 0], [0, 1], [1, 0], [1, 1]], [0] * 4)
    assert constant.tree.n_branches == 0
    either = general(Gini(), [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], [0, 0, 1, 1])
    assert either.tree.to_text().startswith("x0")


def test_an_empty_category_shows_what_its_parent_would() -> None:
    table = {"c": ["a", "b", "d", "a", "b", "d"], "x": [0, 0, 0, 1, 1, 0]}
    result = general(AbsoluteError(), table, [5, 1, 3, 7, 2, 3], max_depth=2)
    assert result.value == 0
    for c, expected in (("a", 7), ("b", 2)):
        assert result.tree.predict({"c": [c], "x": [1]}).tolist() == [expected]
    first_x = general(AbsoluteError(), {"x": [0, 0, 1, 1, 1], "c": list("abdab")}, [9, 1, 5, 5, 5], max_depth=2)
    assert first_x.tree.predict({"x": [1, 0], "c": ["d", "d"]}).tolist()[0] == 5
