"""The native part of `multiplicities.py`: equal rows are counted, and their numbers written in binary digits."""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.compiled import entry

_WORD = 64


@entry
def count_copies(places, words, class_of, classes):  # type: ignore[no-untyped-def]
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
def place_copies(sizes, rows):  # type: ignore[no-untyped-def]
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
