"""What leaves cost by a task's own methods, and what two sides cost together.

This module and `score.py` or `thresholds.py` are run anew for every task, in one namespace. In it are the task's
methods, the functions of its shape and its traits (`generate.py`), by which numba leaves out what is for
others. Sums are tuples, of each plane of statistics and, last, of rows.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from streed.kernels.records import LOWEST
from streed.kernels.views import inline, keep_apart

task: Any = None
"""The namespace itself, once this is run in one."""

WHOLE = COMBINE = FEASIBLE = LIMITED = False
"""Traits that say what is compiled: numba leaves out the branches of a constant."""


@inline
def any_cost(parameters, states, k):  # type: ignore[no-untyped-def]
    """What a leaf with a label costs, whether it is feasible or not."""
    return task.CHECKED(task.SIGN * task.cost_of_leaf(parameters, states, k))


@inline
def checked(parameters, cost):  # type: ignore[no-untyped-def]
    """A cost, or that of what is infeasible."""
    if FEASIBLE:
        if WHOLE and cost <= LOWEST:
            return cost
        return cost if task.feasible(parameters[0], task.SIGN * cost) else task.VALUE(task.INFEASIBLE)
    return cost


@inline
def cost_of_label(parameters, states, k):  # type: ignore[no-untyped-def]
    """What a leaf with a label costs."""
    return checked(parameters, any_cost(parameters, states, k))


@inline
def cost_of_any_label(parameters, states, labels):  # type: ignore[no-untyped-def]
    """The least cost of a leaf, of many labels."""
    best = cost_of_label(parameters, states, int64(0))
    for k in range(1, labels):
        best = min(best, cost_of_label(parameters, states, int64(k)))
    return best


@inline
def leaf_of(parameters, limits, min_leaf, sums):  # type: ignore[no-untyped-def]
    """The cost of a leaf where one may stand, else the price of what is infeasible."""
    states = task.states_of(parameters, sums)
    best = task.cost_of_best_leaf(parameters, states)
    if LIMITED:
        best = best if task.allows(limits, states) else task.VALUE(task.INFEASIBLE)
    return best if sums[-1] >= min_leaf else task.VALUE(task.INFEASIBLE)


@inline
def score_leaves(numbers, min_leaf, sums, end, t, leaf1, leaf0):  # type: ignore[no-untyped-def]
    """Writes what both sides of every split cost as leaves, of sums (P, splits) on one side and of both together."""
    keep_apart()
    parameters = task.parameters_of(numbers)
    limits = task.limits_of(numbers)
    for k in range(end):
        with_k = task.at(sums, k)
        leaf1[k] = leaf_of(parameters, limits, min_leaf, with_k)
        leaf0[k] = leaf_of(parameters, limits, min_leaf, task.minus(t, with_k))


@inline
def bound_of(parameters, sums):  # type: ignore[no-untyped-def]
    """What a tree costs at least, by the task's own bound."""
    return task.SIGN * task.bound_of_state(parameters, task.states_of(parameters, sums))


@inline
def combined(parameters, a, b):  # type: ignore[no-untyped-def]
    """The value of two sides together."""
    if not COMBINE:
        return a + b
    if a >= task.INFEASIBLE or b >= task.INFEASIBLE:
        return task.VALUE(task.INFEASIBLE)
    if WHOLE and min(a, b) <= LOWEST // 2:
        return task.VALUE(LOWEST)
    return checked(parameters, task.CHECKED(task.SIGN * task.combine(parameters[0], task.SIGN * a, task.SIGN * b)))


def find_costs_of_labels(numbers, sums, found):  # type: ignore[no-untyped-def]
    """Writes what leaves cost, (m, K), at sums (m, P)."""
    parameters = task.parameters_of(numbers)
    for i in range(len(sums)):
        states = task.states_of(parameters, task.entries(sums[i]))
        for k in range(found.shape[1]):
            found[i, k] = task.SIGN * any_cost(parameters, states, int64(k))
