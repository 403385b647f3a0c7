"""scikit-learn's own checks of its conventions, on every estimator: all pass but what is listed with its reason."""

from __future__ import annotations

from typing import Any

import pytest

import streed.estimators
from tests.benchmarks.estimator_checks import ESTIMATORS, EXPECTED, SKIPPED, check, render

QUICK = ("Binarizer()", "OptimalTreeClassifier()", "PolicyTree()")


def _marks(name: str) -> Any:
    if name in QUICK:
        return ()
    return pytest.mark.compiles if name == "OptimalTreeRegressor()" else pytest.mark.slow


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in ESTIMATORS])
def test_check_estimator(name: str) -> None:
    results = check(ESTIMATORS[name])
    assert {result["check_name"] for result in results if result["status"] == "skipped"} <= set(SKIPPED)
    assert {result["status"] for result in results} <= {"passed", "skipped", "xfail"}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(EXPECTED)
    assert len(results) > 40


def test_every_estimator_is_checked() -> None:
    estimators = {
        made
        for made in map(streed.estimators.__dict__.get, streed.estimators.__all__)
        if isinstance(made, type) and hasattr(made, "fit")
    }
    checked = {each for estimator in ESTIMATORS.values() for each in type(estimator).__mro__}
    assert {made.__name__ for made in estimators - checked} == set()


def test_the_table() -> None:
    row = {"estimator": "A()", "checks": 3, "passed": 1, "failed": ["check_b"], "xfail": [], "skipped": [*SKIPPED]}
    said = render({"scikit-learn": "1.9", "rows": [row]})
    assert "| A()" in said
    assert "1 of 3 checks pass" in said
    assert "Failed:\n\n- A(): check_b" in said
    assert "SCIPY_ARRAY_API" in said
