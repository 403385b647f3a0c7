"""Nodes of the ordered search, the room that a path of them takes, and trees as plans.

Plans are int64: the number of entries, then for each node of a tree in preorder three words. Of a split: its column id,
the rank up to which rows go left, 0; of one with a child for each value that its rows have: the column id, -1, how many
there are. Of what is not split by the plan: -1, the depth (0 or 1), 0: the best tree of that depth, which is quicker
found again than kept.

What was found of row sets is kept: their bounds, and the best tree where it is known. Deep nodes are reached by many
orders of the same splits. The rows of a node are all rows between its least and its largest rank in every column, so
these ranks say which rows it has, exactly; with what depth and how many splits are allowed they are the key of an
entry.

A table of places (open addressing, a power of two) leads to entries in a pool of int64 words, both addressed by the
record. Words of an entry: hash, lower bound, upper bound, where its plan begins in the pool (0: none), the words of
the key. When the pool or half of the table is full, everything is forgotten.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import int32, int64, njit, uint8, uint32, uint64

from streed.kernels.ordered import DEEP, INFEASIBLE, NEW, ROW, UNLIMITED, WORDS
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import STOP
from streed.kernels.views import call, copy_into, inline, matrix, native, vector

part_of_recursion = njit(inline="always")
"""For parts of a recursive function, which become parts of its text: compiled by themselves, functions that call each
other are linked by addresses that code from the disk does not know."""


class Node(NamedTuple):
    """The rows that arrive at a node."""

    orders: Any
    """The address of uint32 (columns, n + 1): its rows in the order of each column (`kernels/ordered.py`)."""
    n: Any
    columns: Any
    """Those in which its rows differ, ordered ones first."""
    ids: Any
    """int64 (columns,) or more: which columns of the problem they are."""


@inline
def is_stopped(e):  # type: ignore[no-untyped-def]
    """Whether the caller asked the search to stop, or what is tried takes too long."""
    return load_atomic(vector(e.control, STOP + 1, int64), STOP) != 0 or e.work > e.pause


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
    n_left = n_right = int64(0)
    for g in range(columns):
        a = b = 0
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
def part(e, node, column, position):  # type: ignore[no-untyped-def]
    """The nodes on both sides of a split by a column of the node, in the arena."""
    columns = node.columns
    orders = reserve(e, 4 * columns * (node.n + 2))
    ids = reserve(e, 16 * columns)
    side_at = reserve(e, e.rows)
    if e.full == 1:
        return node, node
    side = vector(side_at, e.rows, uint8)
    mark_sides(node, column, int64(0), position, side)
    left_ids = vector(ids, columns, int64)
    return part_rows(e, node, side, position, orders, left_ids, vector(ids + 8 * columns, columns, int64))


@native
def column_of(node, name):  # type: ignore[no-untyped-def]
    """The column of the node with an id; -1 if its rows do not differ in it."""
    for f in range(node.columns):
        if node.ids[f] == name:
            return int64(f)
    return int64(-1)


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


@inline
def solve_by(e, kernel, node, depth, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """(lower, upper) of the node's trees, as `solve` (branch.py) gives them, by the kernel at this address."""
    e.node_orders = node.orders
    e.node_rows = node.n
    e.node_columns = node.columns
    e.node_ids = node.ids.ctypes.data
    e.node_depth = depth
    e.node_splits = splits
    e.node_budget = budget
    e.node_lower = lower
    e.node_plan = plan.ctypes.data
    e.node_plan_size = len(plan)
    call(kernel, e)
    return int64(e.node_lower), int64(e.node_upper)


@inline
def asked(e):  # type: ignore[no-untyped-def]
    """(node, its plan) that `solve_by` asks about."""
    node = Node(e.node_orders, e.node_rows, e.node_columns, vector(e.node_ids, e.node_columns, int64))
    return node, vector(e.node_plan, e.node_plan_size, int64)


@native
def append_entry(plan, column, rank, children):  # type: ignore[no-untyped-def]
    """Appends an entry, whose words are as the head of the module says."""
    at = 1 + WORDS * plan[0]
    plan[at], plan[at + 1], plan[at + 2] = column, rank, children
    plan[0] += 1


@native
def begin_plan(plan, column, rank, children):  # type: ignore[no-untyped-def]
    """Writes a plan of a single entry."""
    plan[0] = 0
    append_entry(plan, column, rank, children)


@native
def append(plan, other):  # type: ignore[no-untyped-def]
    """Appends the entries of another plan."""
    copy_into(plan[1 + WORDS * plan[0] :], other[1 : 1 + WORDS * other[0]])
    plan[0] += other[0]


@native
def copy_plan(plan, other):  # type: ignore[no-untyped-def]
    """Writes another plan in the place of a plan."""
    copy_into(plan, other[: 1 + WORDS * other[0]])


_HASH, _LOWER, _UPPER, _PLAN, _KEY = range(5)


@native
def mix(seed, word):  # type: ignore[no-untyped-def]
    """A hash of a hash and a word."""
    found = (uint64(seed) ^ uint64(word)) * uint64(0x9E3779B97F4A7C15)
    return int64((found ^ (found >> uint64(29))) & uint64(0x7FFFFFFFFFFFFFFF))


@native
def write_key(e, node, depth, splits):  # type: ignore[no-untyped-def]
    """Writes the key of a node to the record's place for it; its hash."""
    key = vector(e.cache_key, e.columns + 1, int64)
    rows = rows_of(node, node.columns)
    ids = node.ids
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    any_row = int64(rows[0, 0] & uint32(ROW))
    for c in range(e.columns):
        rank = int64(ranks[c, any_row])
        key[c] = (rank << 32) | rank
    for f in range(node.columns):
        low = int64(ranks[ids[f], int64(rows[f, 0] & uint32(ROW))])
        high = int64(ranks[ids[f], int64(rows[f, node.n - 1] & uint32(ROW))])
        key[ids[f]] = (low << 32) | high
    # as many levels or splits as rows allow are as good as any number
    depth = int64(DEEP) if depth >= node.n - 1 else min(depth, int64(DEEP))
    splits = int64(UNLIMITED) if splits >= node.n - 1 else splits
    key[e.columns] = ((2 * depth + e.relaxed) << 42) ^ splits
    found = int64(0)
    for c in range(e.columns + 1):
        found = mix(found, key[c])
    return found


@native
def place_of(e, hashed):  # type: ignore[no-untyped-def]
    """Where in the table the key of the record is, or would be."""
    table = vector(e.cache_table, e.cache_places, int64)
    pool = vector(e.cache, e.cache_space, int64)
    key = vector(e.cache_key, e.columns + 1, int64)
    place = hashed & (e.cache_places - 1)
    while table[place] != 0:
        at = table[place]
        if pool[at + _HASH] == hashed:
            same = True
            for c in range(e.columns + 1):
                if pool[at + _KEY + c] != key[c]:
                    same = False
                    break
            if same:
                break
        place = (place + 1) & (e.cache_places - 1)
    return place


@native
def recall(e, node, depth, splits, plan):  # type: ignore[no-untyped-def]
    """(lower, upper) of what is known of a node; writes the plan if the upper bound is below INFEASIBLE."""
    place = place_of(e, write_key(e, node, depth, splits))
    at = vector(e.cache_table, e.cache_places, int64)[place]
    if at == 0:
        return int64(0), int64(INFEASIBLE)
    pool = vector(e.cache, e.cache_space, int64)
    kept = pool[at + _PLAN]
    if kept == 0:
        return pool[at + _LOWER], int64(INFEASIBLE)
    copy_plan(plan, pool[kept:])
    return pool[at + _LOWER], pool[at + _UPPER]


@native
def remember(e, node, depth, splits, lower, upper, plan):  # type: ignore[no-untyped-def]
    """Keeps the bounds of a node, and its plan if they meet."""
    size = 1 + WORDS * plan[0] if upper <= lower else int64(0)
    entry = _KEY + e.columns + 1
    table = vector(e.cache_table, e.cache_places, int64)
    if e.cache_used + entry + size > e.cache_space or 2 * e.cache_entries >= e.cache_places:
        if entry + size + 1 > e.cache_space:
            return
        table[:] = 0
        e.cache_used = 1
        e.cache_entries = 0
    pool = vector(e.cache, e.cache_space, int64)
    hashed = write_key(e, node, depth, splits)
    place = place_of(e, hashed)
    at = table[place]
    if at == 0:
        at = e.cache_used
        e.cache_used += entry
        e.cache_entries += 1
        table[place] = at
        pool[at + _HASH] = hashed
        pool[at + _LOWER] = lower
        pool[at + _PLAN] = 0
        copy_into(pool[at + _KEY :], vector(e.cache_key, e.columns + 1, int64))
    pool[at + _LOWER] = max(pool[at + _LOWER], lower)
    if size > 0 and pool[at + _PLAN] == 0:
        kept = e.cache_used
        e.cache_used += size
        pool[at + _UPPER] = upper
        pool[at + _PLAN] = kept
        copy_plan(pool[kept:], plan)
