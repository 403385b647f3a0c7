"""The objectives that ship with streed, one family a file."""

from streed.tasks.absolute_error import AbsoluteError
from streed.tasks.accuracy import Accuracy, BalancedAccuracy, Misclassifications, WeightedAccuracy
from streed.tasks.bayes import BayesianTree
from streed.tasks.brier import BrierScore
from streed.tasks.class_errors import ClassErrors
from streed.tasks.cost_sensitive import CostSensitive, MisclassificationCosts
from streed.tasks.entropy import Entropy
from streed.tasks.fairness import (
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    ErrorRateParity,
    PredictiveEquality,
)
from streed.tasks.gini import Gini
from streed.tasks.group_limits import TreatmentEquality
from streed.tasks.instance_costs import InstanceCosts
from streed.tasks.lexicographic import Lexicographic
from streed.tasks.linear import LinearLeaves, predict_linear
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
from streed.tasks.monotone import MonotoneErrors
from streed.tasks.pessimistic import PessimisticError
from streed.tasks.poisson import PoissonDeviance
from streed.tasks.policy import PolicyValue, TreatmentCosts
from streed.tasks.quantile import QuantileError
from streed.tasks.rates import Precision, Recall, Specificity
from streed.tasks.regression import SquaredError
from streed.tasks.sparsity import SparseAccuracy, Splits
from streed.tasks.support import MinSupport, MinSupportOf
from streed.tasks.survival import RelativeRisk
from streed.tasks.treatment_parity import TreatmentParity
from streed.tasks.worst_leaf import WorstLeaf

__all__ = [
    "F1",
    "AbsoluteError",
    "Accuracy",
    "BalancedAccuracy",
    "BayesianTree",
    "BrierScore",
    "ClassErrors",
    "CohenKappa",
    "CostSensitive",
    "DemographicParity",
    "Entropy",
    "EqualOpportunity",
    "EqualizedOdds",
    "ErrorRateParity",
    "FBeta",
    "GMean",
    "Gini",
    "InstanceCosts",
    "Jaccard",
    "Lexicographic",
    "LinearLeaves",
    "MatthewsCorrelation",
    "MehtaMDL",
    "MinSupport",
    "MinSupportOf",
    "MinimumError",
    "MisclassificationCosts",
    "Misclassifications",
    "MonotoneErrors",
    "MonotoneMetric",
    "PessimisticError",
    "PoissonDeviance",
    "PolicyValue",
    "Precision",
    "PredictiveEquality",
    "QuantileError",
    "QuinlanMDL",
    "Recall",
    "RelativeRisk",
    "SparseAccuracy",
    "Specificity",
    "Splits",
    "SquaredError",
    "TreatmentCosts",
    "TreatmentEquality",
    "TreatmentParity",
    "WeightedAccuracy",
    "WorstLeaf",
    "predict_linear",
]
