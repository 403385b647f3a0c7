"""Counts of trees of depth two or less whose keys are close to the least one, native: arrays with a place per key.

Of a least key L and a slack s, place i of an array counts trees of key L + i, for i = 0 to s. Everything else is as in
`counts.py`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.records import LANES
from streed.kernels.simd import fill, first_one, lanes_with
from streed.kernels.views import copy_into, inline, native
from streed.rashomon.compiled.layout import INFINITE
from streed.rashomon.compiled.pair_sums import TRIVIAL, allow, stump_keys
from streed.rashomon.compiled.tables import total_of

WIDEST = 1024
"""Slacks below this."""

_SIGN = -(2**63)


@inline
def put_leaves_near(leaf, least, slack, found):
    """Counts the leaves."""
    for k in range(len(leaf)):
        at = leaf[k] - least
        if at <= slack:
            found[at] += 1


@inline
def put_stump_near(first, last, price, least, slack, times, options, found):
    """Counts the trees of one split into these leaves."""
    for i in range(len(first)):
        for j in range(len(last)):
            at = first[i] + last[j] + price - least
            if at <= slack and (i != j or options[TRIVIAL]):
                found[at] += times


@native
def join_near(first, last, slack, times, found, shift):
    """Counts trees by those of their sides: a place of `first` and one of `last`, and `shift`, are one of `found`."""
    for i in range(slack + 1):
        count = first[i] * times
        if count != 0:
            for j in range(slack + 1 - i):
                found[shift + i + j] += count * last[j]


@native
def put_shallow_near(
    both, sums, alone, size, whole, price, depth, multiple, options, left, right, least, slack, found, check, near
):
    """Counts the trees of depth at most 1 or 2 of keys <= least + slack in `found`; `near` (2, .) is for its use.

    `left`, `right` (m,): the least keys of both sides of every split, of depth - 1.
    """
    m, labels = len(both), len(whole)
    width = both.shape[1]
    leaf = np.empty((2, labels), np.int64)
    part = np.empty((2, labels), np.int64)
    copy_into(leaf[0], whole)
    allow(leaf[0], size, options)
    put_leaves_near(leaf[0], least, slack, found)
    ones, others = near[0], near[1]
    sign = fill(sums, int64(_SIGN))
    for f in range(m):
        if left[f] >= INFINITE or right[f] >= INFINITE:
            continue
        shift = left[f] + right[f] + price - least
        room = slack - shift
        if room < 0:
            continue
        on = both[f, f]
        for k in range(labels):
            leaf[0, k] = sums[k * m + f, f]
            leaf[1, k] = whole[k] - leaf[0, k]
        if depth == 1:
            allow(leaf[0], on, options)
            allow(leaf[1], size - on, options)
            put_stump_near(leaf[0], leaf[1], price, least, slack, multiple[f], options, found)
            continue
        ones[: room + 1] = 0
        others[: room + 1] = 0
        for begin in range(0, width, LANES):
            first, last = stump_keys(sums, alone, whole, m, labels, f, begin)
            inside = lanes_with(first - (left[f] + room + 1 - price), sign)
            while inside != 0:
                g = begin + first_one(np.uint64(inside))
                inside &= inside - 1
                count = both[f, g]
                if 0 < count < on:
                    for k in range(labels):
                        part[0, k] = sums[k * m + f, g]
                        part[1, k] = leaf[0, k] - part[0, k]
                    allow(part[0], count, options)
                    allow(part[1], on - count, options)
                    put_stump_near(part[0], part[1], price, left[f], room, multiple[g], options, ones)
            beside = lanes_with(last - (right[f] + room + 1 - price), sign)
            while beside != 0:
                g = begin + first_one(np.uint64(beside))
                beside &= beside - 1
                count = alone[0, g] - both[f, g]
                if 0 < count < size - on:
                    for k in range(labels):
                        part[0, k] = alone[1 + k, g] - sums[k * m + f, g]
                        part[1, k] = leaf[1, k] - part[0, k]
                    allow(part[0], count, options)
                    allow(part[1], size - on - count, options)
                    put_stump_near(part[0], part[1], price, right[f], room, multiple[g], options, others)
        allow(leaf[0], on, options)
        allow(leaf[1], size - on, options)
        put_leaves_near(leaf[0], left[f], room, ones)
        put_leaves_near(leaf[1], right[f], room, others)
        check[0] += total_of(ones[: room + 1]) * total_of(others[: room + 1]) * multiple[f]
        if check[0] >= 2.0**62:
            return
        join_near(ones, others, room, multiple[f], found, shift)
        if not options[TRIVIAL]:
            drop_one_label_near(leaf[0], leaf[1], price, least, slack, multiple[f], found)


@native
def drop_one_label_near(first, last, price, least, slack, times, found):
    """Takes the splits into leaves of one label away."""
    for k in range(len(first)):
        at = first[k] + last[k] + price - least
        if at <= slack:
            found[at] -= times
