"""The native part of `groups.py`: rows that cost alike are found, counted, and given places side by side."""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.exact import Array
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
def find_groups(costs, divisor, count_rows, group_of, profits, slots):  # type: ignore[no-untyped-def]
    """(groups, base, worst) as `Groups` has them; there are as many groups as rows of profits if there are too many.

    Writes the group of each row, -1 where it is left out, and the profits (most + 1, K + 2) of the groups. `slots` are
    a power of two, and zero.
    """
    n, labels = costs.shape
    groups = int64(0)
    base = int64(0)
    total = int64(0)
    for i in range(n):
        least = costs[i, 0]
        worst = costs[i, 0]
        for k in range(1, labels):
            least = min(least, costs[i, k])
            worst = max(worst, costs[i, k])
        base += least
        key = uint64(0)
        for k in range(labels):
            # behind the last group
            profits[groups, k] = _in_units(worst - costs[i, k], divisor)
            key = (key ^ uint64(profits[groups, k])) * uint64(0x9E3779B97F4A7C15)
        worst = _in_units(worst - least, divisor)
        total += worst
        if worst == 0 and not count_rows:
            group_of[i] = -1
            continue
        slot = int64(key >> uint64(40)) & (len(slots) - 1)
        g = slots[slot] - 1
        while g >= 0:
            same = profits[g, labels] == worst
            for k in range(labels):
                same = same and profits[g, k] == profits[groups, k]
            if same:
                break
            slot = (slot + 1) & (len(slots) - 1)
            g = slots[slot] - 1
        if g < 0:
            g = groups
            slots[slot] = g + 1
            profits[g, labels] = worst
            profits[g, labels + 1] = 1
            groups += 1
            if groups == len(profits):
                break
        group_of[i] = g
    return groups, base, total


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


def place_groups(group_of: Array, groups: int) -> tuple[Array, Array]:
    """(places, words) as `Groups` has them of rows (n,) whose group is known, -1 for none."""
    places, words = np.empty(2 * len(group_of), np.int64), np.zeros(groups + 1, np.int64)
    used = _place_rows(group_of, np.zeros(groups, np.int64), places, words)
    return places[:used], words


@entry
def _place_rows(group_of, next_place, places, words):  # type: ignore[no-untyped-def]
    """How much of `places` there is; next_place (G,) is room, of zeros."""
    for g in group_of:
        if g >= 0:
            next_place[g] += 1
    for g in range(len(next_place)):
        words[g + 1] = words[g] + (next_place[g] + _WORD - 1) // _WORD
        next_place[g] = words[g] * _WORD
    used = 0
    for i in range(len(group_of)):
        g = group_of[i]
        if g >= 0:
            places[used] = i
            places[used + 1] = next_place[g]
            next_place[g] += 1
            used += 2
    return used


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
