"""Optimal trees as scikit-learn estimators: `pip install 'streed[sklearn]'`.

They are loaded when first used, so that `import streed.estimators` says clearly what is missing where scikit-learn is.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from streed.errors import MissingPackageError

if TYPE_CHECKING:
    from streed.estimators.binarizer import Binarizer
    from streed.estimators.classifier import OptimalTreeClassifier
    from streed.estimators.cost_sensitive import CostSensitiveTreeClassifier
    from streed.estimators.fair import FairTreeClassifier
    from streed.estimators.fair_guidance import cross_validate_fair, fairness_margin
    from streed.estimators.policy import PolicyTree
    from streed.estimators.policy_validation import cross_validate_policy
    from streed.estimators.regressor import OptimalTreeRegressor
    from streed.estimators.survival import SurvivalTree

__all__ = [
    "Binarizer",
    "CostSensitiveTreeClassifier",
    "FairTreeClassifier",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "PolicyTree",
    "SurvivalTree",
    "cross_validate_fair",
    "cross_validate_policy",
    "fairness_margin",
]

_HOMES = {
    "Binarizer": "binarizer",
    "CostSensitiveTreeClassifier": "cost_sensitive",
    "FairTreeClassifier": "fair",
    "OptimalTreeClassifier": "classifier",
    "OptimalTreeRegressor": "regressor",
    "PolicyTree": "policy",
    "SurvivalTree": "survival",
    "cross_validate_fair": "fair_guidance",
    "cross_validate_policy": "policy_validation",
    "fairness_margin": "fair_guidance",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'streed.estimators' has no attribute {name!r}")
    if importlib.util.find_spec("sklearn") is None:
        raise MissingPackageError(f"{name} needs scikit-learn: pip install 'streed[sklearn]'")
    found = getattr(importlib.import_module(f"streed.estimators.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
