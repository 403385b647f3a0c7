"""Optimal costs of depth-two subproblems by their branch.

A branch is the set of literals on the path, whatever their order, packed in ascending order of significance into two
words of four 16-bit literals each; the second word is stored only where depths make it needed. The table is open
addressing over whole keys; it begins small and doubles into the space behind it, so that small solves touch little
memory; when no space is left, new entries replace old ones.

Several threads have a table of one size for all of them. An entry is claimed by one atomic step, and has a cost once
its other words are written; it is never replaced. Where several entries in a row are taken, a branch is not stored.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.kernels.simd import load_acquire, store_release, swap_atomic
from streed.kernels.stopping import stopped
from streed.kernels.values import LOWER1, OPTIMUM1, ROWS_OF_VALUES, UNKNOWN
from streed.kernels.views import inline, matrix, native, vector

_FULL = 0xFFFFFFFFFFFFFFFF
"""The key of a branch with more than eight literals, or one beyond 16 bits, which is not cached."""


@inline
def literal(column, side):  # type: ignore[no-untyped-def]
    """The number of a literal: a column and a side, above zero."""
    return 2 * column + side + 1


@native
def extend_branch(high, low, number):  # type: ignore[no-untyped-def]
    """The branch (high, low) with one more literal."""
    if high >> uint64(48) != uint64(0) or number > 0xFFFF:
        return uint64(_FULL), uint64(_FULL)
    new = uint64(number)
    shift = uint64(0)
    while shift < uint64(64) and (low >> shift) & uint64(0xFFFF) > new:
        shift += uint64(16)
    if shift < uint64(64):
        below = low & ((uint64(1) << shift) - uint64(1))
        moved = (low >> shift) << (shift + uint64(16)) if shift < uint64(48) else uint64(0)
        return (high << uint64(16)) | (low >> uint64(48)), below | (new << shift) | moved
    shift = uint64(0)
    while shift < uint64(48) and (high >> shift) & uint64(0xFFFF) > new:
        shift += uint64(16)
    below = high & ((uint64(1) << shift) - uint64(1))
    moved = (high >> shift) << (shift + uint64(16)) if shift < uint64(48) else uint64(0)
    return below | (new << shift) | moved, low


@inline
def _slot(high, low, mask):  # type: ignore[no-untyped-def]
    k = (low ^ (high * uint64(0x9E3779B97F4A7C15))) * uint64(0xD6E8FEB86659FD93)
    k = (k ^ (k >> uint64(32))) * uint64(0xD6E8FEB86659FD93)
    return int64((k ^ (k >> uint64(32))) & uint64(mask))


LOW, COST, HIGH = 0, 1, 2
"""Words of an entry; LOW is zero where there is none. HIGH is there if e.branch_words is 3."""


@inline
def _find(table, offset, mask, high, low):  # type: ignore[no-untyped-def]
    slot = _slot(high, low, mask)
    while table[offset + slot, LOW] != uint64(0):
        if table[offset + slot, LOW] == low and (table.shape[1] == HIGH or table[offset + slot, HIGH] == high):
            break
        slot = (slot + 1) & mask
    return offset + slot


@native
def recall_sides(e):  # type: ignore[no-untyped-def]
    """Looks the children of e.asked_column up; what is known becomes their optimum and lower bound in `values`."""
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    column = e.asked_column
    number = vector(e.active, e.width, int64)[column]
    for without in range(2 if column < e.n_binary else 1):
        high, low = extend_branch(e.asked_high, e.asked_low, literal(number, int64(1 - without)))
        cost = recall_branch(e, high, low)
        values[OPTIMUM1 + without, column] = cost
        if cost != UNKNOWN:
            values[LOWER1 + without, column] = max(values[LOWER1 + without, column], cost)


@native
def store_sides(e):  # type: ignore[no-untyped-def]
    """Stores the optima of the children of e.asked_column, in e.cost1 and e.cost0."""
    number = vector(e.active, e.width, int64)[e.asked_column]
    for without in range(2 if e.asked_column < e.n_binary else 1):
        high, low = extend_branch(e.asked_high, e.asked_low, literal(number, int64(1 - without)))
        store_branch(e, high, low, e.cost0 if without == 1 else e.cost1)


@native
def recall_branch(e, high, low):  # type: ignore[no-untyped-def]
    """The cost stored for the branch, or UNKNOWN."""
    if high == uint64(_FULL) or (high != uint64(0) and e.branch_words == HIGH):
        return int64(UNKNOWN)
    if e.shared != 0:
        return _recall_shared(e, high, low)
    table = matrix(e.branches, e.branch_space, e.branch_words, uint64)
    found = _find(table, e.branch_offset, e.branch_slots - 1, high, low)
    if table[found, LOW] == uint64(0):
        return int64(UNKNOWN)
    return int64(table[found, COST])


@native
def store_branch(e, high, low, cost):  # type: ignore[no-untyped-def]
    """Stores the cost for the branch; the empty branch and branches of more than eight literals are not stored."""
    if low == uint64(0) or high == uint64(_FULL) or (high != uint64(0) and e.branch_words == HIGH):
        return
    if e.shared != 0:
        _store_shared(e, high, low, cost)
        return
    if 2 * e.branch_count >= e.branch_slots:
        _grow(e)
    table = matrix(e.branches, e.branch_space, e.branch_words, uint64)
    if 2 * e.branch_count >= e.branch_slots:
        at = e.branch_offset + _slot(high, low, e.branch_slots - 1)
        if table[at, LOW] == uint64(0):
            return
    else:
        at = _find(table, e.branch_offset, e.branch_slots - 1, high, low)
        e.branch_count += table[at, LOW] == uint64(0)
    table[at, LOW] = low
    table[at, COST] = uint64(cost)
    if e.branch_words > HIGH:
        table[at, HIGH] = high


@native
def _grow(e):  # type: ignore[no-untyped-def]
    """Moves all entries to a table twice the size behind the present one, if the space reaches that far.

    A stop ends it in the middle, which leaves the present table in use.
    """
    slots = 2 * e.branch_slots
    offset = e.branch_offset + e.branch_slots
    if offset + slots > e.branch_space:
        return
    table = matrix(e.branches, e.branch_space, e.branch_words, uint64)
    table[offset : offset + slots] = 0
    for old in range(e.branch_offset, offset):
        if old % 4096 == 0 and stopped(e):
            return
        if table[old, LOW] != uint64(0):
            high = table[old, HIGH] if e.branch_words > HIGH else uint64(0)
            at = _find(table, offset, slots - 1, high, table[old, LOW])
            for field in range(e.branch_words):
                table[at, field] = table[old, field]
    e.branch_offset = offset
    e.branch_slots = slots


_PROBES = 16
"""Entries of the threads' table that are looked at before a branch is given up."""

_WRITTEN = -(2**63)
"""The bit that is flipped in a stored cost, so that an entry whose cost is not written yet has zero there."""


@native
def _recall_shared(e, high, low):  # type: ignore[no-untyped-def]
    """As `recall_branch`, of the table of several threads."""
    words = e.branch_words
    table = vector(e.shared_branches, e.shared_branch_slots * words, int64)
    slot = _slot(high, low, e.shared_branch_slots - 1)
    for _ in range(_PROBES):
        at = slot * words
        seen = uint64(load_acquire(table, at + LOW))
        if seen == uint64(0):
            return int64(UNKNOWN)
        if seen == low:
            cost = load_acquire(table, at + COST)
            if cost == 0:
                return int64(UNKNOWN)
            if words == HIGH or uint64(table[at + HIGH]) == high:
                return cost ^ int64(_WRITTEN)
        slot = (slot + 1) & (e.shared_branch_slots - 1)
    return int64(UNKNOWN)


@native
def _store_shared(e, high, low, cost):  # type: ignore[no-untyped-def]
    """As `store_branch`, in the table of several threads."""
    words = e.branch_words
    table = vector(e.shared_branches, e.shared_branch_slots * words, int64)
    slot = _slot(high, low, e.shared_branch_slots - 1)
    for _ in range(_PROBES):
        at = slot * words
        seen = load_acquire(table, at + LOW)
        if seen == 0 and swap_atomic(table, at + LOW, int64(0), int64(low)):
            if words > HIGH:
                table[at + HIGH] = int64(high)
            store_release(table, at + COST, int64(cost) ^ int64(_WRITTEN))
            return
        written = uint64(seen) == low and load_acquire(table, at + COST) != 0
        if written and (words == HIGH or uint64(table[at + HIGH]) == high):
            return
        slot = (slot + 1) & (e.shared_branch_slots - 1)
