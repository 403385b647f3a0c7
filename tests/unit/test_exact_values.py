"""Every value is the returned tree's own, rounded once, and bounds hold whatever was rounded on the way."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.exact import Array, exact_array, exact_integers, readable
from streed.reference import optimum
from streed.task import State, Task, Totals
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    InstanceCosts,
    SparseAccuracy,
)
from streed.tree.evaluation import evaluate

WEIGHTS = np.array([1e-9, 1e-4, 0.1, 0.3, 1.0, 1e9])
"""Weights that no common unit of 64 bits holds."""


def _check(task: Task, data: Dataset, max_depth: int) -> streed.Result:
    """A solve whose claims agree with fractions and with the definition."""
    result = streed.solve(task, data, max_depth=max_depth)
    assert result.tree is not None
    totals = Totals(task, data)
    own = task.score(evaluate(result.tree, task, data), totals)
    found = optimum(task, data, max_depth=max_depth)
    assert found is not None
    best = task.score(found[0], totals)
    assert result.value == readable(own)
    assert result.lower_bound <= readable(best) <= result.upper_bound
    if result.status == "optimal":
        assert own == best
        assert result.gap == 0
    else:
        assert result.stats["stopped"] == "rounding"
        assert result.gap > 0
    return result


def _tasks(rng: np.random.Generator) -> tuple[Task, Dataset]:
    """A task of costs per row on data whose numbers are far apart."""
    n, kind = int(rng.integers(4, 40)), int(rng.integers(5))
    X = rng.integers(0, 2, (n, 4))
    classes = int(rng.integers(2, 11))
    y = np.r_[np.arange(min(n, classes)), rng.integers(0, classes, max(0, n - classes))]
    weights = [rng.choice(WEIGHTS, n), rng.random(n) + 0.01, rng.choice([2.0**40, 1.0, 3.0], n)][int(rng.integers(3))]
    if kind == 3:
        costs = rng.choice([1, 1e15, 0.5, 3, 0.1, 1e-9], (n, 3))
        return InstanceCosts(), Dataset.make(X, None, costs=costs)
    if kind == 4:
        costs = np.round(rng.random((n, 3)) * 100, 2)
        return InstanceCosts(), Dataset.make(X, None, costs=costs, sample_weight=weights)
    task: Task = (Accuracy(), BalancedAccuracy(), SparseAccuracy(0.01))[kind]
    return task, Dataset.make(X, y, sample_weight=weights)


@pytest.mark.parametrize("seed", range(60))
def test_costs_that_are_far_apart(seed: int) -> None:
    task, data = _tasks(np.random.default_rng(seed))
    assert _check(task, data, 2).status == "optimal"  # so small that it is closed exactly


@final
@attrs.frozen
class Severity(Task):
    """Costs of what the losses add up to; nothing where they are nothing."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"y": data.row_data["losses"]}

    def labels(self, data: Dataset) -> tuple[str, ...]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 0.0 if s.y <= 0 else math.sqrt(s.y * s.rows)


@pytest.mark.parametrize("kind", ["decimals", "reals", "signed", "wide"])
@pytest.mark.parametrize("seed", range(10))
def test_sums_that_should_be_zero_are(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 200))
    X = rng.integers(0, 2, (n, 8))
    losses = np.where(rng.random(n) < 0.9, 0, rng.gamma(2, 50, n))
    if kind == "decimals":
        losses = np.round(losses, 2)
    elif kind == "signed":
        losses = np.round(losses, 1) * np.sign(rng.random(n) - 0.3)
    elif kind == "wide":
        losses = losses * rng.choice([1e-6, 1.0, 1e6], n)
    native = streed.solve(Severity(), X, losses=losses, max_depth=2)
    general = streed.solve(Severity(), X, losses=losses, max_depth=2, search="general")
    found = optimum(Severity(), Dataset.make(X, losses=losses), max_depth=2)
    assert found is not None
    best = float(found[0])
    assert native.value == pytest.approx(best, rel=1e-12)
    assert general.value == pytest.approx(best, rel=1e-12)
    for result in (native, general):
        assert result.status == "optimal"
        assert result.lower_bound <= best * (1 + 1e-15)


def test_decimals_of_any_length_are_exact() -> None:
    values = np.array([123456789.123456789, 1e-9, 1e15 + 0.5, -0.1])
    whole, unit = exact_integers(values)
    assert [Fraction(x) * unit for x in whole.tolist()] == [Fraction(repr(x)) for x in values.tolist()]
    assert exact_array(np.array([0.1, 1e-12]))[1:] == (Fraction(1, 10**12), True)


def test_whole_costs_of_any_size() -> None:
    costs = [[2**59, 0, 2**59 - 1], [0, 2**59, 5], [7, 2**59, 0], [2**59, 3, 1]]
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    result = streed.solve(InstanceCosts(), X, costs=np.array(costs, np.int64), max_depth=1)
    best = min(
        sum(min(sum(costs[r][k] for r in part) for k in range(3)) for part in parts)
        for parts in ([[0, 1, 2, 3]], [[0, 1], [2, 3]], [[0, 2], [1, 3]])
    )
    assert result.value == float(best)
    assert result.lower_bound <= best
    both = streed.solve(InstanceCosts(), [[0], [1]] * 2, costs=[[2**57, -(2**57)], [-(2**57), 2**57]] * 2, max_depth=1)
    assert both.value == -4 * 2**57
