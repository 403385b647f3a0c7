"""Row groups: rows that cost alike stand together, so that counting them is popcounting.

A group has one vector of multipliers: per label the profit (worst cost minus cost), then the worst cost, then how many
rows a row of it counts for. Costs are first reduced by each row's least cost, which every tree pays (the base). Rows
with many different costs are sliced into bits: a row that profits 5 under a label stands in that label's group of ones
and in its group of fours. Where that makes too many groups, distinct rows are summed one by one instead: rows that
agree in every column go to the same leaf of every tree, so their costs can be added first, and the least cost of what
they have in common, which every tree pays (the equivalent-points bound), becomes part of the base.

One place may stand for many rows that agree in every column and cost alike (a kind). How many they are is written in
binary: kinds of 5 rows stand in the groups of ones and of fours of their row group, whose multipliers are 1 and 4 times
those of the group. Every sum and every bound is what it was; only fewer places are counted.
"""

from __future__ import annotations

import functools
import math

import attrs
import numpy as np
from numba import int64, uint64

from streed.exact import Array, writable
from streed.kernels.compiled import entry
from streed.kernels.counting.equal_rows import find_classes, find_equal
from streed.kernels.records import FOUR
from streed.kernels.views import inline, native

_WORD = 64

_SLOTS = 256
"""A power of two, several times as many as there are groups at most."""


@native
def _divisor(costs, split):  # type: ignore[no-untyped-def]
    """As `common_divisor`."""
    divisor = int64(split)
    for costs_of_row in costs:
        for cost in costs_of_row:
            divisor = math.gcd(divisor, cost - costs_of_row[0])
        if divisor == 1:
            break
    return max(divisor, int64(1))


@entry
def common_divisor(costs, split):  # type: ignore[no-untyped-def]
    """The greatest common divisor of all differences of costs (n, K) within a row and of the cost of a split, or 1."""
    return _divisor(costs, split)


@inline
def _in_units(cost, divisor):  # type: ignore[no-untyped-def]
    """The cost in units of the divisor, which it is a multiple of; most divisors are 1, and divisions are slow."""
    return cost if divisor == 1 else cost // divisor


@entry
def find_groups(costs, divisor, counts, group_of, profits, slots):  # type: ignore[no-untyped-def]
    """(groups, base, worst) as `Groups` has them; there are as many groups as rows of profits if there are too many.

    Writes the group of each row, -1 where it is left out, and the profits (most + 1, K + 2) of the groups. `counts` are
    empty where rows are not counted. `slots` are a power of two, and zero.
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
        count = int64(1)
        if len(counts) > 0:
            count = counts[i]
            key = (key ^ uint64(count)) * uint64(0x9E3779B97F4A7C15)
        elif worst == 0:
            group_of[i] = -1
            continue
        slot = int64(key >> uint64(40)) & (len(slots) - 1)
        g = slots[slot] - 1
        while g >= 0:
            same = profits[g, labels] == worst and profits[g, labels + 1] == count
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
            profits[g, labels + 1] = count
            groups += 1
            if groups == len(profits):
                break
        group_of[i] = g
    return groups, base, total


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


@native
def profit_by_class(profits, labels, signed_costs):  # type: ignore[no-untyped-def]
    """1 if every row profits under one label only, so that it costs the same under all others, else 0.

    Writes signed_costs (G, 2): of two labels, the cost of the first minus that of the second, and its absolute value.
    """
    of_classes = int64(1)
    for g in range(len(profits)):
        if labels == 2:
            signed_costs[g, 0] = profits[g, 1] - profits[g, 0]
            signed_costs[g, 1] = abs(signed_costs[g, 0])
        total = int64(0)
        for k in range(labels):
            total += profits[g, k]
            if profits[g, k] != 0 and profits[g, k] != profits[g, labels]:
                of_classes = int64(0)
        if total != profits[g, labels]:
            of_classes = int64(0)
    return of_classes


@entry
def set_prices(costs, sizes, split, profits, signed_costs):  # type: ignore[no-untyped-def]
    """(base, worst, divisor, accuracy): what every tree pays, the sum of worst minus least costs in units of the
    divisor, that divisor, and 1 if every row costs the same under every label but one.

    costs (G, K) int64 of a row of each group, of which there are sizes (G,); split >= 0. Writes profits (G, K + 1 or
    K + 2): worst cost minus cost, the worst cost, as they stand rows (1, never written), and signed_costs (G, 2).
    """
    groups, labels = costs.shape
    divisor = _divisor(costs, split)
    base = int64(0)
    total = int64(0)
    for g in range(groups):
        least = costs[g].min()
        most = costs[g].max()
        worst = (most - least) // divisor
        base += sizes[g] * least
        total += sizes[g] * worst
        for k in range(labels):
            profits[g, k] = (most - costs[g, k]) // divisor
        profits[g, labels] = worst
    return base, total, divisor, profit_by_class(profits, labels, signed_costs)


MOST_GROUPS = 48
"""More different cost vectors than this are sliced into bits."""

NO_TIMES = np.zeros(0, np.int64)
"""Every row stands for itself."""


_BLOCK = 16
"""Columns to which numbers are added at once."""

_STEP = 6.0
"""The time to add four numbers to a block of columns, in that of counting 16 rows for 32 columns."""


@attrs.frozen(eq=False)
class Groups:
    """Rows by group, in the padded order of the engine."""

    places: Array
    """int64, flat pairs (row, place); a row may stand in several places, or in none if it costs nothing."""
    words: Array
    """int64 (G + 1,): the 64-row word at which each group begins."""
    profits: Array
    """int64 (G, K + 2): profit per label, worst cost, rows counted."""
    base: int
    """What every tree pays."""
    worst: int
    """The sum over all rows of worst minus least cost."""
    values: Array | None = None
    """(N, S padded to fours) int64: the numbers that are summed row by row, in place of counts of groups; see `sums`.
    There is one group then, whose rows are the distinct ones."""
    counted: int = 0
    """How many rows the rows stand for, where the rows plane adds up more than one for a row."""
    sliced: bool = False
    """Whether rows stand in the groups of their costs' binary digits."""
    times: Array | None = None
    """int64, for each pair of `places`: how many equal rows it stands for, in all its places together; None: 1."""
    flips: Array | None = None
    """(p,) int8: the binary columns that have ones in more than half of the rows, where places do not tell."""


def group_rows(costs: Array, divisor: int, counts: Array | None, codes: Array | None = None) -> Groups:
    """The groups of rows with costs (n, K) int64, divided by `divisor`; by codes (n, p) uint8 distinct rows are known.

    counts (n,) int64 say how many rows each stands for, whose costs are those of all of them. If they are None, rows
    need not be counted, and those that cost the same under every label are left out.
    """
    n, labels = costs.shape
    group_of, profits = np.empty(n, np.int64), np.zeros((MOST_GROUPS + 1, labels + 2), np.int64)
    asked = NO_TIMES if counts is None else counts
    groups, base, worst = find_groups(costs, divisor, asked, group_of, profits, np.zeros(_SLOTS, np.int64))
    counted = 0 if counts is None else int(counts.sum())
    if groups <= MOST_GROUPS:
        return Groups(*place_groups(group_of, groups), profits[:groups].copy(), base, worst, counted=counted)
    profits, base = _profits(costs, divisor)
    if codes is not None:
        distinct, effort = _sum_distinct(codes, costs, divisor, counts)
        slices = (labels + 1) * int(profits[:, -1].max()).bit_length()
        blocks = codes.shape[1] * -(-codes.shape[1] // 32)
        if effort <= (int(np.bitwise_count(profits).sum()) / 16 + 32 * slices) * blocks:
            return attrs.evolve(distinct, counted=counted)
    sliced = group_digits(np.column_stack([profits, np.zeros(n, np.int64) if counts is None else counts]))
    return attrs.evolve(sliced, base=base, worst=int(profits[:, -1].sum()), counted=counted)


def group_vectors(vectors: Array) -> Groups | None:
    """The groups of equal rows of vectors (n, S) int64, which become the multipliers; None for too many."""
    first, group_of = find_equal(vectors)
    if len(first) > MOST_GROUPS:
        return None
    return Groups(*place_groups(group_of, len(first)), vectors[first], 0, 0)


def group_digits(amounts: Array) -> Groups:
    """The rows of amounts (n, S) int64, none below zero, in the groups of their binary digits."""
    places, words, plane, digit, _ = place_digits(amounts)
    multipliers = np.zeros((len(plane), amounts.shape[1]), np.int64)
    multipliers[np.arange(len(plane)), plane] = 1 << digit
    return Groups(places.ravel(), words, multipliers, 0, 0, sliced=True)


def place_digits(amounts: Array) -> tuple[Array, Array, Array, Array, Array]:
    """(places, words, plane, digit, group): the rows of amounts (n, P) >= 0 in the groups of their binary digits.

    places (m, 2) are pairs (row, place), `group` (m,) their groups, which have a plane and a digit each.
    """
    bits = max(1, int(amounts.max(initial=0)).bit_length())
    digits = np.stack([(amounts.T >> b) & 1 != 0 for b in range(bits)], axis=1)
    plane, digit = np.nonzero(digits.any(axis=2))
    group, rows = np.nonzero(digits[plane, digit])
    sizes = np.bincount(group)
    words = np.concatenate([[0], np.cumsum(-(-sizes // _WORD))])
    places = np.arange(len(rows)) + (_WORD * words[:-1] - np.cumsum(sizes) + sizes)[group]
    return np.stack([rows, places], axis=1), words, plane, digit, group


def _profits(costs: Array, divisor: int) -> tuple[Array, int]:
    """(n, K + 1) the profits per label and the worst cost, and what every tree pays."""
    # label by label: numpy is slow at the extremes of short rows
    least, worst = (functools.reduce(extreme, costs.T) for extreme in (np.minimum, np.maximum))
    profits = np.hstack([worst[:, None] - costs, (worst - least)[:, None]]) // divisor
    return profits, int(least.sum())


def _sum_distinct(codes: Array, costs: Array, divisor: int, counts: Array | None) -> tuple[Groups, float]:
    """(the distinct rows with what they cost together, roughly the steps of summing all pairs of columns).

    counts (n,): how many rows each stands for, where they are counted.
    """
    first, class_of = find_classes(codes)
    m, labels = len(first), costs.shape[1]
    added = costs if counts is None else np.column_stack([costs, counts])
    sums = np.zeros((added.shape[1], m), np.int64)
    for sum_by_class, values in zip(sums, added.T, strict=True):
        np.add.at(sum_by_class, class_of, values)
    together = sums.T
    profits, base = _profits(together[:, :labels], divisor)
    planes = np.hstack([profits, together[:, labels:]])
    width = -(-planes.shape[1] // FOUR)
    values = np.zeros((-(-m // _WORD) * _WORD, width * FOUR), np.int64)
    values[:m, : planes.shape[1]] = planes
    ones = (codes[first] != 0).sum(axis=0)
    steps = float(np.minimum(ones, m - ones).sum()) * len(ones) / (2 * _BLOCK) * _STEP
    places = np.stack([first, np.arange(m)], axis=1).ravel()
    words, multipliers = np.array([0, len(values) // _WORD]), np.zeros((1, labels + 2), np.int64)
    multipliers[0, labels] = profits[:, -1].max(initial=0)  # no row costs more
    return Groups(places, words, multipliers, base, int(profits[:, -1].sum()), values), steps * width


MANY_ROWS = 2**14
"""Of fewer rows, finding equal ones takes as long as it saves."""

_SAMPLE = 2**12


_SHARE = 4
"""Rows are merged where they need at most one place for so many of them."""

_ROOM = 2
"""The numbers of rows by class and group may take so much less room than the rows."""


def merge_counted(groups: Groups, codes: Array) -> Groups:
    """The groups with equal rows merged, or as they are where few rows are equal.

    codes (n, p) uint8 tell which rows are equal. Rows that are sliced or summed one by one stay as they are.
    """
    n = len(groups.places) // 2
    counted = groups.values is None and not groups.sliced
    if n < MANY_ROWS or not counted or not often_equal(codes):
        return groups
    first, class_of = find_classes(codes)
    kinds = len(groups.words) - 1
    if _ROOM * len(first) * kinds > n:
        return groups
    pairs = groups.places.reshape(-1, 2)
    kind = kinds * class_of[pairs[:, 0]] + np.searchsorted(groups.words, pairs[:, 1] // _WORD, side="right") - 1
    sizes = np.bincount(kind, minlength=kinds * len(first)).reshape(-1, kinds)
    rows = np.zeros(sizes.size, np.int64)
    rows[kind[::-1]] = pairs[::-1, 0]  # the first one stays
    placed, words, origin, digit, group = place_digits(sizes)
    if len(placed) > n // _SHARE:
        return groups
    kept = kinds * placed[:, 0] + origin[group]
    lowest = codes[groups.places[0]]
    ones = sizes.sum(axis=1) @ (codes[first] != 0)
    flips = (2 * ones > n) | ((2 * ones == n) & (lowest != 0))
    return attrs.evolve(
        groups,
        places=np.stack([rows[kept], placed[:, 1]], axis=1).ravel(),
        words=words,
        profits=groups.profits[origin] * (1 << digit)[:, None],
        counted=max(groups.counted, n),
        times=sizes.ravel()[kept],
        flips=flips.astype(np.int8),
    )


def often_equal(codes: Array) -> bool:
    """Whether a sample makes it likely that the rows are of much fewer kinds than there are rows."""
    n = len(codes)
    sample = writable(np.ascontiguousarray(codes[:: max(1, n // _SAMPLE)][:_SAMPLE]))
    size = len(sample)
    # of m equally frequent kinds, about size**2 / 2 m of a sample are repetitions: m is to be at most n / 2
    repeated = size - len(find_classes(sample)[0])
    return repeated * n >= size * size
