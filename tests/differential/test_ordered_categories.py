"""Categorical columns beside many thresholds: the ordered search against the recursion and against questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed import reference
from streed.data import Dataset
from streed.ordered import choice
from streed.task import Totals
from streed.tasks import F1, Misclassifications, Splits

pytestmark = pytest.mark.compiles


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the search over thresholds take all that it can."""
    monkeypatch.setattr(choice, "FEW", -1)


def _table(rng: np.random.Generator, n: int, *, cities: int = 4) -> tuple[dict[str, list[Any]], list[int]]:
    """A table of numbers with ties, a flag and one or two categorical columns, with labels that depend on all."""
    city = rng.integers(0, cities, n)
    age = rng.integers(0, 7, n)
    pay = rng.normal(size=n).round(1)
    table: dict[str, list[Any]] = {"city": [f"c{v:03}" for v in city], "age": age.tolist(), "pay": pay.tolist()}
    if rng.random() < 0.5:
        table["flag"] = rng.integers(0, 2, n).tolist()
    if rng.random() < 0.5:
        table["kind"] = [str(v) for v in rng.choice(["a", "b", "d"], n)]
    labels = int(rng.integers(2, 4))
    y = (city + (age > 3) + (pay > 0)) % labels
    y = np.where(rng.random(n) < 0.2, rng.integers(0, labels, n), y)
    y[:labels] = np.arange(labels)
    return table, y.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_categories_beside_thresholds_cost_what_recursion_finds(seed: int) -> None:
    for number in range(14):
        rng = np.random.default_rng([seed, number, 91])
        table, y = _table(rng, int(rng.integers(8, 15)))
        data = Dataset.make(table, y)
        if not data.ordered or not data.categorical:
            continue
        depth = [1, 2, 2, 3, None][int(rng.integers(5))]
        priced = depth is None or rng.random() < 0.4
        task = Misclassifications() + (float(rng.choice([0.5, 1, 2])) * Splits() if priced else 0 * Splits())
        result = streed.solve(task, data, max_depth=depth)
        assert result.stats["route"] == "thresholds"
        optimum = reference.optimum(task, data, max_depth=depth)
        assert optimum is not None
        assert (result.status, result.value, result.lower_bound) == ("optimal", optimum[0], optimum[0])
        assert result.tree is not None
        errors = int((result.tree.predict(table) != np.array(y)).sum())
        assert streed.Tree.from_json(result.tree.to_json()) == result.tree
        if not priced:
            assert errors == result.value


@pytest.mark.parametrize("labels", [2, 3])
def test_many_categories_and_rows_beside_questions(labels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, labels, 92])
        table, _ = _table(rng, 120, cities=40)
        y = rng.integers(0, labels, 120)
        weights = rng.integers(1, 4, 120)
        for depth in (2, 3):
            found = {}
            for few in (-1, 10**6):
                monkeypatch.setattr(choice, "FEW", few)
                found[few] = streed.solve(Misclassifications(), table, y, max_depth=depth, sample_weight=weights)
            ours, asked = found[-1], found[10**6]
            assert ours.stats["route"] == "thresholds"
            assert asked.stats["route"].endswith("by questions")
            assert (ours.status, ours.value) == ("optimal", asked.value)


def test_a_score_over_categories_and_thresholds() -> None:
    rng = np.random.default_rng(93)
    table, _ = _table(rng, 24)
    y = rng.integers(0, 2, 24)
    result = streed.solve(F1(), table, y, max_depth=2)
    data = Dataset.make(table, y)
    best = reference.optimal_front(F1(), data, max_depth=2)
    assert result.status == "optimal"
    assert result.value == pytest.approx(max(float(F1().score(v, Totals(F1(), data))) for v, _ in best), rel=1e-12)


def test_what_is_left_to_questions() -> None:
    rng = np.random.default_rng(94)
    table, y = _table(rng, 40)
    for min_leaf, max_nodes in ((3, None), (1, 2)):
        result = streed.solve(Misclassifications(), table, y, max_depth=2, min_leaf=min_leaf, max_nodes=max_nodes)
        assert result.status == "optimal"
        assert result.stats["route"].endswith("by questions")
