"""Trees whose leaves rise, or fall, with chosen columns (docs/explanation/search.md), natively: rows that cost so
much under each label, over all thresholds.

V(rows, depth, a, b), the least cost of a tree in order whose labels lie within a..b, is that of a leaf, or of a split:

    min over c in a..b  V(left, depth - 1, a, c) + V(right, depth - 1, c, b)     along a column that leaves rise with,
    V(left, depth - 1, a, b) + V(right, depth - 1, a, b)                         along any other.

Thresholds of a column are halved: what lies between two that are solved costs at least V of what is left of the first,
and of what is right of the second, since fewer rows cost no more (if leaves may be of any size).

Equal rows go the same way in every tree, so their costs are added beforehand. What the rows of a place must cost,
whatever its label, thereby becomes part of what every tree pays.
"""

from __future__ import annotations

import attrs
import numpy as np
from numba import int64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import NODES, STOP
from streed.kernels.views import native
from streed.ordered.cache import part_of_recursion
from streed.ordered.problem import OrderedRows
from streed.ordered.scores import LABELLED
from streed.task.row_sums import sums_by

_SEED = 1

_MUCH = 0.5
"""Kernels for any costs take a few times as long as those for one label a row; so many rows must remain at most."""


def merge_rows(rows: OrderedRows, *, always: bool) -> OrderedRows:
    """The rows with equal ones as one; as they are where that does not pay, unless it is to be done `always`."""
    first, place = places_of(rows.ranks)
    if len(first) == len(place):
        return rows
    costs = sums_by(place, rows.costs, len(first))
    frequency = None
    if rows.min_leaf > 1:
        copies = np.ones(len(place), np.int64) if rows.frequency is None else rows.frequency
        frequency = sums_by(place, copies, len(first))
    ranks = np.ascontiguousarray(rows.ranks[:, first])
    merged = attrs.evolve(rows, ranks=ranks, costs=costs, frequency=frequency)
    if always or rows.kind != LABELLED or merged.kind == LABELLED or len(first) <= _MUCH * len(place):
        return merged
    return rows


def places_of(ranks: Array) -> tuple[Array, Array]:
    """(first, place): of each different row the number of one that is it, and for every row which of them it is."""
    factors = np.random.default_rng(_SEED).integers(1, 2**63, len(ranks), dtype=np.uint64) | np.uint64(1)
    sums = np.zeros(ranks.shape[1], np.uint64)
    for factor, each in zip(factors, ranks, strict=True):
        sums += factor * each.astype(np.uint64)
        sums ^= sums >> np.uint64(29)
    _, first, place = np.unique(sums, return_index=True, return_inverse=True)
    if not all((each[first][place] == each).all() for each in ranks):  # two rows that differ have the same sum
        _, first, place = np.unique(ranks, axis=1, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


COST, COLUMN, POSITION, LABEL, LEFT, RIGHT = range(6)
"""What is found of a node: its cost, the split (column -1: a leaf) after so many rows, the label c, and V of both
sides."""


@native
def _floors(costs, rows, sign, low, high, left):  # type: ignore[no-untyped-def]
    """(K,) for each c: the least that the rows cost on a side, left or right, of a split of this sign."""
    found = np.zeros(high + 1, np.int64)
    for row in rows:
        for c in range(low, high + 1):
            first, last = _range(sign, low, high, c, left)
            least = costs[row, first]
            for k in range(first + 1, last + 1):
                least = min(least, costs[row, k])
            found[c] += least
            if sign == 0:
                break
    return found


@native
def _range(sign, low, high, c, left):  # type: ignore[no-untyped-def]
    """The labels of a side."""
    if sign == 0:
        return low, high
    return (low, c) if (sign > 0) == left else (c, high)


@native
def _best_leaf(sums, first, last):  # type: ignore[no-untyped-def]
    least = sums[first]
    for k in range(first + 1, last + 1):
        least = min(least, sums[k])
    return least


@native
def _count(counts, rows):  # type: ignore[no-untyped-def]
    found = int64(0)
    for row in rows:
        found += counts[row]
    return found


@native
def _write(found, cost, f, position, c, here, there):  # type: ignore[no-untyped-def]
    found[COST], found[COLUMN], found[POSITION] = cost, f, position
    found[LABEL], found[LEFT], found[RIGHT] = c, here, there


@native
def _solve_stump(w, orders, depth, low, high, found):  # type: ignore[no-untyped-def]
    """Writes the best tree of depth one, or of none if `depth` is 0."""
    ranks, signs, costs, counts, ordered, price, min_leaf, _ = w
    n_columns, m = orders.shape
    labels = costs.shape[1]
    total, left, right = np.zeros(labels, np.int64), np.empty(labels, np.int64), np.empty(labels, np.int64)
    size = _count(counts, orders[0])
    for row in orders[0]:
        for k in range(labels):
            total[k] += costs[row, k]
    found[COST], found[COLUMN] = _best_leaf(total, low, high), -1
    if depth <= 0 or low == high or (min_leaf > 1 and size < 2 * min_leaf):
        return
    for f in range(ordered):
        sign = signs[f]
        left[:] = 0
        count = int64(0)
        for r in range(m - 1):
            row = orders[f, r]
            count += counts[row]
            for k in range(labels):
                left[k] += costs[row, k]
            if ranks[f, row] == ranks[f, orders[f, r + 1]] or count < min_leaf or size - count < min_leaf:
                continue
            for k in range(labels):
                right[k] = total[k] - left[k]
            for c in range(low, high + 1 if sign else low + 1):
                first, last = _range(sign, low, high, c, True)
                here = _best_leaf(left, first, last)
                first, last = _range(sign, low, high, c, False)
                there = _best_leaf(right, first, last)
                if here + there + price < found[COST]:
                    _write(found, here + there + price, f, r + 1, c, here, there)
    for f in range(ordered, n_columns):
        cost, begin = price, 0
        while begin < m and cost < found[COST]:
            end = _end_of_value(ranks, orders, f, begin)
            left[:] = 0
            for row in orders[f, begin:end]:
                for k in range(labels):
                    left[k] += costs[row, k]
            enough = _count(counts, orders[f, begin:end]) >= min_leaf
            cost += _best_leaf(left, low, high) if enough else found[COST]
            begin = end
        if cost < found[COST]:
            _write(found, cost, f, 0, low, 0, 0)


@native
def _end_of_value(ranks, orders, f, begin):  # type: ignore[no-untyped-def]
    end = begin + 1
    while end < orders.shape[1] and ranks[f, orders[f, end]] == ranks[f, orders[f, begin]]:
        end += 1
    return end


@native
def _part(orders, f, begin, end, marks, space):  # type: ignore[no-untyped-def]
    """The orders of the rows that column f has in begin..end, written to `space`."""
    for r in range(begin, end):
        marks[orders[f, r]] = 1
    for g in range(orders.shape[0]):
        at = 0
        for row in orders[g]:
            if marks[row]:
                space[g, at] = row
                at += 1
    for r in range(begin, end):
        marks[orders[f, r]] = 0
    return space[:, : end - begin]


@native
def _cuts_of(w, orders, f):  # type: ignore[no-untyped-def]
    """The positions of the column at which both sides have rows enough."""
    ranks, _, _, counts, _, _, min_leaf, _ = w
    m = orders.shape[1]
    size, count, cuts = _count(counts, orders[f]), int64(0), 0
    found = np.empty(m, np.int64)
    for r in range(m - 1):
        count += counts[orders[f, r]]
        if ranks[f, orders[f, r]] != ranks[f, orders[f, r + 1]] and count >= min_leaf and size - count >= min_leaf:
            found[cuts] = r + 1
            cuts += 1
    return found[:cuts]


@native
def _halve(ends, bounds, at, middle, here, there):  # type: ignore[no-untyped-def]
    """Puts the two halves of an interval in its place, and behind it."""
    bounds[at + 1, 0], bounds[at + 1, 1] = here, bounds[at, 1]
    bounds[at, 1] = there
    ends[at + 1, 0], ends[at + 1, 1] = middle, ends[at, 1]
    ends[at, 1] = middle


@native
def _is_stopped(control):  # type: ignore[no-untyped-def]
    return load_atomic(control, STOP) != 0


@native
def _solve(w, work, orders, depth, low, high, budget, found):  # type: ignore[no-untyped-def]
    """The cost of the best tree of that depth, which it writes; where none costs less than the budget, of any."""
    ranks, signs, costs, _, ordered, price, min_leaf, control = w
    spaces, marks = work
    _solve_stump(w, orders, depth, low, high, found)
    if depth <= 1 or low == high:
        return found[COST]
    floor = _floors(costs, orders[0], int64(0), low, high, True)[low]
    below = np.empty(6, np.int64)
    m = orders.shape[1]
    for f in range(orders.shape[0]):
        if f >= ordered:
            if _end_of_value(ranks, orders, f, 0) < m:
                _solve_values(w, work, orders, f, depth, (low, high, budget), found, below)
            continue
        sign, cuts = signs[f], _cuts_of(w, orders, f)
        options = high + 1 if sign else low + 1
        ends, bounds = np.empty((64, 2), np.int64), np.zeros((64, 2, high + 1), np.int64)
        ends[0, 0], ends[0, 1] = -1, len(cuts)
        size = 1
        while size > 0:
            size -= 1
            limit = min(found[COST], budget) - price
            if floor >= limit or _is_stopped(control):
                return found[COST]
            least = (bounds[size, 0, low:options] + bounds[size, 1, low:options]).min()
            if ends[size, 1] - ends[size, 0] < 2 or (min_leaf <= 1 and least >= limit):
                continue
            middle = (ends[size, 0] + ends[size, 1]) // 2
            position = cuts[middle]
            control[NODES] += 1
            here = _floors(costs, orders[f, :position], sign, low, high, True)
            there = _floors(costs, orders[f, position:], sign, low, high, False)
            rows = _part(orders, f, 0, position, marks, spaces[depth])
            for c in range(low, options):
                if here[c] + there[c] < limit:
                    a, b = _range(sign, low, high, c, True)
                    cost = _solve(w, work, rows, depth - 1, a, b, limit - there[c], below)
                    here[c] = max(here[c], min(cost, limit - there[c]))
            rows = _part(orders, f, position, m, marks, spaces[depth])
            for c in range(low, options):
                if here[c] + there[c] < limit:
                    a, b = _range(sign, low, high, c, False)
                    cost = _solve(w, work, rows, depth - 1, a, b, limit - here[c], below)
                    there[c] = max(there[c], min(cost, limit - here[c]))
                    if here[c] + there[c] < limit and not _is_stopped(control):  # else sides are not the best
                        limit = here[c] + there[c]
                        _write(found, limit + price, f, position, c, here[c], there[c])
            _halve(ends, bounds, size, middle, here, there)
            size += 2
    return found[COST]


@part_of_recursion
def _solve_values(w, work, orders, f, depth, within, found, below):  # type: ignore[no-untyped-def]
    """Writes the split of a categorical column, if it is better than what was found."""
    ranks, _, _, counts, _, price, min_leaf, control = w
    spaces, marks = work
    low, high, budget = within
    cost, begin = price, 0
    while begin < orders.shape[1] and cost < min(found[COST], budget):
        end = _end_of_value(ranks, orders, f, begin)
        rows = _part(orders, f, begin, end, marks, spaces[depth])
        enough = _count(counts, orders[f, begin:end]) >= min_leaf
        limit = min(found[COST], budget) - cost
        cost += _solve(w, work, rows, depth - 1, low, high, limit, below) if enough else limit
        begin = end
    if cost < min(found[COST], budget) and not _is_stopped(control):
        _write(found, cost, f, 0, low, 0, 0)


@entry
def solve_in_order(w, orders, depth, low, high, budget, found):  # type: ignore[no-untyped-def]
    """Writes what is found (6,) of the rows whose places in each column are `orders` (F, m) int32.

    `w`: ranks (F, n) int32, signs (F,) of the columns, costs (n, K) int64 from 0 on, counts (n,), the number of ordered
    columns, the price of a split, the rows of a leaf, and the words of control.
    """
    spaces = np.empty((max(depth, 0) + 1, orders.shape[0], orders.shape[1]), np.int32)
    marks = np.zeros(w[0].shape[1], np.uint8)
    _solve(w, (spaces, marks), orders[:, : orders.shape[1]], depth, low, high, budget, found)
