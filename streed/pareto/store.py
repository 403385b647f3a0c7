"""Fronts of depth two kept by their rows, and fronts of depth three made of them.

Most subproblems of depth two are met once for each order of the columns above them, so each front is kept under its set
of rows, as long as there is room.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.control import NODES, STOP
from streed.kernels.simd import load_atomic
from streed.kernels.views import copy_into, native
from streed.pareto.arrays import ENTRIES, FOUND, FULL, KEYS
from streed.pareto.packed_vectors import add_sets, drain, join, pour
from streed.pareto.staircases import front_of_pairs
from streed.pareto.units import front_of_shallow, leaf_keys, load_rows, start_front


@native
def _slot(store, node):  # type: ignore[no-untyped-def]
    """The slot of the set of rows, or the empty one where it would be."""
    h = uint64(0)
    for w in range(len(node)):
        h = (h ^ node[w]) * uint64(0x9E3779B97F4A7C15)
        h ^= h >> uint64(29)
    at = int64(h & uint64(len(store.slots) - 1))
    while store.slots[at] != 0:
        number = store.slots[at] - 1
        same = True
        for w in range(len(node)):
            if store.sets[number, w] != node[w]:
                same = False
                break
        if same:
            return at
        at = (at + 1) & (len(store.slots) - 1)
    return at


@native
def _keep(store, slot, node, keys, columns):  # type: ignore[no-untyped-def]
    entries = store.counters[ENTRIES]
    begin = store.counters[KEYS]
    if entries == len(store.sets) or begin + len(keys) > len(store.keys):
        store.counters[FULL] = 1
        return
    store.slots[slot] = entries + 1
    store.sets[entries] = node
    copy_into(store.keys[begin:], keys)
    copy_into(store.columns[begin:], columns)
    store.begins[entries + 1] = begin + len(keys)
    store.counters[ENTRIES] = entries + 1
    store.counters[KEYS] = begin + len(keys)


@native
def _front_of_two(rows, scratch, store, control, node):  # type: ignore[no-untyped-def]
    """The keys of the front of depth two, kept or made."""
    slot = _slot(store, node)
    number = store.slots[slot]
    if number != 0:
        store.counters[FOUND] += 1
        return store.keys[store.begins[number - 1] : store.begins[number]]
    control[NODES] += 1
    keys, columns = front_of_pairs(rows, scratch, node)
    _keep(store, slot, node, keys, columns)
    return keys


@entry
def front_of_three(rows, scratch, store, control, best, origins, node):  # type: ignore[no-untyped-def]
    """(keys, columns): the front of trees of depth three at most (Eq. 8); part of it, if it was stopped.

    `best` and `origins` are empty buckets, apart from those of the units below.
    """
    layout = rows.layout
    load_rows(rows, scratch, node)
    keys, columns = start_front(rows, scratch, leaf_keys(rows, scratch.totals))
    if layout.buckets:
        drain(layout, scratch.buckets[2], scratch.origins)
    if len(keys) == 1 and keys[0] == 0:
        return keys, columns
    if layout.buckets:
        shift = layout.shifts[0]
        for i in range(len(keys)):
            best[keys[i] >> shift] = keys[i] & ((int64(1) << shift) - 1)
            origins[keys[i] >> shift] = columns[i]
    left = np.empty(len(node), np.uint64)
    right = np.empty(len(node), np.uint64)
    for f in range(len(rows.column_rows)):
        if load_atomic(control, STOP) != 0:
            break
        some = uint64(0)
        others = uint64(0)
        for w in range(len(node)):
            left[w] = node[w] & rows.column_rows[f, w]
            right[w] = node[w] ^ left[w]
            some |= left[w]
            others |= right[w]
        if some == uint64(0) or others == uint64(0):
            continue
        a = _front_of_two(rows, scratch, store, control, left)
        b = _front_of_two(rows, scratch, store, control, right)
        if layout.buckets:
            pour(layout, a, b, f, best, origins)
            if best[0] == 0:
                break  # a tree that costs no more than any tree must
        else:
            keys, columns = join(layout, keys, columns, add_sets(layout, a, b), f)
    if layout.buckets:
        return drain(layout, best, origins)
    return keys, columns


@entry
def front_of_node(rows, scratch, node, depth):  # type: ignore[no-untyped-def]
    """(keys, columns): the front of trees of depth 0, 1 or 2 at a set of rows (W,) uint64.

    The columns are those of the root of the tree of each key, or `LEAF` less the label.
    """
    if depth == 2:
        return front_of_pairs(rows, scratch, node)
    return front_of_shallow(rows, scratch, node, depth)


@entry
def kept_front(store, node):  # type: ignore[no-untyped-def]
    """(keys, columns) of a set of rows; no keys if none are kept."""
    number = store.slots[_slot(store, node)]
    if number == 0:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    begin = store.begins[number - 1]
    end = store.begins[number]
    return store.keys[begin:end].copy(), store.columns[begin:end].copy()


@entry
def rehash(store):  # type: ignore[no-untyped-def]
    """Fills the empty slots of a store that was given more room."""
    for number in range(store.counters[ENTRIES]):
        store.slots[_slot(store, store.sets[number])] = number + 1
    store.counters[FULL] = 0
