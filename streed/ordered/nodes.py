"""Nodes of the ordered search, the room that a path of them takes, and trees as plans.

Plans are int64: the number of entries, then for each node of a tree in preorder three words. Of a split: its column id,
the rank up to which rows go left, 0; of one with a child for each value that its rows have: the column id, -1, how many
there are. Of what is not split by the plan: -1, the depth (0 or 1), 0: the best tree of that depth, which is quicker
found again than kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import int32, int64, njit, uint8, uint32

from streed.kernels.control import STOP
from streed.kernels.ordered.record import NEW, ROW
from streed.kernels.simd import load_atomic
from streed.kernels.views import inline, matrix, native, vector
from streed.ordered.layout import WORDS

part_of_recursion = njit(inline="always")
"""For parts of a recursive function, which become parts of its text: compiled by themselves, functions that call each
other are linked by addresses that code from the disk does not know."""


class Node(NamedTuple):
    """The rows that arrive at a node."""

    orders: Any
    """The address of uint32 (columns, n + 1): its rows in the order of each column (`kernels/ordered/record.py`)."""
    n: Any
    columns: Any
    """Those in which its rows differ, ordered ones first."""
    ids: Any
    """int64 (columns,) or more: which columns of the problem they are."""


@inline
def is_stopped(e):  # type: ignore[no-untyped-def]
    """Whether the caller asked the search to stop."""
    return load_atomic(vector(e.control, STOP + 1, int64), STOP) != 0


@native
def reserve(e, size):  # type: ignore[no-untyped-def]
    """The address of as many bytes of the arena; 0 if it has no room, which stops the search."""
    begin = (e.arena_used + 63) & ~63
    if begin + size > e.arena_space:
        e.full = 1
        vector(e.control, STOP + 1, int64)[STOP] = 1
        return int64(0)
    e.arena_used = begin + size
    return e.arena + begin


@inline
def rows_of(node, columns):  # type: ignore[no-untyped-def]
    """The orders of the first columns of a node, uint32 (columns, n + 1)."""
    return matrix(node.orders, max(columns, int64(1)), node.n + 1, uint32)


@native
def ordered_of(e, node):  # type: ignore[no-untyped-def]
    """The node without its categorical columns, which are the last."""
    found = node.columns
    while found > 0 and node.ids[found - 1] >= e.ordered:
        found -= 1
    return Node(node.orders, node.n, found, node.ids)


@native
def mark_sides(node, column, begin, end, side):  # type: ignore[no-untyped-def]
    """Writes 1 to `side` (N,) for the rows at positions begin..end-1 of a column, 0 for the others of the node."""
    rows = rows_of(node, column + 1)
    for r in range(node.n):
        side[int64(rows[column, r] & uint32(ROW))] = uint8(1) if begin <= r < end else uint8(0)


@native
def part_rows(e, node, side, inside, target, left_ids, right_ids):  # type: ignore[no-untyped-def]
    """The nodes (left, right) of the `inside` rows of side 1 and of the others, whose orders are written to the target.

    That is the address of uint32 (columns * (n + 2)). Columns in which the rows of a side do not differ are left out;
    each has a place for its orders, one after another.
    """
    columns = node.columns
    outside = node.n - inside
    here = rows_of(node, columns)
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    rest = target + 4 * columns * (inside + 1)
    lefts = matrix(target, columns, inside + 1, uint32)
    rights = matrix(rest, columns, outside + 1, uint32)
    n_left = int64(0)
    n_right = int64(0)
    for g in range(columns):
        a = 0
        b = 0
        # whether a larger value than that of the side's last row was passed
        new_left = uint32(0)
        new_right = uint32(0)
        for r in range(node.n):
            entry = here[g, r]
            row = entry & uint32(ROW)
            is_left = uint32(side[int64(row)])
            new_left |= entry & uint32(NEW)
            new_right |= entry & uint32(NEW)
            lefts[n_left, a] = row | new_left
            rights[n_right, b] = row | new_right
            a += int64(is_left)
            b += int64(uint32(1) - is_left)
            new_left &= is_left - uint32(1)
            new_right &= uint32(0) - is_left
        lefts[n_left, 0] &= uint32(ROW)
        rights[n_right, 0] &= uint32(ROW)
        place = node.ids[g]
        if ranks[place, int64(lefts[n_left, 0])] != ranks[place, int64(lefts[n_left, inside - 1] & uint32(ROW))]:
            left_ids[n_left] = place
            n_left += 1
        if ranks[place, int64(rights[n_right, 0])] != ranks[place, int64(rights[n_right, outside - 1] & uint32(ROW))]:
            right_ids[n_right] = place
            n_right += 1
    return Node(target, inside, n_left, left_ids), Node(rest, outside, n_right, right_ids)


@native
def rank_of(e, node, column, position):  # type: ignore[no-untyped-def]
    """The largest rank left of a split, in the whole problem."""
    row = int64(rows_of(node, column + 1)[column, position - 1] & uint32(ROW))
    return int64(matrix(e.ranks, e.columns, e.rows, int32)[node.ids[column], row])


@native
def position_of(e, node, column, rank):  # type: ignore[no-untyped-def]
    """The position of the split whose rows left of it have this rank at most."""
    rows = rows_of(node, column + 1)
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    position = int64(0)
    while position < node.n and ranks[node.ids[column], int64(rows[column, position] & uint32(ROW))] <= rank:
        position += 1
    return position


@native
def plan_size(e, depth, n):  # type: ignore[no-untyped-def]
    """Words of the largest plan of a node of n rows."""
    most = int64(1)
    level = int64(0)
    while level < depth and most < 2 * n:
        most *= e.most_children
        level += 1
    return 1 + WORDS * (min(most, 2 * n) + 1)


@native
def begin_plan(plan, column, rank, children):  # type: ignore[no-untyped-def]
    """Writes a plan of a single entry."""
    plan[0] = 1
    plan[1] = column
    plan[2] = rank
    plan[3] = children


@native
def append(plan, other):  # type: ignore[no-untyped-def]
    """Appends the entries of another plan."""
    at = 1 + WORDS * plan[0]
    for i in range(WORDS * other[0]):
        plan[at + i] = other[1 + i]
    plan[0] += other[0]


@native
def append_rest(plan, depth):  # type: ignore[no-untyped-def]
    """Appends a node that is not split by the plan."""
    at = 1 + WORDS * plan[0]
    plan[at] = -1
    plan[at + 1] = depth
    plan[at + 2] = 0
    plan[0] += 1


@native
def copy_plan(plan, other):  # type: ignore[no-untyped-def]
    """Writes another plan in the place of a plan."""
    for i in range(1 + WORDS * other[0]):
        plan[i] = other[i]
