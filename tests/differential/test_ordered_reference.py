"""The ordered search against plain recursion over all thresholds, on many small random instances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streed.bnb import runner
from streed.exact import Array
from streed.ordered.problem import OrderedRows
from streed.ordered.rebuild import Leaf
from streed.ordered.session import OrderedSession
from tests.unit.ordered_reference import INFINITE, best_cost, draw_rows, measure

pytestmark = pytest.mark.compiles


def check(rows: OrderedRows, depth: int, nodes: int | None) -> None:
    """The search finds the optimum, proves it, and has a tree of that cost within the limits."""
    expected = best_cost(rows, depth, nodes)
    found = OrderedSession(rows).solve(depth, nodes)
    assert found.stopped is None
    assert (INFINITE if found.cost is None else found.cost) == expected
    if found.tree is not None:
        assert found.lower == expected
        measured = measure(rows, found.tree)
        assert measured["cost"] == expected
        assert measured["depth"] <= depth
        assert nodes is None or measured["nodes"] <= nodes
        assert measured["smallest"] >= rows.min_leaf


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
def test_the_optimum_is_that_of_the_recursion(depth: int) -> None:
    for seed in range(300 if depth < 4 else 100):
        rng = np.random.default_rng([depth, seed])
        rows = draw_rows(rng, most_rows=14 if depth < 4 else 10)
        check(rows, depth, None if rng.random() < 0.5 else int(rng.integers(0, 2**depth + 1)))


def test_a_tree_is_found_below_a_cost_and_else_a_bound() -> None:
    below = 0
    for seed in range(400):
        rng = np.random.default_rng([9, seed])
        rows = draw_rows(rng)
        depth, nodes = int(rng.integers(1, 4)), int(rng.integers(1, 8))
        optimum = best_cost(rows, depth, nodes)
        if optimum == INFINITE:
            continue
        limit = optimum + int(rng.integers(-3, 4)) * rows.divisor
        found = OrderedSession(rows).solve(depth, nodes, below=limit)
        assert found.stopped is None
        if optimum < limit:
            below += 1
            assert found.cost == found.lower == optimum
        else:
            assert limit <= found.lower <= optimum
    assert below > 100


def test_no_limit_on_the_depth_with_a_price() -> None:
    for seed in range(150):
        rng = np.random.default_rng([10, seed])
        rows = draw_rows(rng, most_rows=9, split_cost=int(rng.integers(1, 4)), form="errors", frequency=None)
        found = OrderedSession(rows).solve()
        assert found.stopped is None
        expected = best_cost(rows, 8, None)
        assert (INFINITE if found.cost is None else found.cost) == expected
        assert found.cost is None or found.lower == expected


def test_rows_may_be_anything_from_one_row_to_equal_rows_only() -> None:
    def solve(ranks: Any, costs: Any, **limits: Any) -> tuple[int, int | None]:
        rows = OrderedRows(np.array(ranks, np.int32), np.array(costs, np.int64), **limits)
        found = OrderedSession(rows).solve(3)
        return found.lower, found.cost

    assert solve([[0]], [[3, 5, 4]]) == (3, 3)
    assert solve([[4, 4, 4]], [[1, 0], [0, 1], [0, 1]]) == (1, 1)
    assert solve(np.zeros((0, 2)), [[1, 0], [0, 1]]) == (1, 1)
    assert solve([[0, 1]], [[1, 0], [0, 1]], min_leaf=3)[1] is None
    assert solve([[0, 1]], [[1, 0], [0, 1]], split_cost=2) == (1, 1)


def test_what_is_no_problem_is_refused() -> None:
    good: dict[str, Array] = {"ranks": np.zeros((1, 2), np.int32), "costs": np.zeros((2, 2), np.int64)}
    for change in (
        {"ranks": np.zeros((1, 2))},
        {"ranks": np.zeros((1, 3), np.int32)},
        {"costs": np.zeros((2, 2))},
        {"frequency": np.array([1, 0])},
        {"costs": np.full((2, 2), 2**60)},
        {"split_cost": -1},
    ):
        with pytest.raises(ValueError, match=next(iter(change))):
            OrderedSession(OrderedRows(**{**good, **change}))  # type: ignore[arg-type]


def test_a_stopped_search_has_a_tree_and_a_bound() -> None:
    rng = np.random.default_rng(11)
    rows = OrderedRows(
        np.stack([rng.permutation(400) for _ in range(8)]).astype(np.int32),
        (rng.integers(0, 4, 400)[:, None] != np.arange(4)).astype(np.int64),
    )
    looks = []

    def look(*bounds: int | None) -> None:
        looks.append(bounds)

    session = OrderedSession(rows)
    session.solve(2)  # what must be compiled is compiled
    found = session.solve(5, time_limit=0.3, look=look)
    assert found.stopped == "time"
    assert found.cost is not None
    assert found.tree is not None
    assert found.lower < found.cost
    assert measure(rows, found.tree)["cost"] == found.cost
    assert len(looks) > 1
    assert session.solve(5, memory=4096).stopped == "memory"
    again = session.solve(2)
    assert (again.stopped, again.lower) == (None, again.cost)


def test_a_search_that_is_stopped_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run", lambda *given: "time")
    rng = np.random.default_rng(11)
    costs = rng.integers(-3, 9, (30, 2))
    rows = OrderedRows(rng.integers(0, 20, (3, 30)).astype(np.int32), costs)
    found = OrderedSession(rows).solve(3)
    label, cost = int(costs.sum(axis=0).argmin()), int(costs.sum(axis=0).min())
    assert (found.cost, found.tree, found.stopped) == (cost, Leaf(label, cost, 30), "time")
    assert found.lower == costs.min(axis=1).sum()
