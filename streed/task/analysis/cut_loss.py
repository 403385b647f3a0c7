"""What trying only some thresholds of ordered columns can cost.

Take the best tree over all thresholds, and move each of its splits to the nearest threshold that was tried, or leave
it out, which sends its rows to one side. Rows go another way only if they lie between the two at a node that they
reach: at most g of them at a node, the most that lie between any threshold and what is nearest to it. Nodes of one
level share no rows. The rows that stay cost no more than before in their leaves, which lost others, and each that moved
adds no more than its worst cost w, so

    best over all thresholds >= best over those that were tried - sum over levels l of min(2^l g, w of all rows),

where g, too, is a sum of worst costs. This needs that leaves may be of any size, and that a tree for more rows serves
fewer, which is what `worst_per_row` promises.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from streed.data.ordered import OrderedValues
from streed.exact import Array
from streed.task.analysis.facts import can_generate
from streed.task.analysis.linear_form import branching_context, row_cost_form
from streed.task.analysis.vector_form import exact_costs
from streed.task.constrained import objective
from streed.task.row_sums import quick_sums

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task.base import Task, Value
    from streed.task.states import State

OVER_ALL = "bound_over_all_thresholds"
"""The entry of a result's statistics that holds the bound."""


def bound_over_all(
    task: Task, data: Dataset, lower: Value, limits: tuple[int | None, int | None], totals: State
) -> Fraction | None:
    """What no tree over all thresholds costs less than, if none over those that are tried costs less than `lower`.

    `limits`: the largest depth and the most branching nodes; `totals`: the state of all rows. None where no bound is
    known; see `cut_loss`.
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
    """By how much the bound task's best value over all thresholds may be below that over those that are tried.

    None where no bound is known: of tasks with limits, without worst costs, or with prices that differ by column, and
    of columns that a database has cut.
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
    if task.limits or objective(task) is not task or task.vector_form.limits:
        return None
    if branching_context(task, data.n_columns) not in ("none", "constant"):
        return None
    form = row_cost_form(task, data)
    if form is not None:
        costs = exact_costs(form, data)
        if costs.wide is not None:
            return None
        apart: Array = costs.costs.max(axis=1) - costs.costs.min(axis=1)
        return apart, Fraction(costs.unit)
    if (
        task.reads_rows
        or not task.adds_values
        or task.larger_is_better
        or not can_generate(task, data, quick_sums(task, data))
    ):
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
    """The most worst costs between a threshold and what is nearest to it: one that is tried, or none at all.

    None where it is not known which rows have which value: of a column that a database has cut.
    """
    m = len(values.values)
    if m < 2 or len(values.cuts) == m - 1:
        return 0
    present = ranks < m
    if len(np.unique(ranks[present])) < m:
        return None
    held = np.zeros(m, np.int64)
    np.add.at(held, ranks[present], worst[present])
    upto = np.cumsum(held)
    # without a threshold all values go one way, as for the question whether a value is missing
    ends = np.concatenate([[0], upto[values.cuts], upto[-1:]])
    behind = upto[:-1]
    place = np.searchsorted(ends, behind, side="right") - 1
    return int(np.minimum(behind - ends[place], ends[np.minimum(place + 1, len(ends) - 1)] - behind).max())
