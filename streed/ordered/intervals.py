"""Open intervals of thresholds of a node, the one with the least bound first, and what bounds the costs inside them.

D_t: the rows left of threshold t; L(t), R(t): the least costs of a side, at whatever depth; C(t) = L(t) + R(t); w: sums
of the rows' worst costs. For a < t < b (1: a tree for more rows serves fewer; 2: a tree for fewer rows serves more at
the price of the worst costs of the others):

    L(t) >= L(a)  and  R(t) >= R(b)                                (1)
    L(t) >= L(b) - w(t, b]  and  R(t) >= R(a) - w(a, t]            (2)

so that C(t) is at least L(a) + R(b), C(a) - w(a, t], C(b) - w(t, b], L(b) + R(a) - w(a, b], and, as the mean of all
four, (C(a) + C(b) - w(a, b]) / 2. Without worst costs, only L(a) + R(b) remains. Where leaves
need several rows, (1) fails; so L and R at the ends are the costs with leaves of any size, which are no larger, and for
which both hold. All of it holds for lower bounds in place of least costs, so for costs that were rounded down, if the
mean is as well.
"""

from __future__ import annotations

from numba import int64

from streed.kernels.views import inline, matrix, native
from streed.ordered.layout import (
    BEGIN,
    BEGIN_LEFT,
    BEGIN_RIGHT,
    COLUMN,
    END,
    END_LEFT,
    END_RIGHT,
    FREE,
    KEY,
    LENGTH,
    ROWS_OF_HEAP,
    SLOT,
)


@inline
def heap_of(e):  # type: ignore[no-untyped-def]
    """The heap of the record."""
    return matrix(e.heap, ROWS_OF_HEAP, e.heap_space, int64)


@inline
def bound_between(e, costs, worst):  # type: ignore[no-untyped-def]
    """The least that both sides cost together for a threshold between two others; `costs`: L(a), R(a), L(b), R(b)."""
    begin_left, begin_right, end_left, end_right = costs
    bound = e.least + e.least
    shrinks = e.restrictable == 1 or e.relaxing == 1
    if shrinks:
        bound = max(bound, begin_left + end_right)
    if e.bounded == 1:
        bound = max(bound, end_left + begin_right - worst)
        if shrinks:
            bound = max(bound, (begin_left + begin_right + end_left + end_right - worst + e.whole) >> 1)
    return bound


@native
def clear(e):  # type: ignore[no-untyped-def]
    """Makes the places of the heap's intervals free; the others are."""
    heap = heap_of(e)
    for i in range(e.heap_size):
        heap[FREE, e.heap_space - 1 - i] = heap[SLOT, i]
    e.heap_size = 0


@native
def push(e, bound, column, ends, costs):  # type: ignore[no-untyped-def]
    """Adds an interval to the heap, which has a place for it."""
    heap = heap_of(e)
    slot = heap[FREE, e.heap_space - 1 - e.heap_size]
    heap[COLUMN, slot] = column
    heap[BEGIN, slot], heap[END, slot] = ends
    heap[BEGIN_LEFT, slot], heap[BEGIN_RIGHT, slot], heap[END_LEFT, slot], heap[END_RIGHT, slot] = costs
    length = ends[1] - ends[0]
    at = e.heap_size
    e.heap_size += 1
    while at > 0:
        above = (at - 1) >> 1
        if heap[KEY, above] < bound or (heap[KEY, above] == bound and heap[LENGTH, above] >= length):
            break
        heap[KEY, at] = heap[KEY, above]
        heap[LENGTH, at] = heap[LENGTH, above]
        heap[SLOT, at] = heap[SLOT, above]
        at = above
    heap[KEY, at] = bound
    heap[LENGTH, at] = length
    heap[SLOT, at] = slot


@native
def pop(e):  # type: ignore[no-untyped-def]
    """The place of the first interval, which leaves the heap; it is valid until the next push."""
    heap = heap_of(e)
    taken = heap[SLOT, 0]
    last = e.heap_size - 1
    e.heap_size = last
    key = heap[KEY, last]
    length = heap[LENGTH, last]
    slot = heap[SLOT, last]
    at = int64(0)
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        other = below + 1
        if other < last and (
            heap[KEY, other] < heap[KEY, below]
            or (heap[KEY, other] == heap[KEY, below] and heap[LENGTH, other] > heap[LENGTH, below])
        ):
            below = other
        if heap[KEY, below] > key or (heap[KEY, below] == key and heap[LENGTH, below] <= length):
            break
        heap[KEY, at] = heap[KEY, below]
        heap[LENGTH, at] = heap[LENGTH, below]
        heap[SLOT, at] = heap[SLOT, below]
        at = below
    heap[KEY, at] = key
    heap[LENGTH, at] = length
    heap[SLOT, at] = slot
    heap[FREE, e.heap_space - 1 - last] = taken
    return taken


@inline
def worst_before(e, prefix, column, position):  # type: ignore[no-untyped-def]
    """The worst costs of the first rows of a column's order."""
    return e.uniform * position if e.uniform > 0 else prefix[column, position]


@native
def trim(e, prefix, slot, limit):  # type: ignore[no-untyped-def]
    """(first, last) positions of an interval whose sides may cost less than `limit` together, by C at its ends."""
    heap = heap_of(e)
    column = heap[COLUMN, slot]
    begin = heap[BEGIN, slot]
    end = heap[END, slot]
    first = begin + 1
    last = end - 1
    if e.bounded == 0 or (e.restrictable == 0 and e.relaxing == 0):
        return first, last
    # C(a) - w(a, t] < limit
    need = heap[BEGIN_LEFT, slot] + heap[BEGIN_RIGHT, slot] - limit + worst_before(e, prefix, column, begin)
    low = first
    high = end
    while low < high:
        middle = (low + high) >> 1
        if worst_before(e, prefix, column, middle) > need:
            high = middle
        else:
            low = middle + 1
    first = low
    # C(b) - w(t, b] < limit
    need = worst_before(e, prefix, column, end) - (heap[END_LEFT, slot] + heap[END_RIGHT, slot] - limit)
    low = begin
    high = last
    while low < high:
        middle = (low + high + 1) >> 1
        if worst_before(e, prefix, column, middle) < need:
            low = middle
        else:
            high = middle - 1
    return first, max(begin, low)
