"""Optimal trees as scikit-learn estimators: `pip install 'streed[sklearn]'`."""

from streed.errors import MissingPackageError

try:
    from streed.estimators.binarizer import Binarizer
    from streed.estimators.classifier import CostSensitiveTreeClassifier, OptimalTreeClassifier
    from streed.estimators.fair import FairTreeClassifier, cross_validate_fair, fairness_margin
    from streed.estimators.policy import PolicyTree, cross_validate_policy
    from streed.estimators.regressor import OptimalTreeRegressor, SurvivalTree
except ModuleNotFoundError:
    raise MissingPackageError("streed.estimators needs scikit-learn: pip install 'streed[sklearn]'") from None

__all__ = [
    "Binarizer", "CostSensitiveTreeClassifier", "FairTreeClassifier", "OptimalTreeClassifier", "OptimalTreeRegressor",
    "PolicyTree", "SurvivalTree", "cross_validate_fair", "cross_validate_policy", "fairness_margin",
]  # fmt: skip
