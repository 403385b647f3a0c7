"""How tasks compose: `A + B`, `0.01 * A`, `A & B`, `A <= limit`, `subject_to(...)`, `minimize(...)`, `maximize(...)`.

Every composition is a task again, and what it declares follows by rule from what its parts declare.
"""

from streed.task.algebra.operators import (
    Threshold,
    add,
    as_costs,
    at_most,
    constrain,
    gain_sign,
    join,
    maximize,
    minimize,
    scale,
    subtract,
)
from streed.task.algebra.sums import Sum, WeightedSum
from streed.task.analysis.row_costs import exact_costs
from streed.task.base import objective

__all__ = ["Sum", "Threshold", "WeightedSum", "add", "as_costs", "at_most", "constrain", "exact_costs", "gain_sign"]
__all__ += ["join", "maximize", "minimize", "objective", "scale", "subtract"]
