"""Near-optimal trees beyond the depth of native code, or of any depth where nodes cost, against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import optimal_front
from streed.task import Task, Totals
from streed.tasks import F1, DemographicParity, EqualizedOdds, SparseAccuracy, Splits
from tests.searches import NATIVE

pytestmark = pytest.mark.compiles

ENUMERATED: dict[tuple[int, int | None], list[Task]] = {
    (19, None): [F1() - 0.02 * Splits()],
    (20, 5): [SparseAccuracy(0.02), F1() - 0.01 * Splits()],
    (25, None): [SparseAccuracy(0.01), F1() - 0.01 * Splits()],
    (29, None): [SparseAccuracy(0.02)],
    (33, None): [SparseAccuracy(0.005), F1() - 0.005 * Splits()],
}
"""Tasks by seed and depth, all of which need near-optimal trees."""


def sample(seed: int) -> Dataset:
    draw = np.random.default_rng(seed)
    rows, columns = int(draw.integers(9, 15)), int(draw.integers(3, 5))
    X = draw.integers(0, 2, (rows, columns))
    y: Any = ((X[:, 0] ^ X[:, 1] ^ X[:, 2]) ^ (draw.random(rows) < 0.15)).astype(int)
    y[0] = 1 - y[1]
    groups = np.where(draw.random(rows) < 0.5, "a", "b")
    groups[:2] = "a", "b"
    return Dataset.make(X, y, sensitive_features=groups)


@pytest.mark.parametrize(("seed", "max_depth"), ENUMERATED)
@pytest.mark.parametrize("notion", [DemographicParity(), pytest.param(EqualizedOdds(), marks=pytest.mark.slow)])
def test_deep_trees_agree_with_reference(seed: int, max_depth: int | None, notion: Any) -> None:
    data = sample(seed)
    for objective in ENUMERATED[seed, max_depth]:
        task = objective.subject_to(notion <= 0.05)
        totals = Totals(task, data)
        # with so few columns, deeper trees have no more to split on
        values = optimal_front(task, data, max_depth=data.n_columns)
        best = (max if task.larger_is_better else min)(task.score(value, totals) for value, _ in values)
        for search in NATIVE:
            result = streed.solve(task, data, max_depth=max_depth, search=search)
            assert result.status == "optimal"
            assert result.value == pytest.approx(float(best), abs=1e-12)


def test_deep_trees_are_enumerated() -> None:
    task = SparseAccuracy(0.01).subject_to(DemographicParity() <= 0.05)
    for max_depth in (5, None):
        assert any(streed.solve(task, sample(seed), max_depth=max_depth).stats["enumerations"] for seed in (20, 25, 33))
