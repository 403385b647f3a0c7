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
from streed.exact import Array, exact_array, exact_integers
from streed.reference import optimum
from streed.task import State, Task
from streed.tasks import InstanceCosts


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
