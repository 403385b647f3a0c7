"""The objectives that ship with streed, one family a file."""

from streed.tasks.absolute_error import AbsoluteError
from streed.tasks.accuracy import Accuracy, BalancedAccuracy, Misclassifications, WeightedAccuracy
from streed.tasks.bayes import BayesianTree
from streed.tasks.entropy import Entropy
from streed.tasks.fairness import (
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
)
from streed.tasks.gini import Gini
from streed.tasks.lexicographic import Lexicographic
from streed.tasks.mdl import MehtaMDL, QuinlanMDL
from streed.tasks.metrics import (
    F1,
    CohenKappa,
    FBeta,
    GMean,
    Jaccard,
    MatthewsCorrelation,
    MonotoneMetric,
)
from streed.tasks.minimum_error import MinimumError
from streed.tasks.pessimistic import PessimisticError
from streed.tasks.regression import SquaredError
from streed.tasks.sparsity import SparseAccuracy, Splits
from streed.tasks.support import MinSupport
from streed.tasks.worst_leaf import WorstLeaf

__all__ = [
    "F1",
    "AbsoluteError",
    "Accuracy",
    "BalancedAccuracy",
    "BayesianTree",
    "CohenKappa",
    "DemographicParity",
    "Entropy",
    "EqualOpportunity",
    "EqualizedOdds",
    "FBeta",
    "GMean",
    "Gini",
    "Jaccard",
    "Lexicographic",
    "MatthewsCorrelation",
    "MehtaMDL",
    "MinSupport",
    "MinimumError",
    "Misclassifications",
    "MonotoneMetric",
    "PessimisticError",
    "PredictiveEquality",
    "QuinlanMDL",
    "SparseAccuracy",
    "Splits",
    "SquaredError",
    "WeightedAccuracy",
    "WorstLeaf",
]
