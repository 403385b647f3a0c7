"""The scores of thresholds by a task's own methods: kernels that are made for it, as `leaves.py` says.

Amounts: float64 (N, PLANES), the sums of each row's statistics and its rows, all of whose sums are exact. Every lane is
one of the 32 splits, whose rows are told apart by a word of `mask` for each row (see `ordered/scores.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, uint32

from streed.kernels.coding import LARGEST_CODE, real_of
from streed.kernels.ordered import INFEASIBLE as NO_TREE
from streed.kernels.ordered import NEW, ROW, SPLITS, place_rows, record_at
from streed.kernels.records import LOWEST
from streed.kernels.views import inline, keep_apart, matrix, vector

task: Any = None
"""What is of the task: see `leaves.py`."""


_LARGEST_CODE = float(LARGEST_CODE)


@inline
def code_of(e, cost, scale):  # type: ignore[no-untyped-def]
    """The code of a cost, rounded down, and by a step where it may be as much too large."""
    if cost >= task.INFEASIBLE:
        return int64(NO_TREE)
    if e.whole == 1:
        code = task.encode(cost, scale)
        e.inexact |= int64(code == LOWEST)
        return max(code, int64(0))
    # two leaves whose cost may be a step too large
    scaled = cost * scale
    if scaled < _LARGEST_CODE:
        return max(int64(np.floor(scaled)) - 1, int64(0))
    return int64(NO_TREE)


@inline
def add_row(on_left, p, amount, word):  # type: ignore[no-untyped-def]
    """Adds a row's amount to the lanes in which it is on the left."""
    keep_apart()
    for l in range(SPLITS):
        on_left[p, l] += amount * float64((word >> uint32(l)) & uint32(1))


@inline
def weigh_stumps(numbers, min_leaf, on_left, left, t, passed, best_left, best_right):  # type: ignore[no-untyped-def]
    """Improves what both sides of all splits cost as stumps, by the threshold behind the rows that were passed."""
    keep_apart()
    parameters = task.parameters_of(numbers)
    limits = task.limits_of(numbers)
    before = task.entries(passed)
    for l in range(SPLITS):
        here = task.at(on_left, l)
        a = task.leaf_of(parameters, limits, min_leaf, here)
        b = task.leaf_of(parameters, limits, min_leaf, task.minus(task.at(left, l), here))
        on_l = a + b
        a = task.leaf_of(parameters, limits, min_leaf, task.minus(before, here))
        right = task.minus(t, task.at(left, l))
        b = task.leaf_of(parameters, limits, min_leaf, task.plus(task.minus(right, before), here))
        on_r = a + b
        best_left[l] = min(best_left[l], on_l)
        best_right[l] = min(best_right[l], on_r)


def score_thresholds(address):  # type: ignore[no-untyped-def]
    """Scores the asked splits, by themselves and above the best stumps."""
    e = record_at(address)
    e.raised = 1
    place_rows(e)
    n = e.asked_rows
    min_leaf = e.min_leaf
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
    mask = vector(e.mask, e.rows, uint32)
    amounts = matrix(e.amounts, e.rows, task.PLANES, float64)
    numbers = vector(e.numbers, task.WORDS, int64)
    scale = real_of(numbers[0])
    on_left, left = np.empty((task.PLANES, SPLITS)), np.zeros((task.PLANES, SPLITS))
    passed = np.zeros(task.PLANES)
    costs = np.empty((4, SPLITS), task.VALUE)
    costs[:] = task.INFEASIBLE
    for r in range(n):
        row = int64(orders[0, r] & uint32(ROW))
        for p in range(task.PLANES):
            add_row(left, p, amounts[row, p], mask[row])
            passed[p] += amounts[row, p]
    t = task.entries(passed)
    task.score_leaves(numbers, min_leaf, left, SPLITS, t, costs[0], costs[1])
    for f in range(e.asked_columns):
        on_left[:] = 0.0
        passed[:] = 0.0
        for r in range(n):
            row = int64(orders[f, r] & uint32(ROW))
            if orders[f, r] >= uint32(NEW):
                weigh_stumps(numbers, min_leaf, on_left, left, t, passed, costs[2], costs[3])
            for p in range(task.PLANES):
                add_row(on_left, p, amounts[row, p], mask[row])
                passed[p] += amounts[row, p]
    for each, found in enumerate((e.leaf_left, e.leaf_right, e.stump_left, e.stump_right)):
        for l in range(e.asked_splits):
            vector(found, SPLITS, int64)[l] = code_of(e, costs[each, l], scale)
    for l in range(e.asked_splits):
        # no rows cost nothing
        if task.at(left, l)[-1] == 0 and min_leaf <= 1:
            vector(e.leaf_left, SPLITS, int64)[l] = 0
        if task.at(left, l)[-1] == t[-1] and min_leaf <= 1:
            vector(e.leaf_right, SPLITS, int64)[l] = 0
    e.raised = 0


def find_stump_of_thresholds(address):  # type: ignore[no-untyped-def]
    """Finds the best leaf for the asked rows, and their best single split."""
    e = record_at(address)
    e.raised = 1
    n = e.asked_rows
    min_leaf = e.min_leaf
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
    amounts = matrix(e.amounts, e.rows, task.PLANES, float64)
    numbers = vector(e.numbers, task.WORDS, int64)
    parameters = task.parameters_of(numbers)
    limits = task.limits_of(numbers)
    scale = real_of(numbers[0])
    totals = np.zeros(task.PLANES)
    passed = np.zeros(task.PLANES)
    for r in range(n):
        for p in range(task.PLANES):
            totals[p] += amounts[int64(orders[0, r] & uint32(ROW)), p]
    t = task.entries(totals)
    e.found_leaf = code_of(e, task.leaf_of(parameters, limits, min_leaf, t), scale)
    best = task.VALUE(task.INFEASIBLE)
    e.found_column = -1
    for f in range(e.asked_columns):
        passed[:] = 0.0
        for r in range(n):
            if orders[f, r] >= uint32(NEW):
                here = task.entries(passed)
                before = task.leaf_of(parameters, limits, min_leaf, here)
                cost = before + task.leaf_of(parameters, limits, min_leaf, task.minus(t, here))
                if cost < best:
                    best = cost
                    e.found_column = f
                    e.found_position = r
            for p in range(task.PLANES):
                passed[p] += amounts[int64(orders[f, r] & uint32(ROW)), p]
    e.found_cost = code_of(e, best, scale)
    e.raised = 0
