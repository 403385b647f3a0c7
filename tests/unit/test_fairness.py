"""Fairness limits: gaps by hand from the raw groups, every form of groups, and the input that they refuse."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.result import Result
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    DemographicParity,
    EqualOpportunity,
    MinSupport,
    Splits,
    WorstLeaf,
)
from streed.tree import Tree
from streed.tree.verification import check
from tests.unit.outcomes import tree_of
from tests.unit.refusal import refused

RNG = np.random.default_rng(3)
SEX = RNG.integers(0, 2, 120)
RACE = RNG.integers(0, 3, 120)
X = np.column_stack([RNG.integers(0, 2, (120, 5)), (SEX ^ (RNG.random(120) < 0.15)).astype(int)])
Y = ((X[:, 0] + X[:, 1] + SEX + RNG.integers(0, 2, 120)) >= 2).astype(int)


def gap(predicted: Any, y: Any, groups: Any, counted: tuple[int, ...], weights: Any = None) -> float:
    """The largest difference between two groups' rates of prediction 1."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights)
    rates = []
    for group in np.unique(groups):
        rows = (groups == group) & np.isin(y, counted)
        rates.append(w[rows & (predicted == 1)].sum() / w[rows].sum())
    return float(max(rates) - min(rates))


def solve(limit: Any, base: Any = None, groups: Any = SEX, **options: Any) -> Result:
    task = (Accuracy() if base is None else base).subject_to(limit)
    return streed.solve(task, X, Y, max_depth=2, sensitive_features=groups, **options)


@pytest.mark.parametrize(
    "groups",
    [
        SEX.astype(bool),
        SEX.astype(float),
        SEX.tolist(),
        np.where(SEX, "male", "female"),
        ["m" if s else "f" for s in SEX],
        pd.Series(np.where(SEX, "m", "f")),
        pd.Series(SEX, dtype="category"),
        pl.Series(SEX),
        SEX[:, None],
        pd.DataFrame({"sex": SEX}),
        {"sex": SEX.tolist()},
    ],
    ids=["bool", "float", "list", "text", "texts", "pandas", "category", "polars", "column", "frame", "dict"],
)
def test_groups_of_every_form(groups: Any) -> None:
    assert solve(DemographicParity() <= 0.02, groups=groups).value == solve(DemographicParity() <= 0.02).value


def test_named_columns_and_their_combinations() -> None:
    table = pd.DataFrame({"sex": SEX, "race": RACE})
    assert solve(DemographicParity("sex") <= 0.02, groups=table).value == solve(DemographicParity() <= 0.02).value
    race = solve(DemographicParity("race") <= 0.05, groups=table)
    predicted = tree_of(race).predict(X)
    assert gap(predicted, Y, RACE, (0, 1)) <= 0.05
    assert set(race.stats["limits"][0]["rates"]["all"]) == {"0", "1", "2"}
    both = solve(DemographicParity(["sex", "race"]) <= 0.1, groups=table)
    assert gap(tree_of(both).predict(X), Y, 3 * SEX + RACE, (0, 1)) <= 0.1
    assert len(both.stats["limits"][0]["rates"]["all"]) == 6


def test_more_than_two_classes_with_a_named_favourable_one() -> None:
    y = Y + (X[:, 2] & X[:, 3])
    task = Accuracy().subject_to(DemographicParity(positive=2) <= 0.03)
    result = streed.solve(task, X, y, max_depth=2, sensitive_features=SEX)
    assert gap(tree_of(result).predict(X) == 2, y, SEX, (0, 1, 2)) <= 0.03
    free = Accuracy().subject_to(DemographicParity() <= 0.03)
    refused("y", "3 classes", call=lambda: streed.solve(free, X, y, sensitive_features=SEX))


def test_a_front_beside_a_gap_is_of_the_scores_that_are_maximised() -> None:
    result = streed.solve(BalancedAccuracy() & DemographicParity(), X, Y, max_depth=2, sensitive_features=SEX)
    best = streed.solve(BalancedAccuracy(), X, Y, max_depth=2).value
    assert result.value[0] == pytest.approx(best)
    assert len(result.front) > 1
    for value, tree in result.front:
        predicted = tree.predict(X)
        recall = np.mean([(predicted[k == Y] == k).mean() for k in (0, 1)])
        assert value == pytest.approx((recall, gap(predicted, Y, SEX, (0, 1))))
    short: dict[str, Any] = {"max_depth": 4, "time_limit": 1e-4, "sensitive_features": SEX}
    stopped = streed.solve(BalancedAccuracy() & DemographicParity(), X, Y, **short)
    assert stopped.status == "feasible"
    assert stopped.upper_bound[0] >= best
    assert stopped.upper_bound[1] == 0


def test_refused_input() -> None:
    refused("sensitive_features", "missing", call=lambda: solve(DemographicParity() <= 0.1, groups=None))
    refused("sensitive_features", "119 rows", call=lambda: solve(DemographicParity() <= 0.1, groups=SEX[:-1]))
    refused("sensitive_features", "one group", call=lambda: solve(DemographicParity() <= 0.1, groups=[1] * 120))
    missing = [None, *SEX[1:]]
    refused("sensitive_features", "missing", call=lambda: solve(DemographicParity() <= 0.1, groups=missing))
    only_negative = np.where(Y == 1, 0, SEX)
    refused(
        "sensitive_features",
        "'1'",
        "positive rows",
        call=lambda: solve(EqualOpportunity() <= 0.1, groups=only_negative),
    )
    table = {"sex": SEX, "race": RACE}
    refused("sensitive_features", "sex, race", call=lambda: solve(DemographicParity() <= 0.1, groups=table))
    refused("sensitive_features", "'age'", call=lambda: solve(DemographicParity("age") <= 0.1, groups=table))
    refused("sensitive_features", "'sex'", call=lambda: solve(DemographicParity("sex") <= 0.1))
    two = np.column_stack([SEX, RACE])
    refused("sensitive_features", "no names", call=lambda: solve(DemographicParity() <= 0.1, groups=two))
    refused("positive", "7", call=lambda: solve(DemographicParity(positive=7) <= 0.1))
    for limit in (-0.01, 1.5, float("nan"), True, "0.1"):
        refused("limit", call=functools.partial(DemographicParity().__le__, limit))


def test_saved_trees_hold_their_claims() -> None:
    data = Dataset.make(X, Y, sensitive_features=SEX)
    for task in (Accuracy() & DemographicParity(), Accuracy().subject_to(DemographicParity() <= 0.05)):
        for _, tree in streed.solve(task, data, max_depth=1).front:
            assert all(each.holds for each in check(Tree.from_json(tree.to_json()), data))


def test_gaps_that_are_refused() -> None:
    given: dict[str, Any] = {"max_depth": 2, "sensitive_features": np.where(Y == 1, 0, SEX)}
    refused("sensitive_features", "missing", call=lambda: streed.solve(Accuracy() & DemographicParity(), X, Y))
    refused("sensitive_features", "positive", call=lambda: streed.solve(Accuracy() & EqualOpportunity(), X, Y, **given))
    with pytest.raises(TaskError, match="sums over rows"):
        _ = WorstLeaf() & DemographicParity()
    with pytest.raises(TaskError, match="objective first"):
        _ = DemographicParity() & Accuracy()
    with pytest.raises(TaskError, match="sums over rows"):
        _ = ClassErrors() & DemographicParity()
    with pytest.raises(TaskError, match="subject_to last"):
        _ = Accuracy().subject_to(MinSupport(2)) & DemographicParity()
    fronts = streed.solve(Splits() & DemographicParity(), X, Y, **given).front
    assert min(value for value, _ in fronts) == (0, 0.0)
