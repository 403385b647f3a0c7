"""Trees of a depth of at most two, and splits as plans have them: by column and rank in the whole problem."""

from __future__ import annotations

from numba import int32, int64, uint32

from streed.kernels.ordered.record import ROW
from streed.kernels.views import matrix, native
from streed.ordered.categories import ask_columns, count_ordered, count_values, find_best_stump
from streed.ordered.depth_two import solve_two
from streed.ordered.plans import append_rest, write_fan, write_rest, write_split


@native
def rank_of(e, orders, n, columns, names, column, position):  # type: ignore[no-untyped-def]
    """The largest rank left of a split, in the whole problem."""
    rows = matrix(orders, columns, n + 1, uint32)
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    return int64(ranks[names[column], int64(rows[column, position - 1] & uint32(ROW))])


@native
def position_of(e, orders, n, columns, names, column, rank):  # type: ignore[no-untyped-def]
    """The position of the split whose rows left of it have this rank at most."""
    rows = matrix(orders, columns, n + 1, uint32)
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    position = int64(0)
    while position < n and ranks[names[column], int64(rows[column, position] & uint32(ROW))] <= rank:
        position += 1
    return position


@native
def plan_two(e, orders, n, columns, names, left_depth, right_depth, plan):  # type: ignore[no-untyped-def]
    """Writes the plan of the tree that `solve_two` found."""
    column = e.found_column
    if column < 0:
        write_rest(plan, int64(1))
        return
    if names[column] >= e.ordered:
        values = count_values(orders, n, column)
        write_fan(plan, names[column], values)
        for _ in range(values):
            append_rest(plan, int64(1))
        return
    write_split(plan, names[column], rank_of(e, orders, n, columns, names, column, e.found_position))
    append_rest(plan, left_depth)
    append_rest(plan, right_depth)


@native
def solve_shallow(e, depth, orders, n, columns, names, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """`solve` for a depth of at most two."""
    one = int64(1)
    none = int64(0)
    ordered = count_ordered(e, names, columns)
    if depth <= 1 or columns == 0:
        ask_columns(e, orders, n, columns if depth == 1 else none, ordered if depth == 1 else none)
        find_best_stump(e)
        cost = min(e.found_leaf, e.found_cost + e.split_cost)
        write_rest(plan, one if depth >= 1 else none)
        return cost, cost
    if splits >= 3:
        found = solve_two(e, orders, n, columns, ordered, one, one, budget, lower)
        plan_two(e, orders, n, columns, names, one, one, plan)
        return found
    low, upper = solve_two(e, orders, n, columns, ordered, none, one, budget, lower)
    plan_two(e, orders, n, columns, names, none, one, plan)
    if upper <= lower:
        return upper, upper
    other_low, other = solve_two(e, orders, n, columns, ordered, one, none, min(budget, upper), lower)
    if other < upper:
        plan_two(e, orders, n, columns, names, one, none, plan)
    return max(lower, min(low, other_low)), min(upper, other)
