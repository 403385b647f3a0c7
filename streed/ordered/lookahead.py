"""Incumbents of any depth: rolling lookahead, and limited discrepancies from it.

    grow(rows, depth, departures):
        depth <= last:   the best tree
        else, for each rank from 0 to departures:
            root split of the best tree of depth `look` that begins with none of the columns of the ranks before;
            grow both sides, with depth - 1 and departures - rank

Harvey and Ginsberg: Limited discrepancy search, IJCAI 1995.
"""

from __future__ import annotations

from numba import int64, uint8, uint32

from streed.kernels.control import UPPER
from streed.kernels.ordered.orders import mark_sides, split_orders
from streed.kernels.simd import lower_atomic
from streed.kernels.views import matrix, native, vector
from streed.ordered.arena import reserve
from streed.ordered.branch import solve
from streed.ordered.depth_two import is_stopped
from streed.ordered.layout import WORDS
from streed.ordered.plans import append, plan_size, write_split
from streed.ordered.shallow import position_of

_NO_LIMIT = 2**60

_MANY_LEVELS = 10


@native
def look_ahead(e, depth, orders, n, columns, names, splits, plan, other):  # type: ignore[no-untyped-def]
    """What the best tree costs that it writes to the plan; `other` is a plan for trees on the way.

    At once by trees of depth two, then by deeper ones, then, of five levels or more, with departures.
    """
    best = grow(e, depth, int64(2), int64(2), int64(0), orders, n, columns, names, splits, plan)
    control = vector(e.control, UPPER + 1, int64)
    lower_atomic(control, UPPER, best)
    wave = int64(0)
    departures = int64(0)
    # what departures cost grows with the levels, as what they gain does not
    most = int64(0) if depth > _MANY_LEVELS else min(depth - 4, int64(2))
    while best > e.least and (wave == 0 or (depth > 4 and departures <= most)) and not is_stopped(e) and e.full == 0:
        look = int64(3) if wave == 1 else int64(2)
        cost = grow(e, depth, look, int64(3), departures, orders, n, columns, names, splits, other)
        if cost < best:
            best = cost
            for i in range(1 + WORDS * other[0]):
                plan[i] = other[i]
            lower_atomic(control, UPPER, best)
        wave += 1
        if wave > 1:
            departures = max(int64(1), 2 * departures)
    return best


@native
def grow(e, depth, look, last, departures, orders, n, columns, names, splits, plan):  # type: ignore[no-untyped-def]
    """What the tree costs that it writes to the plan, as the module's head says.

    Of a limited number of splits each side is given a half; below a categorical column a tree is not grown further.
    """
    ahead = depth if depth <= last else look
    _, cost = solve(e, ahead, orders, n, columns, names, splits, int64(_NO_LIMIT), e.least, plan)
    # a tree with less than three splits is found by depth two
    if depth <= last or plan[1] < 0 or plan[2] < 0 or cost <= e.least + 3 * e.split_cost or is_stopped(e):
        return cost
    used = e.arena_used
    size = plan_size(e, depth, n)
    orders_at = reserve(e, 4 * columns * (n + 2))
    rest_at = reserve(e, 4 * columns * (n + 2))
    names_at = reserve(e, 24 * columns)
    plans_at = reserve(e, 24 * size)
    side_at = reserve(e, e.rows)
    if e.full == 1:
        e.arena_used = used
        return cost
    left_names = vector(names_at, columns, int64)
    right_names = vector(names_at + 8 * columns, columns, int64)
    rest_names = vector(names_at + 16 * columns, columns, int64)
    left_plan = vector(plans_at, size, int64)
    right_plan = vector(plans_at + 8 * size, size, int64)
    first = vector(plans_at + 16 * size, size, int64)
    side = vector(side_at, e.rows, uint8)
    column = plan[1]
    rank = plan[2]
    at = orders
    left = int64(columns)
    left_to_try = names
    for departure in range(departures + 1):
        if departure > 0:
            left = _without(at, left, left_to_try, n, column, rest_at, rest_names)
            at = rest_at
            left_to_try = rest_names
            solve(e, look, at, n, left, left_to_try, splits, int64(_NO_LIMIT), e.least, first)
            column = first[1]
            rank = first[2]
        if column < 0 or rank < 0 or left == 0 or is_stopped(e):
            break
        f = int64(0)
        while names[f] != column:
            f += 1
        t = position_of(e, orders, n, columns, names, f, rank)
        mark_sides(e, orders, n, f, t, side)
        right_orders = orders_at + 4 * columns * (t + 1)
        n_left, n_right = split_orders(
            e, orders, n, columns, names, side, orders_at, t, left_names, right_orders, right_names
        )
        more = departures - departure
        half = (splits - 1) // 2
        total = e.split_cost + grow(e, depth - 1, look, last, more, orders_at, t, n_left, left_names, half, left_plan)
        if total < cost:
            total += grow(e, depth - 1, look, last, more, right_orders, n - t, n_right, right_names, half, right_plan)
        if total < cost:
            cost = total
            write_split(plan, column, rank)
            append(plan, left_plan)
            append(plan, right_plan)
    e.arena_used = used
    return cost


@native
def _without(orders, columns, names, n, column, target, target_names):  # type: ignore[no-untyped-def]
    """How many columns are left; their orders and names are written to the target, which may be where they are."""
    rows = matrix(orders, columns, n + 1, uint32)
    left = matrix(target, columns, n + 1, uint32)
    count = int64(0)
    for f in range(columns):
        if names[f] != column:
            target_names[count] = names[f]
            for i in range(n + 1):
                left[count, i] = rows[f, i]
            count += 1
    return count
