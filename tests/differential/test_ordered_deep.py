"""Deep trees whose splits have a price: the ordered search against plain recursion, and against itself."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from streed.ordered.problem import OrderedRows
from streed.ordered.session import OrderedSession
from tests.unit.ordered_reference import INFINITE, best_cost, draw_rows, measure

pytestmark = pytest.mark.compiles


def _priced(rng: np.random.Generator, *, most_rows: int) -> OrderedRows:
    """An instance in which a split costs something, often as much as several rows."""
    rows = draw_rows(rng, most_rows=most_rows, split_cost=0)
    each = max(1, int(np.ptp(rows.costs, axis=1).max()))
    price = int(rng.choice([1, each, 2 * each, max(1, each // 3)]))
    return OrderedRows(rows.ranks, rows.costs, price, rows.frequency, rows.min_leaf)


@pytest.mark.parametrize("seed", range(4))
def test_deep_trees_cost_what_recursion_finds(seed: int) -> None:
    rng = np.random.default_rng([seed, 71])
    for _ in range(60):
        rows = _priced(rng, most_rows=9)
        depth = [None, 4, 5, 6][int(rng.integers(4))]
        nodes = [None, None, 3, 4, 5][int(rng.integers(5))]
        answer = OrderedSession(rows).solve(depth, nodes)
        deepest = max(rows.n_rows - 1, 1) if depth is None else depth
        expected = best_cost(rows, deepest, nodes)
        if expected == INFINITE:
            assert answer.tree is None
            continue
        assert answer.tree is not None
        assert (answer.lower, answer.cost) == (expected, expected)
        found = measure(rows, answer.tree)
        assert found["cost"] == expected
        assert found["depth"] <= deepest
        assert nodes is None or found["nodes"] <= nodes
        assert found["smallest"] >= rows.min_leaf


def _larger(rng: np.random.Generator) -> OrderedRows:
    """Two labels that a tree of some splits tells apart, a tenth of them turned."""
    n = int(rng.integers(40, 90))
    ranks = np.stack([rng.permutation(n), rng.permutation(n), rng.integers(0, 9, n)]).astype(np.int32)
    y = ((ranks[0] > n / 2) ^ (ranks[1] > n / 3)).astype(np.int64)
    y ^= rng.random(n) < 0.1
    return OrderedRows(ranks, np.stack([y, 1 - y], axis=1), int(rng.integers(2, 5)))


@pytest.mark.parametrize("seed", range(6))
def test_a_price_bounds_the_depth(seed: int) -> None:
    """As many splits as the best tree has are enough, and it is found again among trees that have no more."""
    rows = _larger(np.random.default_rng([seed, 72]))
    answer = OrderedSession(rows).solve(None)
    assert answer.cost is not None
    assert answer.stopped is None
    assert answer.tree is not None
    assert measure(rows, answer.tree)["cost"] == answer.cost == answer.lower
    for nodes in (3, 4):
        limited = OrderedSession(rows).solve(None, nodes)
        assert limited.cost is not None
        assert limited.cost >= answer.cost
        assert limited.tree is not None
        found = measure(rows, limited.tree)
        assert found["cost"] == limited.cost == limited.lower
    used = measure(rows, answer.tree)["nodes"]
    again = OrderedSession(rows).solve(None, used)
    assert again.cost == answer.cost


def _least_of_any_depth(rows: OrderedRows) -> int:
    """The least cost of a tree without limits, by recursion over row sets as bits."""
    n = rows.n_rows
    frequency = np.ones(n, np.int64) if rows.frequency is None else rows.frequency

    @functools.cache
    def solve(members: int) -> int:
        inside = np.array([i for i in range(n) if members >> i & 1])
        best = INFINITE
        if frequency[inside].sum() >= rows.min_leaf:
            best = int(rows.costs[inside].sum(axis=0).min())
        for ranks in rows.ranks:
            here = ranks[inside]
            for rank in np.unique(here)[:-1]:
                left = sum(1 << int(i) for i in inside[here <= rank])
                best = min(best, solve(left) + solve(members & ~left) + rows.split_cost)
        return best

    return solve((1 << n) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_many_splits_cost_what_recursion_finds(seed: int) -> None:
    splits = 0
    for number in range(12):
        rng = np.random.default_rng([seed, number, 73])
        n, labels = int(rng.integers(14, 24)), int(rng.integers(2, 4))
        ranks = np.stack([rng.permutation(n), rng.integers(0, 8, n)]).astype(np.int32)
        y = (ranks[0] // 6 + ranks[1] // 3) % labels
        y = np.where(rng.random(n) < 0.2, rng.integers(0, labels, n), y)
        costs = (np.arange(labels) != y[:, None]) * rng.integers(1, int(rng.choice([2, 5])), n)[:, None]
        price = int(rng.choice([1, 1, 2]))
        rows = OrderedRows(ranks, costs.astype(np.int64), price, None, int(rng.choice([1, 1, 1, 2])))
        answer = OrderedSession(rows).solve(None)
        assert answer.tree is not None
        assert answer.lower == answer.cost == _least_of_any_depth(rows)
        found = measure(rows, answer.tree)
        assert found["cost"] == answer.cost
        splits = max(splits, found["nodes"])
    assert splits > 4
