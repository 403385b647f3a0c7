"""The native part of `groups.py`: rows that cost alike are found, counted, and given places side by side."""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.views import inline, native

_WORD = 64


@native
def _divisor_of(a, b):  # type: ignore[no-untyped-def]
    """The greatest common divisor of two numbers >= 0."""
    while b != 0:
        a, b = b, a % b
    return a


@entry
def common_divisor(costs, split):  # type: ignore[no-untyped-def]
    """The greatest common divisor of all differences of costs (n, K) within a row and of the cost of a split, or 1."""
    n, labels = costs.shape
    divisor = int64(split)
    for i in range(n):
        for k in range(1, labels):
            divisor = _divisor_of(divisor, abs(costs[i, k] - costs[i, 0]))
        if divisor == 1:
            break
    return max(divisor, int64(1))


@inline
def _in_units(cost, divisor):  # type: ignore[no-untyped-def]
    """The cost in units of the divisor, which it is a multiple of; most divisors are 1, and divisions are slow."""
    return cost if divisor == 1 else cost // divisor


@entry
def find_groups(costs, divisor, count_rows, most):  # type: ignore[no-untyped-def]
    """(places, words, profits, base, worst) as `Groups` has them; no places and words if there are more than `most`."""
    n, labels = costs.shape
    group_of = np.empty(n, np.int64)
    profits = np.zeros((most, labels + 2), np.int64)
    sizes = np.zeros(most, np.int64)
    size = int64(4)
    while size < 4 * most:
        size *= 2
    slots = np.full(size, -1, np.int64)
    groups = 0
    base = int64(0)
    total = int64(0)
    vector = np.empty(labels, np.int64)
    nothing = np.empty(0, np.int64)
    for i in range(n):
        least = costs[i, 0]
        worst = costs[i, 0]
        for k in range(1, labels):
            least = min(least, costs[i, k])
            worst = max(worst, costs[i, k])
        base += least
        key = uint64(0)
        for k in range(labels):
            vector[k] = _in_units(worst - costs[i, k], divisor)
            key = (key ^ uint64(vector[k])) * uint64(0x9E3779B97F4A7C15)
        worst = _in_units(worst - least, divisor)
        total += worst
        if worst == 0 and not count_rows:
            group_of[i] = -1
            continue
        slot = int64(key >> uint64(40)) & (size - 1)
        while True:
            g = slots[slot]
            if g < 0:
                break
            same = profits[g, labels] == worst
            for k in range(labels):
                same = same and profits[g, k] == vector[k]
            if same:
                break
            slot = (slot + 1) & (size - 1)
        if g < 0:
            if groups == most:
                return nothing, nothing, profits, base, total
            g = groups
            slots[slot] = g
            groups += 1
            for k in range(labels):
                profits[g, k] = vector[k]
            profits[g, labels] = worst
            profits[g, labels + 1] = 1
        group_of[i] = g
        sizes[g] += 1
    words = np.zeros(groups + 1, np.int64)
    for g in range(groups):
        words[g + 1] = words[g] + (sizes[g] + _WORD - 1) // _WORD
    next_place = words[:groups] * _WORD
    places = np.empty(2 * n, np.int64)
    used = 0
    for i in range(n):
        g = group_of[i]
        if g >= 0:
            places[used] = i
            places[used + 1] = next_place[g]
            next_place[g] += 1
            used += 2
    return places[:used], words, profits[:groups].copy(), base, total


@entry
def find_equal(vectors, most):  # type: ignore[no-untyped-def]
    """(group of each row, the groups' vectors); nothing if there are more than `most`."""
    n, width = vectors.shape
    group_of = np.empty(n, np.int64)
    found = np.zeros((most, width), np.int64)
    slots = np.full(4 * most, -1, np.int64)
    groups = 0
    for i in range(n):
        key = uint64(0)
        for k in range(width):
            key = (key ^ uint64(vectors[i, k])) * uint64(0x9E3779B97F4A7C15)
        slot = int64(key >> uint64(40)) % len(slots)
        while slots[slot] >= 0:
            same = True
            for k in range(width):
                same = same and found[slots[slot], k] == vectors[i, k]
            if same:
                break
            slot = (slot + 1) % len(slots)
        if slots[slot] < 0:
            if groups == most:
                return group_of[:0].copy(), found
            slots[slot] = groups
            for k in range(width):
                found[groups, k] = vectors[i, k]
            groups += 1
        group_of[i] = slots[slot]
    return group_of, found[:groups].copy()


@entry
def place_groups(group_of, groups):  # type: ignore[no-untyped-def]
    """(places, words) of rows whose group is known: every group begins at a word of its own."""
    sizes = np.zeros(groups, np.int64)
    for g in group_of:
        sizes[g] += 1
    words = np.zeros(groups + 1, np.int64)
    for g in range(groups):
        words[g + 1] = words[g] + (sizes[g] + _WORD - 1) // _WORD
    next_place = words[:groups] * _WORD
    places = np.empty(2 * len(group_of), np.int64)
    for i in range(len(group_of)):
        places[2 * i] = i
        places[2 * i + 1] = next_place[group_of[i]]
        next_place[group_of[i]] += 1
    return places, words


@entry
def set_prices(costs, sizes, split, profits, signed_costs):  # type: ignore[no-untyped-def]
    """(base, worst, divisor, accuracy): what every tree pays, the sum of worst minus least costs in units of the
    divisor, that divisor, and 1 if every row costs the same under every label but one.

    costs (G, K) int64 of a row of each group, of which there are sizes (G,); split >= 0. Writes profits (G, K + 1 or
    K + 2): worst cost minus cost, the worst cost, as they stand rows (1, never written), and signed_costs (G, 2): of
    two labels, the cost of the first minus that of the second, and its absolute value.
    """
    groups, labels = costs.shape
    divisor = int64(split)
    for g in range(groups):
        for k in range(1, labels):
            divisor = _divisor_of(divisor, abs(costs[g, k] - costs[g, 0]))
    divisor = max(divisor, int64(1))
    base = int64(0)
    total = int64(0)
    accuracy = int64(1)
    for g in range(groups):
        least = costs[g].min()
        most = costs[g].max()
        worst = (most - least) // divisor
        base += sizes[g] * least
        total += sizes[g] * worst
        profit = int64(0)
        for k in range(labels):
            profits[g, k] = (most - costs[g, k]) // divisor
            if profits[g, k] != 0 and (profit != 0 or profits[g, k] != worst):
                accuracy = int64(0)
            profit += profits[g, k]
        profits[g, labels] = worst
        if labels == 2:
            signed_costs[g, 0] = profits[g, 1] - profits[g, 0]
            signed_costs[g, 1] = worst
    return base, total, divisor, accuracy
