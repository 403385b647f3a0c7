"""The objectives that ship with streed, one family a file."""

from streed.tasks.absolute_error import AbsoluteError
from streed.tasks.accuracy import Accuracy, BalancedAccuracy, Misclassifications, WeightedAccuracy
from streed.tasks.sparsity import SparseAccuracy, Splits
from streed.tasks.support import MinSupport

__all__ = [
    "AbsoluteError",
    "Accuracy",
    "BalancedAccuracy",
    "MinSupport",
    "Misclassifications",
    "SparseAccuracy",
    "Splits",
    "WeightedAccuracy",
]
