"""Lower bounds that several threads share, and who is where: a table of subproblems that only grows.

Every thread keeps nodes of its own. What all of them may know of a node is a lower bound on its optimum, which only
rises, and how many of them are in it. An entry is found by the node's whole key, the rows with the depth and the
branching nodes left, so a bound is never taken for that of another node. An entry is written once, by the thread that
turned its first word from 0 to 1, and read once that word is the tag; afterwards the bound is raised, and the number
of threads counted, by atomic steps. Where there is no room, nodes have no entry, and threads know less of each other.

A bound of another thread is a bound of the same problem, so all that is concluded of it holds. A node whose optimum
another thread has found is searched again only if its tree may be needed, and then only until a tree of that value is
found.

The thread that leads (threads.py) tells the others what it proves and where it is, and takes nothing from the table.
"""

from __future__ import annotations

from numba import int32, int64, uint64

from streed.bnb.nodes import nodes_of, rows_of
from streed.bnb.shared_layout import BOUND, HEAD, LIMITS, TAG, THREADS
from streed.kernels.records import NONE
from streed.kernels.simd import add_atomic, load_acquire, load_atomic, raise_atomic, store_release, swap_atomic
from streed.kernels.views import inline, matrix, native, vector

_PROBES = 16
"""Entries that are looked at before a node stays without one."""


@inline
def is_shared(e):  # type: ignore[no-untyped-def]
    """Whether there is a table."""
    return e.shared_slots > 0


@inline
def leads(e):  # type: ignore[no-untyped-def]
    """Whether this is the one of several threads that searches as if it were alone."""
    return e.shared_slots > 0 and e.leads == 1


@inline
def helps(e):  # type: ignore[no-untyped-def]
    """Whether this is one of the threads that help another."""
    return e.shared_slots > 0 and e.leads == 0


@inline
def _words(e):  # type: ignore[no-untyped-def]
    return HEAD + e.key_words


@inline
def _table(e):  # type: ignore[no-untyped-def]
    return vector(e.shared, e.shared_slots * _words(e), int64)


@inline
def _entry_of(e, v):  # type: ignore[no-untyped-def]
    """Where the entry of a node begins, NONE if it has none or was not looked for."""
    return int64(vector(e.node_entries, e.node_space, int32)[v] - 1) * _words(e)


@native
def _find(e, v):  # type: ignore[no-untyped-def]
    """The number of the entry of a node, which is made if there is none; NONE where there is no room."""
    node = nodes_of(e)[v]
    rows = rows_of(e)[v]
    table = _table(e)
    words = _words(e)
    tag = int64((node.hash >> uint64(1)) | uint64(2))
    limits = (int64(node.depth) << int64(32)) | int64(node.budget)
    for probe in range(_PROBES):
        at = int64((node.hash + uint64(probe)) & uint64(e.shared_slots - 1))
        begin = at * words
        seen = load_acquire(table, begin + TAG)
        if seen == 0 and swap_atomic(table, begin + TAG, int64(0), int64(1)):
            table[begin + BOUND] = node.lower
            table[begin + THREADS] = 0
            table[begin + LIMITS] = limits
            bits = matrix(e.shared + 8 * (begin + HEAD), 1, e.key_words, uint64)
            for w in range(e.key_words):
                bits[0, w] = rows[w]
            store_release(table, begin + TAG, tag)
            return at
        seen = load_acquire(table, begin + TAG)
        while seen == 1:
            seen = load_acquire(table, begin + TAG)
        if seen == tag and table[begin + LIMITS] == limits:
            bits = matrix(e.shared + 8 * (begin + HEAD), 1, e.key_words, uint64)
            same = True
            for w in range(e.key_words):
                same = same and bits[0, w] == rows[w]
            if same:
                return at
    return int64(NONE)


@native
def enter_shared(e, v):  # type: ignore[no-untyped-def]
    """Notes that this thread is in a node of its own. Unless it leads, it takes the best lower bound that is known."""
    entries = vector(e.node_entries, e.node_space, int32)
    if entries[v] == 0:
        entries[v] = int32(_find(e, v) + 1)
    begin = _entry_of(e, v)
    if begin < 0:
        return
    node = nodes_of(e)[v]
    table = _table(e)
    add_atomic(table, begin + THREADS, int64(1))
    if e.leads == 0:
        node.lower = max(int64(node.lower), min(load_atomic(table, begin + BOUND), int64(node.upper)))


@native
def leave_shared(e, v):  # type: ignore[no-untyped-def]
    """Notes that this thread has left the node, and what it learnt there."""
    begin = _entry_of(e, v)
    if begin < 0:
        return
    table = _table(e)
    raise_atomic(table, begin + BOUND, int64(nodes_of(e)[v].lower))
    add_atomic(table, begin + THREADS, int64(-1))


@native
def threads_in(e, v):  # type: ignore[no-untyped-def]
    """How many threads are in the node, as far as that is known."""
    begin = _entry_of(e, v)
    return int64(0) if begin < 0 else load_atomic(_table(e), begin + THREADS)
