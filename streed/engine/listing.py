"""Lists of trees: for a set of rows, every vector of sums that a tree of a bounded weighted cost can have.

An entry is (key, value, cost): the key holds all sums but one in one whole number, added up like them; the value is the
remaining sum, of which the least for each key is kept; the cost is the weighted sum that the budget bounds. Shallow
lists come from the sums of all pairs of columns; deeper ones are combined from these.

Rows are given by their numbers; `starts` (n + 1,) and `columns` say which columns each row has. `profits` (n, L) holds
for each row how many rows it stands for, then for every label but the first the (cost, value, key) beyond those of the
first label, which are `base` (n, 3). `split` (3,) is what a branching node adds. All are int64.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.engine.compiled import entry
from streed.engine.records import INFINITE
from streed.engine.views import native

_FIRST_BITS = 10


@native
def _new_table(bits):  # type: ignore[no-untyped-def]
    """(entries (capacity, 3), whether used (capacity,))."""
    return np.empty((1 << bits, 3), np.int64), np.zeros(1 << bits, np.uint8)


@native
def _place(used, entries, bits, key):  # type: ignore[no-untyped-def]
    """Where the key is, or would be."""
    at = int64((uint64(key) * uint64(0x9E3779B97F4A7C15)) >> uint64(64 - bits))
    while used[at] == 1 and entries[at, 0] != key:
        at = (at + 1) & ((1 << bits) - 1)
    return at


@native
def _grown(entries, used, bits):  # type: ignore[no-untyped-def]
    """The same table with twice the room."""
    larger, taken = _new_table(bits + 1)
    for i in range(len(used)):
        if used[i] == 1:
            at = _place(taken, larger, bits + 1, entries[i, 0])
            taken[at] = 1
            larger[at] = entries[i]
    return larger, taken


@native
def _compact(entries, used, count):  # type: ignore[no-untyped-def]
    """The entries of a table, (count, 3), by rising cost."""
    listed = np.empty((count, 3), np.int64)
    at = 0
    for i in range(len(used)):
        if used[i] == 1:
            listed[at] = entries[i]
            at += 1
    return listed[np.argsort(listed[:, 2], kind="mergesort")]


@entry
def combine(a, b, add, budget):  # type: ignore[no-untyped-def]
    """Every sum of an entry of a, one of b and `add` (key, value, cost) whose cost is at most `budget`, (m, 3).

    a (p, 3) and b (q, 3) are sorted by cost; of equal keys the least value is kept.
    """
    bits = _FIRST_BITS
    entries, used = _new_table(bits)
    count = 0
    for i in range(len(a)):
        room = budget - add[2] - a[i, 2]
        for j in range(len(b)):
            if b[j, 2] > room:
                break
            key = a[i, 0] + b[j, 0] + add[0]
            value = a[i, 1] + b[j, 1] + add[1]
            at = _place(used, entries, bits, key)
            if used[at] == 0:
                used[at] = 1
                entries[at, 0] = key
                entries[at, 1] = value
                entries[at, 2] = a[i, 2] + b[j, 2] + add[2]
                count += 1
                if 2 * count > len(used):
                    entries, used = _grown(entries, used, bits)
                    bits += 1
            elif value < entries[at, 1]:
                entries[at, 1] = value
                entries[at, 2] = a[i, 2] + b[j, 2] + add[2]
    return _compact(entries, used, count)


@entry
def unite(a, b):  # type: ignore[no-untyped-def]
    """The entries of a (p, 3) and of b (q, 3), the least value of each key, by rising cost."""
    bits = _FIRST_BITS
    while (1 << bits) < 2 * (len(a) + len(b)) + 2:
        bits += 1
    entries, used = _new_table(bits)
    count = 0
    for source in (a, b):
        for i in range(len(source)):
            at = _place(used, entries, bits, source[i, 0])
            if used[at] == 0:
                count += 1
            if used[at] == 0 or source[i, 1] < entries[at, 1]:
                used[at] = 1
                entries[at] = source[i]
    return _compact(entries, used, count)


@entry
def meet(a, b, sums_a, sums_b, least, most, below):  # type: ignore[no-untyped-def]
    """(value, i, j) of the pair of least a[i] + b[j] with all sums in their windows; (below, -1, -1) if none is less.

    a (p, 3), b (q, 3); sums_a (p, m) and sums_b (q, m) with b sorted by the first of them; least, most (m,).
    """
    best = below
    best_i = int64(-1)
    best_j = int64(-1)
    first = np.ascontiguousarray(sums_b[:, 0])
    for i in range(len(a)):
        value = a[i, 1]
        j = np.searchsorted(first, least[0] - sums_a[i, 0])
        top = most[0] - sums_a[i, 0]
        while j < len(b) and first[j] <= top:
            if value + b[j, 1] < best:
                inside = True
                for c in range(1, len(least)):
                    z = sums_a[i, c] + sums_b[j, c]
                    inside = inside and least[c] <= z <= most[c]
                if inside:
                    best = value + b[j, 1]
                    best_i = int64(i)
                    best_j = int64(j)
            j += 1
    return best, best_i, best_j


# -- sums over pairs of columns ------------------------------------------------------------------------------------


@native
def _separating(rows, starts, columns, n_columns):  # type: ignore[no-untyped-def]
    """(local number of each column or -1, the columns): those that some rows have and others do not."""
    count = np.zeros(n_columns, np.int64)
    for i in rows:
        for at in range(starts[i], starts[i + 1]):
            count[columns[at]] += 1
    local = np.full(n_columns, -1, np.int64)
    chosen = np.empty(n_columns, np.int64)
    size = 0
    for f in range(n_columns):
        if 0 < count[f] < len(rows):
            local[f] = size
            chosen[size] = f
            size += 1
    return local, chosen[:size]


@native
def _add_pairs(pairs, total, rows, starts, columns, local, profits, picks, f, side):  # type: ignore[no-untyped-def]
    """Adds the profits (picked entries) of the rows to the pairs (F, F, L) of their columns, i <= j, and to the total.

    With f >= 0, only rows that have (side 1) or lack (side 0) column f.
    """
    here = np.empty(len(local), np.int64)
    for i in rows:
        size = 0
        found = int64(0)
        for at in range(starts[i], starts[i + 1]):
            column = columns[at]
            if column == f:
                found = int64(1)
            if local[column] >= 0:
                here[size] = local[column]
                size += 1
        if f >= 0 and found != side:
            continue
        for c in range(len(picks)):
            total[c] += profits[i, picks[c]]
        for p in range(size):
            for q in range(p, size):
                for c in range(len(picks)):
                    pairs[here[p], here[q], c] += profits[i, picks[c]]


@native
def _least_leaf(part, least_rows):  # type: ignore[no-untyped-def]
    """The least cost of a leaf beyond the base; `part` holds its rows and costs by label."""
    if part[0] < least_rows:
        return int64(INFINITE)
    best = int64(0)
    for k in range(1, len(part)):
        best = min(best, part[k])
    return best


@native
def _floor_shallow(pairs, total, depth, split_cost, least_rows):  # type: ignore[no-untyped-def]
    """The least cost, beyond the base, of a tree of depth at most 1 or 2 over rows with these pair sums."""
    size = len(pairs)
    best = _least_leaf(total, least_rows)
    labels = len(total)
    inner = np.empty(labels, np.int64)
    outer = np.empty(labels, np.int64)
    part = np.empty(labels, np.int64)
    rest = np.empty(labels, np.int64)
    for j in range(size):
        for c in range(labels):
            inner[c] = pairs[j, j, c]
            outer[c] = total[c] - inner[c]
        if inner[0] == 0 or outer[0] == 0:
            continue
        least_in = _least_leaf(inner, least_rows)
        least_out = _least_leaf(outer, least_rows)
        if depth == 2:
            for k in range(size):
                if k == j:
                    continue
                low, high = min(j, k), max(j, k)
                for c in range(labels):
                    part[c] = pairs[low, high, c]
                    rest[c] = inner[c] - part[c]
                if part[0] > 0 and rest[0] > 0:
                    cost = _least_leaf(part, least_rows) + _least_leaf(rest, least_rows) + split_cost
                    least_in = min(least_in, cost)
                for c in range(labels):
                    part[c] = pairs[k, k, c] - part[c]
                    rest[c] = outer[c] - part[c]
                if part[0] > 0 and rest[0] > 0:
                    cost = _least_leaf(part, least_rows) + _least_leaf(rest, least_rows) + split_cost
                    least_out = min(least_out, cost)
        if least_in < INFINITE and least_out < INFINITE:
            best = min(best, least_in + least_out + split_cost)
    return min(best, int64(INFINITE))


@native
def _cost_picks(profits):  # type: ignore[no-untyped-def]
    """Which entries of the profits are the rows and the costs."""
    labels = (profits.shape[1] - 1) // 3 + 1
    picks = np.zeros(labels, np.int64)
    for k in range(1, labels):
        picks[k] = 1 + 3 * (k - 1)
    return picks


@entry
def floor_children(rows, starts, columns, profits, base, split, n_columns, depth, least_rows):  # type: ignore[no-untyped-def]
    """(n_columns, 2) the least cost of a tree of depth at most 1 or 2 over the rows without and with each column.

    INFINITE where no leaf would have `least_rows` rows, and on both sides of columns that separate no rows.
    """
    floors = np.full((n_columns, 2), INFINITE, np.int64)
    local, chosen = _separating(rows, starts, columns, n_columns)
    size = len(chosen)
    picks = _cost_picks(profits)
    labels = len(picks)
    everything = np.zeros((size, size, labels), np.int64)
    total = np.zeros(labels, np.int64)
    _add_pairs(everything, total, rows, starts, columns, local, profits, picks, int64(-1), int64(0))
    counts = np.zeros(size, np.int64)
    bases = np.zeros(size, np.int64)
    whole = int64(0)
    for i in rows:
        whole += base[i, 0]
        for at in range(starts[i], starts[i + 1]):
            if local[columns[at]] >= 0:
                counts[local[columns[at]]] += 1
                bases[local[columns[at]]] += base[i, 0]
    mine = np.empty((size, size, labels), np.int64)
    part = np.empty(labels, np.int64)
    for j in range(size):
        side = 1 if 2 * counts[j] <= len(rows) else 0
        mine[:] = 0
        part[:] = 0
        _add_pairs(mine, part, rows, starts, columns, local, profits, picks, chosen[j], int64(side))
        floor = _floor_shallow(mine, part, depth, split[2], least_rows)
        for p in range(size):
            for q in range(p, size):
                for c in range(labels):
                    mine[p, q, c] = everything[p, q, c] - mine[p, q, c]
        for c in range(labels):
            part[c] = total[c] - part[c]
        other = _floor_shallow(mine, part, depth, split[2], least_rows)
        with_base = bases[j]
        without_base = whole - with_base
        if floor < INFINITE:
            floors[chosen[j], side] = floor + (with_base if side == 1 else without_base)
        if other < INFINITE:
            floors[chosen[j], 1 - side] = other + (without_base if side == 1 else with_base)
    return floors


@native
def _leaf_entries(part, base, least_rows, listed):  # type: ignore[no-untyped-def]
    """Writes the entries of a leaf, one per label, and says how many; `part` as in profits, `base` (3,)."""
    if part[0] < least_rows:
        return 0
    listed[0, 0] = base[2]
    listed[0, 1] = base[1]
    listed[0, 2] = base[0]
    labels = (len(part) - 1) // 3 + 1
    for k in range(1, labels):
        at = 1 + 3 * (k - 1)
        listed[k, 0] = base[2] + part[at + 2]
        listed[k, 1] = base[1] + part[at + 1]
        listed[k, 2] = base[0] + part[at]
    return labels


@native
def _stump_entries(pairs, total, place, inside, budget, split, least_rows, listed):  # type: ignore[no-untyped-def]
    """The entries of trees of depth at most 1 over rows, beyond the base, cost at most `budget`, by rising cost.

    The rows: all (place -1), or those that have (inside) or lack the column `place`. `listed` is room for them.
    """
    size = len(pairs)
    width = len(total)
    labels = (width - 1) // 3 + 1
    zero = np.zeros(3, np.int64)
    whole = np.empty(width, np.int64)
    part = np.empty(width, np.int64)
    left = np.empty((labels, 3), np.int64)
    right = np.empty((labels, 3), np.int64)
    for c in range(width):
        whole[c] = total[c]
        if place >= 0:
            whole[c] = pairs[place, place, c] if inside else total[c] - pairs[place, place, c]
    count = 0
    for i in range(_leaf_entries(whole, zero, least_rows, left)):
        if left[i, 2] <= budget:
            listed[count] = left[i]
            count += 1
    for k in range(size):
        if k == place:
            continue
        for c in range(width):
            part[c] = pairs[k, k, c]
            if place >= 0:
                common = pairs[min(place, k), max(place, k), c]
                part[c] = common if inside else part[c] - common
        if part[0] == 0 or part[0] == whole[0]:
            continue
        n_left = _leaf_entries(part, zero, least_rows, left)
        for c in range(width):
            part[c] = whole[c] - part[c]
        n_right = _leaf_entries(part, zero, least_rows, right)
        for i in range(n_left):
            for j in range(n_right):
                cost = left[i, 2] + right[j, 2] + split[2]
                if cost <= budget:
                    listed[count, 0] = left[i, 0] + right[j, 0] + split[0]
                    listed[count, 1] = left[i, 1] + right[j, 1] + split[1]
                    listed[count, 2] = cost
                    count += 1
    return count


@entry
def list_shallow(rows, starts, columns, profits, base, split, n_columns, depth, least_rows, budget):  # type: ignore[no-untyped-def]
    """Every entry of the trees of depth at most 1 or 2 over the rows whose cost is at most `budget`, (m, 3)."""
    local, chosen = _separating(rows, starts, columns, n_columns)
    size = len(chosen)
    width = profits.shape[1]
    labels = (width - 1) // 3 + 1
    pairs = np.zeros((size, size, width), np.int64)
    total = np.zeros(width, np.int64)
    _add_pairs(pairs, total, rows, starts, columns, local, profits, np.arange(width), int64(-1), int64(0))
    under = np.zeros(3, np.int64)
    for i in rows:
        for c in range(3):
            under[c] += base[i, c]
    room = budget - under[0]
    most = labels + size * labels * labels
    left = np.empty((most, 3), np.int64)
    right = np.empty((most, 3), np.int64)
    bits = _FIRST_BITS
    entries, used = _new_table(bits)
    count = 0
    n_stumps = _stump_entries(pairs, total, int64(-1), False, room, split, least_rows, left)
    places = size + 1 if depth == 2 else 1
    for place in range(places):
        n_left, n_right = n_stumps, 1
        if place > 0:
            n_left, n_right = _sides(pairs, total, int64(place - 1), room, split, least_rows, left, right)
        order = np.argsort(right[:n_right, 2], kind="mergesort")
        for i in range(n_left):
            for at_right in range(n_right):
                key, value, cost = left[i, 0], left[i, 1], left[i, 2]
                if place > 0:
                    j = order[at_right]
                    cost += right[j, 2] + split[2]
                    if cost > room:
                        break
                    key += right[j, 0] + split[0]
                    value += right[j, 1] + split[1]
                at = _place(used, entries, bits, key)
                if used[at] == 0:
                    used[at] = 1
                    entries[at, 0] = key
                    entries[at, 1] = value
                    entries[at, 2] = cost
                    count += 1
                    if 2 * count > len(used):
                        entries, used = _grown(entries, used, bits)
                        bits += 1
                elif value < entries[at, 1]:
                    entries[at, 1] = value
                    entries[at, 2] = cost
    listed = _compact(entries, used, count)
    for i in range(count):
        listed[i, 0] += under[2]
        listed[i, 1] += under[1]
        listed[i, 2] += under[0]
    return listed


@native
def _sides(pairs, total, place, room, split, least_rows, left, right):  # type: ignore[no-untyped-def]
    """How many entries both sides of a column have that fit into the room together; writes them."""
    n_left = _stump_entries(pairs, total, place, True, int64(INFINITE), split, least_rows, left)
    n_right = _stump_entries(pairs, total, place, False, int64(INFINITE), split, least_rows, right)
    if n_left == 0 or n_right == 0:
        return 0, 0
    cheapest_left = left[:n_left, 2].min()
    cheapest_right = right[:n_right, 2].min()
    return (
        _kept(left, n_left, room - split[2] - cheapest_right),
        _kept(right, n_right, room - split[2] - cheapest_left),
    )


@native
def _kept(listed, count, room):  # type: ignore[no-untyped-def]
    """How many of the entries cost at most `room`; moves them to the front."""
    kept = 0
    for i in range(count):
        if listed[i, 2] <= room:
            listed[kept] = listed[i]
            kept += 1
    return kept
