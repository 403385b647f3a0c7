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

from typing import TYPE_CHECKING

from streed.task.algebra import objective
from streed.task.analysis.linear_form import row_cost_form

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.problem import Driver
    from streed.task import Task
    from streed.task.composable import VectorForm


def reduced(task: Task, driver: Driver, data: Dataset) -> Driver:
    """The driver itself, or one that asks it for scalar solves, if it `reduces` and the task has several sums.

    Of more than two sums, only those of limits are reduced.
    """
    form = objective(task).vector_form
    if not form.of_sums:
        return driver
    if not driver.reduces or not _is_reducible(form, data):
        from streed.reductions.reduction import Checked

        return Checked(driver) if form.limits or form.gaps else driver
    if form.gaps:
        from streed.reductions.epsilon_constraint import TradeOff

        return TradeOff(driver)
    from streed.reductions.reduction import Reduction

    return Reduction(driver)


def _is_reducible(form: VectorForm, data: Dataset) -> bool:
    """Whether on the data the task is a cost per row or a score of two sums, with what is limited and one gap."""
    if len(form.gaps) > 1:
        return False
    if form.components is None:
        return row_cost_form(form.objective.bind(data), data) is not None
    bound = form.objective.bind(data).vector_form.rated.vector_form
    return bound.components is not None and len(bound.components) == 2
