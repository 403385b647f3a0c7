"""Solves that are stopped at drawn moments: no bound is beyond the optimum, no value better than it, on any route.

The command in `stops.py` tries as many more as one likes, and the routes whose kernels take long to compile.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.dp.ideal_point import ideal_score
from streed.problem import Problem
from streed.tasks import Accuracy, ClassErrors, DemographicParity, Gini, Splits
from streed.tree.verification import check
from tests.differential.stop_routes import ROUTES, make_posed
from tests.differential.stops import judge, stopping

COMPILED = ("gini", "entropy", "user, by rows", "user, largest", "user, regression")
"""Kernels of their own are compiled for these."""

NAMES = [pytest.param(name, marks=pytest.mark.slow if name.startswith(COMPILED) else ()) for name in ROUTES]

EACH = 3


@pytest.mark.parametrize("name", NAMES)
def test_bounds_of_stopped_solves(name: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(EACH):
        posed = make_posed(name, seed)
        outcome, wrong = judge(posed)
        assert not wrong, f"make_posed({name!r}, {seed}): {'; '.join(wrong)}"
        seen[outcome] += 1
    assert sum(seen.values()) == EACH


def test_the_general_route_has_a_bound_before_its_first_step() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    posed = make_posed("general, accuracy", 0)
    posed.arguments.update(max_depth=4, min_leaf=1)
    with stopping(type(posed)(posed.route, posed.task, X, y, posed.arguments, "looks", 0, 0)):
        result = streed.solve(Accuracy(), X, y, max_depth=4, search="general")
    _, groups = np.unique(X, axis=0, return_inverse=True)
    floor = sum(np.bincount(y[groups.ravel() == g], minlength=2).min() for g in range(groups.max() + 1))
    assert result.status == "feasible"
    assert result.lower_bound == floor
    assert result.upper_bound == result.value == np.bincount(y).min()


def test_ideal_points() -> None:
    X = [[0], [0], [0], [1], [1]]
    data = Dataset.make(X, [0, 1, 1, 0, 0], sensitive_features=list("abaab"))

    def ideal(task: streed.Task) -> Any:
        return ideal_score(Problem(data, task.bind(data), 2, None, 1))

    # of each class a leaf may have no errors
    assert ideal(ClassErrors()) == (0, 0)
    assert ideal(Accuracy() & Splits()) == (1, 0)
    assert ideal(Accuracy() & DemographicParity()) == (1, 0)
    assert ideal(Accuracy() & Gini()) == pytest.approx((1, 4 / 3))


def test_a_stopped_front_says_what_it_knows() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (50, 4)), rng.integers(0, 2, 50)
    posed = make_posed("general front", 0)
    stopped = type(posed)(posed.route, ClassErrors(), X, y, {"max_depth": 2}, "looks", 3, 0)
    with stopping(stopped):
        result = streed.solve(ClassErrors(), X, y, max_depth=2, search="general")
    assert result.status == "feasible"
    assert result.lower_bound == (0, 0)
    assert result.upper_bound == result.value
    assert result.gap is None
    assert "no tree is better than (0, 0) in any component" in result.to_text()
    assert result.tree is not None
    again = streed.Tree.from_json(result.tree.to_json())
    assert again.claims is not None
    assert again.claims.lower_bound == (0, 0)
    assert all(each.holds for each in check(again, Dataset.make(X, y)))
