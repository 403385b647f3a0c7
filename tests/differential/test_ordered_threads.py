"""Several threads in the ordered search: what plain recursion finds, and what one thread does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.exact import Array
from streed.ordered import choice, session
from streed.ordered.session import OrderedSession
from streed.tasks import F1, Accuracy, Misclassifications, Splits, SquaredError
from tests.unit.ordered_reference import INFINITE, best_cost, draw_rows, measure

pytestmark = pytest.mark.compiles


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the search over thresholds take all that it can, and all threads search, however small the problem is."""
    monkeypatch.setattr(choice, "FEW", -1)
    monkeypatch.setattr(session, "WORTH", (0,))


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_find_what_recursion_finds(threads: int) -> None:
    for number in range(60):
        rng = np.random.default_rng([number, threads, 81])
        rows = draw_rows(rng, most_rows=9, split_cost=int(rng.choice([0, 0, 1, 2, 5])))
        depth = [None, 2, 3, 3, 4][int(rng.integers(5))] if rows.split_cost else int(rng.integers(1, 5))
        nodes = [None, None, 2, 3, 4, 5][int(rng.integers(6))]
        answer = OrderedSession(rows).solve(depth, nodes, threads=threads)
        deepest = max(rows.n_rows - 1, 1) if depth is None else depth
        expected = best_cost(rows, deepest, nodes)
        assert answer.threads == threads
        if expected == INFINITE:
            assert answer.tree is None
            continue
        assert answer.tree is not None
        assert (answer.lower, answer.cost, answer.stopped) == (expected, expected, None)
        found = measure(rows, answer.tree)
        assert found["cost"] == expected
        assert found["depth"] <= deepest
        assert nodes is None or found["nodes"] <= nodes
        assert found["smallest"] >= rows.min_leaf
        below = int(expected + rng.integers(-1, 2))
        limited = OrderedSession(rows).solve(depth, nodes, below=below, threads=threads)
        assert limited.lower >= min(below, expected)
        assert limited.lower <= expected
        assert limited.stopped is None
        assert limited.cost is None or limited.cost >= expected
        assert expected >= below or limited.cost == expected


def _raw(seed: int, n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([seed, 82])
    X = rng.normal(size=(n, 4)).round(2)
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.15)
    return X, y.astype(np.int64)


@pytest.mark.parametrize(
    ("task", "limits"),
    [
        (Misclassifications(), {"max_depth": 3}),
        (Misclassifications(), {"max_depth": 3, "max_nodes": 5}),
        (Misclassifications(), {"max_depth": 3, "min_leaf": 7}),
        (Misclassifications() + 4 * Splits(), {"max_depth": None}),
        (Misclassifications() + 2 * Splits(), {"max_depth": 5, "max_nodes": 5}),
        (SquaredError(), {"max_depth": 3}),
        (F1(), {"max_depth": 2}),
    ],
)
def test_threads_find_what_one_finds(task: streed.Task, limits: dict[str, Any]) -> None:
    for seed in range(2):
        X, y = _raw(seed, 90)
        found = [streed.solve(task, X, y, **limits, threads=threads) for threads in (1, 2, 4)]
        for threads, each in zip((1, 2, 4), found, strict=True):
            assert each.status == "optimal"
            assert each.stats["threads"] == threads
            assert each.stats["route"].startswith("thresholds")
            assert each.value == pytest.approx(found[0].value, rel=1e-12)


def test_threads_stop_with_a_tree_and_a_bound() -> None:
    rng = np.random.default_rng(83)
    X, y = rng.normal(size=(300, 8)), rng.integers(0, 3, 300)
    streed.solve(Accuracy(), X, y, max_depth=2)  # what must be compiled is compiled
    for limits in ({"max_depth": 4}, {"max_depth": 5, "max_nodes": 9}):
        result = streed.solve(Accuracy(), X, y, time_limit=0.5, threads=3, **limits)
        assert result.status == "feasible"
        assert result.stats["stopped"] == "time"
        assert result.stats["threads"] == 3
        assert result.lower_bound < result.value == result.upper_bound
        assert result.tree is not None
        assert (result.tree.predict(X) != y).sum() == result.value
    priced = streed.solve(Accuracy() + Splits(), X, y, time_limit=0.5, threads=2)
    assert priced.stats["stopped"] == "time"
    assert 0 < priced.lower_bound < priced.value
    alone = streed.solve(Accuracy(), X, y, max_depth=4, time_limit=1e-9, threads=2)
    assert alone.status == "feasible"
