"""Costs that are summed row by row and costs that are sliced into bits: the same optima, and those of the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.kernels.counting import groups
from streed.tasks import CostSensitive, InstanceCosts, Splits
from streed.tasks.cost_tables import CostTable, TestCost
from tests.differential.applications import differences

FAMILIES = ("instance costs", "instance costs and splits", "doubly robust", "cost-sensitive", "cost-sensitive, limited")


@pytest.fixture
def summing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Rows of two kinds or more are summed, however few they are."""
    monkeypatch.setattr(groups, "MOST_GROUPS", 1)
    monkeypatch.setattr(groups, "effort_of_slices", lambda *_: 1e18)
    return monkeypatch


@pytest.mark.parametrize(
    "family", [*FAMILIES[:3], *(pytest.param(each, marks=pytest.mark.compiles) for each in FAMILIES[3:])]
)
@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 6))])
def test_summed_rows_have_the_optimum_of_the_reference(family: str, number: int, summing: Any) -> None:
    assert differences(family, 5, number, every=number % 3 == 0) == []


@pytest.mark.parametrize(
    "limits", [{"max_depth": 4}, {"max_depth": 4, "max_nodes": 5}, {"max_depth": 3, "min_leaf": 6}]
)
@pytest.mark.parametrize("labels", [2, 3])
def test_summed_rows_cost_what_slices_do(labels: int, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(labels)
    X = (rng.random((150, 7)) < 0.4).astype(int)
    costs = rng.integers(0, 10**6, (150, labels))
    found = {}
    for name, effort in (("sliced", 0.0), ("summed", 1e18)):
        monkeypatch.setattr(groups, "effort_of_slices", lambda *_, effort=effort: effort)
        result = streed.solve(InstanceCosts() + 1000 * Splits(), X, costs=costs, **limits)  # type: ignore[arg-type]
        assert result.status == "optimal"
        found[name] = result.value
    assert found["sliced"] == found["summed"]


@pytest.mark.compiles
def test_priced_splits_of_summed_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cost matrix has few kinds of rows, so they are counted; summed, they cost the same."""
    rng = np.random.default_rng(3)
    X = (rng.random((120, 6)) < 0.5).astype(int)
    y = rng.integers(0, 3, 120)
    tests = [TestCost("a", 3, 1, "g", [0, 1]), TestCost("b", 2, 0.5, "g", [2]), TestCost("c", 1.25, columns=[3, 4])]
    table = CostTable.of(rng.integers(0, 90, (3, 3)), tests)
    counted = streed.solve(CostSensitive(table), X, y, max_depth=4)
    assert counted.stats["kernel"] == "test costs"
    monkeypatch.setattr(groups, "MOST_GROUPS", 1)
    monkeypatch.setattr(groups, "effort_of_slices", lambda *_: 1e18)
    assert streed.solve(CostSensitive(table), X, y, max_depth=4).value == counted.value
