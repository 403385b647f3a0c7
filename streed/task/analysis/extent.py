"""Which thresholds of raw numbers are tried where the caller leaves that open: all, or as many as soon are searched.

Every threshold is tried of up to so many values (rows times ordered columns), or up to so many questions:

    depth                              0, 1    2         3         4       5, or any
    costs by row, or made of sums
        values                         10^9    2 * 10^7  2 * 10^5  2,000   500
        questions                      10^6    4,000     500       160     60
    the same in order (monotone)
        values                         10^7    20,000    1,000     200     100
        questions                      10^6    2,000     200       60      30
    other tasks, and under limits on rates, costs or sums
        questions                      10^5    800       100       32      12

and beyond that as many as make so many questions of all ordered columns, at quantiles, two of a column at least. Where
there is a time limit, the search ends anyway, and trees over all thresholds are soon the best: of costs by row, or made
of sums, all are then tried of up to 2 * 10^6 values at any depth. The rule depends on the task, the data, the limits on
the size of trees, and whether there is a time limit: on any machine it is the same.
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

BY_THRESHOLDS, IN_ORDER, OTHERS = range(3)

_VALUES = (
    (10**9, 10**9, 2 * 10**7, 2 * 10**5, 2_000, 500),
    (10**7, 10**7, 20_000, 1_000, 200, 100),
    (0,) * 6,
)
"""Measured on one core: depth two of 10^6 rows and 20 columns takes 20 s, depth three of 1,797 rows and 64 columns 0.4
s, depth four of 900 rows and 7 columns 2 s, of fewer rows that are harder to tell apart minutes; in order, depth two of
1,000 rows and 20 columns 3 s, depth three of 300 rows and 3 columns 2 s."""

_TIMED = 2 * 10**6
"""Of 100,000 rows and 12 columns at depth six, all thresholds gave the best tree from five seconds on."""

_QUESTIONS = (
    (10**6, 10**6, 4_000, 500, 160, 60),
    (10**6, 10**6, 2_000, 200, 60, 30),
    (10**5, 10**5, 800, 100, 32, 12),
)

_FEWEST = 2


def affordable(task: Task, data: Dataset, max_depth: int | None, max_nodes: int | None, *, timed: bool) -> Dataset:
    """The data, with fewer thresholds where the caller left open how many there are, and a search would take long.

    `timed`: whether a time limit ends the search.
    """
    columns = len(data.ordered)
    if data.max_cuts != AUTO or not columns:
        return data
    kind = _kind(task, data, max_depth, max_nodes)
    depth = min(5 if limit is None else limit for limit in (max_depth, max_nodes, 5))
    most = max(_VALUES[kind][depth], _TIMED if timed and kind == BY_THRESHOLDS else 0)
    if data.n_rows * columns <= most or data.n_questions <= _QUESTIONS[kind][depth]:
        return data
    return data.cut(max(_FEWEST, _QUESTIONS[kind][depth] // columns))


def _kind(task: Task, data: Dataset, max_depth: int | None, max_nodes: int | None) -> int:
    """By what kind of search the task is solved over thresholds."""
    form = objective(task).vector_form
    if form.limits:
        return OTHERS
    if form.of_sums:
        return BY_THRESHOLDS
    bound = task.bind(data)
    if objective(bound).in_order(data) is not None and max_depth is not None:
        return IN_ORDER if max_nodes is None or max_nodes >= 2**max_depth - 1 else OTHERS
    if branching_context(bound, data.n_columns) not in ("none", "constant"):
        return OTHERS
    by_row = row_cost_form(bound, data) is not None
    made = not by_row and not data.categorical and can_generate(bound, data, quick_sums(bound, data))
    return BY_THRESHOLDS if by_row or made else OTHERS
