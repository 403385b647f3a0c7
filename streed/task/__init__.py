"""What a good tree is: the Task contract, limits on leaves, sums and trade-offs, and how tasks compose."""

from streed.task.base import (
    COMPONENTWISE,
    PARTIAL,
    TOTAL,
    Composition,
    GeneralTask,
    RowCostTask,
    Task,
    Value,
    bound,
    is_parameter,
)
from streed.task.states import ExactSums, Limit, State, Totals, beside_sums, quick_sums, state_of

__all__ = ["COMPONENTWISE", "PARTIAL", "TOTAL", "Composition", "ExactSums", "GeneralTask", "Limit", "RowCostTask"]
__all__ += ["State", "Task", "Totals", "Value", "beside_sums", "bound", "is_parameter", "quick_sums", "state_of"]
