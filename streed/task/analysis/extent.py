"""Which thresholds of raw numbers are tried where the caller leaves that open: all, or as many as soon are searched.

Every threshold is tried of up to so many values (rows times ordered columns):

    depth               0, 1         2           3          4        deeper, or any
    values              10^9         2 * 10^7    2 * 10^5   2,000    500
    questions if more   10^6         4,000       500        160      60

and beyond that as many as make so many questions of all ordered columns, at quantiles, two of a column at least. Tasks
that no search over thresholds takes are searched by questions, and of these all are tried up to a fifth of the last
row. The rule depends on the task, the data and the limits on the size of trees alone: on any machine it is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streed.data.dataset import AUTO
from streed.task.algebra import objective
from streed.task.analysis.facts import can_generate
from streed.task.analysis.linear_form import branching_context, row_cost_form
from streed.task.row_sums import quick_sums

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task import Task

_VALUES = (10**9, 10**9, 2 * 10**7, 2 * 10**5, 2_000, 500)
"""Measured on one core: depth two of 10^6 rows and 20 columns takes 20 s, depth three of 1,797 rows and 64 columns 0.4
s, depth four of 900 rows and 7 columns 2 s, of fewer rows that are harder to tell apart minutes."""

_QUESTIONS = (10**6, 10**6, 4_000, 500, 160, 60)

_SLOWER, _FEWEST = 5, 2


def affordable(task: Task, data: Dataset, max_depth: int | None, max_nodes: int | None) -> Dataset:
    """The data, with fewer thresholds where the caller left open how many there are, and a search would take long."""
    columns = len(data.ordered)
    if data.max_cuts != AUTO or not columns:
        return data
    deepest = len(_VALUES) - 1
    depth = min(deepest if limit is None else limit for limit in (max_depth, max_nodes, deepest))
    values, questions = _VALUES[depth], _QUESTIONS[depth]
    if not takes_thresholds(task, data):
        values, questions = 0, questions // _SLOWER
    if data.n_rows * columns <= values or data.n_questions <= questions:
        return data
    return data.cut(max(_FEWEST, questions // columns))


def takes_thresholds(task: Task, data: Dataset) -> bool:
    """Whether costs are added up by row or made of sums, or reduced to such, and depend on no column."""
    form = objective(task).vector_form
    if form.of_sums:
        return True
    bound = task.bind(data)
    if branching_context(bound, data.n_columns) not in ("none", "constant"):
        return False
    if row_cost_form(bound, data) is not None:
        return True
    return not data.categorical and can_generate(bound, data, quick_sums(bound, data))
