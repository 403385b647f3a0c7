"""Policies by hand: scores, capacities and budgets, estimates, teachers, rows held out, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import streed
from streed import solve
from streed.data import Dataset
from streed.errors import TaskError
from streed.estimators import PolicyTree, cross_validate_policy
from streed.tasks import PolicyValue, TreatmentParity
from streed.tasks.outcome_scores import policy_value, scores
from tests.unit.refusal import refused

X = [[0], [0], [1], [1]]
PAST: dict[str, Any] = {
    "treatment": ["a", "b", "a", "b"],
    "outcome": [2, 1, 0, 3],
    "propensity": [0.5, 0.25, 1, 0.5],
    "predicted": {"a": [1, 2, 1, 1], "b": [2, 0, 0, 2]},
}


def value(method: str, **changes: Any) -> Any:
    return streed.solve(PolicyValue(method), X, max_depth=1, **{**PAST, **changes}).value


def test_scores_by_hand() -> None:
    """Eq. 62 to 64."""
    data = Dataset.make(X, **PAST)
    assert scores("dm", data).tolist() == [[1, 2], [2, 0], [1, 0], [1, 2]]
    assert scores("ipw", data).tolist() == [[4, 0], [0, 4], [0, 0], [0, 6]]
    assert scores("dr", data).tolist() == [[1 + 2, 2], [2, 0 + 4], [1 - 1, 0], [1, 2 + 2]]


def test_values_are_means_of_the_best_scores_of_leaves() -> None:
    """Left the better of the columns' sums over the first two rows, right over the others."""
    assert value("dm") == (3 + 2) / 4
    assert value("ipw") == (4 + 6) / 4
    assert value("dr") == (6 + 4) / 4
    assert value("dm", sample_weight=[3, 1, 1, 1]) == (6 + 2) / 6


@pytest.mark.parametrize(
    ("argument", "changes", "fragments"),
    [
        ("propensity", {"propensity": [0.5, 0, 1, 1]}, ["row 1 has 0", "> 0"]),
        ("propensity", {"propensity": [0.5, 1.5, 1, 1]}, ["row 1 has 1.5"]),
        ("propensity", {"propensity": None}, ["needs it"]),
        ("propensity", {"propensity": [[0.5]] * 4}, ["1 columns for 2 treatments"]),
        ("treatment", {"treatment": ["a"] * 4}, ["'b' was never given", '"dm"']),
        ("predicted", {"treatment": ["a", "b", "c", "a"]}, ["('a', 'b')", "'c'"]),
        ("outcome", {"outcome": [1, 2, 3, float("inf")]}, ["row 3"]),
        ("treatment", {"treatment": None}, ["needs it"]),
    ],
)
def test_what_is_refused(argument: str, changes: dict[str, Any], fragments: list[str]) -> None:
    refused(argument, *fragments, call=lambda: value("dr", **changes))


def test_an_estimate_is_a_mean_with_its_error() -> None:
    """Left a, right b: scores 4, 0, 0, 6."""
    tree = streed.solve(PolicyValue("ipw"), X, max_depth=1, **{**PAST, "propensity": [0.5] * 4}).tree
    assert tree is not None
    past = {name: PAST[name] for name in ("treatment", "outcome")} | {"propensity": [0.5] * 4}
    estimate = policy_value(tree, X, "ipw", **past)
    assert estimate.value == 2.5
    assert estimate.standard_error == pytest.approx(np.std([4, 0, 0, 6], ddof=1) / 2)
    assert estimate.interval(1) == (2.5 - estimate.standard_error, 2.5 + estimate.standard_error)
    past["treatment"] = ["c", "d", "c", "d"]
    refused("treatment", "prescribes", call=lambda: policy_value(tree, X, "ipw", **past))


@pytest.mark.compiles
def test_teachers_predict_rows_that_they_have_not_seen() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    from streed.estimators.policy import teach

    draw = np.random.default_rng(1)
    features, given = draw.normal(size=(300, 2)), draw.integers(0, 2, 300)
    outcomes = np.stack([features[:, 0], features[:, 1]], axis=1)
    models = {"regressor": linear_model.LinearRegression(), "classifier": linear_model.LogisticRegression()}
    lesson = teach(features, given, outcomes[np.arange(300), given], folds=3, **models)
    assert lesson["propensity"].sum(axis=1) == pytest.approx(np.ones(300))
    assert lesson["predicted"] == pytest.approx(outcomes)
    policy = streed.solve(PolicyValue("dr"), features[:, :1] > features[:, 1:], max_depth=1, **lesson).tree
    assert policy.predict([[0], [1]]).tolist() == [1, 0]
    refused("treatment", "1 was given to 1 rows", call=lambda: teach([[0]] * 4, [0, 0, 0, 1], [1, 2, 3, 4], folds=2))
    refused("folds", "1", call=lambda: teach([[0]] * 4, [0, 0, 1, 1], [1, 2, 3, 4], folds=1))
    refused("treatment", "4, 3 and 4", call=lambda: teach([[0]] * 4, [0, 0, 1], [1, 2, 3, 4]))


RNG = np.random.default_rng(4)
ROWS = RNG.integers(0, 2, (80, 3))
GAIN = np.where(ROWS[:, 0] == 1, 2.0, -1.0) + ROWS[:, 1]
SCORES = np.column_stack([np.zeros(80), np.round(GAIN + RNG.normal(0, 0.1, 80), 2)])


def best(most: float) -> float:
    """The best mean outcome of any tree of depth one that treats at most so many rows."""
    found = []
    for j, pair in itertools.product(range(3), itertools.product((0, 1), repeat=2)):
        given = np.where(ROWS[:, j] == 1, pair[1], pair[0])
        if given.sum() <= most:
            found.append(SCORES[np.arange(80), given].mean())
    return float(max(found))


@pytest.mark.compiles
@pytest.mark.parametrize(("capacity", "rows"), [(None, 80), (80, 80), (0.25, 20), (45, 45), (0.6, 48), (0, 0)])
def test_no_more_rows_are_treated_than_there_is_room_for(capacity: Any, rows: int) -> None:
    model = PolicyTree(max_depth=1, capacity=capacity).fit(ROWS, SCORES)
    assert int((model.predict(ROWS) == 1).sum()) <= rows
    assert model.value_ == pytest.approx(best(rows))
    assert model.optimal_


def test_a_budget_over_several_treatments() -> None:
    scores = np.column_stack([np.zeros(80), GAIN, 1.5 * GAIN])
    model = PolicyTree(max_depth=1, treatment_costs={1: 1, 2: 2.5}, budget=100).fit(ROWS, scores)
    costs = np.array([0, 1, 2.5])
    values = {}
    for j, pair in itertools.product(range(3), itertools.product((0, 1, 2), repeat=2)):
        given = np.where(ROWS[:, j] == 1, pair[1], pair[0])
        if costs[given].sum() <= 100:
            values[j, pair] = scores[np.arange(80), given].mean()
    assert model.value_ == pytest.approx(max(values.values()))
    assert costs[model.predict(ROWS)].sum() <= 100


def test_held_out_values_and_their_intervals() -> None:
    found = cross_validate_policy(PolicyTree(max_depth=1, capacity=0.5), ROWS, SCORES, cv=4)
    low, high = found.interval
    assert low < found.value < high
    assert found.fold_values.mean() == pytest.approx(found.value)
    assert found.treated <= 0.65
    gain, (least, _) = found.gains[0]
    assert gain == pytest.approx(found.value)  # the control is worth nothing
    assert least > 0


def test_what_a_limit_on_treatment_parity_takes() -> None:
    task = PolicyValue("dm")
    given: dict[str, Any] = {"predicted": SCORES, "sensitive_features": ROWS[:, 1]}
    for limit, argument, said in (
        (lambda: TreatmentParity() <= 1.5, "limit", "from 0 to 1"),
        (lambda: TreatmentParity(treated="c") <= 0.5, "treated", "no treatment 'c'"),
        (lambda: TreatmentParity("age") <= 0.5, "sensitive_features", "one column without a name"),
    ):
        refused(argument, said, call=lambda limit=limit: solve(task.subject_to(limit()), ROWS, **given))  # type: ignore[misc]
    with pytest.raises(TaskError, match="bounded from above only"):
        TreatmentParity() >= 0.1  # noqa: B015 - it raises
    assert str(TreatmentParity("sex", treated=[1]) <= 0.2) == "TreatmentParity('sex', treated=(1,)) <= 0.2"
