"""From a set of rows to compacted columns.

The rows of a node are listed, and their columns rebuilt as 16-row words, `words[word, column]`, one group of rows
after the other; constant columns are left out. Counting then runs over dense words whatever share of all rows the node
holds, which beats masking the full columns.
"""

from __future__ import annotations

from numba import int8, int16, int32, int64, uint64

from streed.kernels.counting.columns import store_set_bits
from streed.kernels.counting.look_up import LOOKS_UP, build_units
from streed.kernels.records import CHUNK, LANES, MOST_WORDS, UNIT_BYTES, UNIT_ROWS, WORD_ROWS
from streed.kernels.simd import count_ones, fill, first_one, keep_lanes, lanes_with, load, popcount, store
from streed.kernels.views import inline, matrix, native, vector

_KEEP_ALL = 0.8
"""Constant columns stay where at least this share of the columns varies and leaving them out would free no lanes."""


@inline
def list_rows(row_set, begin, end, rows, at):  # type: ignore[no-untyped-def]
    """How many rows the words begin..end of a row set hold; lists them in rows[at:]."""
    count = at
    for word in range(begin, end):
        bits = row_set[word]
        first = word * 64
        while bits != uint64(0):
            rows[count] = first + first_one(bits)
            count += 1
            bits = bits & (bits - uint64(1))
    return count - at


@native
def build_words(rows, at, count, row_bits, blocks, words, word):  # type: ignore[no-untyped-def]
    """How many words the rows[at : at + count] take; writes their columns to words[word:]."""
    used = (count + WORD_ROWS - 1) // WORD_ROWS
    for w in range(used):
        begin = at + w * WORD_ROWS
        end = min(at + count, begin + WORD_ROWS)
        for block in range(blocks):
            bits = fill(words, 0)
            bit = fill(words, 1)
            for r in range(begin, end):
                bits = bits | keep_lanes(int64(row_bits[uint64(rows[r]), block]), bit)
                bit = bit + bit
            store(words, word + w, block * LANES, bits)
    return used


@native
def transpose_words(words, word, count, local_bits, row, blocks):  # type: ignore[no-untyped-def]
    """Writes the columns in words[word:] of `count` rows to local_bits[row:], a bit per column: the way back."""
    for w in range((count + WORD_ROWS - 1) // WORD_ROWS):
        rows = min(WORD_ROWS, count - w * WORD_ROWS)
        for block in range(blocks):
            bits = load(words, word + w, block * LANES)
            bit = fill(words, 1)
            for r in range(rows):
                local_bits[row + w * WORD_ROWS + r, block] = int32(lanes_with(bits, bit))
                bit = bit + bit


@native
def load_asked(e):  # type: ignore[no-untyped-def]
    """Makes the rows asked for the node at hand, with their bits spread for children where e.asked_depth needs them."""
    load_node(e, vector(e.asked_rows, e.row_words, uint64))
    if e.asked_depth == 3 or e.wide == 1:
        spread_rows(e)


@native
def load_node(e, row_set):  # type: ignore[no-untyped-def]
    """Makes the set of rows the node at hand: rows, words, active columns and how many rows have each."""
    width = e.width
    blocks = width // LANES
    rows = vector(e.rows, e.row_space + 64, int32)
    row_bits = matrix(e.row_bits, e.row_space, blocks, int32)
    group_words = vector(e.group_words, e.groups + 1, int64)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    all_words = matrix(e.all_words, e.row_space // WORD_ROWS + e.groups, width, int16)
    n = int64(0)
    used = int64(0)
    for g in range(e.groups):
        group_rows[g] = n
        begins[g] = used
        count = list_rows(row_set, group_words[g], group_words[g + 1], rows, n)
        used += build_words(rows, n, count, row_bits, blocks, all_words, used)
        n += count
    group_rows[e.groups] = n
    begins[e.groups] = used
    e.n_rows = n
    e.n_words = used
    _select_columns(e, all_words)


@native
def _select_columns(e, all_words):  # type: ignore[no-untyped-def]
    """Counts the rows of every column and, where it pays, drops the constant ones from the words."""
    active = vector(e.active, e.width, int64)
    ones = vector(e.ones, e.width, int64)
    counts = matrix(e.popcounts, 1, LANES, int16)
    kept = int64(0)
    binary = int64(0)
    for block in range(e.width // LANES):
        k = block * LANES
        for begin in range(0, e.n_words, MOST_WORDS):
            total = fill(all_words, 0)
            for w in range(begin, min(begin + MOST_WORDS, e.n_words)):
                total = total + popcount(load(all_words, w, k))
            store(counts, 0, 0, total)
            for lane in range(LANES):
                ones[k + lane] = counts[0, lane] + (ones[k + lane] if begin > 0 else 0)
        if e.n_words == 0:
            ones[k : k + LANES] = 0
    for f in range(e.columns):
        if 0 < ones[f] < e.n_rows or (f >= e.binary_columns and ones[f] > 0):
            active[kept] = f
            kept += 1
            binary += f < e.binary_columns
    stride = (kept + LANES - 1) // LANES * LANES
    if stride == e.width and kept >= _KEEP_ALL * e.columns:
        for f in range(e.columns):
            active[f] = f
        e.n_active = e.columns
        e.n_binary = e.binary_columns
        e.stride = stride
        e.words = e.all_words
    else:
        e.n_active = kept
        e.n_binary = binary
        e.stride = stride
        e.words = e.kept_words
        words = matrix(e.words, e.n_words, stride, int16)
        for w in range(e.n_words):
            for k in range(kept):
                words[w, k] = all_words[w, active[k]]
            for k in range(kept, stride):
                words[w, k] = 0
        for k in range(kept):
            ones[k] = ones[active[k]]
    _find_literals(e, active, ones)


@native
def _find_literals(e, active, ones):  # type: ignore[no-untyped-def]
    """Lists, for every categorical column with two or more categories among the rows, its local literals."""
    literals = vector(e.literals, e.categorical + 1, int64)
    local = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    found = int64(0)
    k = e.n_binary
    for c in range(e.categorical):
        begin = k
        present = 0
        while k < e.n_active and active[k] < literals[c + 1]:
            present += ones[k] > 0
            k += 1
        if present >= 2:
            local[0, found] = begin
            local[1, found] = k
            local[2, found] = c
            found += 1
    e.n_categorical = found


@native
def spread_rows(e):  # type: ignore[no-untyped-def]
    """Writes the active columns of every row of the node, a bit each, for building the words of its children."""
    blocks = e.stride // LANES
    words = matrix(e.words, e.n_words, e.stride, int16)
    local_bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    for g in range(e.groups):
        transpose_words(words, begins[g], group_rows[g + 1] - group_rows[g], local_bits, group_rows[g], blocks)


@inline
def list_side(words, word, count, column, side, rows, at, first):  # type: ignore[no-untyped-def]
    """How many of the `count` rows in words[word:] lie on the side of the column; lists them as first, first + 1..."""
    listed = at
    for w in range((count + WORD_ROWS - 1) // WORD_ROWS):
        bits = int64(words[word + w, column]) & 0xFFFF
        if side == 0:
            bits = bits ^ 0xFFFF
            left = count - w * WORD_ROWS
            if left < WORD_ROWS:
                bits = bits & ((1 << left) - 1)
        store_set_bits(rows, listed, first + w * WORD_ROWS, bits)
        listed += count_ones(uint64(bits))
    return listed - at


build_child = build_units if LOOKS_UP else build_words


@inline
def child_of(e):  # type: ignore[no-untyped-def]
    """The columns of the child at hand, in units or in words."""
    if LOOKS_UP:
        return units_of(e)
    return matrix(e.child_words, e.row_space // WORD_ROWS + e.groups, e.stride, int16)


@inline
def units_of(e):  # type: ignore[no-untyped-def]
    """Room for the units of a child, and for those of words that are counted: what is built by whoever counts next."""
    return matrix(e.child_words, most_units(e.row_space, e.groups), UNIT_BYTES * e.stride, int8)


@inline
def most_units(rows, groups):  # type: ignore[no-untyped-def]
    """Units of so many rows in so many groups, and those that words are split into at once, of which one has sums."""
    return rows // UNIT_ROWS + groups + CHUNK


@inline
def child_bytes(rows, groups, width):  # type: ignore[no-untyped-def]
    """Bytes that the columns of a child take at most, in words or units: all processors' code lays out alike."""
    return max((rows // WORD_ROWS + groups) * width * 2, most_units(rows, groups) * UNIT_BYTES * width)


@native
def load_child(e, column, side):  # type: ignore[no-untyped-def]
    """How many rows of the node lie on the side of the local column; compacts their columns."""
    blocks = e.stride // LANES
    words = matrix(e.words, e.n_words, e.stride, int16)
    local_bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    rows = vector(e.child_rows, e.row_space + 64, int32)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    child_begins = vector(e.child_begins, e.groups + 1, int64)
    child = child_of(e)
    n = int64(0)
    used = int64(0)
    for g in range(e.groups):
        child_begins[g] = used
        size = group_rows[g + 1] - group_rows[g]
        count = list_side(words, begins[g], size, column, side, rows, n, group_rows[g])
        used += build_child(rows, n, count, local_bits, blocks, child, used)
        n += count
    child_begins[e.groups] = used
    return n
