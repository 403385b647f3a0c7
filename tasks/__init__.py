"""The objectives that ship with streed, one family a file."""

from streed.tasks.accuracy import Accuracy, BalancedAccuracy, Misclassifications, WeightedAccuracy
from streed.tasks.fairness import (
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
)
from streed.tasks.metrics import (
    F1,
    CohenKappa,
    FBeta,
    GMean,
    Jaccard,
    MatthewsCorrelation,
    MonotoneMetric,
)
from streed.tasks.sparsity import SparseAccuracy, Splits
from streed.tasks.support import MinSupport

__all__ = [
    "F1",
    "Accuracy",
    "BalancedAccuracy",
    "CohenKappa",
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "FBeta",
    "GMean",
    "Jaccard",
    "MatthewsCorrelation",
    "MinSupport",
    "Misclassifications",
    "MonotoneMetric",
    "PredictiveEquality",
    "SparseAccuracy",
    "Splits",
    "WeightedAccuracy",
]
