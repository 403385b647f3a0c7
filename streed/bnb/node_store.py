"""The store of nodes: subproblems found by their whole key, and room made where it is full.

The key is the rows with the depth and the branching nodes left. Open addressing, in a table that begins small and
doubles into the space behind it. Of several threads, each looks without a lock, and enters a node with it after another
look: a node is complete before its number is written, and the smaller table remains for those who are still in it.

To make room is to forget what can be found again. Edges and their children take most of the room, and are made again by
one expansion. So they go first: all nodes are kept, with their bounds, and only those on the path from the root to the
node at hand keep their edges. Where it is nodes that fill the store, the path remains and the nodes of the best trees
known below it. What was learnt about forgotten nodes beyond the edges of the path is lost, which costs time, never the
answer. It runs between calls of the search and is compiled when first needed.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, uint64

from streed.bnb.nodes import (
    below,
    block_size,
    children_of,
    edges_of,
    empty_blocks,
    most_sides,
    nodes_of,
    planned_budget,
    rows_of,
    split_columns,
    weigh,
    write_child_rows,
)
from streed.bnb.shared_store import FIRST_SLOTS, NODES, SLOTS, is_shared, lock_index, shared_words, unlock_index
from streed.bnb.workspace import MOST_KEPT, Workspace
from streed.kernels.compiled import entry
from streed.kernels.counting.equal_rows import equivalent_points_bound
from streed.kernels.records import EMPTY, HOLE, INFINITE, LOWEST, NO_TREE, NONE
from streed.kernels.simd import load_acquire, store_release
from streed.kernels.views import engine_at, inline, native, vector


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
    node.followed = 0
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


@native
def _mark_best_tree(e, root, keep):  # type: ignore[no-untyped-def]
    """Marks the stored nodes of the best tree known below a node."""
    nodes = nodes_of(e)
    stack = np.empty(e.path_space, np.int64)
    stack[0] = root
    size = 1
    while size > 0:
        size -= 1
        node = nodes[stack[size]]
        rows = rows_of(e)[stack[size]]
        if node.split < 0:
            continue
        first, sides, categorical = split_columns(e, int64(node.split))
        for side in range(sides):
            column = first + side if categorical else first
            without = 0 if categorical else 1 - side
            write_child_rows(e, rows, column, without)
            v, _ = look_up(e, below(int64(node.depth)), planned_budget(e, node, column, without))
            if v != NONE and keep[v] == 0 and size < len(stack):
                keep[v] = 1
                stack[size] = v
                size += 1


@native
def _frees_enough(e, keep):  # type: ignore[no-untyped-def]
    """Whether to forget the edges of nodes that are not on the path leaves half of the store to what comes."""
    nodes = nodes_of(e)
    edges = int64(0)
    children = int64(0)
    for v in range(e.node_count):
        node = nodes[v]
        if keep[v] > 0 and node.n_edges > 0:
            edges += node.edge_space
            children += node.child_space
        if node.plan != NONE:
            children += block_size(most_sides(e))
    return 2 * e.node_count <= e.node_space and 2 * edges <= e.edge_space and 2 * children <= e.child_space


@native
def _move_blocks(e, keep):  # type: ignore[no-untyped-def]
    """Moves the blocks of kept nodes to the front, in the order in which they lie; only the path's keep their edges."""
    nodes = nodes_of(e)
    edges = edges_of(e)
    children = children_of(e)
    kept = np.flatnonzero(keep)
    begins = np.empty(len(kept), np.int64)
    for i in range(len(kept)):
        node = nodes[kept[i]]
        if keep[kept[i]] == 1 and node.n_edges > 0:
            node.n_edges = 0 if node.lower >= node.upper else NONE
        if node.n_edges <= 0:
            node.edge_space = 0
            node.child_space = 0
        begins[i] = node.edges if node.n_edges > 0 else 0
    edge_count = int64(0)
    order = np.argsort(begins)
    for i in order:
        node = nodes[kept[i]]
        if node.n_edges > 0:
            for k in range(node.n_edges):
                edges[edge_count + k] = edges[node.edges + k]
            node.edges = edge_count
            node.edge_space = block_size(node.n_edges)
            edge_count += node.edge_space
    blocks = np.empty(2 * len(kept), np.int64)
    for i in range(len(kept)):
        node = nodes[kept[i]]
        blocks[2 * i] = node.children if node.n_edges > 0 else NONE
        blocks[2 * i + 1] = node.plan
    child_count = int64(0)
    for block in np.argsort(blocks):
        if blocks[block] == NONE:
            continue
        node = nodes[kept[block // 2]]
        is_plan = block % 2 == 1
        size = block_size(most_sides(e)) if is_plan else int64(node.child_space)
        for k in range(size):
            children[child_count + k] = children[blocks[block] + k]
            if children[child_count + k].node != EMPTY:
                children[child_count + k].node = NONE
        if is_plan:
            node.plan = child_count
        else:
            for k in range(node.n_edges):
                edges[node.edges + k].children += child_count - node.children
            node.children = child_count
        child_count += size
    e.edge_count = edge_count
    e.child_count = child_count
    empty_blocks(e)


@native
def _digest(e):  # type: ignore[no-untyped-def]
    """A hash of the bounds of all nodes and edges."""
    nodes = nodes_of(e)
    edges = edges_of(e)
    h = uint64(e.node_count)
    for v in range(e.node_count):
        node = nodes[v]
        h = (h ^ node.hash ^ uint64(node.lower)) * uint64(0x9E3779B97F4A7C15)
        h = (h ^ uint64(node.upper) ^ (h >> uint64(29))) * uint64(0xD6E8FEB86659FD93)
        for k in range(max(node.n_edges, 0)):
            edge = edges[node.edges + k]
            h = (h ^ uint64(edge.lower) ^ (uint64(edge.upper) << uint64(7))) * uint64(0x9E3779B97F4A7C15)
            h ^= h >> uint64(31)
    return h


@entry
def evict(engine):  # type: ignore[no-untyped-def]
    """How many nodes remain: all, or those of the path down to e.level and of its best trees; renumbers them."""
    e = engine_at(engine)
    level = e.level
    path = vector(e.path, e.path_space, int64)
    nodes = nodes_of(e)
    keep = np.zeros(e.node_count, np.uint8)
    for i in range(level + 1):
        keep[path[i]] = 2
    if _frees_enough(e, keep):
        for v in range(e.node_count):
            if nodes[v].depth != HOLE:
                keep[v] = max(keep[v], np.uint8(1))
    else:
        for i in range(level + 1):
            _mark_best_tree(e, path[i], keep)
    number = np.full(e.node_count, NONE, np.int64)
    count = int64(0)
    for v in range(e.node_count):
        if keep[v] > 0:
            number[v] = count
            count += 1
    _move_blocks(e, keep)
    rows = rows_of(e)
    for v in range(e.node_count):
        to = number[v]
        if to != NONE and to != v:
            for w in range(e.key_words):
                rows[to, w] = rows[v, w]
            nodes[to] = nodes[v]
    for i in range(level + 1):
        path[i] = number[path[i]]
    e.root = path[0]
    e.node_count = count
    slots = vector(e.slots, e.slot_space, int32)
    slots[e.slot_offset : e.slot_offset + e.slot_count] = 0
    for v in range(count):
        enter_slot(e, v, e.slot_offset, e.slot_count)
    e.kept = _digest(e)
    e.evictions += 1
    return count


def make_room(workspace: Workspace, seen: set[int]) -> bool:
    """Whether there is room now, and something to go on with; `seen` are hashes of what was kept before.

    What best-first search looks at next may just have been forgotten, so it turns to depth-first search, which needs no
    more than a path, below a frontier that moves up whenever something is forgotten.
    """
    engine = workspace.engine
    is_full = evict(engine.address) > MOST_KEPT * workspace.space.nodes
    if engine["kept"] in seen:
        # it goes round in circles
        is_full |= engine["best_first"] == 0 or engine["frontier"] == 0
        engine["frontier"] = 0
        seen.clear()
    engine["frontier"] = min(engine["frontier"], engine["level"]) // 2
    seen.add(engine["kept"])
    return not is_full
