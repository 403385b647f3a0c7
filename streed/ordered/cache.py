"""What was found of row sets: their bounds, and the best tree where it is known.

Deep nodes are reached by many orders of the same splits. The rows of a node are all rows between its least and its
largest rank in every column, so these ranks say which rows it has, exactly; with what depth and how many splits are
allowed they are the key of an entry.

A table of places (open addressing, a power of two) leads to entries in a pool of int64 words, both addressed by the
record. Words of an entry: hash, lower bound, upper bound, where its plan begins in the pool (0: none), the words of
the key. When the pool or half of the table is full, everything is forgotten.
"""

from __future__ import annotations

from numba import int32, int64, uint32, uint64

from streed.kernels.ordered.record import INFEASIBLE, ROW
from streed.kernels.views import matrix, native, vector
from streed.ordered.layout import DEEP, UNLIMITED, WORDS
from streed.ordered.nodes import rows_of

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
    e.recalled += 1
    kept = pool[at + _PLAN]
    if kept == 0:
        return pool[at + _LOWER], int64(INFEASIBLE)
    for i in range(1 + WORDS * pool[kept]):
        plan[i] = pool[kept + i]
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
        key = vector(e.cache_key, e.columns + 1, int64)
        for c in range(e.columns + 1):
            pool[at + _KEY + c] = key[c]
    pool[at + _LOWER] = max(pool[at + _LOWER], lower)
    if size > 0 and pool[at + _PLAN] == 0:
        kept = e.cache_used
        e.cache_used += size
        pool[at + _UPPER] = upper
        pool[at + _PLAN] = kept
        for i in range(size):
            pool[kept + i] = plan[i]
