"""An incumbent of any depth: the first split of the best tree of a few levels, and of both its sides again."""

from __future__ import annotations

from numba import int64, uint8

from streed.kernels.ordered.orders import mark_sides, split_orders
from streed.kernels.views import native, vector
from streed.ordered.arena import reserve
from streed.ordered.branch import solve
from streed.ordered.depth_two import is_stopped
from streed.ordered.plans import append, plan_size, write_split
from streed.ordered.shallow import position_of

_LEVELS = 3
"""Levels that are looked ahead; one less where a node has fewer than a quarter of all rows."""


@native
def grow(e, depth, orders, n, columns, names, splits, plan):  # type: ignore[no-untyped-def]
    """What the tree costs that it writes to the plan."""
    ahead = min(depth, int64(_LEVELS) if 4 * n >= e.rows else int64(_LEVELS - 1))
    _, cost = solve(e, ahead, orders, n, columns, names, splits, int64(2**60), e.least, plan)
    # a tree with less than three splits is found by depth two; below a categorical column it is not grown further
    if depth <= ahead or plan[1] < 0 or plan[2] < 0 or cost <= e.least + 3 * e.split_cost or is_stopped(e):
        return cost
    used = e.arena_used
    size = plan_size(e, depth - 1, n)
    orders_at = reserve(e, 4 * columns * (n + 2))
    names_at = reserve(e, 16 * columns)
    plans_at = reserve(e, 16 * size)
    side_at = reserve(e, e.rows)
    if e.full == 1:
        e.arena_used = used
        return cost
    left_names = vector(names_at, columns, int64)
    right_names = vector(names_at + 8 * columns, columns, int64)
    left_plan = vector(plans_at, size, int64)
    right_plan = vector(plans_at + 8 * size, size, int64)
    side = vector(side_at, e.rows, uint8)
    f = int64(0)
    while names[f] != plan[1]:
        f += 1
    t = position_of(e, orders, n, columns, names, f, plan[2])
    mark_sides(e, orders, n, f, t, side)
    right_orders = orders_at + 4 * columns * (t + 1)
    n_left, n_right = split_orders(
        e, orders, n, columns, names, side, orders_at, t, left_names, right_orders, right_names
    )
    # of a limited number of splits each side is given a half
    left_cost = grow(e, depth - 1, orders_at, t, n_left, left_names, (splits - 1) // 2, left_plan)
    right_cost = grow(e, depth - 1, right_orders, n - t, n_right, right_names, (splits - 1) // 2, right_plan)
    if left_cost + right_cost + e.split_cost < cost:
        cost = left_cost + right_cost + e.split_cost
        write_split(plan, plan[1], plan[2])
        append(plan, left_plan)
        append(plan, right_plan)
    e.arena_used = used
    return cost
