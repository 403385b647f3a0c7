"""One store of nodes for several threads: who may write to a node, who is where, and what each may fill.

All threads search the same root by the same procedure, `improve`, in the same nodes and edges, so what one of them
learns is known to all. Each has its own path, and its own space to work in; what they share is kept in order by these
rules:

- Whoever reads or writes the edges of a node, or writes its bounds, holds its lock. A thread holds one such lock at
  most, never while it is in a side of the node, and asks for nothing but the index while it has it. Bounds of a node
  are read without: each is right at any time, and they only come closer.
- How many threads are in a node, from `go_in` to `go_out`, is counted. While there are several, its edges keep their
  places, so that each finds the edge again by which it left.
- The index is read without a lock: a node is complete before its number is written, and where numbers are moved to a
  larger table, the one before remains. It is written under a lock, after another look.
- Nodes, edges and children are handed out to the threads in chunks, which they fill alone.

Alone (`shared` is 0), all of this is left out.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from streed.kernels.records import HOLE, NONE
from streed.kernels.simd import add_atomic, load_atomic, store_release, swap_atomic
from streed.kernels.views import NODE_TYPE, inline, native, records, vector

INDEX, NODES, EDGES, CHILDREN, SLOTS, FIRST_SLOTS, LOCKS = 0, 8, 16, 24, 32, 33, 40
"""Whether a thread writes to the index; how many nodes, edges and children were handed out; the slots of the index now,
and at first; then the locks of nodes. Words that are written often lie in cache lines of their own."""

NODE_CHUNK, EDGE_CHUNK, CHILD_CHUNK = 256, 4096, 8192
"""Entries that a thread is given at once, or as many as it asks for."""

N_LOCKS = 4096
"""A power of two; nodes share locks."""

WORDS = LOCKS + N_LOCKS

_nodes = records(NODE_TYPE)


@inline
def is_shared(e):  # type: ignore[no-untyped-def]
    """Whether other threads search the store, too."""
    return e.shared != 0


@inline
def shared_words(e):  # type: ignore[no-untyped-def]
    """What is shared beside the store, int64 (WORDS,)."""
    return vector(e.shared, WORDS, int64)


@native
def _take(e, word):  # type: ignore[no-untyped-def]
    """Waits for a lock."""
    words = shared_words(e)
    while load_atomic(words, word) != 0 or not swap_atomic(words, word, int64(0), int64(1)):
        pass


@inline
def lock_node(e, v):  # type: ignore[no-untyped-def]
    """Waits until no other thread reads or writes what the lock of node v guards."""
    if is_shared(e):
        _take(e, LOCKS + (v & (N_LOCKS - 1)))


@inline
def unlock_node(e, v):  # type: ignore[no-untyped-def]
    """Lets others at node v again."""
    if is_shared(e):
        store_release(shared_words(e), LOCKS + (v & (N_LOCKS - 1)), int64(0))


@inline
def lock_index(e):  # type: ignore[no-untyped-def]
    """Waits until no other thread writes to the index."""
    if is_shared(e):
        _take(e, int64(INDEX))


@inline
def unlock_index(e):  # type: ignore[no-untyped-def]
    """Lets others write to the index again."""
    if is_shared(e):
        store_release(shared_words(e), INDEX, int64(0))


@inline
def _inside(e):  # type: ignore[no-untyped-def]
    return vector(e.inside, e.node_space, int64)


@inline
def go_in(e, v):  # type: ignore[no-untyped-def]
    """Notes that this thread is in node v."""
    if is_shared(e):
        add_atomic(_inside(e), v, int64(1))


@inline
def go_out(e, v):  # type: ignore[no-untyped-def]
    """Notes that it has left it."""
    if is_shared(e):
        add_atomic(_inside(e), v, int64(-1))


@inline
def has_others(e, v):  # type: ignore[no-untyped-def]
    """Whether threads are in node v, in which this one is not."""
    return is_shared(e) and load_atomic(_inside(e), v) > 0


@inline
def is_alone(e, v):  # type: ignore[no-untyped-def]
    """Whether no other thread is in node v, in which this one is."""
    return not is_shared(e) or load_atomic(_inside(e), v) <= 1


@native
def more_nodes(e):  # type: ignore[no-untyped-def]
    """Whether there are nodes to fill, after those that this thread had; if there are, they are its own now."""
    if not is_shared(e):
        return False
    words = shared_words(e)
    if load_atomic(words, NODES) + 2 * NODE_CHUNK > e.node_space:
        return False
    begin = add_atomic(words, NODES, int64(NODE_CHUNK))
    if begin + 2 * NODE_CHUNK > e.node_space:
        # as it is for all who come meanwhile, so that none of them has nodes that are handed out again
        add_atomic(words, NODES, int64(-NODE_CHUNK))
        return False
    leave_nodes(e)
    e.node_count = begin
    e.node_limit = begin + NODE_CHUNK
    return True


@native
def leave_nodes(e):  # type: ignore[no-untyped-def]
    """Marks the nodes that this thread was given and does not fill."""
    nodes = _nodes(e.nodes, e.node_space)
    for v in range(e.node_count, e.node_limit):
        nodes[v].depth = HOLE
        nodes[v].n_edges = 0
        nodes[v].plan = NONE
    e.node_limit = e.node_count


def _handing_out(kind: str, word: int, chunk: int) -> Any:
    """As `more_nodes`, of edges or children, of which at least `count` are needed."""
    filled, limit, space = f"{kind}_count", f"{kind}_limit", f"{kind}_space"

    @native
    def more(e, count):  # type: ignore[no-untyped-def]
        if not is_shared(e):
            return False
        size = max(int64(chunk), int64(count))
        begin = add_atomic(shared_words(e), word, size)
        if begin + size > e[space]:
            return False
        e[filled] = begin
        e[limit] = begin + size
        return True

    return more


more_edges, more_children = _handing_out("edge", EDGES, EDGE_CHUNK), _handing_out("child", CHILDREN, CHILD_CHUNK)
