"""The search of all rows: a lookahead, then the recursion, at once or below one budget after the other.

    grow(rows, depth, departures):
        depth <= last:   the best tree
        else, for each rank from 0 to departures:
            root split of the best tree of depth `look` that begins with none of the columns of the ranks before;
            grow both sides, with depth - 1 and departures - rank

A search below a budget of b prices meets no tree of b splits or more. So where splits have a price, a tree that costs
several prices is proved from below: nothing costs less than five prices, than six, and so on, until a tree is found.
Each search begins with what the one before found of row sets (`cache.py`). Where a price is small beside the costs,
there would be many.

Harvey and Ginsberg: Limited discrepancy search, IJCAI 1995.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import int64

from streed.kernels import compilation
from streed.kernels.compiled import entry, ready, unit, was_kept
from streed.kernels.ordered import MOST_PRICES, record_at
from streed.kernels.routing import compile_measuring
from streed.kernels.simd import lower_atomic
from streed.kernels.stopping import LOWER, UPPER
from streed.kernels.views import KERNEL, native, vector
from streed.ordered.branch import reserve_room, solve
from streed.ordered.cache import (
    Node,
    append,
    begin_plan,
    copy_plan,
    is_stopped,
    mark_sides,
    part_of_recursion,
    part_rows,
    plan_size,
    position_of,
    reserve,
    rows_of,
)
from streed.ordered.depth_two import solve_asked
from streed.ordered.intervals import find_best_stump

_NO_LIMIT = 2**60

_MANY_LEVELS = 10


class Reach(NamedTuple):
    """How far a lookahead looks."""

    look: Any
    """The depth of the trees whose root split is taken."""
    last: Any
    """The depth up to which the best tree is found."""
    departures: Any
    """From the split that looks best, in sum."""


@native
def search_all(e, node, depth, splits, budget, plan, answer):  # type: ignore[no-untyped-def]
    """Writes the bounds of all rows to `answer` (2,), and a tree of the upper one to the plan."""
    price = e.split_cost
    depth = min(depth, splits)
    e.told = 1
    e.sparse = 0
    if depth <= 3 or splits <= 3 or node.n <= 3:
        answer[0], answer[1] = solve(e, node, depth, splits, budget, int64(0), plan)
        return
    other = np.empty(len(plan), np.int64)
    e.told = 0
    answer[1] = look_ahead(e, node, depth, splits, plan, other)
    answer[0] = max(answer[0], e.least)
    control = vector(e.control, UPPER + 1, int64)
    e.sparse = 1 if price > 0 and answer[1] <= e.least + MOST_PRICES * price else 0
    e.told = 1 - e.sparse
    goal = e.least + 4 * price
    while answer[0] < min(answer[1], budget) and not is_stopped(e):
        goal = min(goal + price, answer[1], budget) if e.sparse == 1 else min(answer[1], budget)
        low, upper = solve(e, node, depth, splits, goal, answer[0], other)
        answer[0] = max(answer[0], min(low, goal))
        if upper < answer[1]:
            answer[1] = upper
            copy_plan(plan, other)
        control[UPPER] = min(control[UPPER], answer[1])
        control[LOWER] = max(control[LOWER], answer[0])


@native
def look_ahead(e, node, depth, splits, plan, other):  # type: ignore[no-untyped-def]
    """What the best tree costs that it writes to the plan; `other` is a plan for trees on the way.

    At once by trees of depth two, then by deeper ones, then, of five levels or more, with departures.
    """
    best = grow(e, node, depth, splits, Reach(int64(2), int64(2), int64(0)), plan)
    control = vector(e.control, UPPER + 1, int64)
    lower_atomic(control, UPPER, best)
    wave = int64(0)
    departures = int64(0)
    # what departures cost grows with the levels, as what they gain does not
    most = int64(0) if depth > _MANY_LEVELS else min(depth - 4, int64(2))
    while best > e.least and (wave == 0 or (depth > 4 and departures <= most)) and not is_stopped(e) and e.full == 0:
        look = int64(3) if wave == 1 else int64(2)
        cost = grow(e, node, depth, splits, Reach(look, int64(3), departures), other)
        if cost < best:
            best = cost
            copy_plan(plan, other)
            lower_atomic(control, UPPER, best)
        wave += 1
        if wave > 1:
            departures = max(int64(1), 2 * departures)
    return best


@native
def grow(e, node, depth, splits, reach, plan):  # type: ignore[no-untyped-def]
    """What the tree costs that it writes to the plan, as the module's head says.

    Of a limited number of splits each side is given a half; below a categorical column a tree is not grown further.
    """
    ahead = depth if depth <= reach.last else reach.look
    _, cost = solve(e, node, ahead, splits, int64(_NO_LIMIT), e.least, plan)
    # a tree with less than three splits is found by depth two
    if depth <= reach.last or plan[1] < 0 or plan[2] < 0 or cost <= e.least + 3 * e.split_cost or is_stopped(e):
        return cost
    used = e.arena_used
    columns = node.columns
    size = plan_size(e, depth, node.n)
    rest_at = reserve(e, 4 * columns * (node.n + 2))
    rest_ids_at = reserve(e, 8 * columns)
    first_at = reserve(e, 8 * size)
    if e.full == 0:
        first = vector(first_at, size, int64)
        rest = Node(rest_at, node.n, columns, vector(rest_ids_at, columns, int64))
        rest = without(node, int64(-1), rest)
        column = plan[1]
        rank = plan[2]
        for departure in range(reach.departures + 1):
            if departure > 0:
                rest = without(rest, column, rest)
                solve(e, rest, reach.look, splits, int64(_NO_LIMIT), e.least, first)
                column = first[1]
                rank = first[2]
            if column < 0 or rank < 0 or rest.columns == 0 or is_stopped(e):
                break
            below = Reach(reach.look, reach.last, reach.departures - departure)
            cost = grow_sides(e, node, (depth, splits), (column, rank), below, cost, plan)
    e.arena_used = used
    return cost


@part_of_recursion
def grow_sides(e, node, limits, split, reach, cost, plan):  # type: ignore[no-untyped-def]
    """What the tree of the plan costs, which is grown from a split if that costs less than `cost`.

    `limits`: the depth and the splits of the node; `split`: the column id and the rank.
    """
    depth, splits = limits
    used = e.arena_used
    room = reserve_room(e, node, depth - 1)
    if e.full == 0:
        f = int64(0)
        while node.ids[f] != split[0]:
            f += 1
        t = position_of(e, node, f, split[1])
        mark_sides(node, f, int64(0), t, room.side)
        left, right = part_rows(e, node, room.side, t, room.orders, room.left_ids, room.right_ids)
        half = (splits - 1) // 2
        total = e.split_cost + grow(e, left, depth - 1, half, reach, room.left_plan)
        if total < cost:
            total += grow(e, right, depth - 1, half, reach, room.right_plan)
        if total < cost:
            cost = total
            begin_plan(plan, split[0], split[1], int64(0))
            append(plan, room.left_plan)
            append(plan, room.right_plan)
    e.arena_used = used
    return cost


@native
def without(node, column, target):  # type: ignore[no-untyped-def]
    """The node without a column, whose orders and ids are written to those of another node, which may be itself."""
    rows = rows_of(node, node.columns)
    to = rows_of(target, node.columns)
    count = int64(0)
    for f in range(node.columns):
        if node.ids[f] != column:
            target.ids[count] = node.ids[f]
            for i in range(node.n + 1):
                to[count, i] = rows[f, i]
            count += 1
    return Node(target.orders, node.n, count, target.ids)


_STUMP = "(int64, uint32[:, ::1], int64, int64[::1], int64[::1])"
"""The signature of `find_stump`."""


@functools.cache
def shallow() -> Any:
    """The kernel that solves nodes to depth two."""

    @unit(KERNEL)
    def solve_shallow(address):  # type: ignore[no-untyped-def]
        solve_asked(record_at(address))

    return solve_shallow


@functools.cache
def link() -> int:
    """Compiles what a search needs, part of it by a second process; the address of the kernel of depth two."""
    is_made = was_kept(find_stump, _STUMP)
    with compilation.plan(None if is_made else "from streed.ordered.lookahead import compile_shared; compile_shared()"):
        ready(search_tree, "(int64, int64, int64, int64, uint32[:, ::1], int64[::1], int64[::1], int64[::1])")
    return int(shallow().address)


def compile_shared() -> None:
    """What the second process does."""
    shallow()
    ready(find_stump, _STUMP)
    compile_measuring()


@entry
def search_tree(address, depth, splits, budget, orders, ids, plan, answer):  # type: ignore[no-untyped-def]
    """Searches all rows, by their orders; answer (2,): lower and upper bound, the latter of the tree of the plan."""
    e = record_at(address)
    node = Node(int64(orders.ctypes.data), e.rows, e.columns, ids)
    search_all(e, node, depth, splits, budget, plan, answer)


@entry
def find_stump(address, orders, rows, ids, answer):  # type: ignore[no-untyped-def]
    """Asks for the best single split of some rows; answer (4,): the leaf's cost, the split's, its column and place.

    Of a categorical column, there is no place.
    """
    e = record_at(address)
    find_best_stump(e, Node(int64(orders.ctypes.data), int64(rows), int64(len(ids)), ids), True)
    answer[0] = e.found_leaf
    answer[1] = e.found_cost
    answer[2] = e.found_column
    answer[3] = e.found_position
