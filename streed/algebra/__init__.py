"""How tasks compose: `A + B`, `0.01 * A`, `A & B`, `A <= limit`, `subject_to(...)`, `minimize(...)`, `maximize(...)`.

Every composition is a task again, and what it declares follows by rule from what its parts declare.
"""

from streed.algebra.directions import Negated, maximize, minimize
from streed.algebra.gains import NetGain
from streed.algebra.operators import add, scale, subtract
from streed.algebra.penalties import Penalized
from streed.algebra.products import Product, join
from streed.algebra.sums import Sum, WeightedSum, exact_costs, weighted_sum
from streed.algebra.terms import Term, written_terms
from streed.algebra.thresholds import Threshold, Thresholded, at_most, constrain, worsens
from streed.constrained import Constrained, objective

__all__ = [
    "Constrained",
    "Negated",
    "NetGain",
    "Penalized",
    "Product",
    "Sum",
    "Term",
    "Threshold",
    "Thresholded",
    "WeightedSum",
    "add",
    "at_most",
    "constrain",
    "exact_costs",
    "join",
    "maximize",
    "minimize",
    "objective",
    "scale",
    "subtract",
    "weighted_sum",
    "worsens",
    "written_terms",
]
