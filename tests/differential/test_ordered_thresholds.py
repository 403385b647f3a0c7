"""Raw numbers by the search over thresholds, however few they are, against every tree and against the recursion."""

from __future__ import annotations

from typing import Any, ClassVar, final

import attrs
import numpy as np
import pytest

import streed
from streed import reference
from streed.data import Dataset
from streed.exact import Array
from streed.ordered import choice
from streed.task import State, Task
from streed.tasks import F1, Accuracy, Entropy, Gini, Misclassifications, RelativeRisk, Splits, SquaredError
from tests.differential.ordered import TASKS, OwnGini, OwnMajority, make_instance, wrong_in

pytestmark = pytest.mark.compiles

KINDS = (
    "errors",
    "accuracy",
    "price",
    "support",
    "costs",
    "own errors",
    "F1",
    "parity",
    "balanced",
    "squared error",
    "gini",
    "own majority",
)


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the search over thresholds take all that it can."""
    monkeypatch.setattr(choice, "FEW", -1)


@pytest.mark.parametrize("kind", [*KINDS, pytest.param("entropy", marks=pytest.mark.slow)])
def test_raw_numbers_by_thresholds(kind: str) -> None:
    place = list(TASKS).index(kind)
    for number in range(place, place + 12 * len(TASKS), len(TASKS)):
        assert make_instance(13, number).kind == kind
        assert wrong_in(13, number) == []


def _draw(rng: np.random.Generator) -> tuple[Array, Array]:
    n = int(rng.integers(20, 60))
    X = np.round(rng.normal(size=(n, 3)), 1)
    X[:, 2] = rng.integers(0, 2, n)
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, rng.integers(0, 2, n)


def test_binary_columns_gaps_and_limits_beside_thresholds() -> None:
    for seed in range(30):
        rng = np.random.default_rng([14, seed])
        X, y = _draw(rng)
        limits: dict[str, Any] = {"max_depth": 2, "min_leaf": int(rng.integers(1, 5))}
        if rng.random() < 0.5:
            limits["max_nodes"] = int(rng.integers(1, 4))
        data = Dataset.make(X, y)
        assert set(data.ordered) == {0, 1}
        result = streed.solve(Misclassifications(), data, **limits)
        assert result.stats["route"] == "thresholds"
        optimum = reference.optimum(Misclassifications(), data, **limits)
        assert optimum is not None
        assert (result.status, result.value) == ("optimal", optimum[0])
        assert result.tree is not None
        assert (result.tree.predict(X) != y).sum() == result.value


def test_reductions_ask_the_search_over_thresholds() -> None:
    rng = np.random.default_rng(15)
    X, y = _draw(rng)
    result = streed.solve(F1(), X, y, max_depth=2)
    best = reference.optimal_front(F1(), Dataset.make(X, y), max_depth=2)
    data = Dataset.make(X, y)
    assert result.status == "optimal"
    scores = [float(F1().score(value, streed.task.Totals(F1(), data))) for value, _ in best]
    assert result.value == pytest.approx(max(scores), rel=1e-12)
    # of a column with gaps, whether a value is missing is asked with the gaps first and with the gaps last
    assert result.stats["thresholds"] == data.n_questions + 1


def test_the_gap_the_time_and_progress_of_a_long_search() -> None:
    rng = np.random.default_rng(16)
    X, y = rng.normal(size=(300, 8)), rng.integers(0, 3, 300)
    seen: list[streed.Progress] = []
    streed.solve(Accuracy(), X, y, max_depth=2)  # what must be compiled is compiled
    result = streed.solve(Accuracy(), X, y, max_depth=4, time_limit=1.0, progress=seen.append)
    assert result.status == "feasible"
    assert result.stats["stopped"] == "time"
    assert result.lower_bound < result.value == result.upper_bound
    assert result.stats["trace"]
    assert seen
    close = streed.solve(Accuracy(), X, y, max_depth=4, gap=0.9)
    assert close.stats["stopped"] == "gap"
    assert close.value - close.lower_bound <= 0.9 * close.value


@pytest.mark.compiles
def test_costs_made_by_a_tasks_methods_beside_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        rng = np.random.default_rng([17, seed])
        X, y = _draw(rng)
        weights = rng.integers(1, 4, len(y)) / 2 if seed % 2 else None
        limits: dict[str, Any] = {"max_depth": 3, "min_leaf": int(rng.integers(1, 5))}
        if seed % 3 == 0:
            limits["max_nodes"] = int(rng.integers(3, 6))
        for task in (SquaredError(), SquaredError(cost_complexity=0.4), Gini(), Entropy(), OwnMajority()):
            measured = rng.normal(size=len(y)).round(2) if isinstance(task, SquaredError) else y
            found = {}
            for few in (-1, 10**6):
                monkeypatch.setattr(choice, "FEW", few)
                found[few] = streed.solve(task, X, measured, sample_weight=weights, **limits)
            ours, asked = found[-1], found[10**6]
            assert (ours.stats["route"], ours.stats["kernel"]) == ("thresholds", "generated")
            assert asked.stats["route"].endswith("by questions")
            assert ours.status == asked.status == "optimal"
            assert ours.value == pytest.approx(asked.value, rel=1e-11, abs=1e-11)
            assert ours.lower_bound <= asked.value
            assert asked.lower_bound <= ours.value
            if isinstance(task, OwnMajority) and weights is None:
                assert ours.value == ours.lower_bound == asked.value
                assert ours.stats["exact"]


@final
@attrs.frozen
class OwnPurity(Task):
    """A user's impurity in whole numbers, the pairs of rows of different classes: splits never raise it."""

    takes_weights: ClassVar[bool] = False
    any_label: ClassVar[bool] = True
    superadditive: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        same = 0
        for count in s.of:
            same += count * count
        return (s.rows * s.rows - same) // 2


@pytest.mark.parametrize(
    "priced", [pytest.param(0, marks=pytest.mark.compiles), pytest.param(1, marks=pytest.mark.slow)]
)
def test_costs_of_which_only_is_known_that_splits_never_raise_them(monkeypatch: Any, priced: int) -> None:
    """Of one task with a price per split and one without; each compiles for half a minute."""
    proved = 0
    for seed in range(16):
        rng = np.random.default_rng([19, seed])
        X, y = _draw(rng)
        limits: dict[str, Any] = {"max_depth": 2 + seed % 2, "min_leaf": 1 if seed < 12 else int(rng.integers(2, 6))}
        if seed % 3 == 0:
            limits["max_nodes"] = int(rng.integers(2, 6))
        measured = {"event": rng.integers(0, 2, len(y)), "y": rng.exponential(1, len(y)).round(3)}
        price = int(rng.integers(1, 60))
        tasks: list[tuple[Task, dict[str, Any]]] = [
            (RelativeRisk() + 0.05 * Splits() if priced else RelativeRisk(), measured),
            (OwnPurity() if priced else OwnPurity() + price * Splits(), {"y": y}),
        ]
        for task, given in tasks:
            found = {}
            for few in (-1, 10**6):
                monkeypatch.setattr(choice, "FEW", few)
                found[few] = streed.solve(task, X, **given, **limits)
            ours, asked = found[-1], found[10**6]
            assert (ours.stats["route"], ours.stats["kernel"]) == ("thresholds", "generated")
            assert asked.stats["route"].endswith("by questions")
            assert ours.status == asked.status == "optimal"
            assert ours.value == pytest.approx(asked.value, rel=1e-11, abs=1e-11)
            assert ours.lower_bound <= asked.value
            assert ours.lower_bound == pytest.approx(asked.value, rel=1e-8, abs=1e-8)
            proved += ours.value == ours.lower_bound
    assert proved >= 12


def test_a_task_that_does_not_say_what_a_row_costs_at_worst_goes_by_questions() -> None:
    X, y = _draw(np.random.default_rng(18))
    assert streed.solve(OwnGini(), X, y, max_depth=1).stats["route"] == "generated by questions"


def test_gaps_that_are_asked_for_where_the_sides_differ_in_size() -> None:
    # rows without a value are of one class; the others are told apart by one more question
    X = np.array([[np.nan, 1], [np.nan, 2], [np.nan, 3], [1, 1], [1, 2], [2, 3], [2, 4], [3, 5]])
    y = np.array([0, 0, 0, 1, 1, 0, 0, 0])
    for task in (Misclassifications(), Gini()):
        result = streed.solve(task, X, y, max_depth=2, max_nodes=2)
        assert (result.stats["route"], result.status, result.value) == ("thresholds", "optimal", 0)
