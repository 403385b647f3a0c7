"""Trees of depth two or less from sums over pairs of columns: all of them by their entries, and one for an entry.

Sums over the rows that have two columns, for every pair of columns, tell the sums of all four leaves below any two of
them. Pairs (F, F, L), of which the halves i <= j are read, and total (L,) over all rows are sums of *profits*: how many
rows there are, then for every label but the first its entry less that of the first label (`width` each). Entries here
are therefore beyond those of the first label. There are no columns, F = 0, where the depth is 0. `split` (width,) is
what a branching node adds; all are int64.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.enumerate.entries import (
    FIRST_BITS,
    adds_up,
    compact,
    find_addends,
    keep_needed,
    merge_equal,
    new_index,
    new_table,
    order_by,
    put_entries,
    put_sums,
    take,
)
from streed.enumerate.layout import COST, FULL, SPACE
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE, NONE
from streed.kernels.views import copy_into, native

_FEW = 4
"""Of so few trees of a side, all sums are tried before equal ones are looked for."""


@native
def put_leaf(part, width, least_rows, found):  # type: ignore[no-untyped-def]
    """How many entries a leaf has, one per label or none; writes them. `part`: sums of profits over its rows."""
    if part[0] < least_rows:
        return 0
    labels = (len(part) - 1) // width + 1
    for c in range(width):
        found[0, c] = 0
    for k in range(1, labels):
        for c in range(width):
            found[k, c] = part[1 + (k - 1) * width + c]
    return labels


@native
def signed_costs(pairs, size):  # type: ignore[no-untyped-def]
    """(costs (size, size), singles (size,)) of pairs of two labels, as `signed_sides` takes them."""
    costs = np.empty((size, size), np.int64)
    singles = np.empty(size, np.int64)
    for i in range(size):
        singles[i] = pairs[i, i, 1]
        for j in range(i, size):
            costs[i, j] = costs[j, i] = pairs[i, j, 1]
    return costs, singles


@native
def signed_sides(costs, singles, total, place, depth, split_cost):  # type: ignore[no-untyped-def]
    """(least cost with the column, without it) of trees of depth at most 0 or 1, two labels, any leaf allowed.

    costs (F, F): of the second label beyond the first, for rows that have both columns; singles (F,): its diagonal. A
    split that separates nothing costs no less than a leaf here, so nobody asks whether rows are there.
    """
    inner = costs[place, place]
    outer = total - inner
    least_in = int64(0)
    least_out = int64(0)
    if depth > 0:
        for k in range(len(singles)):
            common = costs[place, k]
            rest = singles[k] - common
            least_in = min(least_in, min(common, int64(0)) + min(inner - common, int64(0)))
            least_out = min(least_out, min(rest, int64(0)) + min(outer - rest, int64(0)))
    return min(least_in + split_cost, inner, int64(0)), min(least_out + split_cost, outer, int64(0))


@native
def put_stumps(pairs, total, place, inside, budget, split, least_rows, leaves, found):  # type: ignore[no-untyped-def]
    """How many trees of depth at most 1 cost at most `budget` beyond the base; writes their entries to `found`.

    The rows: all (place -1), or those that have (inside) or lack the column `place`. `leaves` (2, K, width) is room.
    """
    size, columns = len(pairs), len(total)
    width = len(split)
    whole = np.empty(columns, np.int64)
    part = np.empty(columns, np.int64)
    for c in range(columns):
        whole[c] = total[c]
        if place >= 0:
            whole[c] = pairs[place, place, c] if inside else total[c] - pairs[place, place, c]
    count = 0
    for i in range(put_leaf(whole, width, least_rows, leaves[0])):
        if leaves[0, i, COST] <= budget:
            copy_into(found[count], leaves[0, i])
            count += 1
    for k in range(size):
        if k == place:
            continue
        for c in range(columns):
            part[c] = pairs[k, k, c]
            if place >= 0:
                common = pairs[min(place, k), max(place, k), c]
                part[c] = common if inside else part[c] - common
        if part[0] == 0 or part[0] == whole[0]:
            continue
        n_left = put_leaf(part, width, least_rows, leaves[0])
        for c in range(columns):
            part[c] = whole[c] - part[c]
        n_right = put_leaf(part, width, least_rows, leaves[1])
        for i in range(n_left):
            for j in range(n_right):
                if leaves[0, i, COST] + leaves[1, j, COST] + split[COST] <= budget:
                    for c in range(width):
                        found[count, c] = leaves[0, i, c] + leaves[1, j, c] + split[c]
                    count += 1
    return count


@native
def _least_cost(found, count):  # type: ignore[no-untyped-def]
    """The least cost of the first entries."""
    least = int64(INFINITE)
    for i in range(count):
        least = min(least, found[i, COST])
    return least


@native
def _keep_cheap(found, count, room):  # type: ignore[no-untyped-def]
    """How many of the entries cost at most `room`; moves them to the front."""
    kept = 0
    for i in range(count):
        if found[i, COST] <= room:
            copy_into(found[kept], found[i])
            kept += 1
    return kept


@native
def _sides(costs, singles, total, place, split_cost, room):  # type: ignore[no-untyped-def]
    """(room with the column, room without it): what trees of depth 1 for the sides may cost by `signed_sides`."""
    least_in, least_out = signed_sides(costs, singles, total, place, 1, split_cost)
    return room - least_out, room - least_in


@entry
def enumerate_shallow(pairs, total, least, split, depth, least_rows, budget, limits):  # type: ignore[no-untyped-def]
    """The entries of the trees of depth at most 0, 1 or 2 that cost at most `budget` and are needed by the limits.

    `least` (width,) is the entry of all rows under the first label, which counts here.
    """
    size, width = len(pairs), len(split)
    labels = (len(total) - 1) // width + 1
    left = np.empty((labels + size * labels * labels, width), np.int64)
    right = np.empty((labels + size * labels * labels, width), np.int64)
    leaves = np.empty((2, labels, width), np.int64)
    index = new_index(len(left))
    entries, used = new_table(int64(FIRST_BITS), width)
    budget -= least[COST]
    n_left = put_stumps(pairs, total, int64(-1), False, budget, split, least_rows, leaves, left)
    entries, used, bits, count = put_entries(entries, used, int64(FIRST_BITS), int64(0), left, n_left)
    is_signed = labels == 2 and least_rows <= 1
    costs, singles = signed_costs(pairs, size if is_signed else 0)
    room = budget - split[COST]
    for place in range(size if depth == 2 else 0):
        if count > limits[SPACE]:
            break
        room_left, room_right = int64(INFINITE), int64(INFINITE)
        if is_signed:
            room_left, room_right = _sides(costs, singles, total[1], place, split[COST], room)
            if room_left + room_right < room:
                continue
        n_left = put_stumps(pairs, total, place, True, room_left, split, least_rows, leaves, left)
        n_right = put_stumps(pairs, total, place, False, room_right, split, least_rows, leaves, right)
        if n_left == 0 or n_right == 0:
            continue
        if not is_signed:
            cheapest = _least_cost(right, n_right)
            n_right = _keep_cheap(right, n_right, room - _least_cost(left, n_left))
            n_left = _keep_cheap(left, n_left, room - cheapest)
        if min(n_left, n_right) > _FEW:
            # most splits of few rows, or of rows of one class, are worth the same, and each would meet all others
            n_left = merge_equal(left, n_left, index)
            n_right = merge_equal(right, n_right, index)
        ordered = take(right, order_by(right, n_right, COST), n_right)
        entries, used, bits, count = put_sums(
            entries, used, bits, count, left, n_left, ordered, n_right, split, budget, limits[SPACE]
        )
    if count > limits[SPACE] and depth > 0:
        limits[FULL] = 1
    found = compact(entries, used, count)
    for i in range(count):
        for c in range(width):
            found[i, c] += least[c]
    return keep_needed(found, limits)


@entry
def find_shallow(pairs, total, split, depth, least_rows, target):  # type: ignore[no-untyped-def]
    """(label, place, first, second): how a tree of depth at most 0, 1 or 2 has the target as its entry.

    A leaf of the label; or, the label NONE, a split on the column at the place, whose sides have the targets first with
    the column and second without it. Both are NONE if no tree has the target.
    """
    size, width = len(pairs), len(split)
    labels = (len(total) - 1) // width + 1
    left = np.zeros((labels + size * labels * labels, width), np.int64)
    right = np.zeros((labels + size * labels * labels, width), np.int64)
    leaves = np.zeros((2, labels, width), np.int64)
    for k in range(put_leaf(total, width, least_rows, leaves[0])):
        if adds_up(leaves[0], k, leaves[0], int64(0), target):
            return int64(k), int64(NONE), left[0], right[0]
    rest = target - split
    part = np.empty(len(total), np.int64)
    is_signed = depth == 2 and labels == 2 and least_rows <= 1
    costs, singles = signed_costs(pairs, size if is_signed else 0)
    for place in range(size if depth > 0 else 0):
        for c in range(len(total)):
            part[c] = total[c] - pairs[place, place, c]
        if part[0] == 0 or part[0] == total[0]:
            continue
        if depth == 1:
            n_right = put_leaf(part, width, least_rows, right)
            n_left = put_leaf(pairs[place, place], width, least_rows, left)
        else:
            room_left, room_right = int64(INFINITE), int64(INFINITE)
            if is_signed:
                room_left, room_right = _sides(costs, singles, total[1], place, split[COST], rest[COST])
                if room_left + room_right < rest[COST]:
                    continue
            n_left = put_stumps(pairs, total, place, True, room_left, split, least_rows, leaves, left)
            n_right = put_stumps(pairs, total, place, False, room_right, split, least_rows, leaves, right)
        i, j = find_addends(left, n_left, right, n_right, rest)
        if i >= 0:
            return int64(NONE), int64(place), left[i], right[j]
    return int64(NONE), int64(NONE), left[0], right[0]
