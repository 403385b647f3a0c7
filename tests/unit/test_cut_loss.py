"""What trying only some thresholds can cost: by hand, and against the optimum over all of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.report import make_report
from streed.task import Task
from streed.task.analysis.cut_loss import OVER_ALL, cut_loss
from streed.tasks import (
    F1,
    BalancedAccuracy,
    DemographicParity,
    Gini,
    InstanceCosts,
    MinSupport,
    Misclassifications,
    Splits,
    SquaredError,
)


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


def test_rows_that_weigh_more() -> None:
    x = np.arange(4.0)[:, None]
    data = Dataset.make(x, [0, 1, 1, 0], max_cuts=1, sample_weight=[1, 1, 3, 1], frequency=[1, 2, 1, 1])
    assert data.ordered[0].cuts.tolist() == [1]
    # behind 0: 1 from none; behind 2: 1 from none
    assert cut_loss(Misclassifications().bind(data), data, 1, None) == 1
    assert cut_loss(SquaredError().bind(data), data, 1, None) == pytest.approx(1, rel=1e-9)
    dear = Dataset.make(x, [0, 1, 1, 0], max_cuts=1, costs=[[0, Fraction(5, 2)], [3, 0], [1, 0], [0, 4]])
    # behind 0: 5/2 from none, 3 from the one behind 1; behind 2: 1 from that
    assert cut_loss(InstanceCosts().bind(dear), dear, 1, None) == Fraction(5, 2)


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


def test_a_column_that_a_database_has_cut(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "".join(f"{each / 7},{each % 3 % 2}\n" for each in range(50)), encoding="utf-8")
    data = Dataset.from_csv(path, target="y", max_cuts=3)
    assert data.is_cut
    assert cut_loss(Misclassifications().bind(data), data, 2, None) is None
    result = streed.solve(Misclassifications(), data, max_depth=1)
    assert result.searched_over == "3 questions"


def test_what_is_said_of_the_splits() -> None:
    x, y = np.arange(12.0)[:, None], [0] * 7 + [1] * 5
    every = streed.solve(Misclassifications(), x, y, max_depth=1)
    some = streed.solve(Misclassifications(), x, y, max_depth=1, max_cuts=2)
    assert every.searched_over == "all 11 thresholds"
    assert "over    all 11 thresholds\n" in every.to_text()
    assert "; over all 11 thresholds" in every._repr_html_()
    assert some.searched_over == "2 questions; no tree over all thresholds is worth less than 0"
    assert some.searched_over in make_report(some)
    binary = streed.solve(Misclassifications(), [[0], [1]], [0, 1], max_depth=1)
    assert "over    1 question\n" in binary.to_text()
    assert repr(binary) == "<Result: optimal over 1 question, value 0, bounds 0 to 0>"
    gain = streed.solve(BalancedAccuracy(), x, y, max_depth=1, max_cuts=2)
    assert gain.searched_over.endswith(f"is worth more than {gain.stats[OVER_ALL]:g}")
    assert gain.stats[OVER_ALL] == 1


def test_where_no_bound_is_known() -> None:
    rng = np.random.default_rng(22)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    groups = rng.integers(0, 2, 40)
    parity = Misclassifications().subject_to(DemographicParity() <= 0.3)
    for task, given in (
        (F1(), {}),
        (Misclassifications(), {"min_leaf": 2}),
        (Misclassifications().subject_to(MinSupport(3)), {}),
        (parity, {"sensitive_features": groups}),
    ):
        result = streed.solve(task, X, y, max_depth=1, max_cuts=3, **given)
        assert result.status == "optimal"
        assert OVER_ALL not in result.stats
