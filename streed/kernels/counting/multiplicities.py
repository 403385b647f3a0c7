"""Equal rows counted once, with how many of them there are.

Rows that agree in every column and cost alike (a kind) go to the same leaf of every tree and count alike, so one place
may stand for all of them. How many rows a kind has is written in binary: the kinds of 5 rows stand in the groups of
ones and of fours of their row group, whose multipliers are 1 and 4 times those of the group. Every sum is then what it
was, and so is every bound; only fewer places are counted.
"""

from __future__ import annotations

import attrs
import numpy as np
from numba import int64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.groups import Groups

_MANY_ROWS = 2**14
"""Of fewer rows, finding equal ones takes as long as it saves."""

_SAMPLE = 2**12

_SHARE = 4
"""Rows are merged where they need at most one place for so many of them."""

_ROOM = 2
"""The numbers of rows by class and group may take so much less room than the rows."""

_WORD = 64


def merge_counted(groups: Groups, codes: Array) -> Groups:
    """The groups with equal rows merged, or as they are where few rows are equal.

    codes (n, p) uint8 tell which rows are equal. Rows that are sliced or summed one by one stay as they are.
    """
    n = len(groups.places) // 2
    counted = groups.values is None and not groups.sliced
    if n < _MANY_ROWS or not counted or not _often_equal(codes):
        return groups
    first, class_of = find_classes(codes)
    kinds = len(groups.words) - 1
    if _ROOM * len(first) * kinds > n:
        return groups
    sizes, rows = _count(groups.places, groups.words, class_of, len(first))
    places, words, times, origin, scale = _place(sizes, rows)
    if len(places) // 2 > n // _SHARE:
        return groups
    lowest = codes[groups.places[0]]
    ones = sizes.sum(axis=1) @ (codes[first] != 0)
    flips = (2 * ones > n) | ((2 * ones == n) & (lowest != 0))
    return attrs.evolve(
        groups,
        places=places,
        words=words,
        profits=groups.profits[origin] * scale[:, None],
        counted=max(groups.counted, n),
        times=times,
        flips=flips.astype(np.int8),
    )


def _often_equal(codes: Array) -> bool:
    """Whether a sample makes it likely that the rows are of much fewer kinds than there are rows."""
    n = len(codes)
    sample = np.ascontiguousarray(codes[:: max(1, n // _SAMPLE)][:_SAMPLE])
    size = len(sample)
    # of m equally frequent kinds, about size**2 / 2 m of a sample are repetitions: m is to be at most n / 2
    repeated = size - len(find_classes(sample)[0])
    return repeated * n >= size * size


@entry
def _count(places, words, class_of, classes):  # type: ignore[no-untyped-def]
    """((m, G) how many rows of each class are in each group, (m, G) the first of them)."""
    groups = len(words) - 1
    sizes = np.zeros((classes, groups), np.int64)
    rows = np.zeros((classes, groups), np.int64)
    group_of = np.zeros(words[groups], np.int64)
    for g in range(groups):
        for w in range(words[g], words[g + 1]):
            group_of[w] = g
    for i in range(len(places) // 2):
        row = places[2 * i]
        c = class_of[row]
        g = group_of[places[2 * i + 1] // _WORD]
        if sizes[c, g] == 0:
            rows[c, g] = row
        sizes[c, g] += 1
    return sizes, rows


@entry
def _place(sizes, rows):  # type: ignore[no-untyped-def]
    """(places, words, how many rows are equal to that of each pair, the group and the binary digit of each group)."""
    classes, groups = sizes.shape
    bits = 62
    counts = np.zeros((groups, bits), np.int64)
    total = int64(0)
    for c in range(classes):
        for g in range(groups):
            size = sizes[c, g]
            b = 0
            while size > 0:
                counts[g, b] += size & 1
                total += size & 1
                size = size >> 1
                b += 1
    used = int64(0)
    for g in range(groups):
        for b in range(bits):
            used += counts[g, b] > 0
    words = np.zeros(used + 1, np.int64)
    origin = np.zeros(used, np.int64)
    scale = np.zeros(used, np.int64)
    places = np.empty(2 * total, np.int64)
    times = np.empty(total, np.int64)
    at = 0
    k = 0
    for g in range(groups):
        for b in range(bits):
            if counts[g, b] == 0:
                continue
            place = words[k] * _WORD
            for c in range(classes):
                if (sizes[c, g] >> b) & 1 == 1:
                    places[2 * at] = rows[c, g]
                    places[2 * at + 1] = place
                    times[at] = sizes[c, g]
                    place += 1
                    at += 1
            origin[k] = g
            scale[k] = int64(1) << b
            words[k + 1] = words[k] + (counts[g, b] + _WORD - 1) // _WORD
            k += 1
    return places, words, times, origin, scale
