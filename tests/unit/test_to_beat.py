"""`upper_bound=`, `warm_start=` and `improve`: what a solve is to beat, and trees that are made better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import streed
from streed.task import Totals
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    DemographicParity,
    InstanceCosts,
    Misclassifications,
    SparseAccuracy,
    SquaredError,
)
from streed.tree.evaluation import evaluate
from tests.unit.refusal import refused

RNG = np.random.default_rng(17)
X = RNG.integers(0, 2, (240, 9))
Y = (X[:, 0] ^ (X[:, 1] & X[:, 2])) ^ (RNG.random(240) < 0.1)
G = RNG.integers(0, 2, 240)
REAL = np.round(2.0 * Y + RNG.normal(size=240), 2)
COSTS = np.round(RNG.random((240, 3)), 2)
RAW_WIDE = np.round(RNG.normal(size=(240, 9)), 1)

FAIR = Accuracy().subject_to(DemographicParity() <= 0.05)
CASES: dict[str, tuple[streed.Task, Any, dict[str, Any], float]] = {
    "accuracy": (Accuracy(), Y, {}, 1),
    "sparse": (SparseAccuracy(0.01), Y, {}, 1e-6),
    "balanced": (BalancedAccuracy(), Y, {}, 1e-6),
    "squared error": (SquaredError(), REAL, {}, 1e-3),
    "costs": (InstanceCosts(), None, {"costs": COSTS}, 1e-3),
    "f1": (F1(), Y, {}, 1e-6),
    "parity": (FAIR, Y, {"sensitive_features": G}, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_that_none_beats_is_proved_and_one_just_above_the_optimum_gives_the_optimum(name: str) -> None:
    task, y, more, step = CASES[name]
    best = streed.solve(task, X, y, max_depth=2, **more)
    assert best.status == "optimal"
    proved = streed.solve(task, X, y, max_depth=2, upper_bound=best.value, **more)
    assert (proved.status, proved.tree, proved.value, proved.front) == ("no better", None, None, ())
    bound = proved.upper_bound if task.larger_is_better else proved.lower_bound
    assert bound == pytest.approx(best.value, rel=1e-9)
    worse = best.value - step if task.larger_is_better else best.value + step
    found = streed.solve(task, X, y, max_depth=2, upper_bound=worse, **more)
    assert (found.status, found.value) == ("optimal", best.value)
    assert found.tree is not None
    data = streed.Dataset.make(X, y, **more)
    again = task.score(evaluate(found.tree, task, data), Totals(task, data))
    assert float(again) == pytest.approx(best.value, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_search_that_begins_with_a_tree_ends_with_it_or_with_a_better_one(name: str) -> None:
    task, y, more, _ = CASES[name]
    small = streed.solve(task, X, y, max_depth=1, **more)
    best = streed.solve(task, X, y, max_depth=3, **more)
    grown = streed.solve(task, X, y, max_depth=3, warm_start=small.tree, **more)
    assert (grown.status, grown.value, grown.lower_bound, grown.upper_bound) == (
        best.status,
        best.value,
        best.lower_bound,
        best.upper_bound,
    )
    again = streed.solve(task, X, y, max_depth=3, warm_start=best.tree, **more)
    assert again.status == "optimal"
    assert again.value == pytest.approx(best.value, rel=1e-12)
    assert (again.tree.apply(X) == best.tree.apply(X)).all()
    assert again.tree.root.rows == 240


def test_what_cannot_be_beaten_or_adopted_is_refused() -> None:
    deep = streed.solve(Accuracy(), X, Y, max_depth=3).tree
    table = {f"c{j}": X[:, j] for j in range(9)}
    letters = np.where(Y, "a", "b")

    def solve(X: Any = X, y: Any = Y, **given: Any) -> streed.Result:
        return streed.solve(Accuracy(), X, y, **given)

    refused("upper_bound", "'low'", call=lambda: solve(upper_bound="low"))
    refused("upper_bound", "True", call=lambda: solve(upper_bound=True))
    refused("upper_bound", "nan", call=lambda: solve(upper_bound=float("nan")))
    refused("warm_start", "is no tree", call=lambda: solve(warm_start="tree"))
    refused("warm_start", "depth 3", call=lambda: solve(max_depth=2, warm_start=deep))
    refused("warm_start", "branching nodes", call=lambda: solve(max_depth=3, max_nodes=1, warm_start=deep))
    refused("warm_start", "a leaf of", call=lambda: solve(min_leaf=120, warm_start=deep))
    refused("warm_start", "no column 'x", call=lambda: solve(table, warm_start=deep))
    refused("warm_start", "no label", call=lambda: solve(X, letters, warm_start=deep))
    refused("warm_start", "other values", call=lambda: solve(RAW_WIDE, warm_start=deep))
    both = Accuracy() & DemographicParity()
    asked: dict[str, Any] = {"max_depth": 1, "sensitive_features": G}
    refused("upper_bound", "tuples", call=lambda: streed.solve(both, X, Y, upper_bound=3, **asked))


NUMBERS = RNG.normal(size=(300, 5))
NUMBERS[RNG.random((300, 5)) < 0.05] = np.nan
BENT = np.nan_to_num(np.sin(3 * NUMBERS[:, 0]) * NUMBERS[:, 1]) + (NUMBERS[:, 2] > 0)


@pytest.mark.parametrize("depth", [2, 5])
@pytest.mark.parametrize("name", ["binary", "numbers", "frame", "regression", "nodes"])
def test_a_greedy_tree_is_made_better_and_never_worse(name: str, depth: int) -> None:
    rows: Any = X if name == "binary" else NUMBERS
    target: Any = Y if name == "binary" else BENT if name == "regression" else BENT > 0.5
    task: streed.Task = SquaredError() if name == "regression" else Misclassifications()
    greedy = DecisionTreeRegressor if name == "regression" else DecisionTreeClassifier
    model: Any = greedy(max_depth=depth, random_state=0)
    if name == "frame":
        model.fit(pd.DataFrame(rows, columns=list("abcde"))[list("edcba")], target)
        rows = pd.DataFrame(rows, columns=list("abcde"))
        worth = (model.predict(rows[list("edcba")]) != target).sum()
    else:
        model.fit(rows, target)
        wrong = (model.predict(rows) - target) ** 2 if name == "regression" else model.predict(rows) != target
        worth = wrong.sum()
    limits: dict[str, Any] = {"max_nodes": model.tree_.node_count // 2} if name == "nodes" else {}
    found = streed.improve(model, task, rows, target, time_limit=0.3, max_cuts="all", **limits)
    assert found.value <= worth + 1e-9
    assert found.lower_bound <= found.value
    assert found.tree.depth <= depth
    assert found.tree.n_branches <= limits.get("max_nodes", 2**depth)
    shown = found.tree.predict(rows)
    again = ((shown - target) ** 2).sum() if name == "regression" else (shown != target).sum()
    assert again == pytest.approx(found.value)
    if depth == 2:
        best = streed.solve(task, rows, target, max_depth=2, max_cuts="all", **limits)
        assert (found.status, found.value) == ("optimal", best.value)
