"""The objectives that ship with streed, one family a file."""

from streed.tasks.accuracy import (
    Accuracy,
    BalancedAccuracy,
    Lexicographic,
    Misclassifications,
    MonotoneErrors,
    SparseAccuracy,
    Splits,
    WeightedAccuracy,
    WorstLeaf,
)
from streed.tasks.cost_sensitive import CostSensitive, InstanceCosts, MisclassificationCosts
from streed.tasks.fairness import (
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    ErrorRateParity,
    PredictiveEquality,
    TreatmentEquality,
    TreatmentParity,
)
from streed.tasks.impurity import BrierScore, Entropy, Gini
from streed.tasks.metrics import F1, ClassErrors, CohenKappa, FBeta, GMean, Jaccard, MatthewsCorrelation, MonotoneMetric
from streed.tasks.outcome_scores import PolicyValue, TreatmentCosts
from streed.tasks.pruning import BayesianTree, MehtaMDL, MinimumError, PessimisticError, QuinlanMDL
from streed.tasks.rates import Precision, Recall, Specificity
from streed.tasks.regression import AbsoluteError, LinearLeaves, QuantileError, SquaredError, predict_linear
from streed.tasks.support import MinSupport, MinSupportOf
from streed.tasks.survival import PoissonDeviance, RelativeRisk

__all__ = ["F1", "AbsoluteError", "Accuracy", "BalancedAccuracy", "BayesianTree", "BrierScore", "ClassErrors"]
__all__ += ["CohenKappa", "CostSensitive", "DemographicParity", "Entropy", "EqualOpportunity", "EqualizedOdds"]
__all__ += ["ErrorRateParity", "FBeta", "GMean", "Gini", "InstanceCosts", "Jaccard", "Lexicographic", "LinearLeaves"]
__all__ += ["MatthewsCorrelation", "MehtaMDL", "MinSupport", "MinSupportOf", "MinimumError", "MisclassificationCosts"]
__all__ += ["Misclassifications", "MonotoneErrors", "MonotoneMetric", "PessimisticError", "PoissonDeviance"]
__all__ += ["PolicyValue", "Precision", "PredictiveEquality", "QuantileError", "QuinlanMDL", "Recall", "RelativeRisk"]
__all__ += ["SparseAccuracy", "Specificity", "Splits", "SquaredError", "TreatmentCosts", "TreatmentEquality"]
__all__ += ["TreatmentParity", "WeightedAccuracy", "WorstLeaf", "predict_linear"]
