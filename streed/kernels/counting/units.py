"""Rows packed in units for counting by tables: what `look_up.py` reads, made of rows or of their words."""

from __future__ import annotations

from numba import int64, uint64

from streed.kernels.counting.look_up import store_places
from streed.kernels.records import LANES, NIBBLE, NIBBLES, WORD_ROWS
from streed.kernels.simd import fill, keep_lanes, load, nibble_of, store
from streed.kernels.views import inline, native


@inline
def _store_nibbles(units, nibble, block, bits, table):  # type: ignore[no-untyped-def]
    """Writes the nibbles of a block of columns, and where their tables begin."""
    at = 96 * block + 32 * (nibble % NIBBLES)
    store(units, nibble // NIBBLES, at, bits)
    store_places(units, nibble // NIBBLES, units.shape[1] // 2 + at, bits, table)


@native
def build_nibbles(rows, at, count, row_bits, blocks, units, nibble, table):  # type: ignore[no-untyped-def]
    """How many nibbles the rows[at : at + count] take; writes them from `nibble` on, with tables from `table` on."""
    used = (count + NIBBLE - 1) // NIBBLE
    for n in range(used):
        begin = at + NIBBLE * n
        left = at + count - begin
        # of rows that are none, any may be read
        r0 = uint64(rows[uint64(begin)])
        r1 = uint64(rows[uint64(begin + 1)]) if left > 1 else r0
        r2 = uint64(rows[uint64(begin + 2)]) if left > 2 else r0
        r3 = uint64(rows[uint64(begin + 3)]) if left > 3 else r0
        keep1 = int64(-1) if left > 1 else int64(0)
        keep2 = int64(-1) if left > 2 else int64(0)
        keep3 = int64(-1) if left > 3 else int64(0)
        for block in range(blocks):
            bits = keep_lanes(int64(row_bits[r0, block]), fill(units, 1))
            bits = bits | keep_lanes(int64(row_bits[r1, block]) & keep1, fill(units, 2))
            bits = bits | keep_lanes(int64(row_bits[r2, block]) & keep2, fill(units, 4))
            bits = bits | keep_lanes(int64(row_bits[r3, block]) & keep3, fill(units, 8))
            _store_nibbles(units, nibble + n, block, bits, table)
    return used


@native
def fill_up(units, nibble, blocks):  # type: ignore[no-untyped-def]
    """How many units the nibbles up to `nibble` take; fills the last one up with rows that have no column."""
    used = (nibble + NIBBLES - 1) // NIBBLES
    for n in range(nibble, NIBBLES * used):
        for block in range(blocks):
            _store_nibbles(units, n, block, fill(units, 0), int64(0))
    return used


@native
def build_units(rows, at, count, row_bits, blocks, units, unit):  # type: ignore[no-untyped-def]
    """How many units the rows[at : at + count] take; writes their columns to units[unit:]."""
    begin = unit * NIBBLES
    used = build_nibbles(rows, at, count, row_bits, blocks, units, begin, int64(0))
    return fill_up(units, begin + used, blocks) - unit


@native
def split_words(words, begin, end, stride, units):  # type: ignore[no-untyped-def]
    """How many units the words[begin:end] take; writes them to units[0:]."""
    nibbles = WORD_ROWS // NIBBLE * (end - begin)
    for n in range(nibbles):
        word = begin + n // (WORD_ROWS // NIBBLE)
        for k in range(0, stride, LANES):
            bits = nibble_of(units, load(words, word, k), n % (WORD_ROWS // NIBBLE))
            _store_nibbles(units, n, k // LANES, bits, int64(0))
    return fill_up(units, nibbles, stride // LANES)
