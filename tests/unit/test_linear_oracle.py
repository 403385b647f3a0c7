"""Solves of a linear oracle against searches of their own: equal optima, whatever was solved before, honest targets."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.encoding.row_costs import category_counts
from streed.kernels.routing import measure_tree
from streed.problem import Problem, SearchLimits
from streed.problem.oracle_by_search import FixedCosts, OracleBySearch
from streed.tasks import DemographicParity, GMean

KINDS: list[dict[str, Any]] = [
    {},
    {"max_depth": 2},
    {"max_depth": 0},
    {"max_depth": 4},
    {"max_depth": 5, "split": 2},
    {"max_depth": None, "split": 3},
    {"max_nodes": 3},
    {"min_leaf": 4},
    {"labels": 3},
    {"categorical": True},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_solves_of_an_oracle_agree_with_searches(kind: dict[str, Any]) -> None:
    kind = dict(kind)
    rng = np.random.default_rng(len(str(kind)))
    labels, split = kind.pop("labels", 2), kind.pop("split", 0)
    X = rng.integers(0, 2, (40, 6))
    categorical = None
    if kind.pop("categorical", False):
        X[:, 1] = rng.permutation([0, 1, 2, 3] * 10)
        categorical = [1]
    data = Dataset.make(X, rng.integers(0, 2, 40), categorical=categorical)
    kinds = rng.integers(0, 5, 40)
    kinds[:5] = range(5)
    limits = {"max_depth": 3, "max_nodes": None, "min_leaf": 1, **kind}
    problem = Problem(data, FixedCosts(np.zeros((40, labels), np.int64), 0), **limits)
    driver = streed.DepthFirst()
    quick = driver.linear_oracle(problem, kinds, labels, split > 0, SearchLimits())
    assert quick is not None
    slow = OracleBySearch(driver, problem, kinds, SearchLimits())
    for scale in (1, 7, 1000, 10**6, 10**12, 3):
        costs = rng.integers(-9, 10, (5, labels)) * scale
        expected = slow.solve(costs, split * scale)
        assert expected.cost is not None
        found = quick.solve(costs, split * scale)
        assert (found.cost, found.lower, found.stopped) == (expected.cost, expected.cost, None)
        check_tree(found, problem, kinds, costs, split * scale)
        assert quick.solve(costs, split * scale, below=expected.cost).preorder is None
        better = quick.solve(costs, split * scale, below=expected.cost + 1)
        assert better.cost == expected.cost
        check_tree(better, problem, kinds, costs, split * scale)
    quick.close()


def check_tree(answer: Any, problem: Problem, kinds: Any, costs: Any, split: int) -> None:
    """The tree costs what is claimed on the raw rows, and the counts at its leaves are right."""
    arity = category_counts(problem)
    _, rows, leaf_costs, _ = measure_tree(answer.preorder, problem.data.X, arity, costs[kinds])
    branches = int((answer.preorder >= 0).sum())
    assert int(leaf_costs.sum()) + split * branches == answer.cost
    if answer.counts is not None:
        assert answer.counts.sum(axis=1)[answer.preorder < 0].tolist() == rows[answer.preorder < 0].tolist()
        assert answer.counts[0].tolist() == np.bincount(kinds, minlength=len(costs)).tolist()


def test_a_stopped_score_is_that_of_the_best_tree_met() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (3000, 60))
    y = (X[:, :5].sum(axis=1) + rng.integers(0, 3, 3000) > 3).astype(int)
    streed.solve(GMean(), X[:50], y[:50], max_depth=2)
    for limit in (0.5, 5, 50):  # the first does, unless the machine is busy
        begin = time.perf_counter()
        result = streed.solve(GMean(), X, y, max_depth=8, time_limit=limit)
        assert time.perf_counter() - begin < limit + 60
        assert (result.status, result.stats["stopped"]) == ("feasible", "time")
        assert result.upper_bound >= result.value
        if result.value > 0.6:
            return
    raise AssertionError("the tree of no limit is worth much")


def test_an_enumeration_ends_with_the_time() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (400, 40)), rng.integers(0, 2, 400)
    task = streed.tasks.Accuracy().subject_to(DemographicParity() <= 0)
    groups = rng.integers(0, 2, 400)
    result = streed.solve(task, X, y, max_depth=4, time_limit=0.3, sensitive_features=groups)
    assert result.status in ("optimal", "feasible")
    assert result.lower_bound <= result.value
