"""The index of nodes: subproblems found by their whole key, the rows with the depth and the branching nodes left.

Open addressing, in a table that begins small and doubles into the space behind it. Of several threads, each looks
without a lock, and enters a node with it after another look: a node is complete before its number is written, and the
smaller table remains for those who are still in it.
"""

from __future__ import annotations

from numba import int32, int64, uint64

from streed.bnb.nodes import nodes_of, rows_of, weigh
from streed.bnb.shared_store import FIRST_SLOTS, NODES, SLOTS, is_shared, lock_index, shared_words, unlock_index
from streed.kernels.counting.equal_rows import equivalent_points_bound
from streed.kernels.records import INFINITE, LOWEST, NO_TREE, NONE
from streed.kernels.simd import load_acquire, store_release
from streed.kernels.views import inline, native, vector


@native
def _hash(rows, depth, budget):  # type: ignore[no-untyped-def]
    h = uint64(0x9E3779B97F4A7C15) ^ (uint64(depth) << uint64(32)) ^ uint64(budget)
    for w in range(len(rows)):
        h = (h ^ rows[w]) * uint64(0xFF51AFD7ED558CCD)
        h ^= h >> uint64(32)
    return h


@native
def look_up(e, depth, budget):  # type: ignore[no-untyped-def]
    """(the node whose rows stand in rows_of(e)[e.node_count], or NONE; its slot, or the one it would have).

    Writes the hash of its key to the record behind the last node, where `write_node` leaves it.
    """
    key = _hash(rows_of(e)[e.node_count], depth, budget)
    nodes_of(e)[e.node_count].hash = key
    return _look_up(e, key, depth, budget)


@native
def _look_up(e, key, depth, budget):  # type: ignore[no-untyped-def]
    rows = rows_of(e)
    nodes = nodes_of(e)
    slots = vector(e.slots, e.slot_space, int32)
    new = e.node_count
    if is_shared(e):
        words = shared_words(e)
        e.slot_count = load_acquire(words, SLOTS)
        e.slot_offset = e.slot_count - words[FIRST_SLOTS]
    slot = int64(key & uint64(e.slot_count - 1))
    while slots[e.slot_offset + slot] != 0:
        v = int64(slots[e.slot_offset + slot]) - 1
        if nodes[v].hash == key and nodes[v].depth == depth and nodes[v].budget == budget:
            same = True
            for w in range(e.key_words):
                if rows[v, w] != rows[new, w]:
                    same = False
                    break
            if same:
                return v, slot
        slot = (slot + 1) & (e.slot_count - 1)
    return int64(NONE), slot


@native
def write_node(e, depth, budget):  # type: ignore[no-untyped-def]
    """Makes the record of the rows behind the last node, which `look_up` did not find; it is no node yet."""
    rows = rows_of(e)
    new = e.node_count
    node = nodes_of(e)[new]
    node.lower = equivalent_points_bound(e, rows[new]) if e.scored == 0 else LOWEST
    node.n_edges = NONE
    node.depth = depth
    node.budget = budget
    node.split = NO_TREE
    node.found = 0
    node.plan = NONE
    node.priced = 0
    node.rest = INFINITE
    node.weight = weigh(e, rows[new], rows[new])
    node.edge_space = 0
    node.child_space = 0
    if is_shared(e):
        vector(e.inside, e.node_space, int64)[new] = 0


@native
def enter_node(e, slot):  # type: ignore[no-untyped-def]
    """The number of the node that `write_node` made, now in the index; or that of another thread's of the same rows.

    `slot` is the one that `look_up` gave; of several threads, another may have it by now, so that they look again.
    """
    new = e.node_count
    lock_index(e)
    if is_shared(e):
        node = nodes_of(e)[new]
        other, slot = _look_up(e, node.hash, int64(node.depth), int64(node.budget))
        if other != NONE:
            unlock_index(e)
            return other
    store_release(vector(e.slots, e.slot_space, int32), e.slot_offset + slot, int32(new + 1))
    e.node_count = new + 1
    if 2 * (shared_words(e)[NODES] if is_shared(e) else e.node_count) > e.slot_count:
        _grow_index(e)
    unlock_index(e)
    return new


@inline
def enter_slot(e, v, offset, count):  # type: ignore[no-untyped-def]
    """Enters a node in the index of so many slots from `offset` on, in which it is not."""
    slots = vector(e.slots, e.slot_space, int32)
    slot = int64(nodes_of(e)[v].hash & uint64(count - 1))
    while slots[offset + slot] != 0:
        slot = (slot + 1) & (count - 1)
    slots[offset + slot] = v + 1


@native
def _grow_index(e):  # type: ignore[no-untyped-def]
    """Doubles the index, into the space behind the present one; the space suffices for all nodes."""
    slots = vector(e.slots, e.slot_space, int32)
    offset = e.slot_offset + e.slot_count
    count = 2 * e.slot_count
    if offset + count > e.slot_space:
        return
    slots[offset : offset + count] = 0
    for k in range(e.slot_offset, offset):
        if slots[k] != 0:
            enter_slot(e, int64(slots[k]) - 1, offset, count)
    e.slot_offset = offset
    e.slot_count = count
    if is_shared(e):
        store_release(shared_words(e), SLOTS, count)
