"""scikit-learn's own checks of its conventions, on every estimator: all pass but what is listed with its reason."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _num_samples

import streed.estimators
from streed.estimators import (
    Binarizer,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)

SKIPPED = {
    "check_array_api_input": "other array libraries are tried only where SCIPY_ARRAY_API is set before Python starts"
}
"""Checks that scikit-learn leaves out itself, with the reason."""

EXPECTED = {
    "check_class_weight_classifiers": "it wants nearly all test rows in the heavy class (min_weight_fraction_leaf); "
    "the optimal tree also has leaves where no training row is of that class",
    **dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "a policy is refused, as for any table, where y is one column of outcomes without their treatments",
    ),
}
"""What an exact optimum under weights of 1000 to 0.0001 does not do, with the reason."""


class Grouped(FairTreeClassifier):
    """Finds groups where the checks give none: even and odd rows, whose rates may differ by any amount."""

    def __init__(self, limit: float = 1.0, *, max_depth: int = 3) -> None:
        super().__init__(limit=limit, max_depth=max_depth)

    def _groups(self, X: Any, sensitive_features: Any) -> Any:
        return np.arange(_num_samples(X)) % 2


ESTIMATORS: dict[str, Any] = {
    "Binarizer()": Binarizer(),
    "Binarizer('tree')": Binarizer("tree"),
    "Binarizer('mdlp')": Binarizer("mdlp"),
    "Binarizer('midpoints', categories='multiway')": Binarizer("midpoints", categories="multiway"),
    "OptimalTreeClassifier()": OptimalTreeClassifier(),
    "OptimalTreeRegressor()": OptimalTreeRegressor(),
    "CostSensitiveTreeClassifier()": CostSensitiveTreeClassifier(),
    "FairTreeClassifier(limit=1), even and odd rows as groups": Grouped(),
    "PolicyTree()": PolicyTree(),
    "SurvivalTree()": SurvivalTree(),
}
"""Every estimator, as it is checked."""


def check(estimator: Any) -> list[Any]:
    """What every check says of the estimator: its name and its status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks give data that deserve warnings
        found: list[Any] = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=EXPECTED)
    return found


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
