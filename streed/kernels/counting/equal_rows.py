"""The equivalent-points bound: rows that agree in every column go to the same leaf of every tree.

Such rows together pay at least what their best common label costs, beyond what each pays under its own best label
(OSDT, Section 3, for accuracy; here for any costs per row and label). As a state holds all of them or none, these
least costs add up over any partition into states: their sum over the classes in a state is a lower bound of its
optimum, its floor.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import int64, uint64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.simd import first_one, load_eight
from streed.kernels.views import native, vector

_GOLDEN = 0x9E3779B97F4A7C15

_SLOTS = 1024


def find_floors(row_bits: Array, places: Array, times: Array, costs: Array, divisor: int) -> tuple[Array, Array]:
    """(mask, floors): the floor of every class of equivalent rows, at the place of the first of them.

    row_bits (N, P / 32) int32 are the columns of every place, places (m,) int64 flat pairs (row, place), times (m / 2,)
    int64 how many equal rows each pair's row stands for (empty: 1), costs (n, K) int64. floors (N,) int64 counts in
    units of `divisor`; mask (N / 64,) uint64 has a bit for each that is not zero.
    """
    pairs = places.reshape(-1, 2)
    place_of, times_of = np.full(len(costs), -1), np.ones(len(costs), np.int64)
    place_of[pairs[::-1, 0]] = pairs[::-1, 1]
    if len(times):
        times_of[pairs[:, 0]] = times
    rows = np.flatnonzero(place_of >= 0)
    first, class_of = find_equal(row_bits[place_of[rows]])
    above = costs[rows].T
    above = (above - functools.reduce(np.minimum, above)) * times_of[rows]
    floors = np.zeros(len(row_bits), np.int64)
    sums = np.zeros((len(above), len(first)), np.int64)
    for label, each in zip(sums, above, strict=True):
        np.add.at(label, class_of, each)
    floors[place_of[rows[first]]] = sums.min(axis=0) // divisor
    return np.packbits(floors > 0, bitorder="little").view(np.uint64), floors


@native
def _classify(codes, slots, class_of, first):  # type: ignore[no-untyped-def]
    """How many classes there are, -1 if they fill half the slots (a power of two of them); writes the other arrays."""
    n, p = codes.shape
    mask = uint64(len(slots) - 1)
    slots[:] = -1
    classes = int64(0)
    for i in range(n):
        key = uint64(0)
        f = 0
        while f + 8 <= p:
            key = (key ^ load_eight(codes, i, f)) * uint64(_GOLDEN)
            key ^= key >> uint64(32)
            f += 8
        while f < p:
            key = (key ^ uint64(codes[i, f])) * uint64(_GOLDEN)
            f += 1
        slot = int64((key >> uint64(32)) & mask)
        while slots[slot] >= 0:
            other = first[slots[slot]]
            f = 0
            while f + 8 <= p and load_eight(codes, i, f) == load_eight(codes, other, f):
                f += 8
            while f < p and codes[i, f] == codes[other, f]:
                f += 1
            if f == p:
                break
            slot = (slot + 1) & int64(mask)
        if slots[slot] < 0:
            if 2 * classes >= len(slots):
                return int64(-1)
            slots[slot] = classes
            first[classes] = i
            classes += 1
        class_of[i] = slots[slot]
    return classes


@entry
def find_classes(codes):  # type: ignore[no-untyped-def]
    """(first, class_of): the first row of every class of equal rows of codes (n, p) uint8, and each row's class.

    Classes are numbered in the order of their first rows.
    """
    n = len(codes)
    first = np.empty(n, np.int64)
    class_of = np.empty(n, np.int64)
    # few slots stay in the fastest cache, and often rows are of few classes
    size, classes = _SLOTS, int64(-1)
    while classes < 0:
        classes = _classify(codes, np.empty(size, np.int64), class_of, first)
        size *= 16
    return first[:classes].copy(), class_of


def find_equal(rows: Array) -> tuple[Array, Array]:
    """As `find_classes`, of rows (n, p) of whole numbers of any size."""
    found: tuple[Array, Array] = find_classes(np.ascontiguousarray(rows).view(np.uint8))
    return found


@native
def equivalent_points_bound(e, rows):  # type: ignore[no-untyped-def]
    """The floor of a set of rows (W,): what equivalent rows among them cost every tree."""
    if e.floors == 0:
        return int64(0)
    mask = vector(e.floor_mask, e.row_words, uint64)
    return sum_of_places(rows, mask, vector(e.floors, e.row_space, int64), e.row_words)


@native
def sum_of_places(rows, mask, values, words):  # type: ignore[no-untyped-def]
    """The sum of the values (64 words,) of the places that are in both sets, (words,) each."""
    total = int64(0)
    for w in range(words):
        bits = rows[w] & mask[w]
        while bits != uint64(0):
            total += values[w * 64 + first_one(bits)]
            bits = bits & (bits - uint64(1))
    return total
