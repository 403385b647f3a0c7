"""How tasks compose: `A + B`, `0.01 * A`, `A & B`, `A <= limit`, `subject_to(...)`, `minimize(...)`, `maximize(...)`.

Every composition is a task again, and what it declares follows by rule from what its parts declare.
"""

from streed.task.algebra.operators import NetGain, Penalized, add, scale, subtract
from streed.task.algebra.parts import Negated, as_costs, gain_sign, maximize, minimize
from streed.task.algebra.products import Product, Threshold, at_most, constrain, join, worsens
from streed.task.algebra.sums import Sum, WeightedSum
from streed.task.analysis.vector_form import exact_costs
from streed.task.composable import Term
from streed.task.constrained import Constrained, objective

__all__ = [
    "Constrained",
    "Negated",
    "NetGain",
    "Penalized",
    "Product",
    "Sum",
    "Term",
    "Threshold",
    "WeightedSum",
    "add",
    "as_costs",
    "at_most",
    "constrain",
    "exact_costs",
    "gain_sign",
    "join",
    "maximize",
    "minimize",
    "objective",
    "scale",
    "subtract",
    "worsens",
]
