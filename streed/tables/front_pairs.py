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
from streed.kernels.views import inline, native
from streed.tables.nondominated import close_front, drain, merge, open_front, pour, sort_and_sweep
from streed.tables.packing import DIRECTIONS


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
def leaf_keys(rows, sums):  # type: ignore[no-untyped-def]
    """The keys of a leaf at a node with these sums, one for each label, none if it has too few rows."""
    if rows.min_leaf > 1 and sums[rows.labels] < rows.min_leaf:
        return np.empty(0, np.int64)
    return sums[: rows.labels].copy()


@native
def start_front(rows, scratch, leaves):  # type: ignore[no-untyped-def]
    """(keys, columns) of the leaves at the node; where there are buckets, in these too."""
    layout = rows.layout
    found = sort_and_sweep(layout, leaves.copy())
    columns = np.empty(len(found), np.int32)
    for i in range(len(found)):
        for k in range(len(leaves) - 1, -1, -1):
            if leaves[k] == found[i]:
                columns[i] = LEAF - k
    open_front(layout, found, columns, scratch.buckets[2], scratch.origins)
    return found, columns


@native
def merge_stumps(rows, scratch, kept, keys, columns):  # type: ignore[no-untyped-def]
    """(keys, columns) with the trees of one branching node; where there are buckets, in these."""
    planes = rows.costs.shape[1]
    side, rest = np.empty(planes, np.int64), np.empty(planes, np.int64)
    for j in range(kept):
        for p in range(planes):
            side[p] = scratch.sums[p, j]
            rest[p] = scratch.totals[p] - side[p]
        a, b, column = leaf_keys(rows, side), leaf_keys(rows, rest), scratch.active[j]
        keys, columns = merge(rows.layout, keys, columns, a, b, column, scratch.buckets[2], scratch.origins)
    return keys, columns


@entry
def front_of_node(rows, scratch, node, depth):  # type: ignore[no-untyped-def]
    """(keys, columns): the front of trees of depth 0, 1 or 2 at a set of rows (W,) uint64 (Eq. 8).

    The columns are those of the root of the tree of each key, or `LEAF` less the label.
    """
    layout, best, origins = rows.layout, scratch.buckets[2], scratch.origins
    kept, stride = load_rows(rows, scratch, node)
    keys, columns = start_front(rows, scratch, leaf_keys(rows, scratch.totals))
    if depth == 0 or kept == 0 or (len(keys) == 1 and keys[0] == 0):
        return close_front(layout, keys, columns, best, origins)  # or a leaf costs no more than any tree must
    if depth == 1:
        keys, columns = merge_stumps(rows, scratch, kept, keys, columns)
        return close_front(layout, keys, columns, best, origins)
    signed = rows.differences.shape[1] > 0
    weights = rows.differences if signed else rows.costs
    groups, planes = len(rows.group_words) - 1, weights.shape[1]
    used = scratch.begins[groups]
    words = scratch.words[: used * stride].reshape((used, stride))
    pairs = scratch.pairs[: planes * stride * stride].reshape((planes * stride, stride))
    count_pairs(words, scratch.begins, groups, kept, weights, planes, pairs, scratch.units)
    if signed:
        _merge_signed(rows, scratch, pairs, stride, kept, keys)
    for j in range(0 if signed else kept):
        a = _side(rows, scratch, pairs, stride, kept, j, 1)
        b = _side(rows, scratch, pairs, stride, kept, j, 0)
        keys, columns = merge(layout, keys, columns, a, b, scratch.active[j], best, origins)
    return close_front(layout, keys, columns, best, origins)


@native
def _side(rows, scratch, pairs, stride, kept, j, side):  # type: ignore[no-untyped-def]
    """The front of depth one on a side of the node's column j."""
    labels = rows.labels
    split = rows.layout.split
    counted = rows.min_leaf > 1
    size = scratch.sums[labels, j] if counted else int64(0)
    if counted and side == 0:
        size = scratch.totals[labels] - size
    if counted and size < rows.min_leaf:
        return np.empty(0, np.int64)
    found = np.empty(labels + kept * labels * (labels - 1), np.int64)
    count = 0
    for a in range(labels):
        key = scratch.sums[a, j]
        found[count] = scratch.totals[a] - key if side == 0 else key
        count += 1
    for l in range(kept):
        if counted:
            n = int64(pairs[labels * stride + j, l])
            if side == 0:
                n = int64(pairs[labels * stride + l, l]) - n
            if n < rows.min_leaf or size - n < rows.min_leaf:
                continue
        for a in range(labels):
            have = int64(pairs[a * stride + j, l])
            if side == 0:
                have = int64(pairs[a * stride + l, l]) - have
            for b in range(labels):
                if a != b:
                    other = int64(pairs[b * stride + j, j]) - int64(pairs[b * stride + j, l])
                    if side == 0:
                        whole = int64(pairs[b * stride + l, l])
                        other = scratch.totals[b] - whole - other
                    found[count] = have + other + split
                    count += 1
    return sort_and_sweep(rows.layout, found[:count])


_MOST_WEIGHT = 127
"""Entries of directions, so that weighted values fit 32 bits."""

_MOST_CORNERS = 96


@native
def _merge_signed(rows, scratch, pairs, stride, kept, keys):  # type: ignore[no-untyped-def]
    """Puts the trees of depth two into the node's buckets, by first columns of rising bounds."""
    layout, best = rows.layout, scratch.buckets[2]
    directions = _directions(layout, keys)
    _bound_columns(rows, scratch, pairs, stride, kept, directions)
    corners = np.empty((DIRECTIONS, _MOST_CORNERS), np.int64)
    count = _find_corners(layout, best, directions, corners)
    for j in np.argsort(scratch.bounds[0, :kept]):
        if count >= 0 and _is_useless(scratch.bounds, corners, count, j):
            continue
        a = _signed_side(rows, scratch, pairs, stride, kept, j, 1)
        b = _signed_side(rows, scratch, pairs, stride, kept, j, 0)
        pour(layout, a, b, scratch.active[j], best, scratch.origins)
        if best[0] == 0:
            break  # a tree that costs no more than any tree must
        count = _find_corners(layout, best, directions, corners)


@native
def _directions(layout, keys):  # type: ignore[no-untyped-def]
    """(DIRECTIONS, 2) weights of the components: the normal of the line between the front's ends, and tilts of it."""
    shift = layout.shifts[0]
    mask = (int64(1) << shift) - 1
    last = len(keys) - 1
    rise = max(int64(1), (keys[0] & mask) - (keys[last] & mask)) if last > 0 else int64(1)
    run = max(int64(1), (keys[last] >> shift) - (keys[0] >> shift)) if last > 0 else int64(1)
    found = np.empty((DIRECTIONS, 2), np.int64)
    for t in range(DIRECTIONS):
        a = rise << max(0, 2 - t)
        b = run << max(0, t - 2)
        coarse = max(a, b) // _MOST_WEIGHT + 1
        # the line between the ends comes first
        at = 0 if t == 2 else (t + 1 if t < 2 else t)
        found[at, 0] = max(int64(1), a // coarse)
        found[at, 1] = max(int64(1), b // coarse)
    return found


@native
def _bound_columns(rows, scratch, pairs, stride, kept, directions):  # type: ignore[no-untyped-def]
    """Writes bounds[t, j]: no tree with first column j has a value below it in direction t."""
    layout = rows.layout
    shift = layout.shifts[0]
    mask = (int64(1) << shift) - 1
    split = layout.split
    whole = np.empty(stride, np.int32)
    for t in range(DIRECTIONS):
        u = np.int32(directions[t, 0])
        v = np.int32(directions[t, 1])
        price = u * (split >> shift) + v * (split & mask)
        for l in range(kept):
            whole[l] = u * pairs[l, l] + v * pairs[stride + l, l]
        total_0 = u * (scratch.totals[0] >> shift) + v * (scratch.totals[0] & mask)
        total_1 = u * (scratch.totals[1] >> shift) + v * (scratch.totals[1] & mask)
        for j in range(kept):
            first = pairs[j]
            second = pairs[stride + j]
            least = np.int32(0)
            most = np.int32(0)
            rest_least = np.int32(0)
            rest_most = np.int32(0)
            for l in range(kept):
                x = np.int32(u * first[l] + v * second[l])
                y = np.int32(whole[l] - x)
                least = min(least, x)
                most = max(most, x)
                rest_least = min(rest_least, y)
                rest_most = max(rest_most, y)
            with_0 = u * (scratch.sums[0, j] >> shift) + v * (scratch.sums[0, j] & mask)
            with_1 = u * (scratch.sums[1, j] >> shift) + v * (scratch.sums[1, j] & mask)
            # the label 1 and the label 0 changed on some rows, or on none
            one = min(with_1 + least, with_0 - most)
            other = min(total_1 - with_1 + rest_least, total_0 - with_0 - rest_most)
            scratch.bounds[t, j] = one + other + price


@native
def _find_corners(layout, best, directions, corners):  # type: ignore[no-untyped-def]
    """How many corners the staircase has: the largest values that it does not dominate; -1 for too many.

    Writes them in every direction.
    """
    shift = layout.shifts[0]
    most = int64(1) << shift
    least = most
    count = 0
    for x in range(len(best)):
        if best[x] < least:
            if x > 0:
                if count == _MOST_CORNERS:
                    return -1
                _write_corner(directions, corners, count, x - 1, least - 1)
                count += 1
            least = best[x]
            if least == 0:
                return count
    if count == _MOST_CORNERS:
        return -1
    _write_corner(directions, corners, count, len(best), least - 1)
    return count + 1


@inline
def _write_corner(directions, corners, count, x, y):  # type: ignore[no-untyped-def]
    for t in range(DIRECTIONS):
        corners[t, count] = directions[t, 0] * x + directions[t, 1] * y


@inline
def _is_useless(bounds, corners, count, j):  # type: ignore[no-untyped-def]
    """Whether every corner lies below a line of the column: all its values are dominated, or there already."""
    for i in range(count):
        below = False
        for t in range(DIRECTIONS):
            below = below or bounds[t, j] > corners[t, i]
        if not below:
            return False
    return True


@native
def _signed_side(rows, scratch, pairs, stride, kept, j, side):  # type: ignore[no-untyped-def]
    """The front of depth one on a side of the node's column j."""
    layout = rows.layout
    best = scratch.buckets[side]
    shift = layout.shifts[0]
    mask = (int64(1) << shift) - 1
    counted = rows.min_leaf > 1
    base_0 = scratch.sums[0, j]
    base_1 = scratch.sums[1, j]
    size = scratch.sums[rows.labels, j] if counted else int64(0)
    if side == 0:
        base_0 = scratch.totals[0] - base_0
        base_1 = scratch.totals[1] - base_1
        if counted:
            size = scratch.totals[rows.labels] - size
    if counted and size < rows.min_leaf:
        return np.empty(0, np.int64)
    top = max(base_0 >> shift, base_1 >> shift)
    best[base_0 >> shift] = base_0 & mask
    best[base_1 >> shift] = min(best[base_1 >> shift], base_1 & mask)
    base_0 += layout.split
    base_1 += layout.split
    for l in range(kept):
        x = int64(pairs[j, l])
        y = int64(pairs[stride + j, l])
        if side == 0:
            x = int64(pairs[l, l]) - x
            y = int64(pairs[stride + l, l]) - y
        if counted:
            n = int64(pairs[2 * stride + j, l])
            if side == 0:
                n = int64(pairs[2 * stride + l, l]) - n
            if n < rows.min_leaf or size - n < rows.min_leaf:
                continue
        change = (x << shift) + y
        key = base_1 + change
        at = key >> shift
        if key & mask < best[at]:
            best[at] = key & mask
            top = max(top, at)
        key = base_0 - change
        at = key >> shift
        if key & mask < best[at]:
            best[at] = key & mask
            top = max(top, at)
    return drain(layout, best, scratch.origins, top + 1)[0]
