"""Bounds from similar nodes that were met elsewhere in the search.

A tree for the rows D serves the rows E at the price of the worst costs of the rows in E but not in D (bounds.py), so
opt(D) >= lower(E) - worst(E without D). Searches meet many sets of rows that differ by few rows, by other branches: a
threshold moved a little, or two columns that nearly agree.

Similar sets are found by bit sampling (Indyk and Motwani 1998): a table looks at a fixed random sample of the rows, and
two sets that agree on the sample lie in the same bucket. Few differences are seldom sampled, and there are several
tables. A bucket holds the last sets that were entered; each entry has the set's rows among 128 others, by which most
of what the bucket holds is ruled out at a glance. What is not found costs time, never the answer.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.bnb.nodes import nodes_of, rows_of, weigh
from streed.kernels.simd import count_ones, store_release
from streed.kernels.views import inline, matrix, native, vector

TABLES = 4

SAMPLES = TABLES + 2
"""Of rows: one of each table, and two that entries hold."""

IN_BUCKET = 32
"""Of a bucket."""

LOWER, NODE, SIGNATURE, FURTHER = 0, IN_BUCKET, 2 * IN_BUCKET, 3 * IN_BUCKET
"""Where a bucket's lower bounds, nodes and two samples of 64 rows begin."""

BUCKET = 4 * IN_BUCKET
"""Words of a bucket."""

_MOST_BUCKETS = 4096
"""Of a table."""

_NODES_OF_BUCKET = 256
"""There is a bucket in each table for so many nodes of the store."""

_FIRST = 256
"""Nodes that a search has met before it keeps tables of similar ones: below, they cost more than they save."""

_SAMPLED = 32
"""Rows that a table looks at, at most."""


@inline
def buckets_for(nodes):  # type: ignore[no-untyped-def]
    """The buckets of one table for a store of so many nodes: a power of two; 0 if there will hardly be a need."""
    buckets = int64(1)
    while buckets < _MOST_BUCKETS and 2 * buckets * _NODES_OF_BUCKET <= nodes:
        buckets *= 2
    return buckets if nodes >= 2 * _FIRST else int64(0)


_WINDOW = 2**14
"""Nodes that are looked up before it is asked whether that pays,"""

_PAYS = 3
"""and one in so many has to be settled: else the tables are given up, as entries are fetched in vain too often."""


@native
def bound_by_similar_nodes(e):  # type: ignore[no-untyped-def]
    """Raises the lower bound of the node e.asked_node by those of similar ones, until it reaches e.asked_target."""
    if e.node_count < _FIRST or not make_ready(e):
        return
    v = e.asked_node
    node = nodes_of(e)[v]
    goal = min(e.asked_target, int64(node.upper))
    rows = rows_of(e)
    masks = matrix(e.similar_masks, SAMPLES, e.row_words, uint64)
    counts = vector(e.similar_counts, TABLES * e.similar_buckets, int64)
    buckets = matrix(e.similar_entries, TABLES * e.similar_buckets, BUCKET, int64)
    best = int64(node.lower)
    signature = _sign(e, rows[v], masks[TABLES])
    further = _sign(e, rows[v], masks[TABLES + 1])
    for table in range(TABLES):
        bucket = table * e.similar_buckets + _bucket_of(e, rows[v], masks[table], node)
        for i in range(min(counts[bucket], IN_BUCKET)):
            lower = buckets[bucket, LOWER + i]
            if lower <= best:
                continue
            others = count_ones(uint64(buckets[bucket, SIGNATURE + i]) & ~signature)
            others += count_ones(uint64(buckets[bucket, FURTHER + i]) & ~further)
            if lower - others * e.similar_step <= best:
                continue
            u = buckets[bucket, NODE + i]
            bound = lower - weigh(e, rows[u], rows[v], -1)
            if bound <= best:
                continue
            other = nodes_of(e)[u]
            if other.depth == node.depth and other.budget == node.budget:
                # another thread may be writing the entry, so it is the node's own bound that counts
                best = max(best, bound - max(int64(0), lower - int64(other.lower)))
                if best >= goal:
                    break
        if best >= goal:
            e.similar += 1
            break
    node.lower = max(int64(node.lower), min(best, int64(node.upper)))
    e.similar_asked += 1
    if e.similar_asked % _WINDOW == 0:
        if _PAYS * (e.similar - e.similar_before) < _WINDOW:
            e.similar_buckets = 0
        e.similar_before = e.similar


@native
def remember_node(e):  # type: ignore[no-untyped-def]
    """Enters the node e.asked_node with its lower bound, or raises that of its entries."""
    if e.node_count < _FIRST or not make_ready(e):
        return
    v = e.asked_node
    node = nodes_of(e)[v]
    rows = rows_of(e)[v]
    masks = matrix(e.similar_masks, SAMPLES, e.row_words, uint64)
    counts = vector(e.similar_counts, TABLES * e.similar_buckets, int64)
    buckets = matrix(e.similar_entries, TABLES * e.similar_buckets, BUCKET, int64)
    words = vector(e.similar_entries, TABLES * e.similar_buckets * BUCKET, int64)
    signature = _sign(e, rows, masks[TABLES])
    further = _sign(e, rows, masks[TABLES + 1])
    for table in range(TABLES):
        bucket = table * e.similar_buckets + _bucket_of(e, rows, masks[table], node)
        at = int64(-1)
        for i in range(min(counts[bucket], IN_BUCKET)):
            if buckets[bucket, NODE + i] == v:
                at = int64(i)
        count = counts[bucket]
        is_new = at < 0
        if is_new:
            at = count % IN_BUCKET
        buckets[bucket, LOWER + at] = node.lower
        store_release(words, bucket * BUCKET + NODE + at, v)
        buckets[bucket, SIGNATURE + at] = int64(signature)
        buckets[bucket, FURTHER + at] = int64(further)
        if is_new:
            # others look at so many entries, all of which were written
            store_release(counts, bucket, count + 1)


@native
def make_ready(e):  # type: ignore[no-untyped-def]
    """Whether there are tables that several threads can look into, once they are made, if the store keeps any."""
    if e.similar_buckets == 0 or e.restrictable == 0:
        return False
    if e.similar_ready == 1:
        return True
    # samples are always the same ones
    masks = vector(e.similar_masks, SAMPLES * e.row_words, uint64)
    masks[:] = uint64(0)
    seed = uint64(0)
    for sample in range(SAMPLES):
        for k in range(_SAMPLED if sample < TABLES else 64):
            seed, word = _draw(seed)
            bit = word >> uint64(58) if sample < TABLES else uint64(k)
            masks[sample * e.row_words + int64(word % uint64(e.row_words))] |= uint64(1) << bit
    counts = vector(e.similar_counts, TABLES * e.similar_buckets, int64)
    counts[:] = 0
    e.similar_step = 0
    if e.groups > 0:
        profits = matrix(e.profits, e.groups, e.planes, int64)
        least = profits[0, e.worst_plane]
        for g in range(e.groups):
            least = min(least, profits[g, e.worst_plane])
        e.similar_step = least * e.worst_unit
    e.similar_ready = 1
    return True


@inline
def _draw(seed):  # type: ignore[no-untyped-def]
    """(the next seed, 64 random bits) by splitmix64."""
    seed = seed + uint64(0x9E3779B97F4A7C15)
    z = (seed ^ (seed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return seed, z ^ (z >> uint64(31))


@inline
def _sign(e, rows, masks):  # type: ignore[no-untyped-def]
    """The rows among the 64 that the signature looks at, each of its bits in one of the words."""
    signature = uint64(0)
    for w in range(e.row_words):
        signature |= rows[w] & masks[w]
    return signature


@inline
def _bucket_of(e, rows, masks, node):  # type: ignore[no-untyped-def]
    """The bucket of a table for the rows of a node."""
    h = uint64(0x9E3779B97F4A7C15) ^ (uint64(node.depth) << uint64(32)) ^ uint64(node.budget)
    for w in range(e.row_words):
        h = (h ^ (rows[w] & masks[w])) * uint64(0xFF51AFD7ED558CCD)
        h ^= h >> uint64(32)
    return int64(h & uint64(e.similar_buckets - 1))
