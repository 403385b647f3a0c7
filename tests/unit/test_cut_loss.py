"""What trying only some thresholds can cost: by hand, and against the optimum over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.task import Task
from streed.task.analysis.extent import OVER_ALL, cut_loss
from streed.tasks import BalancedAccuracy, Gini, InstanceCosts, Misclassifications, Splits, SquaredError


def test_by_hand() -> None:
    x = np.arange(10.0)[:, None]
    y = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    data = Dataset.make(x, y, max_cuts=1)
    assert data.is_cut
    assert data.ordered[0].cuts.tolist() == [4]
    task = Misclassifications().bind(data)
    # the threshold behind 2 is 2 rows from the one behind 4, and 3 from none; so is that behind 6
    assert cut_loss(task, data, 1, None) == 2
    assert cut_loss(task, data, 2, None) == 2 + 4
    assert cut_loss(task, data, 2, 2) == 4
    assert cut_loss(task, data, None, None) == 10
    assert cut_loss(task, Dataset.make(x, y), 2, None) == 0
    assert not Dataset.make(x, y).is_cut
    result = streed.solve(Misclassifications(), data, max_depth=1)
    assert (result.value, result.stats[OVER_ALL]) == (2, 0)
    assert OVER_ALL not in streed.solve(Misclassifications(), x, y, max_depth=1).stats


TASKS: dict[str, Task] = {
    "errors": Misclassifications(),
    "price": Misclassifications() + Splits(),
    "balanced": BalancedAccuracy(),
    "costs": InstanceCosts(),
    "squared": SquaredError(),
    "gini": Gini(),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", list(TASKS))
def test_no_tree_over_all_thresholds_is_better(name: str) -> None:
    task, told, near = TASKS[name], 0, 0
    for seed in range(25):
        rng = np.random.default_rng([21, seed])
        n = int(rng.integers(12, 40))
        X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 3)))
        if rng.random() < 0.4:
            X[rng.random(n) < 0.2, 1] = np.nan
        y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
        y[:2] = 0, 1
        given: dict[str, Any] = {"max_depth": int(rng.integers(1, 3))}
        if rng.random() < 0.5:
            given["sample_weight"] = rng.integers(1, 4, n)
        if rng.random() < 0.5:
            given["frequency"] = rng.integers(1, 3, n)
        if name == "costs":
            given["costs"] = rng.integers(0, 9, (n, 2))
        if rng.random() < 0.3:
            given["max_nodes"] = 2
        cut = streed.solve(task, X, y, **given, max_cuts=int(rng.integers(2, 7)))
        best = streed.solve(task, X, y, **given)
        sign = -1 if task.larger_is_better else 1
        assert sign * best.value <= sign * cut.value
        if OVER_ALL in cut.stats:
            told += 1
            assert sign * cut.stats[OVER_ALL] <= sign * best.value + 1e-9
            near += cut.stats[OVER_ALL] != 0 and abs(cut.stats[OVER_ALL] - best.value) < 0.5 * abs(best.value)
    assert told > 15
    assert near > 0
