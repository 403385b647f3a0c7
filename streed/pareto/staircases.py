"""Fronts of depth two of two labels and two components, such as false negatives and false positives.

With two labels a tree of one branching node costs what one label costs all rows, and by how much the other label costs
the rows of one side more or less: one signed vector per pair of columns. A front is a staircase, best[x] = the least
second component, and most first columns are passed over: for some directions w >= 0, the least of w . value of each
side is found by vector instructions, and a column is of no use if every corner of the staircase that is known lies
below one of its lines (an upper- and a lower-bound set, STreeD, Appendix B).
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.counting.pair_counts import count_pairs
from streed.kernels.views import inline, native
from streed.pareto.arrays import DIRECTIONS
from streed.pareto.packed_vectors import drain, empty, pour
from streed.pareto.units import front_of_any_pairs, leaf_keys, load_rows, start_front

_MOST_WEIGHT = 127
"""Entries of directions, so that weighted values fit 32 bits."""

_MOST_CORNERS = 96


@entry
def front_of_node(rows, scratch, node, depth):  # type: ignore[no-untyped-def]
    """(keys, columns): the front of trees of depth 0, 1 or 2 at a set of rows (W,) uint64 (Eq. 8).

    The columns are those of the root of the tree of each key, or `LEAF` less the label.
    """
    if depth < 2 or rows.differences.shape[1] == 0:
        return front_of_any_pairs(rows, scratch, node, depth)
    return _front_of_signed_pairs(rows, scratch, node)


@native
def _front_of_signed_pairs(rows, scratch, node):  # type: ignore[no-untyped-def]
    layout = rows.layout
    kept, stride = load_rows(rows, scratch, node)
    keys, _ = start_front(rows, scratch, leaf_keys(rows, scratch.totals))
    if kept == 0 or (len(keys) == 1 and keys[0] == 0):
        # nothing separates the rows, or a leaf costs no more than any tree must
        return drain(layout, scratch.buckets[2], scratch.origins)
    planes = rows.differences.shape[1]
    groups = len(rows.group_words) - 1
    used = scratch.begins[groups]
    words = scratch.words[: used * stride].reshape((used, stride))
    pairs = scratch.pairs[: planes * stride * stride].reshape((planes * stride, stride))
    count_pairs(words, scratch.begins, groups, kept, rows.differences, planes, pairs, stride, scratch.units)
    directions = _directions(layout, keys)
    _bound_columns(rows, scratch, pairs, stride, kept, directions)
    corners = np.empty((DIRECTIONS, _MOST_CORNERS), np.int64)
    count = _find_corners(layout, scratch.buckets[2], directions, corners)
    order = np.argsort(scratch.bounds[0, :kept])
    for j in order:
        if count >= 0 and _is_useless(scratch.bounds, corners, count, j):
            continue
        a = _side(rows, scratch, pairs, stride, kept, j, 1)
        b = _side(rows, scratch, pairs, stride, kept, j, 0)
        pour(layout, a, b, scratch.active[j], scratch.buckets[2], scratch.origins)
        if scratch.buckets[2, 0] == 0:
            break  # a tree that costs no more than any tree must
        count = _find_corners(layout, scratch.buckets[2], directions, corners)
    return drain(layout, scratch.buckets[2], scratch.origins)


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
def _side(rows, scratch, pairs, stride, kept, j, side):  # type: ignore[no-untyped-def]
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
    return empty(layout, best, top + 1)
