"""Values of several components in one int64, a key, and sets of nondominated keys.

Every component has its own bits, the first one the highest, and above them a guard bit that is 0. Keys add up as the
values do; they sort lexicographically; and one subtraction compares all components: no guard bit of (b with guards) - a
is borrowed from exactly if a is nowhere above b.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.views import inline, native

BLOCK = 2**18
"""Sums that are sorted together."""


@inline
def is_allowed(layout, key):  # type: ignore[no-untyped-def]
    """Whether no component is above its cap (an anti-monotone limit: STreeD, Def. 4.5)."""
    return (layout.cap - key) & layout.guards == layout.guards


@native
def sweep(layout, keys, columns, count):  # type: ignore[no-untyped-def]
    """How many of the sorted keys are allowed and nondominated; brings these to the front, with their columns (Eq. 3).

    Of equal keys the first stays.
    """
    width = len(layout.shifts)
    if width == 3:
        return _sweep_three(layout, keys, columns, count)
    kept = last = 0
    guards = layout.guards
    for i in range(count):
        key = keys[i]
        if not is_allowed(layout, key):
            continue
        room = key | guards
        dominated = kept > 0 and (room - keys[last]) & guards == guards
        if not dominated:
            for j in range(kept if width > 2 else 0):  # of two components the last one kept has the least second
                if (room - keys[j]) & guards == guards:
                    dominated = True
                    last = j
                    break
        if not dominated:
            keys[kept] = key
            columns[kept] = columns[i]
            last = kept if width == 2 else last
            kept += 1
    return kept


@native
def _sweep_three(layout, keys, columns, count):  # type: ignore[no-untyped-def]
    """By a staircase of the last two components of what was kept: the second rises, the third falls."""
    middle = (int64(1) << (layout.shifts[0] - layout.shifts[1])) - 1
    low = (int64(1) << layout.shifts[1]) - 1
    second = np.empty(count, np.int64)
    third = np.empty(count, np.int64)
    steps = kept = 0
    for i in range(count):
        key = keys[i]
        if not is_allowed(layout, key):
            continue
        y = (key >> layout.shifts[1]) & middle
        z = key & low
        # the first step whose second component is above y
        a = 0
        b = steps
        while a < b:
            at = (a + b) >> 1
            if second[at] <= y:
                a = at + 1
            else:
                b = at
        if a > 0 and third[a - 1] <= z:
            continue
        keys[kept] = key
        columns[kept] = columns[i]
        kept += 1
        if a > 0 and second[a - 1] == y:
            a -= 1
        end = a
        while end < steps and third[end] >= z:
            end += 1
        if end == a:
            for at in range(steps, a, -1):
                second[at] = second[at - 1]
                third[at] = third[at - 1]
            steps += 1
        elif end > a + 1:
            gone = end - a - 1
            for at in range(end, steps):
                second[at - gone] = second[at]
                third[at - gone] = third[at]
            steps -= gone
        second[a] = y
        third[a] = z
    return kept


@native
def sort_and_sweep(layout, keys):  # type: ignore[no-untyped-def]
    """The nondominated ones of keys in any order, sorted."""
    keys.sort()
    count = sweep(layout, keys, np.empty(len(keys), np.int32), len(keys))
    return keys[:count].copy()


@native
def join(layout, keys, columns, new, column):  # type: ignore[no-untyped-def]
    """(keys, columns): the nondominated ones of two sorted sets; what is known comes before what is new."""
    total = len(keys) + len(new)
    merged = np.empty(total, np.int64)
    origins = np.empty(total, np.int32)
    i = j = 0
    for at in range(total):
        if j >= len(new) or (i < len(keys) and keys[i] <= new[j]):
            merged[at] = keys[i]
            origins[at] = columns[i]
            i += 1
        else:
            merged[at] = new[j]
            origins[at] = column
            j += 1
    count = sweep(layout, merged, origins, total)
    return merged[:count].copy(), origins[:count].copy()


@native
def add_sets(layout, a, b):  # type: ignore[no-untyped-def]
    """The nondominated ones of all sums of a key of each set and the cost of a split (merge, Eq. 7), sorted."""
    found = np.empty(0, np.int64)
    origins = np.empty(0, np.int32)
    if len(a) == 0 or len(b) == 0:
        return found
    rows = max(1, BLOCK // len(b))
    for begin in range(0, len(a), rows):
        end = min(len(a), begin + rows)
        sums = np.empty((end - begin) * len(b), np.int64)
        at = 0
        for i in range(begin, end):
            x = a[i] + layout.split
            for j in range(len(b)):
                sums[at] = x + b[j]
                at += 1
        part = sort_and_sweep(layout, sums)
        if end - begin == len(a):
            return part
        found, origins = join(layout, found, origins, part, 0)
    return found


@native
def pour(layout, a, b, column, best, origins):  # type: ignore[no-untyped-def]
    """Merges two sets of two components into buckets: best[x] is the least second component with first component x."""
    shift = layout.shifts[0]
    mask = (int64(1) << shift) - 1
    for i in range(len(a)):
        first = a[i] + layout.split
        for j in range(len(b)):
            key = first + b[j]
            x = key >> shift
            if key & mask < best[x]:
                best[x] = key & mask
                origins[x] = column


@native
def drain(layout, best, origins, count):  # type: ignore[no-untyped-def]
    """(keys, columns): the staircase of the first `count` buckets, which are empty after."""
    shift = layout.shifts[0]
    nothing = np.iinfo(np.int64).max
    keys = np.empty(count, np.int64)
    columns = np.empty(count, np.int32)
    kept = 0
    least = nothing
    for x in range(count):
        if best[x] < least:
            least = best[x]
            key = (int64(x) << shift) + least
            if is_allowed(layout, key):
                keys[kept] = key
                columns[kept] = origins[x]
                kept += 1
        best[x] = nothing
    return keys[:kept].copy(), columns[:kept].copy()


@entry
def open_front(layout, keys, columns, best, origins):  # type: ignore[no-untyped-def]
    """Puts a front into buckets, where there are any."""
    mask = (int64(1) << layout.shifts[0]) - 1
    for i in range(len(keys) if layout.buckets else 0):
        best[keys[i] >> layout.shifts[0]] = keys[i] & mask
        origins[keys[i] >> layout.shifts[0]] = columns[i]


@entry
def merge(layout, keys, columns, a, b, column, best, origins):  # type: ignore[no-untyped-def]
    """(keys, columns) with all sums of a key of each set and the cost of a split; where there are buckets, in these."""
    if layout.buckets:
        pour(layout, a, b, column, best, origins)
        return keys, columns
    return join(layout, keys, columns, add_sets(layout, a, b), column)


@entry
def close_front(layout, keys, columns, best, origins):  # type: ignore[no-untyped-def]
    """(keys, columns): the front; buckets are empty after."""
    return drain(layout, best, origins, layout.buckets) if layout.buckets else (keys, columns)
