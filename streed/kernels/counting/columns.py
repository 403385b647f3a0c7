"""From the caller's columns to bit columns: packed, cleaned of what no tree needs, in the order that counting wants.

Rows are sorted by group, every group beginning at a 64-row word of its own. Binary columns with more than half ones are
flipped; equal and complementary columns are kept once, under the first one's name; constant ones are dropped. Every
category of a categorical column becomes a bit column, a literal.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.counting.bits import WORD, pack_bytes, transpose_bits
from streed.kernels.records import LANES
from streed.kernels.simd import count_ones
from streed.kernels.views import native


@native
def _pack_rows(codes, position, bits):  # type: ignore[no-untyped-def]
    """Writes the bits of every row to its places in bits (places, p / 64), which is zero.

    What follows the last column of a row are bits of the next one.
    """
    flat = codes.reshape(codes.size)
    p = codes.shape[1]
    # fewer than 64 codes follow those behind this one
    last = codes.size - WORD
    for i in range(len(position) // 2):
        row = position[2 * i]
        place = position[2 * i + 1]
        for block in range(bits.shape[1]):
            at = row * p + block * WORD
            if at <= last:
                bits[place, block] = pack_bytes(flat, at)
            else:
                word = uint64(0)
                for f in range(codes.size - at):
                    word |= uint64(flat[at + f] != 0) << uint64(f)
                bits[place, block] = word


@native
def _hash(words, flip, valid):  # type: ignore[no-untyped-def]
    """A hash of a column; its words are multiplied by different odd numbers, so that they can be taken in any order."""
    h = uint64(0)
    for w in range(len(words)):
        h += ((words[w] ^ flip) & valid[w]) * (uint64(2 * w + 1) * uint64(0x9E3779B97F4A7C15))
    h ^= h >> uint64(32)
    return (h * uint64(0xD6E8FEB86659FD93)) >> uint64(32)


@native
def _keep_distinct(raw, valid, rows, categories, column, flipped, merge, flips):  # type: ignore[no-untyped-def]
    """How many binary columns remain without constants, repetitions and complements; lists them in order."""
    p = len(categories)
    words = len(valid)
    first = int64(0)
    while first < words and valid[first] == uint64(0):
        first += 1
    size = int64(4)
    while size < 2 * p:
        size *= 2
    slots = np.full(size, -1, np.int64)
    kept = int64(0)
    for f in range(p):
        if categories[f] > 0:
            continue
        ones = int64(0)
        for w in range(words):
            ones += count_ones(raw[f, w])
        if ones == 0 or ones == rows:
            continue
        lowest = valid[first] & (uint64(0) - valid[first])
        flip = 2 * ones > rows or (2 * ones == rows and (raw[f, first] & lowest) != uint64(0))
        if len(flips) > 0:
            flip = flips[f] != 0
        inverse = uint64(0) - uint64(flip)
        slot = int64(_hash(raw[f], inverse, valid) & uint64(size - 1))
        repeated = False
        while merge and slots[slot] >= 0 and not repeated:
            other = slots[slot]
            repeated = True
            both = inverse ^ (uint64(0) - uint64(flipped[other]))
            for w in range(words):
                if ((raw[f, w] ^ raw[column[other], w] ^ both) & valid[w]) != uint64(0):
                    repeated = False
                    break
            slot = (slot + 1) & (size - 1)
        if not repeated:
            if merge:
                slots[slot] = kept
            column[kept] = f
            flipped[kept] = flip
            kept += 1
    return kept


@native
def _add_literals(codes, position, categories, sets, kept, column, literals):  # type: ignore[no-untyped-def]
    """How many bit columns there are with the literals of the categorical columns, which it appends."""
    count = kept
    c = int64(0)
    for f in range(len(categories)):
        if categories[f] > 0:
            literals[c] = count
            for i in range(len(position) // 2):
                place = position[2 * i + 1]
                sets[count + codes[position[2 * i], f], place // WORD] |= uint64(1) << uint64(place % WORD)
            for k in range(categories[f]):
                column[count + k] = f
            count += categories[f]
            c += 1
    literals[c] = count
    return count


@entry
def pack_columns(codes, position, categories, words, merge, flips):  # type: ignore[no-untyped-def]
    """(column, flipped, literals, column_rows, row_bits, rows) of a problem.

    codes (n, p) uint8: 0 or 1, or the category where `categories` (p,) names how many there are (0: binary).
    position (m, 2) flattened as pairs (row, place): the place of each row in the padded order; a row may have several
    places or none. `words` is the number of 64-row words of the padded order. Equal columns are kept once only if
    `merge`: if a branching cost tells columns apart, they are not the same split. `flips` (p,) int8 says which binary
    columns have more than half ones, where places do not tell; empty where they do.

    column (F,) int64 is the caller's column of each bit column, flipped (F,) whether it holds the complement,
    literals (c + 1,) where the literals of the c-th categorical column begin; column_rows (F, words) uint64 and
    row_bits (64 * words, lanes / 32) int32 hold the bits both ways; rows (words,) uint64 is the set of all rows that
    have a place, which is that of the root.
    """
    p = codes.shape[1]
    blocks = (p + WORD - 1) // WORD
    bits = np.zeros((words * WORD, blocks), np.uint64)
    _pack_rows(codes, position, bits)
    rows = int64(len(position) // 2)
    valid = np.zeros(words, np.uint64)
    for i in range(rows):
        place = position[2 * i + 1]
        valid[place // WORD] |= uint64(1) << uint64(place % WORD)
    raw = np.empty((blocks * WORD, words), np.uint64)
    transpose_bits(bits, raw)
    n_literals = int64(0)
    n_categorical = int64(0)
    for f in range(p):
        if categories[f] > 0:
            n_literals += categories[f]
            n_categorical += 1
    column = np.empty(p + n_literals, np.int64)
    flipped = np.zeros(p + n_literals, np.uint8)
    kept = _keep_distinct(raw, valid, rows, categories, column, flipped, merge, flips)
    space = (kept + n_literals + WORD - 1) // WORD * WORD
    sets = np.zeros((space, words), np.uint64)
    for f in range(kept):
        flip = uint64(0) - uint64(flipped[f])
        for w in range(words):
            sets[f, w] = (raw[column[f], w] ^ flip) & valid[w]
    literals = np.zeros(n_categorical + 1, np.int64)
    count = _add_literals(codes, position, categories, sets, kept, column, literals)
    row_words = np.empty((words * WORD, space // WORD), np.uint64)
    transpose_bits(sets, row_words)
    lanes = (count + LANES - 1) // LANES
    row_bits = row_words.view(np.int32)
    if lanes < row_bits.shape[1]:
        row_bits = row_bits[:, :lanes].copy()
    return column[:count], flipped[:count], literals, sets[:count], row_bits, valid
