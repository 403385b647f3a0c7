"""Objectives by hand: impurities, description lengths, losses, risks; and as pystreed 1.4.0 has them for a leaf.

pystreed shows no objective value; the recorded ones are the least `upper_bound` for which its `accuracy-flex` finds the
leaf, which it compares with a tolerance of 0.01 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.data import Dataset
from streed.errors import InputError
from streed.estimators import SurvivalTree
from streed.reference import Evaluation, optimum
from streed.task import State, Task
from streed.tasks import (
    Accuracy,
    BayesianTree,
    Entropy,
    Gini,
    Lexicographic,
    LinearLeaves,
    MehtaMDL,
    MinimumError,
    Misclassifications,
    PessimisticError,
    PoissonDeviance,
    QuantileError,
    QuinlanMDL,
    RelativeRisk,
    SquaredError,
    WorstLeaf,
    predict_linear,
)
from streed.tasks.survival import nelson_aalen
from tests.unit.outcomes import refused, tree_of
from tests.unit.test_public_reports import EVENTS, TIMES, fields


def leaf(task: Task, *counts: int) -> float:
    """The cost of a leaf with these numbers of rows per class, on data that has no columns to split."""
    y = [k for k, count in enumerate(counts) for _ in range(count)]
    evaluation = Evaluation(task, Dataset.make([[0]] * len(y), y))
    state = evaluation.state(evaluation.root_rows)
    return min(float(evaluation.task.leaf_cost(state, k)) for k in range(len(evaluation.labels)))


@pytest.mark.parametrize(
    ("task", "unit", "mixed", "many"),
    [
        (Misclassifications(), 1, 2.9997, 9.999),
        (Gini(), 1, 4.19958, 14.9985),
        (Entropy(), 1, 8.812028, 32.44788),
        (QuinlanMDL(tree_bits=False), 1, 9.490904, 34.047824),
        (MehtaMDL(tree_bits=False), math.log(2), 8.057286, 25.133488),
        (PessimisticError(), 1, 4.590815, 12.530208),
        (BayesianTree(concentration=2.5), 1, 6.934692, 24.150635),
        (MinimumError(), 1, 3.333, 10.475143),
    ],
)
def test_one_leaf_costs_what_pystreed_has(task: Task, unit: float, mixed: float, many: float) -> None:
    """Leaves of (3, 7) and (10, 30) rows."""
    assert leaf(task, 3, 7) * unit == pytest.approx(1.0001 * mixed, abs=2e-6)
    assert leaf(task, 10, 30) * unit == pytest.approx(1.0001 * many, abs=4e-6)
    assert leaf(task, 7, 3) == pytest.approx(leaf(task, 3, 7), abs=1e-12)


def test_impurities_by_hand() -> None:
    assert leaf(Gini(), 1, 1, 2) == 4 * (1 - 1 / 16 - 1 / 16 - 1 / 4)
    assert leaf(Entropy(), 1, 1, 2) == 2 + 2 + 2
    assert leaf(Gini(), 5) == leaf(Entropy(), 5) == 0


def test_description_lengths_by_hand() -> None:
    # b = 4 of 7 rows, C(7, 3) = 35
    assert leaf(QuinlanMDL(tree_bits=False), 3, 4) == pytest.approx(math.log2(5) + math.log2(35))
    # three classes: b = 4, C(4, 2) = 6, two exceptions of two classes each; 1 bit and log2(3) for the leaf
    assert leaf(QuinlanMDL(), 1, 1, 2) == pytest.approx(1 + math.log2(3) + math.log2(5) + math.log2(6) + 2)
    # (K - 1) / 2 log2(n / 2) = 1, pi^1.5 / Gamma(1.5) = 2 pi
    assert leaf(MehtaMDL(tree_bits=False), 1, 1, 2) == pytest.approx(6 + 1 + math.log2(2 * math.pi))
    data = Dataset.make(np.eye(8, 8, dtype=np.uint8), [0, 1] * 4)
    for task in (QuinlanMDL(), MehtaMDL()):
        assert task.bind(data).branching_cost(8, (), 0) == 1 + 3
    assert QuinlanMDL(tree_bits=False).bind(data).branching_cost(8, (), 0) == 0


def test_expected_errors_by_hand() -> None:
    assert leaf(MinimumError(), 1, 1, 2) == pytest.approx(4 * (2 + 2) / 7)
    # shares 1/4, 1/4, 1/2 of all rows, which are the leaf's
    assert leaf(MinimumError(m=2), 1, 1, 2) == pytest.approx(4 * (2 + 0.5 * 2) / 6)
    # no errors among one row at CF 0.25; one among two, by the normal approximation with z = 0.6925
    assert leaf(PessimisticError(), 1) == pytest.approx(0.75)
    spread = math.sqrt(0.6925**2 * (1.5 * 0.25 + 0.6925**2 / 4))
    assert leaf(PessimisticError(), 1, 1) == pytest.approx(2 * (1.5 + 0.6925**2 / 2 + spread) / (2 + 0.6925**2))


def test_posterior_by_hand() -> None:
    # uniform prior: the probability of a sequence of 3 and 7 is 3! 7! / 11!
    assert leaf(BayesianTree(), 3, 7) == pytest.approx(math.log(math.factorial(11) / 6 / math.factorial(7)))
    assert BayesianTree(growth=0.25).branching_cost(5, (), 0) == pytest.approx(math.log(4))
    assert BayesianTree().branching_cost(5, (), 0) == 0


def test_lexicographic_takes_errors_first_and_then_nodes() -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1]]
    data = Dataset.make(X, [0, 1, 0, 1, 1], sample_weight=[1, 2, 3, 1, 1])
    found = optimum(Lexicographic(), data)
    assert Lexicographic().score(found[0], State(data.n_rows)) == (0, 1)
    none = optimum(Lexicographic(), data, max_depth=0)
    assert Lexicographic().score(none[0], State(data.n_rows)) == (4, 0)
    with pytest.raises(InputError, match="weight is not whole"):
        Lexicographic().bind(Dataset.make(X, [0, 1, 0, 1, 1], sample_weight=[0.5, 1, 1, 1, 1]))


def test_squared_errors_by_hand() -> None:
    X, y = [[0], [0], [1], [1]], [1.0, 2.0, 5.0, 5.0]
    data = Dataset.make(X, y)
    found = optimum(SquaredError(), data, max_depth=0)
    assert float(found[0]) == pytest.approx(12.75)  # mean 3.25: 2.25^2 + 1.25^2 + 1.75^2 + 1.75^2
    assert float(optimum(SquaredError(), data)[0]) == 0.5
    assert float(optimum(SquaredError(13), data)[0]) == pytest.approx(12.75)
    share = optimum(SquaredError(0.125, normalized=True), data)
    assert float(share[0]) == pytest.approx(0.5 / 12.75 + 0.125)
    bound = SquaredError().bind(data)
    evaluation = Evaluation(SquaredError(), data)
    assert bound.leaf_label(evaluation.state([0, 1]), 0) == 1.5


X = [[0], [0], [0], [1], [1]]


def test_poisson_deviance_by_hand() -> None:
    """Rates (0 + 2) / 4 and 6 / 2; deviances 2 (2 log(2 / (1/2 * 3)) and twice the terms of 1 and 5 at exposures 1."""
    result = streed.solve(PoissonDeviance(), [[0], [0], [1], [1]], [0, 2, 1, 5], exposure=[1, 3, 1, 1], max_depth=1)
    assert result.tree.predict([[0], [1]]).tolist() == [0.5, 3]
    left = 2 * (0.5 + 2 * math.log(2 / 1.5) - 0.5)
    right = 2 * (1 * math.log(1 / 3) + 2 + 5 * math.log(5 / 3) - 2)
    assert result.value == pytest.approx(left + right)


@pytest.mark.parametrize(
    ("quantile", "shown", "value"), [(0.5, [2, 10], 4.5), (0.9, [6, 14], 1.3), (0.01, [1, 10], 0.1)]
)
def test_quantiles_by_hand(quantile: float, shown: list[int], value: float) -> None:
    """Targets 1, 2, 6 and 10, 14: the leaf predicts the least target that reaches the quantile."""
    result = streed.solve(QuantileError(quantile), X, [1, 2, 6, 10, 14], max_depth=1)
    assert result.tree.predict([[0], [1]]).tolist() == shown
    assert result.value == pytest.approx(value)


def test_linear_leaves_by_hand() -> None:
    """y = 1 + 2 z left; right two points, hence their line, or with a ridge one that is less steep."""
    z, y = [0, 1, 2, 0, 2], [1, 3, 5, 4, 0]
    exact = streed.solve(LinearLeaves(), X, y, features=z, max_depth=1)
    assert exact.value == pytest.approx(0, abs=1e-12)
    saved = streed.Tree.from_json(tree_of(exact).to_json())
    assert np.array(saved.shows()) == pytest.approx(np.array([[1, 2], [4, -2]]))
    assert predict_linear(saved, [[0], [1]], [3, 1]) == pytest.approx([7, 2])
    flat = streed.solve(LinearLeaves(1), X, y, features=z, max_depth=1)
    refused("features", "2 columns", call=lambda: predict_linear(tree_of(exact), [[0]], [[1, 2]]))
    # slope S_zy / (S_zz + n), cost S_yy - S_zy^2 / (S_zz + n): left 8 - 16 / 5, right 8 - 16 / 4
    assert flat.value == pytest.approx(8 - 16 / 5 + 8 - 16 / 4)


PAIRS = [[0], [0], [1], [1]]


def solved(times: Any = TIMES, events: Any = EVENTS, **more: Any) -> streed.Result:
    return streed.solve(RelativeRisk(), PAIRS, times, event=events, max_depth=1, **more)


def test_cumulative_hazard() -> None:
    """Events at 1, 2 and 8 with 4, 3 and 2 rows at risk."""
    hazard = nelson_aalen(TIMES, EVENTS)
    assert hazard.times.tolist() == [1, 2, 8]
    assert hazard.values == pytest.approx([1 / 4, 1 / 4 + 1 / 3, 1 / 4 + 1 / 3 + 1 / 2])
    assert hazard.at([0.5, 1, 1.5, 100]) == pytest.approx([0, 1 / 4, 1 / 4, 13 / 12])


def test_risks_and_losses_by_hand() -> None:
    """Left one event over twice the last hazard, right two events over the first two."""
    hazards = [13 / 12, 13 / 12, 7 / 12, 1 / 4]
    result = solved()
    left, right = result.tree.predict([[0], [1]])
    assert (left, right) == (pytest.approx(1 / (hazards[0] + hazards[1])), pytest.approx(2 / (hazards[2] + hazards[3])))
    losses = [
        h * risk - d * math.log(h * risk) - d
        for h, d, risk in zip(hazards, EVENTS, (left, left, right, right), strict=True)
    ]
    assert result.value == pytest.approx(sum(losses) / 4)


def solving(task: Task, y: Any, **given: Any) -> Callable[[], Any]:
    return lambda: streed.solve(task, X, y, max_depth=1, **given)


FIVE = [1, 2, 3, 4, 5]
REFUSED: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: PessimisticError(0), "confidence", "0"),
    (lambda: PessimisticError(1.5), "confidence", "1.5"),
    (lambda: MinimumError(m=0), "m", "0"),
    (lambda: BayesianTree(concentration=0), "concentration", "0"),
    (lambda: BayesianTree(growth=0), "growth", "0"),
    (lambda: BayesianTree(growth=2), "growth", "2"),
    (lambda: SquaredError(-1), "cost_complexity", "-1"),
    (lambda: QuantileError(0), "quantile", "0"),
    (lambda: QuantileError(1.5), "quantile", "1.5"),
    (lambda: LinearLeaves(-1), "ridge", "-1"),
    (solving(SquaredError(), list("abcde")), "y", ""),
    (lambda: Gini().bind(Dataset.make([[0]] * 40, [row + 0.5 for row in range(40)])), "y", ""),
    (lambda: WorstLeaf().statistics(Dataset.make([[0]] * 40, [row + 0.5 for row in range(40)])), "y", ""),
    (solving(PoissonDeviance(), [0, -2, 1, 1, 1]), "y", "row 1 has -2"),
    (solving(PoissonDeviance(), FIVE, exposure=[1, 1, 1, 1, 0]), "exposure", "row 4 has 0"),
    (solving(LinearLeaves(), FIVE), "features", "LinearLeaves needs it"),
    (solving(RelativeRisk(), [9, 8, -1, 1, 1], event=[1] * 5), "y", "row 2"),
    (solving(RelativeRisk(), FIVE, event=[0] * 5), "event", "every row is censored"),
    (
        solving(RelativeRisk(), FIVE, event=[0, 1, 1, 1, 1], sample_weight=[1, 0, 0, 0, 0]),
        "event",
        "every row is censored",
    ),
    (solving(RelativeRisk(), FIVE), "event", "needs it"),
]


@pytest.mark.parametrize(("make", "argument", "said"), REFUSED)
def test_what_is_refused(make: Callable[[], Any], argument: str, said: str) -> None:
    refused(argument, said, call=make)


BOTH = {
    "truth values first": fields("a", "b", bool),
    "truth values last": fields("t.os", "e.os", bool),
    "numbers, event first": fields("event", "time"),
    "numbers, time first": fields("time_in_days", "status"),
    "one name tells": fields("fstat", "lenfol"),
    "unsigned bytes": fields("cens", "duration", np.uint8),
    "pandas": pd.DataFrame({"duration": TIMES, "death": pd.Series(EVENTS, dtype="Int64")}),
    "polars": pl.DataFrame({"Event": EVENTS, "Time": TIMES}),
    "dict": {"time": TIMES, "event": EVENTS},
    "rows": [(bool(e), t) for e, t in zip(EVENTS, TIMES, strict=True)],
}


@pytest.mark.parametrize("y", BOTH.values(), ids=list(BOTH))
def test_events_and_times_in_one_are_told_apart(y: Any) -> None:
    value = solved().value
    assert streed.solve(RelativeRisk(), PAIRS, y, max_depth=1).value == value
    model = SurvivalTree(max_depth=1).fit(PAIRS, y)
    assert model.value_ == value
    assert model.score(PAIRS, y) == model.score(PAIRS, TIMES, event=EVENTS)
    assert SurvivalTree(max_depth=1).fit(PAIRS, y, frequency=[1, 1, 2, 1]).value_ != value
    assert model.size_path(PAIRS, y).task_values[-1] == pytest.approx(value)
    refused("y", call=lambda: streed.solve(SquaredError(), PAIRS, y))
    refused("y", "events and times", call=lambda: streed.solve(Accuracy(), PAIRS, y))


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([0.9, 1, 1, 0], "row 0 has 0.9"),
        ([1, 1.9, 1, 0], "row 1 has 1.9"),
        ([0, 2, 1, 1], "row 1 has 2; risks that compete"),
        (["yes", "no", "yes", "no"], "'yes'"),
        (["1", "0", "1", "1"], "'1'"),
        ([None, 1, 1, 1], "row 0"),
        (pd.Series([1, None, 0, 1], dtype="boolean"), "row 1"),
        ([1, 1, 1, math.nan], "row 3"),
    ],
)
def test_events_are_0_or_1(events: Any, said: str) -> None:
    refused("event", said, call=lambda: solved(events=events))
    refused("event", said, call=lambda: SurvivalTree().fit(PAIRS, TIMES, event=events))
    refused("event", said, call=lambda: nelson_aalen(TIMES, events))
