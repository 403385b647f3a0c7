"""The best tree known: grown by looking ahead, and made better and better in turns with the search.

    grow(rows, depth, old):
        depth <= last:         the best tree of two levels; of three, the best one that a short search finds
        no old tree:           split as such a tree of depth `last` does, and grow both sides
        else:                  split so that the sides of the old tree, as they are, cost least; grow both from these

To change a tree, some node of it is split by what costs least on half of the rows or columns, drawn at random, and what
is below is grown again, from what it was or from nothing. A tree that costs little more than the best one may be
changed further. (Choosing a split between trees that stay: Carreira-Perpinan and Tavallali, NeurIPS 2018; changes of
many nodes at once: Shaw, CP 1998.) Costs that are made of sums do not say what a row adds; there a split is drawn.

Nodes lie in a pool, and are never changed: a tree that is tried shares what it has in common with the one before, and
takes its place or is forgotten. When the pool is half full, the best tree is copied to its beginning.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, uint32

from streed.kernels.ordered import INFEASIBLE, NEW, ROW, UNLIMITED, WORDS, nearest_position
from streed.kernels.simd import lower_atomic
from streed.kernels.stopping import UPPER
from streed.kernels.views import copy_into, matrix, native, vector
from streed.ordered.cache import (
    Node,
    append,
    append_entry,
    column_of,
    copy_plan,
    is_stopped,
    mix,
    ordered_of,
    part,
    plan_size,
    position_of,
    rank_of,
    rows_of,
    solve_by,
)
from streed.ordered.intervals import find_best_stump, sum_costs

COLUMN, RANK, LEFT, RIGHT, COST, PLAN, PLACE = range(7)
"""Words of a node of the pool: its column id, -1 for a leaf; the rank up to which rows go left, of a leaf its label;
its sides; what it costs; where its plan is, 0 of one that was grown further; and how many words these are."""

_FIRST = 8
"""Where the pool begins, so that 0 is none."""

_TURN = 32
"""A turn takes as much work as so many first trees."""

_BATCHES = 128
"""A subtree of depth three is searched by so many batches of splits at most."""


class Change(NamedTuple):
    """How a tree is changed."""

    levels: Any
    """Down to the node that is changed: above 0 on the way there, below 0 below it."""
    draw: Any
    """A number drawn at random, 0 for none."""
    last: Any
    """The depth of the subtrees at the end, 2 or 3."""
    afresh: Any
    """1: nothing is left of what is below."""


@native
def take(e, words):  # type: ignore[no-untyped-def]
    """Where so many words of the pool begin; 0 if it has no room."""
    at = e.grown_used
    if at + words > e.grown_space:
        return int64(0)
    e.grown_used = at + words
    return at


@native
def chart(e, node, plan, at):  # type: ignore[no-untyped-def]
    """(a node of the pool for the entry of a plan, the entry behind it): what each row is told.

    What is below a categorical column is left out.
    """
    pool = vector(e.grown, e.grown_space, int64)
    place = take(e, int64(PLACE))
    column, rank = plan[1 + WORDS * at], plan[2 + WORDS * at]
    at += 1
    if place == 0:
        return place, at
    pool[place + COLUMN], pool[place + LEFT], pool[place + RIGHT], pool[place + PLAN] = -1, 0, 0, 0
    used = e.arena_used
    if column < 0 and rank > 0 and node.columns > 0:
        find_best_stump(e, node, True)
        f = e.found_column
        if f >= 0 and e.found_cost + e.split_cost < e.found_leaf and node.ids[f] < e.ordered:
            pool[place + COLUMN], pool[place + RANK] = node.ids[f], rank_of(e, node, f, e.found_position)
            rest = np.full(4, -1, np.int64)
            rest[2] = 0
            left, right = part(e, node, f, e.found_position)
            if e.full == 0:
                pool[place + LEFT] = chart(e, left, rest, int64(0))[0]
                pool[place + RIGHT] = chart(e, right, rest, int64(0))[0]
    elif column >= 0 and rank >= 0:
        f = column_of(node, column)
        pool[place + COLUMN], pool[place + RANK] = column, rank
        left, right = part(e, node, f, position_of(e, node, f, rank))
        if e.full == 0:
            pool[place + LEFT], at = chart(e, left, plan, at)
            pool[place + RIGHT], at = chart(e, right, plan, at)
    if pool[place + COLUMN] >= 0 and (pool[place + LEFT] == 0 or pool[place + RIGHT] == 0):
        pool[place + COLUMN] = -1
    if pool[place + COLUMN] < 0:
        pool[place + RANK] = 0 if e.leaf_costs == 0 else sum_costs(e, node).argmin()
    e.arena_used = used
    return place, at


@native
def end(e, node, depth, splits, limit):  # type: ignore[no-untyped-def]
    """(cost, node of the pool) of a tree of a depth; of two levels, the best one if it costs less than the limit."""
    at = take(e, plan_size(e, min(depth, int64(3)), node.n))
    if at == 0:
        return int64(INFEASIBLE), at
    plan = vector(e.grown + 8 * at, e.grown_used - at, int64)
    pause = e.pause
    if depth > 2:
        e.pause = min(pause, e.work + _BATCHES * node.n * node.columns)
    _, cost = solve_by(e, e.deep, node, depth, splits, limit, e.least, plan)
    e.pause = pause
    place = int64(0)
    if cost < INFEASIBLE:
        place, _ = chart(e, node, plan, int64(0))
    if place > 0:
        pool = vector(e.grown, e.grown_space, int64)
        pool[place + COST], pool[place + PLAN] = cost, at
    return cost if place > 0 else int64(INFEASIBLE), place


@native
def label_at(pool, ranks, place, row):  # type: ignore[no-untyped-def]
    """What a tree tells a row."""
    while pool[place + COLUMN] >= 0:
        goes_right = ranks[pool[place + COLUMN], row] > pool[place + RANK]
        place = pool[place + RIGHT] if goes_right else pool[place + LEFT]
    return pool[place + RANK]


@native
def draw_split(e, node, old, draw):  # type: ignore[no-untyped-def]
    """(column, position, False) of a split: that of the old node, or one drawn at random."""
    pool = vector(e.grown, e.grown_space, int64)
    f = column_of(node, pool[old + COLUMN])
    near = int64(0) if f < 0 else position_of(e, node, f, pool[old + RANK])
    ordered = ordered_of(e, node).columns
    if draw != 0 and ordered > 0:
        if f < 0 or (draw & 2) == 0:
            f = mix(draw, int64(1)) % ordered
            near = mix(draw, int64(2)) % node.n
        else:
            spread = 1 + (node.n >> (1 + mix(draw, int64(1)) % 6))
            near += mix(draw, int64(2)) % (2 * spread + 1) - spread
        near = nearest_position(
            rows_of(node, node.columns)[f], max(int64(1), min(near, node.n - 1)), int64(1), node.n - 1
        )
    if f < 0 or near <= 0 or near >= node.n:
        return int64(-1), int64(0), False
    return f, near, False


@native
def choose_split(e, node, old, draw):  # type: ignore[no-untyped-def]
    """(column, position, whether the sides of an old node change places) of the split that suits these best.

    Where costs are made of sums it is drawn.
    """
    if e.leaf_costs == 0:
        return draw_split(e, node, old, draw)
    pool = vector(e.grown, e.grown_space, int64)
    costs = matrix(e.leaf_costs, e.rows, e.labels, int64)
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    gains = vector(e.gains, e.rows, int64)
    order = rows_of(node, node.columns)
    total = int64(0)
    for r in range(node.n):
        row = int64(order[0, r] & uint32(ROW))
        gain = int64(0)
        if (draw & 2) == 0 or (mix(draw, row) & 1) == 0:
            gain = costs[row, label_at(pool, ranks, pool[old + LEFT], row)]
            gain -= costs[row, label_at(pool, ranks, pool[old + RIGHT], row)]
        gains[row] = gain
        total += gain
    best = int64(INFEASIBLE)
    column, position, swaps = int64(-1), int64(0), False
    for f in range(ordered_of(e, node).columns):
        if (draw & 4) != 0 and (mix(draw, node.ids[f]) & 1) == 0:
            continue
        left = int64(0)
        for r in range(node.n):
            entry = order[f, r]
            if entry >= uint32(NEW):
                # total - left: what the old left side would add on the right
                if left < best:
                    best, column, position, swaps = left, int64(f), int64(r), False
                if total - left < best:
                    best, column, position, swaps = total - left, int64(f), int64(r), True
            left += gains[int64(entry & uint32(ROW))]
    return column, position, swaps


@native
def join_sides(e, node, split, sides, cost):  # type: ignore[no-untyped-def]
    """The node of the pool of a split (column, position) of these sides; 0 if there is no room."""
    pool = vector(e.grown, e.grown_space, int64)
    place = take(e, int64(PLACE))
    if place > 0:
        pool[place + COLUMN], pool[place + RANK] = node.ids[split[0]], rank_of(e, node, split[0], split[1])
        pool[place + LEFT], pool[place + RIGHT] = sides
        pool[place + COST], pool[place + PLAN] = cost, 0
    return place


@native
def change_split(e, node, depth, old, change):  # type: ignore[no-untyped-def]
    """(column, position, the old sides, which of them stays, the change) of a tree in place of an old one that splits.

    Both sides are grown again (-1) but on the way to the node that is changed, where the left (0) or the right one (1)
    stays.
    """
    pool = vector(e.grown, e.grown_space, int64)
    left, right, stays = pool[old + LEFT], pool[old + RIGHT], change.draw & 1
    below = right if stays == 1 else left
    if change.levels > 0 and depth > change.last + 1 and pool[below + COLUMN] >= 0 and pool[old + PLAN] == 0:
        column, position, _ = draw_split(e, node, old, int64(0))
        return column, position, (left, right), stays, change
    column, position, swaps = choose_split(e, node, old, change.draw if change.levels >= 0 else int64(0))
    if swaps:
        left, right = right, left
    if change.afresh == 1:
        left, right = int64(0), int64(0)
    return column, position, (left, right), int64(-1), Change(int64(-1), change.draw, change.last, change.afresh)


@native
def grow(e, node, depth, splits, old, change, limit):  # type: ignore[no-untyped-def]
    """(cost, node of the pool) of the tree, as the module's head says; one that costs the limit or more may be left.

    Of a limited number of splits each side is given a half; below a categorical column a tree is not grown further.
    """
    pool = vector(e.grown, e.grown_space, int64)
    depth = min(depth, splits, node.n - 1)
    last = change.last
    e.work += node.n * node.columns >> 1  # to choose a split, and to tell rows apart
    column, position, sides, only = int64(-1), int64(0), (int64(0), int64(0)), int64(-1)
    if old > 0 and pool[old + COLUMN] >= 0 and depth > last:
        if is_stopped(e):
            return int64(INFEASIBLE), int64(0)
        column, position, sides, only, change = change_split(e, node, depth, old, change)
    left_old, right_old = sides
    place, cost = int64(0), int64(INFEASIBLE)
    if column < 0:
        cost, place = end(e, node, min(depth, last), splits, limit if depth <= last else int64(INFEASIBLE))
        if place == 0 or depth <= last or cost <= e.least + 3 * e.split_cost or is_stopped(e):
            return cost, place
        limit = min(limit, cost)
        plan = pool[pool[place + PLAN] : pool[place + PLAN] + 3]
        if plan[1] < 0 or plan[2] < 0:
            return cost, place
        column = column_of(node, plan[1])
        position = position_of(e, node, column, plan[2])
        left_old, right_old = int64(0), int64(0)
    used = e.arena_used
    left, right = part(e, node, column, position)
    if e.full == 0:
        half = int64(UNLIMITED) if splits >= UNLIMITED else (splits - 1) // 2
        below = Change(change.levels - 1, change.draw >> 1 if only >= 0 else change.draw, last, change.afresh)
        rest = limit - e.split_cost
        if only == 1:
            left_cost, left_place = pool[left_old + COST], left_old
        else:
            least = pool[right_old + COST] if only == 0 else e.least
            left_cost, left_place = grow(e, left, depth - 1, half, left_old, below, rest - least)
        right_cost, right_place = int64(INFEASIBLE), int64(0)
        if only == 0:
            right_cost, right_place = pool[right_old + COST], right_old
        elif left_place > 0 and left_cost + e.least < rest:
            right_cost, right_place = grow(e, right, depth - 1, half, right_old, below, rest - left_cost)
        total = e.split_cost + left_cost + right_cost
        if left_place > 0 and right_place > 0 and total < limit:
            grown = join_sides(e, node, (column, position), (left_place, right_place), total)
            if grown > 0:
                cost, place = total, grown
    e.arena_used = used
    return cost, place


@native
def write_plan(e, place, plan):  # type: ignore[no-untyped-def]
    """Appends the tree of a node of the pool to a plan."""
    pool = vector(e.grown, e.grown_space, int64)
    if pool[place + PLAN] > 0:
        append(plan, pool[pool[place + PLAN] :])
        return
    append_entry(plan, pool[place + COLUMN], pool[place + RANK], int64(0))
    write_plan(e, pool[place + LEFT], plan)
    write_plan(e, pool[place + RIGHT], plan)


@native
def copied(e, place, pool):  # type: ignore[no-untyped-def]
    """The copy of a node and what is below it, at the end of the pool, from another one."""
    mine = vector(e.grown, e.grown_space, int64)
    found = take(e, int64(PLACE))
    copy_into(mine[found:], pool[place : place + PLACE])
    if pool[place + PLAN] > 0:
        at = pool[place + PLAN]
        mine[found + PLAN] = take(e, 1 + WORDS * pool[at])
        copy_plan(mine[mine[found + PLAN] :], pool[at:])
    if pool[place + COLUMN] >= 0:
        mine[found + LEFT] = copied(e, pool[place + LEFT], pool)
        mine[found + RIGHT] = copied(e, pool[place + RIGHT], pool)
    return found


@native
def take_turn(e):  # type: ignore[no-untyped-def]
    """Grows the first tree, if there is none, and changes the best one for a while; says when the next turn is due."""
    begun, told, sparse = e.work, e.told, e.sparse
    e.told, e.sparse, e.turn = 0, 0, INFEASIBLE
    node = Node(e.orders, e.rows, e.columns, vector(e.ids, e.columns, int64))
    pool = vector(e.grown, e.grown_space, int64)
    control = vector(e.control, UPPER + 1, int64)
    is_new = e.tree == 0
    if is_new:
        e.grown_used = _FIRST
        plain = Change(int64(0), int64(0), int64(2), int64(0))
        e.incumbent, e.tree = grow(e, node, e.depth, e.most_splits, int64(0), plain, int64(INFEASIBLE))
        lower_atomic(control, UPPER, e.incumbent)
        e.turn_work = (_TURN if e.depth > 4 else _TURN >> 3) * (e.work - begun)
    until = e.work + e.turn_work
    # at depth four, the search itself is not much slower
    deepest = int64(3) if e.depth > 4 and e.ordered == e.columns else int64(2)
    looks = is_new and deepest == 3
    is_better = False
    walk = e.tree
    while e.tree > 0 and e.work < until and e.incumbent > e.least and not is_stopped(e):
        if 2 * e.grown_used > e.grown_space:
            other = pool[: e.grown_used].copy()
            e.grown_used = _FIRST
            walk = e.tree = copied(e, e.tree, other)
            if 2 * e.grown_used > e.grown_space:
                break
        e.draws += 1
        used = e.grown_used
        draw = mix(int64(88172645463325252), e.draws)
        levels = (draw >> 40) % max(int64(1), min(e.depth, int64(30)) - 2)
        last = deepest if looks or (draw >> 57) % 2 == 0 else int64(2)
        change = Change(levels, draw & 0xFFFFFFFF, last, int64((draw >> 50) % 4 == 0))
        limit = max(pool[walk + COST], e.incumbent + ((e.incumbent - e.least) >> (5 + e.draws % 4))) + 1
        # the first tree is grown once more from nothing, and looks one level further
        e.pause = e.work + (e.turn_work if looks else e.turn_work >> 3)
        cost, tree = grow(e, node, e.depth, e.most_splits, int64(0) if looks else walk, change, limit)
        e.pause, looks = INFEASIBLE, False
        if tree == 0 or cost >= limit:
            e.grown_used = used
            continue
        walk = tree
        if cost < e.incumbent:
            is_better = True
            e.incumbent, e.tree = cost, tree
            lower_atomic(control, UPPER, cost)
    if not is_better:
        e.patience += 1 if e.depth > 4 else e.patience
    e.turn = e.work + (0 if is_better else e.patience * (e.work - begun) // 4)
    e.told, e.sparse = told, sparse
