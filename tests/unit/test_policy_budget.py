"""Policies that may treat a part of the rows or spend so much, and what they are worth on rows held out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from streed import solve
from streed.errors import TaskError
from streed.estimators import PolicyTree, cross_validate_policy
from streed.tasks import PolicyValue, TreatmentParity
from tests.unit.refusal import refused

RNG = np.random.default_rng(4)
X = RNG.integers(0, 2, (80, 3))
GAIN = np.where(X[:, 0] == 1, 2.0, -1.0) + X[:, 1]
SCORES = np.column_stack([np.zeros(80), np.round(GAIN + RNG.normal(0, 0.1, 80), 2)])


def best(most: float) -> float:
    """The best mean outcome of any tree of depth one that treats at most so many rows."""
    found = []
    for j, pair in itertools.product(range(3), itertools.product((0, 1), repeat=2)):
        given = np.where(X[:, j] == 1, pair[1], pair[0])
        if given.sum() <= most:
            found.append(SCORES[np.arange(80), given].mean())
    return float(max(found))


@pytest.mark.parametrize(("capacity", "rows"), [(None, 80), (80, 80), (0.25, 20), (45, 45), (0.6, 48), (0, 0)])
def test_no_more_rows_are_treated_than_there_is_room_for(capacity: Any, rows: int) -> None:
    model = PolicyTree(max_depth=1, capacity=capacity).fit(X, SCORES)
    assert int((model.predict(X) == 1).sum()) <= rows
    assert model.value_ == pytest.approx(best(rows))
    assert model.optimal_


def test_a_budget_over_several_treatments() -> None:
    scores = np.column_stack([np.zeros(80), GAIN, 1.5 * GAIN])
    model = PolicyTree(max_depth=1, treatment_costs={1: 1, 2: 2.5}, budget=100).fit(X, scores)
    costs = np.array([0, 1, 2.5])
    values = {}
    for j, pair in itertools.product(range(3), itertools.product((0, 1, 2), repeat=2)):
        given = np.where(X[:, j] == 1, pair[1], pair[0])
        if costs[given].sum() <= 100:
            values[j, pair] = scores[np.arange(80), given].mean()
    assert model.value_ == pytest.approx(max(values.values()))
    assert costs[model.predict(X)].sum() <= 100


def test_held_out_values_and_their_intervals() -> None:
    found = cross_validate_policy(PolicyTree(max_depth=1, capacity=0.5), X, SCORES, cv=4)
    low, high = found.interval
    assert low < found.value < high
    assert found.fold_values.mean() == pytest.approx(found.value)
    assert found.treated <= 0.65
    gain, (least, _) = found.gains[0]
    assert gain == pytest.approx(found.value)  # the control is worth nothing
    assert least > 0


def test_what_a_limit_on_treatment_parity_takes() -> None:
    task = PolicyValue("dm")
    given: dict[str, Any] = {"predicted": SCORES, "sensitive_features": X[:, 1]}
    for limit, argument, said in (
        (lambda: TreatmentParity() <= 1.5, "limit", "from 0 to 1"),
        (lambda: TreatmentParity(treated="c") <= 0.5, "treated", "no treatment 'c'"),
        (lambda: TreatmentParity("age") <= 0.5, "sensitive_features", "one column without a name"),
    ):
        refused(argument, said, call=lambda limit=limit: solve(task.subject_to(limit()), X, **given))  # type: ignore[misc]
    with pytest.raises(TaskError, match="bounded from above only"):
        TreatmentParity() >= 0.1  # noqa: B015 - it raises
    assert str(TreatmentParity("sex", treated=[1]) <= 0.2) == "TreatmentParity('sex', treated=(1,)) <= 0.2"
