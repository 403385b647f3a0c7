"""Policies by hand: the scores of the three methods, capacities, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import streed
from streed.data import Dataset
from streed.tasks import PolicyValue, TreatmentCosts
from streed.tasks.outcome_scores import scores
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


def test_a_capacity_limits_how_many_are_treated() -> None:
    """Both leaves would take b; there is room for one."""
    scored = {"a": [0, 0, 0, 0], "b": [2, 2, 3, 3]}
    used: Any = TreatmentCosts({"b": 1})
    task = PolicyValue("dm").subject_to(used <= 2)
    result = streed.solve(task, X, max_depth=1, predicted=scored)
    assert result.tree is not None
    assert result.tree.predict([[0], [1]]).tolist() == ["a", "b"]
    assert result.value == 1.5


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
