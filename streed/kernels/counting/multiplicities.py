"""Equal rows counted once, with how many of them there are.

Rows that agree in every column and cost alike (a kind) go to the same leaf of every tree and count alike, so one place
may stand for all of them. How many rows a kind has is written in binary: the kinds of 5 rows stand in the groups of
ones and of fours of their row group, whose multipliers are 1 and 4 times those of the group. Every sum is then what it
was, and so is every bound; only fewer places are counted.
"""

from __future__ import annotations

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.groups import Groups, place_digits

MANY_ROWS = 2**14
"""Of fewer rows, finding equal ones takes as long as it saves."""

_SAMPLE = 2**12

_WORD = 64

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
    sample = np.ascontiguousarray(codes[:: max(1, n // _SAMPLE)][:_SAMPLE])
    size = len(sample)
    # of m equally frequent kinds, about size**2 / 2 m of a sample are repetitions: m is to be at most n / 2
    repeated = size - len(find_classes(sample)[0])
    return repeated * n >= size * size
