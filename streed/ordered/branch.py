"""The recursion over nodes: the best tree for the rows of a node, of a depth and a number of splits.

    solve(rows, depth, splits):
        the best tree of depth two is the incumbent                                             (depth_two.py)
        until no threshold's bound is below the incumbent:
            take the middle threshold of the run with the least bound                           (bounds.py)
            solve its larger side, then the smaller one, both up to what could still be better
            raise the bounds of all thresholds of all columns by what is now known of the two sides

A side is solved with some slack beyond what could still be better, so that its bound is of use to its neighbours.
Where leaves need several rows, what a side costs says little of its neighbours, as a tree for more rows may not serve
fewer. So the sides are solved with leaves of any size first: these trees cost no more, and bound all others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint8

from streed.kernels.ordered import DEEP, INFEASIBLE, UNLIMITED, nearest_position
from streed.kernels.simd import lower_atomic, raise_atomic
from streed.kernels.stopping import LOWER, STOP, UPPER
from streed.kernels.views import call, inline, matrix, native, vector
from streed.ordered.bounds import (
    bound_by_leaves,
    bound_by_node,
    bound_by_stumps,
    end_of_leaf,
    lowest_run,
    push_solved,
    worst_of,
)
from streed.ordered.cache import (
    append,
    begin_plan,
    copy_plan,
    is_stopped,
    mark_sides,
    ordered_of,
    part_of_recursion,
    part_rows,
    plan_size,
    rank_of,
    recall,
    remember,
    reserve,
    rows_of,
)
from streed.ordered.depth_two import solve_shallow
from streed.ordered.intervals import count_values, end_of_value


class Limits(NamedTuple):
    """What is asked of a node."""

    depth: Any
    side_depth: Any
    """That of its sides."""
    splits: Any
    budget: Any
    """Trees that do not cost less need not be found."""


class Room(NamedTuple):
    """What a node needs while it is searched."""

    left: Any
    """int64 (columns, n): bounds of the left sides of thresholds by position,"""
    right: Any
    """and of the right sides."""
    orders: Any
    """The address for the orders of both sides."""
    left_ids: Any
    right_ids: Any
    left_plan: Any
    right_plan: Any
    side: Any
    """uint8 (N,): 1 for the rows on the left."""


_LOW, _BEST, _OPEN, _COLUMN, _FIRST, _LAST, _POSITION = range(7)
"""What is known of a node, int64: its lower and upper bound, the bound of thresholds that are left open, the split to
try next and the run of thresholds that it is from."""


@native
def tell(e, n, lower, upper):  # type: ignore[no-untyped-def]
    """Tells the caller's thread the bounds of the root, if this is it."""
    if n == e.rows and e.told == 1:
        control = vector(e.control, UPPER + 1, int64)
        lower_atomic(control, UPPER, upper)
        raise_atomic(control, LOWER, lower)


@native
def solve(e, node, depth, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """(lower, upper) of the node's trees; `plan` is of a tree of cost `upper`.

    Exact if the optimum is below `budget`, and else `lower` is at least that, unless the search was stopped; `lower` is
    a bound that is known.
    """
    allowed = min(depth, splits)
    depth = min(depth, splits, node.n - 1)
    if depth <= 2 or node.columns == 0:
        found = solve_shallow(e, node, depth, splits, budget, lower, plan)
        tell(e, node.n, found[0], found[1])
        return found
    if e.work >= e.turn and e.relaxed == 0:
        call(e.improve, e)
    price = e.split_cost
    enough = budget if e.sparse == 1 else int64(INFEASIBLE)
    low, upper = solve_shallow(e, node, int64(2), min(splits, int64(3)), enough, e.least, plan)
    # a tree of depth d has d splits at least, and what is not of depth two has three
    lower = max(lower, e.least, min(low, e.least + 3 * price))
    limit = min(upper, budget)
    if price > 0:
        depth = min(depth, max(int64(2), (limit - 1 - e.least) // price))
    tell(e, node.n, lower, upper)
    if upper <= lower:
        return upper, upper
    if is_stopped(e):
        return lower, upper
    if depth <= 2:
        return max(lower, min(low, limit)), upper
    known = np.zeros(7, np.int64)
    known[_LOW], known[_BEST], known[_OPEN] = lower, upper, INFEASIBLE
    known[_COLUMN], known[_POSITION] = e.found_column, e.found_position
    # what is known of a side is of use to others if it is of all depths that are allowed
    side_depth = depth - 1 if e.sparse == 0 or depth == 3 else allowed - 1
    used = e.arena_used
    search_splits(e, node, Limits(depth, side_depth, splits, budget), low, known, plan)
    e.arena_used = used
    if known[_BEST] <= known[_LOW]:
        return known[_BEST], known[_BEST]
    return max(known[_LOW], min(known[_BEST], known[_OPEN])), known[_BEST]


@part_of_recursion
def search_splits(e, node, limits, low, known, plan):  # type: ignore[no-untyped-def]
    """Searches all trees that are split; `low`: what those of depth two cost at least."""
    room = reserve_room(e, node, limits.side_depth)
    if e.full == 1:
        known[_OPEN] = known[_LOW]
        return
    ordered = ordered_of(e, node)
    if ordered.columns < node.columns:
        try_categories(e, node, limits, room, known, plan)
        if is_stopped(e):
            known[_OPEN] = known[_LOW]
            return
        if known[_COLUMN] >= ordered.columns:
            known[_COLUMN] = -1
    depth = limits.depth
    splits = limits.splits
    share = int64(UNLIMITED)
    last_share = share
    if not (depth < DEEP and splits >= (int64(1) << depth) - 1) and splits < UNLIMITED:
        most = int64(UNLIMITED) if depth > DEEP else (int64(1) << (depth - 1)) - 1
        share = max(int64(0), splits - 1 - most)
        last_share = min(most, splits - 1)
    is_only = share == last_share
    total = worst_of(e, ordered, int64(0), int64(0), node.n)
    column = known[_COLUMN]
    position = known[_POSITION]
    while share <= last_share:
        shares = (share, int64(UNLIMITED) if share == UNLIMITED else splits - 1 - share)
        share += 1
        value = max(low, known[_LOW]) if limits.side_depth == 2 else known[_LOW]
        bound_by_node(e, ordered, value, total, room)
        if e.split_cost > 0 and e.bounded == 1:
            if e.leaf_costs != 0:
                bound_by_leaves(e, ordered, total, room)
            if e.restrictable == 1:
                bound_by_stumps(e, node, min(known[_BEST], limits.budget) - e.split_cost, room)
        known[_COLUMN], known[_POSITION], known[_FIRST] = column, position, 0
        while choose_threshold(e, ordered, limits.budget, is_only, room, known):
            try_threshold(e, node, limits, shares, room, known, plan)


@native
def reserve_room(e, node, side_depth):  # type: ignore[no-untyped-def]
    """The room of a node; of no use if e.full is 1."""
    columns = node.columns
    size = plan_size(e, side_depth, node.n)
    bounds = reserve(e, 16 * columns * node.n)
    orders = reserve(e, 4 * columns * (node.n + 2))
    ids = reserve(e, 16 * columns)
    plans = reserve(e, 16 * size)
    side = reserve(e, e.rows)
    return Room(
        matrix(bounds, columns, node.n, int64),
        matrix(bounds + 8 * columns * node.n, columns, node.n, int64),
        orders,
        vector(ids, columns, int64),
        vector(ids + 8 * columns, columns, int64),
        vector(plans, size, int64),
        vector(plans + 8 * size, size, int64),
        vector(side, e.rows, uint8),
    )


@part_of_recursion
def try_categories(e, node, limits, room, known, plan):  # type: ignore[no-untyped-def]
    """Tries all categorical columns, whose children are solved one after another."""
    size = plan_size(e, limits.depth, node.n)
    at = reserve(e, 8 * size)
    if e.full == 1:
        return
    whole = vector(at, size, int64)
    for g in range(ordered_of(e, node).columns, node.columns):
        limit = min(known[_BEST], limits.budget)
        if is_stopped(e) or known[_BEST] <= known[_LOW]:
            return
        # what the values before cost, and those behind do at least
        spent = e.split_cost
        begin = int64(0)
        begin_plan(whole, node.ids[g], int64(-1), count_values(node, g))
        while begin < node.n and spent < limit:
            end = end_of_value(node, g, begin)
            mark_sides(node, g, begin, end, room.side)
            child, _ = part_rows(e, node, room.side, end - begin, room.orders, room.left_ids, room.right_ids)
            splits = int64(UNLIMITED)
            low, cost = solve(e, child, limits.side_depth, splits, limit - spent, e.least, room.left_plan)
            # unless it is what the best tree for its rows costs, the column does not pay
            spent = spent + cost if low >= cost else limit
            append(whole, room.left_plan)
            begin = end
        if spent < limit and not is_stopped(e):
            known[_BEST] = spent
            copy_plan(plan, whole)
            tell(e, node.n, known[_LOW], spent)


@inline
def limit_of(e, node, budget, known):  # type: ignore[no-untyped-def]
    """What a tree of a node must cost less than: of all rows, than the best one that was grown beside the search."""
    limit = min(known[_BEST], budget)
    return min(limit, e.incumbent) if node.n == e.rows else limit


@native
def choose_threshold(e, node, budget, is_only, room, known):  # type: ignore[no-untyped-def]
    """Whether a threshold is left to try, which is written to `known`: first the split of the best tree so far.

    `is_only`: there are no other ways to share splits between the sides.
    """
    limit = limit_of(e, node, budget, known)
    if known[_BEST] <= known[_LOW]:
        return False
    if known[_COLUMN] >= 0 and known[_FIRST] == 0:
        known[_FIRST] = known[_LAST] = known[_POSITION]
        return True
    bound = e.split_cost + lowest_run(node, room, limit - e.split_cost, known[_COLUMN : _LAST + 1])
    if is_only:
        known[_LOW] = max(known[_LOW], min(bound, limit))
        tell(e, node.n, known[_LOW], known[_BEST])
    if known[_COLUMN] < 0 or is_stopped(e):
        known[_OPEN] = min(known[_OPEN], bound, limit)
        return False
    first = known[_FIRST]
    last = known[_LAST]
    middle = nearest_position(rows_of(node, node.columns)[known[_COLUMN]], (first + last) >> 1, first, last)
    known[_POSITION] = middle if e.sparse == 0 else end_of_leaf(e, node, (known[_COLUMN], first, last), middle, room)
    return True


@part_of_recursion
def try_threshold(e, node, limits, shares, room, known, plan):  # type: ignore[no-untyped-def]
    """Solves both sides of the threshold to try, and raises all bounds; `shares`: splits of both sides."""
    f = known[_COLUMN]
    t = known[_POSITION]
    price = e.split_cost
    mark_sides(node, f, int64(0), t, room.side)
    children = part_rows(e, node, room.side, t, room.orders, room.left_ids, room.right_ids)
    limit = limit_of(e, node, limits.budget, known)
    slack = limit
    if e.bounded == 1:
        slack = max(worst_of(e, node, f, t, known[_LAST]), worst_of(e, node, f, known[_FIRST], t))
    if e.sparse == 1:
        slack = min(slack, price >> 3)
    target = limit - price + slack
    sides = np.empty(4, np.int64)
    relaxes = e.relaxing
    leaf_rows = e.min_leaf
    # first with leaves of any size, if they need several rows
    for phase in range(1 - relaxes, 2):
        is_first = phase == 0
        if is_first:
            e.min_leaf, e.restrictable, e.relaxing, e.relaxed = 1, 1, 0, 1
        sides[0] = e.least if is_first else room.left[f, t]
        sides[1] = e.least if is_first else room.right[f, t]
        sides[2] = sides[3] = INFEASIBLE
        goal = target if is_first or relaxes == 0 else limit - price
        if is_first or relaxes == 0 or sides[0] + sides[1] < goal:
            solve_sides(e, children, limits.side_depth, shares, goal, room, sides)
        if is_first:
            e.min_leaf, e.restrictable, e.relaxing, e.relaxed = leaf_rows, 1, 1, 0
            push_solved(e, ordered_of(e, node), f, t, shares, sides, room)
            e.restrictable = 0
    if sides[2] < INFEASIBLE and sides[3] < INFEASIBLE and price + sides[2] + sides[3] < known[_BEST]:
        known[_BEST] = price + sides[2] + sides[3]
        begin_plan(plan, node.ids[f], rank_of(e, node, f, t), int64(0))
        append(plan, room.left_plan)
        append(plan, room.right_plan)
        tell(e, node.n, known[_LOW], known[_BEST])
    if sides[0] + sides[1] + price < limit_of(e, node, limits.budget, known) and not is_stopped(e):
        # both sides were solved up to the target, so this is an error
        e.unsettled = 1
        vector(e.control, STOP + 1, int64)[STOP] = 1
    push_solved(e, ordered_of(e, node), f, t, shares, sides, room)


@part_of_recursion
def solve_sides(e, children, depth, shares, target, room, sides):  # type: ignore[no-untyped-def]
    """Raises the bounds of both sides, and writes upper ones: sides (4,), lower ones of left and right, then upper.

    The larger side is solved first; the other one only if both may cost less than the target.
    """
    left, right = children
    first = 0 if left.n >= right.n else 1
    for turn in range(2):
        if turn == 1 and sides[0] + sides[1] >= target:
            return
        here = first ^ turn
        child = left if here == 0 else right
        plan = room.left_plan if here == 0 else room.right_plan
        low, upper = solve_side(e, child, depth, shares[here], target - sides[1 - here], sides[here], plan)
        sides[here] = max(sides[here], low)
        sides[2 + here] = upper


@part_of_recursion
def solve_side(e, node, depth, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """As `solve`, by what is kept of its rows if that is enough."""
    upper = int64(INFEASIBLE)
    keeps = e.cache != 0 and node.columns > 0
    if keeps:
        found = recall(e, node, depth, splits, plan)
        lower = max(found[0], lower)
        upper = found[1]
    if lower < min(budget, upper):
        lower, upper = solve(e, node, depth, splits, budget, lower, plan)
        if keeps:
            remember(e, node, depth, splits, lower, upper, plan)
    return lower, upper
