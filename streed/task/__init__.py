"""What a good tree is: the Task contract, limits on leaves, sums and trade-offs, and how tasks compose."""

from streed.task.base import (
    COMPONENTWISE,
    PARTIAL,
    TOTAL,
    Composition,
    GeneralTask,
    Limit,
    RowCostTask,
    Task,
    Value,
    bound,
    is_parameter,
)
from streed.task.row_sums import Totals, beside_sums, exact_sums, quick_sums, state_of, sums_over, weight_array
from streed.task.states import State

__all__ = [
    "COMPONENTWISE",
    "PARTIAL",
    "TOTAL",
    "Composition",
    "GeneralTask",
    "Limit",
    "RowCostTask",
    "State",
    "Task",
    "Totals",
    "Value",
    "beside_sums",
    "bound",
    "exact_sums",
    "is_parameter",
    "quick_sums",
    "state_of",
    "sums_over",
    "weight_array",
]
