"""Counts of trees of depth two or less of any keys, native: in tables of keys and counts.

Rows, columns, keys and options are as in `counts.py`; matrices of columns are those of `pair_sums.py`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from streed.kernels.views import copy_into, native
from streed.rashomon.compiled.layout import INFINITE
from streed.rashomon.compiled.pair_sums import TRIVIAL, allow
from streed.rashomon.compiled.tables import put, put_sums


@native
def put_leaves(leaf, budget, found, numbers, size):
    """Appends the leaves of keys <= budget."""
    for k in range(len(leaf)):
        if leaf[k] <= budget:
            found[size] = leaf[k]
            numbers[size] = 1
            size += 1
    return size


@native
def put_stumps(first, last, price, budget, times, options, found, numbers, size):
    """Appends the trees of one split into these leaves of keys <= budget."""
    for i in range(len(first)):
        if first[i] + price > budget:
            continue
        for j in range(len(last)):
            key = first[i] + last[j] + price
            if key <= budget and (i != j or options[TRIVIAL]):
                found[size] = key
                numbers[size] = times
                size += 1
    return size


@native
def gathered(found, numbers, size):
    """(keys, counts): the first `size` entries by rising key, those of one key together."""
    order = np.argsort(found[:size])
    keys = np.empty(size, np.int64)
    counts = np.empty(size, np.int64)
    at = -1
    for i in order:
        if at >= 0 and keys[at] == found[i]:
            counts[at] += numbers[i]
        else:
            at += 1
            keys[at] = found[i]
            counts[at] = numbers[i]
    return keys[: at + 1], counts[: at + 1]


@native
def drop_one_label(table, low, first, last, price, budget, times):
    """The table without the splits into leaves of one label."""
    for k in range(len(first)):
        key = first[k] + last[k] + price
        if key <= budget:
            table = put(table, low, key, -times)
    return table


@native
def put_shallow(table, low, both, sums, size, whole, price, depth, multiple, options, left, right, budget, check):
    """The table with the trees of depth at most 0, 1 or 2 of keys <= budget.

    `left`, `right` (m,): the least keys of both sides of every split, of depth - 1.
    """
    m, labels = len(both), len(whole)
    most = labels + m * labels * labels
    found, numbers = np.empty(most, np.int64), np.empty(most, np.int64)
    other, others = np.empty(most, np.int64), np.empty(most, np.int64)
    leaf = np.empty((2, labels), np.int64)
    part = np.empty((2, labels), np.int64)
    copy_into(leaf[0], whole)
    allow(leaf[0], size, options)
    count = put_leaves(leaf[0], budget, found, numbers, 0)
    for i in range(count):
        table = put(table, low, found[i], numbers[i])
    for f in range(m if depth > 0 else 0):
        if left[f] >= INFINITE or right[f] >= INFINITE or left[f] + right[f] + price > budget:
            continue
        on = both[f, f]
        for k in range(labels):
            leaf[0, k] = sums[k * m + f, f]
            leaf[1, k] = whole[k] - leaf[0, k]
        if depth == 1:
            allow(leaf[0], on, options)
            allow(leaf[1], size - on, options)
            count = put_stumps(leaf[0], leaf[1], price, budget, multiple[f], options, found, numbers, 0)
            for i in range(count):
                table = put(table, low, found[i], numbers[i])
            continue
        room_left = budget - price - right[f]
        room_right = budget - price - left[f]
        n_left, n_right = 0, 0
        for g in range(m):
            inside = both[f, g]
            if 0 < inside < on:
                for k in range(labels):
                    part[0, k] = sums[k * m + f, g]
                    part[1, k] = leaf[0, k] - part[0, k]
                allow(part[0], inside, options)
                allow(part[1], on - inside, options)
                n_left = put_stumps(part[0], part[1], price, room_left, multiple[g], options, found, numbers, n_left)
            beside = both[g, g] - inside
            if 0 < beside < size - on:
                for k in range(labels):
                    part[0, k] = sums[k * m + g, g] - sums[k * m + f, g]
                    part[1, k] = leaf[1, k] - part[0, k]
                allow(part[0], beside, options)
                allow(part[1], size - on - beside, options)
                n_right = put_stumps(part[0], part[1], price, room_right, multiple[g], options, other, others, n_right)
        allow(leaf[0], on, options)
        allow(leaf[1], size - on, options)
        n_left = put_leaves(leaf[0], room_left, found, numbers, n_left)
        n_right = put_leaves(leaf[1], room_right, other, others, n_right)
        table = put_sums(
            table,
            low,
            gathered(found, numbers, n_left),
            gathered(other, others, n_right),
            price,
            budget,
            multiple[f],
            check,
        )
        if check[0] >= 2.0**62:
            return table
        if not options[TRIVIAL]:
            table = drop_one_label(table, low, leaf[0], leaf[1], price, budget, multiple[f])
    return table
