"""Tasks with several sums, solved by scalar solves on any driver, where the facts that they declare allow it.

A reduction asks a driver only for trees of least weighted cost per row, so it runs on all of them, and it reads what
`streed.task.sums` lets a task declare, never which task it is:

- `dinkelbach`: scores that are fractions of affine functions of the sums (F1), by Dinkelbach's method;
- `penalized`: a score of two sums minus a price for every branching node, by either of these two;
- `supported points`: any score that is monotone in two sums, by the segments of the hull and what lies below them;
- `lagrangian`: limits on sums over the whole tree (fairness), by a dual bound and an enumeration of the slack;
- `trade`: the front of an objective and such a sum's gap, by limits on the gap that fall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.exact import LARGEST_TOTAL
from streed.task.analysis.linear_form import row_cost_form
from streed.task.analysis.row_costs import row_sum
from streed.task.objective import Objective, record_of

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.problem import Driver
    from streed.task import Task


def reduced(task: Task, driver: Driver, data: Dataset) -> Driver:
    """The driver itself, or one that asks it for scalar solves, if it `reduces` and the task has several sums.

    Of more than two sums, only those of limits are reduced.
    """
    record = record_of(task)
    if not record.of_sums:
        return driver
    from streed.reductions.epsilon_constraint import TradeOff
    from streed.reductions.reduction import Checked, Reduction

    if driver.reduces and _is_reducible(record, data):
        return TradeOff(driver) if record.gaps else Reduction(driver)
    return Checked(driver) if record.sum_limits or record.gaps or record.most else driver


def _is_reducible(record: Objective, data: Dataset) -> bool:
    """Whether the record is a cost per row or a score of two sums on the data, with one gap and sums that are limited.

    What is limited are sums of whole costs, which no branching node makes less.
    """
    found = [row_sum(part.bind(data), data) for part, _ in record.limited]
    whole = [each is not None and each.costs.dtype != object and 0 <= each.split < LARGEST_TOTAL for each in found]
    first: Any = record.parts[0].bind(data)
    if len(record.gaps) > 1 or not all(whole):
        return False
    return row_cost_form(first, data) is not None if first.components is None else len(first.rated.components) == 2
