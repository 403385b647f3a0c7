"""Which thresholds of raw numbers are tried where the caller leaves that open, and what trying only some can cost.

All are tried of up to so many values (rows times ordered columns), `_VALUES`, or up to so many questions, `_QUESTIONS`,
both by depth; beyond that as many as make so many questions of all ordered columns, at quantiles, two of a column at
least. A time limit ends the search anyway, and trees over all thresholds are soon the best: of costs by row, made of
sums or under limits on sums, all are then tried of so many values a second, `_PER_SECOND`, else as many as make
`_TIMED` questions. Of several sums, as F1 and limits on rates have, no more are tried than fit, `_MOST_ANSWERS`. The
rule depends on the task, the data, and the limits on the size of trees and on time: on any machine it is the same.

Take the best tree over all thresholds, and move each of its splits to the nearest threshold that was tried, or leave
it out, which sends its rows to one side. Rows go another way only if they lie between the two at a node that they
reach: at most g of them at a node, the most that lie between any threshold and what is nearest to it. Nodes of one
level share no rows. The rows that stay cost no more than before, and each that moved adds at most its worst cost w, so

    best over all thresholds >= best over those that were tried - sum over levels l of min(2^l g, w of all rows),

where g, too, is a sum of worst costs. This needs that leaves may be of any size, and that a tree for more rows serves
fewer, which is what `worst_per_row` promises.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from streed.data import AUTO, Dataset
from streed.data.ordered import OrderedValues
from streed.exact import Array
from streed.task.analysis.facts import can_generate
from streed.task.analysis.linear_form import price_of_splits, row_cost_form
from streed.task.base import Task, Value, objective
from streed.task.bounded_sums import exact_costs
from streed.task.joint import TaskInOrder
from streed.task.objective import record_of
from streed.task.states import State

BY_THRESHOLDS, IN_ORDER, OTHERS, BY_QUESTIONS = range(4)

_VALUES = (
    (10**9, 10**9, 2 * 10**7, 2 * 10**5, 2_000, 500),
    (10**7, 10**7, 20_000, 1_000, 200, 100),
    (0,) * 6,
    (0,) * 6,
)
"""Measured on one core: depth two of 10^6 rows and 20 columns takes 20 s, depth three of 1,797 rows and 64 columns 0.4
s, depth four of 900 rows and 7 columns 2 s, of fewer rows that are harder to tell apart minutes; in order, depth two of
1,000 rows and 20 columns 3 s, depth three of 300 rows and 3 columns 2 s."""

_PER_SECOND = 4 * 10**5
"""Of 50,000 rows and 10 columns at depth six, all thresholds gave the best tree from one second on, of 100,000 and 12
from three, of 100,000 and 30 from seven; before that, eight or sixteen of each column did."""

_MOST_ANSWERS = 2 * 10**8
"""Of all rows to all questions, which a task of several sums takes a byte each for: a second."""

_QUESTIONS = (
    (10**6, 10**6, 4_000, 500, 160, 60),
    (10**6, 10**6, 2_000, 200, 60, 30),
    (10**5, 10**5, 800, 100, 32, 12),
    (10**5, 10**5, 2_000, 200, 60, 30),
)
"""By kind of search and depth, so many questions are tried however many values there are."""

_FEWEST, _FEWEST_TIMED, _TIMED = 2, 4, 120
"""Cuts of a column, and questions where there is a time limit: at depth six, two cuts of 30 columns gave trees worse
than greedy ones, and eight took too long where leaves are scored by sums."""


def affordable(
    task: Task, data: Dataset, max_depth: int | None, max_nodes: int | None, *, time_limit: float | None
) -> Dataset:
    """The data, with fewer thresholds where the caller left that open and the search would be long.

    `time_limit`: the seconds that end it, if any do.
    """
    columns = len(data.ordered)
    if data.max_cuts != AUTO or not columns:
        return data
    kind = _kind(task, data, max_depth, max_nodes, time_limit)
    depth = min(5 if limit is None else limit for limit in (max_depth, max_nodes, 5))
    asked = _QUESTIONS[kind][depth]
    # of a quarter of a million values, all gave the best tree at once
    seconds = 0.5 + time_limit if time_limit and kind in (BY_THRESHOLDS, BY_QUESTIONS) else 0
    most = max(_VALUES[kind][depth], min(_PER_SECOND * seconds, _VALUES[kind][2]))
    if record_of(task).of_sums and data.n_rows * data.n_questions > _MOST_ANSWERS:
        most = 0
    if data.n_rows * columns <= most or data.n_questions <= asked:
        return data
    questions, fewest = (max(_TIMED, asked), _FEWEST_TIMED) if seconds else (asked, _FEWEST)
    return data.cut(max(fewest, questions // columns))


def _kind(task: Task, data: Dataset, max_depth: int | None, max_nodes: int | None, time_limit: float | None) -> int:
    """By what kind of search the task is solved over thresholds."""
    record = record_of(task)
    if record.sum_limits:  # multipliers make costs by row of them, and their proof takes many searches
        return BY_THRESHOLDS if time_limit else OTHERS
    if record.of_sums:
        return BY_THRESHOLDS
    bound = task.bind(data)
    if isinstance(objective(bound), TaskInOrder) and max_depth is not None:
        return IN_ORDER if max_nodes is None or max_nodes >= 2**max_depth - 1 else OTHERS
    if price_of_splits(bound) is None:
        return OTHERS
    by_row = row_cost_form(bound, data) is not None
    made = not by_row and not data.categorical and can_generate(bound, data)
    # the search over thresholds bounds those of a task of one's own by these (ordered/rows.py)
    own = objective(bound)
    grows = own.superadditive and own.adds_values
    if by_row or (made and (grows or own.worst_per_row(data) is not None)):
        return BY_THRESHOLDS
    return BY_QUESTIONS if made else OTHERS


OVER_ALL = "bound_over_all_thresholds"
"""The entry of a result's statistics that holds the bound."""


def bound_over_all(
    task: Task, data: Dataset, lower: Value, limits: tuple[int | None, int | None], totals: State
) -> Fraction | None:
    """What no tree over all thresholds costs less than, if none over those that are tried costs less than `lower`.

    `limits`: the largest depth and the most branching nodes. None where no bound is known; see `cut_loss`.
    """
    loss = cut_loss(task, data, *limits)
    if loss is None:
        return None
    form = row_cost_form(task, data)
    if form is None:
        least = task.lower_bound(totals)
    else:
        costs = exact_costs(form, data)
        least = costs.value(int(costs.costs.min(axis=1).sum()))
    found = Fraction(lower) - loss
    return found if least is None else max(found, Fraction(least))


def cut_loss(task: Task, data: Dataset, max_depth: int | None, max_nodes: int | None) -> Fraction | None:
    """By how much the best value over all thresholds may be below that over those that are tried; None if not known.

    It is known of tasks without limits, with worst costs and one price of splits, on columns that no database has cut.
    """
    found = _worst_costs(task, data)
    if found is None:
        return None
    worst, unit = found
    total = int(worst.sum())
    between = [_most_between(data.X[:, j], values, worst) for j, values in data.ordered.items()]
    if None in between:
        return None
    most = max((each for each in between if each is not None), default=0)
    moved = 0
    level = 0
    while most > 0 and moved < total and (max_depth is None or level < max_depth):
        moved += min(most << level, total)
        level += 1
    if max_nodes is not None:
        moved = min(moved, max_nodes * most)
    return min(moved, total) * unit


def _worst_costs(task: Task, data: Dataset) -> tuple[Array, Fraction] | None:
    """What each row adds to a tree at most (n,) int64, with all that it stands for, and the worth of 1; or None."""
    if task.limits or record_of(task).sum_limits or price_of_splits(task) is None:
        return None
    form = row_cost_form(task, data)
    if form is not None:
        costs = exact_costs(form, data)
        if costs.wide is not None:
            return None
        apart: Array = costs.costs.max(axis=1) - costs.costs.min(axis=1)
        return apart, Fraction(costs.unit)
    if task.reads_rows or not task.adds_values or task.larger_is_better or not can_generate(task, data):
        return None
    worst = task.worst_per_row(data)
    if worst is None:
        return None
    weights = data.counts if data.weights is None else data.weights
    each = worst.astype(np.float64) * weights
    # in steps of a power of two of which all rows take less than 2^52, each rounded up beyond what float64 lost
    unit = 2.0 ** (int(np.frexp(max(each.sum(), 1e-290))[1]) - 50)
    return np.ceil(each / unit * (1 + 2.0**-45)).astype(np.int64), Fraction(unit)


def _most_between(ranks: Array, values: OrderedValues, worst: Array) -> int | None:
    """The most worst costs between a threshold and the nearest that is tried, or none; None if a database has cut."""
    m = len(values.values)
    if m < 2 or len(values.cuts) == m - 1:
        return 0
    present = ranks < m
    if (np.bincount(ranks[present], minlength=m) == 0).any():
        return None
    held = np.zeros(m, np.int64)
    np.add.at(held, ranks[present], worst[present])
    upto = np.cumsum(held)
    # without a threshold all values go one way, as for the question whether a value is missing
    ends = np.concatenate([[0], upto[values.cuts], upto[-1:]])
    behind = upto[:-1]
    place = np.searchsorted(ends, behind, side="right") - 1
    return int(np.minimum(behind - ends[place], ends[np.minimum(place + 1, len(ends) - 1)] - behind).max())
