"""Fronts of trees of depth one and two at one set of rows, from the sums over pairs of columns.

A leaf's value is a key (`nondominated.py`), one for each label, so that the pair sums of `pair_counts.py` are keys
themselves: of every column l among the rows that have column j. The two sides of a first column j are solved on their
own, by all second columns l, and merged (STreeD, Section 4.2, and Demirovic et al. 2022 for the counts).
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.counting.pair_counts import count_pairs
from streed.kernels.counting.rows import build_words, list_rows
from streed.kernels.records import LANES, LEAF, MOST_WORDS
from streed.kernels.simd import fill, load, popcount, store
from streed.kernels.views import native
from streed.tables.nondominated import close_front, drain, merge, open_front, pour, sort_and_sweep


@native
def load_rows(rows, scratch, node):  # type: ignore[no-untyped-def]
    """(columns that are not constant, stride of the words): makes words of them, and sums by label, in all and each."""
    groups = len(rows.group_words) - 1
    blocks = rows.row_bits.shape[1]
    planes = rows.costs.shape[1]
    n = used = int64(0)
    scratch.totals[:planes] = 0
    for g in range(groups):
        scratch.begins[g] = used
        count = list_rows(node, rows.group_words[g], rows.group_words[g + 1], scratch.rows, n)
        used += build_words(scratch.rows, n, count, rows.row_bits, blocks, scratch.all_words, used)
        n += count
        for p in range(planes):
            scratch.totals[p] += count * rows.costs[g, p]
    scratch.begins[groups] = used
    kept = 0
    for block in range(blocks):
        k = block * LANES
        scratch.ones[k : k + LANES] = 0
        scratch.sums[:, k : k + LANES] = 0
        for g in range(groups):
            for begin in range(scratch.begins[g], scratch.begins[g + 1], MOST_WORDS):
                count = fill(scratch.popcounts, 0)
                for w in range(begin, min(begin + MOST_WORDS, scratch.begins[g + 1])):
                    count = count + popcount(load(scratch.all_words, w, k))
                store(scratch.popcounts, 0, 0, count)
                for lane in range(LANES):
                    scratch.ones[k + lane] += scratch.popcounts[0, lane]
                for p in range(planes):
                    times = rows.costs[g, p]
                    if times != 0:
                        for lane in range(LANES):
                            scratch.sums[p, k + lane] += times * scratch.popcounts[0, lane]
    for f in range(len(rows.column_rows)):
        if 0 < scratch.ones[f] < n:
            scratch.active[kept] = f
            kept += 1
    stride = (kept + LANES - 1) // LANES * LANES
    words = scratch.words[: used * stride].reshape((used, stride))
    for w in range(used):
        for k in range(kept):
            words[w, k] = scratch.all_words[w, scratch.active[k]]
        for k in range(kept, stride):
            words[w, k] = 0
    for p in range(planes):
        for k in range(kept):
            scratch.sums[p, k] = scratch.sums[p, scratch.active[k]]
    return kept, stride


@native
def start_front(rows, scratch):  # type: ignore[no-untyped-def]
    """(keys, columns) of the leaves at the node, if it has rows enough; where there are buckets, in these too."""
    layout = rows.layout
    enough = rows.min_leaf <= 1 or scratch.totals[rows.labels] >= rows.min_leaf
    leaves = scratch.totals[: rows.labels if enough else 0]
    found = sort_and_sweep(layout, leaves.copy())
    columns = np.empty(len(found), np.int32)
    for i in range(len(found)):
        for k in range(len(leaves) - 1, -1, -1):
            if leaves[k] == found[i]:
                columns[i] = LEAF - k
    open_front(layout, found, columns, scratch.buckets[0], scratch.origins[0])
    return found, columns


@entry
def front_of_node(rows, scratch, node, depth):  # type: ignore[no-untyped-def]
    """(keys, columns): the front of trees of depth 0, 1 or 2 at a set of rows (W,) uint64 (Eq. 8).

    The columns are those of the root of the tree of each key, or `LEAF` less the label.
    """
    layout, best, origins = rows.layout, scratch.buckets[0], scratch.origins[0]
    kept, stride = load_rows(rows, scratch, node)
    keys, columns = start_front(rows, scratch)
    if depth == 0 or (len(keys) == 1 and keys[0] == 0):
        return close_front(layout, keys, columns, best, origins)  # or a leaf costs no more than any tree must
    groups, planes = rows.costs.shape
    used = scratch.begins[groups]
    words = scratch.words[: used * stride].reshape((used, stride))
    pairs = scratch.pairs[: planes * stride * stride].reshape((planes * stride, stride))
    seconds = kept if depth == 2 else int64(0)
    if seconds > 0:
        count_pairs(words, scratch.begins, groups, kept, rows.costs, planes, pairs, scratch.units)
    for j in range(kept):
        a = _side(rows, scratch, pairs, seconds, j, 1)
        b = _side(rows, scratch, pairs, seconds, j, 0)
        keys, columns = merge(layout, keys, columns, a, b, scratch.active[j], best, origins)
        if layout.buckets and best[0] == 0:
            break  # a tree that costs no more than any tree must
    return close_front(layout, keys, columns, best, origins)


@native
def _side(rows, scratch, pairs, seconds, j, side):  # type: ignore[no-untyped-def]
    """The front on a side of the node's column j of leaves, and of splits by the first `seconds` of its columns."""
    stride, labels, least, split = pairs.shape[1], rows.labels, rows.min_leaf, rows.layout.split
    whole, part = np.empty(rows.costs.shape[1], np.int64), np.empty(labels, np.int64)
    for p in range(len(whole)):
        whole[p] = scratch.sums[p, j] if side == 1 else scratch.totals[p] - scratch.sums[p, j]
    if least > 1 and whole[labels] < least:
        return np.empty(0, np.int64)
    found = np.empty(labels + seconds * labels * (labels - 1), np.int64)
    found[:labels] = whole[:labels]
    count = labels
    for l in range(seconds):
        if least > 1:
            n = int64(pairs[labels * stride + j, l])
            n = n if side == 1 else scratch.sums[labels, l] - n
            if n < least or whole[labels] - n < least:
                continue
        if labels == 2:  # by how much label 0 costs the part more than label 1
            beyond = int64(pairs[j, l]) - int64(pairs[stride + j, l])
            beyond = beyond if side == 1 else scratch.sums[0, l] - scratch.sums[1, l] - beyond
            found[count] = whole[labels - 1] + beyond + split
            found[count + 1] = whole[0] - beyond + split
            count += 2
            continue
        for a in range(labels):
            here = int64(pairs[a * stride + j, l])
            part[a] = here if side == 1 else scratch.sums[a, l] - here
        for a in range(labels):
            for b in range(labels):
                if a != b:
                    found[count] = part[a] + whole[b] - part[b] + split
                    count += 1
    layout, best, origins = rows.layout, scratch.buckets[1], scratch.origins[1]
    if layout.buckets:
        used = pour(layout, int64(0), found[:count], 0, best, origins)
        return drain(layout, best, origins, used)[0]
    return sort_and_sweep(layout, found[:count])
