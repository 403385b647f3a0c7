"""Values: how those of the sides of a split and its branching cost make the value of the whole.

Values are int64 throughout the search, the smaller the better: whole costs, or an order-preserving code of the task's
own values (see `coding.py`). Where the task adds them, so does this; any other operator is a generated kernel.
"""

from __future__ import annotations

from numba import int64

from streed.kernels.records import INFINITE, LOWEST, NO_COST
from streed.kernels.values import COST, LEAST1
from streed.kernels.views import call, inline, native

_MOST = INFINITE // 2
_LEAST = LOWEST // 2

_ROUNDING = 4
"""Codes of real costs are rounded: so much a sum of two may be off, and more."""


@inline
def join(e, a, b):  # type: ignore[no-untyped-def]
    """a (+) b; INFINITE if one of them is, LOWEST if one is unknown."""
    if e.combine == 0:
        total = a + b
        if total >= _MOST:
            return int64(INFINITE)
        return total if total > _LEAST else int64(LOWEST)
    return _join_by_kernel(e, a, b)


@native
def _join_by_kernel(e, a, b):  # type: ignore[no-untyped-def]
    if a >= INFINITE or b >= INFINITE:
        return int64(INFINITE)
    if a <= LOWEST or b <= LOWEST:
        return int64(LOWEST)
    e.left = a
    e.right = b
    call(e.combine, e)
    return int64(e.combined)


@inline
def join_cost(e, value, cost):  # type: ignore[no-untyped-def]
    """value (+) the branching cost, if there is one."""
    return value if cost == NO_COST else join(e, value, cost)


@native
def rest_of(e, goal, other):  # type: ignore[no-untyped-def]
    """What `other` leaves of the goal: x (+) other is better than the goal only if x is better than this."""
    if e.combine == 0:
        return goal - other if goal < _MOST and other > _LEAST else int64(INFINITE)
    if goal >= INFINITE or other <= LOWEST or e.subtract == 0:
        return int64(INFINITE)
    e.left = goal
    e.right = other
    call(e.subtract, e)
    return int64(e.combined)


@inline
def cost_of_split(e, values, split):  # type: ignore[no-untyped-def]
    """The branching cost of a local split of the node at hand, or NO_COST."""
    return values[COST, split] if e.scored == 1 or e.has_test_costs == 1 else e.split_cost


@inline
def least_of(e, values, column, without):  # type: ignore[no-untyped-def]
    """The least that the rows with a local column (without = 0), or without it, cost any tree, as far as is known."""
    return values[LEAST1 + without, column] if e.scored == 1 or e.has_test_costs == 1 else int64(0)


@native
def least_cost(e, values):  # type: ignore[no-untyped-def]
    """What any split of the node at hand costs at least, less what the rounding of two codes may have added."""
    least = int64(INFINITE)
    for k in range(e.n_active + e.n_categorical):
        least = min(least, values[COST, k])
    return max(least - _ROUNDING, int64(0))
