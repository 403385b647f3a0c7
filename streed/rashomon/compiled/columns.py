"""Columns as bits, native: those that part the rows in different ways, and which of them each column is."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import own_entry
from streed.kernels.views import native

_WORD = 64


@native
def write_bits(codes, raw):
    """Writes (words, p) uint64, the words of every column beside each other: bit i of word w is row 64 w + i."""
    n, p = codes.shape
    raw[:, :] = 0
    for row in range(n):
        w, bit = row // _WORD, uint64(row % _WORD)
        for f in range(p):
            raw[w, f] |= uint64(codes[row, f]) << bit


@own_entry
def distinct_columns(codes):
    """(bits, first, member) of 0/1 codes (n, p) uint8, n > 0: the columns that part the rows, each in one way.

    bits (m, words) uint64 are the rows that have 1 in each of the columns `first` (m,), which rise; member (p,) says
    which of these each column equals, or is the complement of, and -1 of a column that parts no rows.
    """
    n, p = codes.shape
    words = (n + _WORD - 1) // _WORD
    raw = np.empty((words, p), np.uint64)
    write_bits(codes, raw)
    # a column and its complement agree on which rows answer as the first one does
    flip, some, key = np.empty(p, np.uint64), np.zeros(p, np.uint64), np.zeros(p, np.uint64)
    for f in range(p):
        flip[f] = uint64(0) - uint64(codes[0, f])
    for w in range(words):
        used = n - w * _WORD
        valid = ~uint64(0) if used >= _WORD else (uint64(1) << uint64(used)) - uint64(1)
        factor = uint64(2 * w + 1) * uint64(0x9E3779B97F4A7C15)
        for f in range(p):
            raw[w, f] = (raw[w, f] ^ flip[f]) & valid
            some[f] |= raw[w, f]
            key[f] += raw[w, f] * factor
    size = int64(4)
    while size < 2 * p:
        size *= 2
    slots = np.full(size, -1, np.int64)
    first, member = np.empty(p, np.int64), np.full(p, -1, np.int64)
    kept = int64(0)
    for f in range(p):
        if some[f] == 0:
            continue
        mixed = (key[f] ^ (key[f] >> uint64(32))) * uint64(0xD6E8FEB86659FD93)
        slot = int64((mixed >> uint64(32)) & uint64(size - 1))
        while slots[slot] >= 0 and member[f] < 0:
            other = first[slots[slot]]
            is_same = True
            for w in range(words):
                if raw[w, f] != raw[w, other]:
                    is_same = False
                    break
            if is_same:
                member[f] = slots[slot]
            slot = (slot + 1) & (size - 1)
        if member[f] < 0:
            slots[slot] = kept
            member[f] = kept
            first[kept] = f
            kept += 1
    bits = np.empty((kept, words), np.uint64)
    for c in range(kept):
        f = first[c]
        for w in range(words):
            used = n - w * _WORD
            valid = ~uint64(0) if used >= _WORD else (uint64(1) << uint64(used)) - uint64(1)
            bits[c, w] = (raw[w, f] ^ flip[f]) & valid
    return bits, first[:kept].copy(), member
