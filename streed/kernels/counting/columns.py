"""From the caller's columns to bit columns: packed, cleaned of what no tree needs, in the order that counting wants.

Rows are sorted by group, every group beginning at a 64-row word of its own. Binary columns with more than half ones are
flipped; equal and complementary columns are kept once, under the first one's name; constant ones are dropped. Every
category of a categorical column becomes a bit column, a literal. Bits are packed from bytes, and transposed in
registers, 64 x 64 at a time; the set bits of a word are listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import int32, int64, types, uint64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.records import LANES
from streed.kernels.simd import constant_bytes, count_ones, indices, splat
from streed.kernels.views import Code, inline, instruction, matrix, native, vector

WORD = 64


@instruction(lambda array, at: types.uint64(array, types.intp))
def pack_bytes(code: Code, array: Any, at: Any) -> Any:
    """A word whose k-th bit says whether array[at + k] is not 0, for the next 64 bytes of a one-dimensional array."""
    codes = code.load(code.element(0, array, at), ir.VectorType(ir.IntType(8), WORD), 1)
    return code.builder.bitcast(code.builder.icmp_unsigned("!=", codes, ir.Constant(codes.type, None)), code.kind)


@instruction(types.void)
def transpose_block(code: Code, block: Any) -> None:
    """Transposes a 64 x 64 bit matrix in place: bit c of block[r] becomes bit r of block[c].

    Halves change places, then quarters of these, and so on (Warren, Hacker's Delight, Section 7-3).
    """
    builder, kind = code.builder, ir.VectorType(ir.IntType(64), WORD)
    pointer = code.element(0, block, ir.Constant(ir.IntType(64), 0))
    rows = code.load(pointer, kind, 8)
    for width in (32, 16, 8, 4, 2, 1):
        upper = [r & width == 0 for r in range(WORD)]
        left = sum(1 << c for c in range(WORD) if c & width == 0)
        other = builder.shuffle_vector(rows, ir.Constant(kind, ir.Undefined), indices(r ^ width for r in range(WORD)))
        by = ir.Constant(kind, [width] * WORD)
        is_upper = ir.Constant(ir.VectorType(ir.IntType(1), WORD), [int(here) for here in upper])
        moved = builder.select(is_upper, builder.shl(other, by), builder.lshr(other, by))
        stays = ir.Constant(kind, [left if here else left ^ (2**WORD - 1) for here in upper])
        rows = builder.or_(builder.and_(rows, stays), builder.and_(moved, builder.not_(stays)))
    code.store(rows, pointer, 8)


_BYTE = 8

_POSITIONS = bytearray(
    position
    for bits in range(2**_BYTE)
    for position in ([p for p in range(_BYTE) if bits >> p & 1] + _BYTE * [0])[:_BYTE]
)
"""Of every byte, the positions of its set bits, and zeros."""


@instruction(lambda array, at, base, bits: types.void(array, types.intp, types.int64, types.int64))
def _store_positions(code: Code, array: Any, at: Any, base: Any, bits: Any) -> None:
    """array[at : at + 8] = base + the positions of the set bits of a byte, by a table."""
    builder, word = code.builder, ir.IntType(64)
    data = constant_bytes(builder, "streed.columns.positions", _POSITIONS)
    entry = builder.gep(data, [ir.Constant(word, 0), builder.shl(bits, ir.Constant(word, 3))])
    listed = code.load(entry, ir.VectorType(ir.IntType(8), _BYTE), _BYTE)
    kind = ir.VectorType(ir.IntType(32), _BYTE)
    begin = splat(builder, builder.trunc(base, ir.IntType(32)), kind)
    code.store(builder.add(builder.zext(listed, kind), begin), code.element(0, array, at), 4)


@inline
def store_set_bits(array, at, base, mask):  # type: ignore[no-untyped-def]
    """array[at:] = base + the positions of the set bits of a 16-bit mask; may write up to 16 entries past `at`.

    `array` is one-dimensional int32 with 16 entries to spare behind the last one that counts.
    """
    low = mask & 255
    _store_positions(array, at, base, low)
    _store_positions(array, at + count_ones(uint64(low)), base + 8, (mask >> 8) & 255)


@native
def _pack_rows(codes, p, position, bits, valid):  # type: ignore[no-untyped-def]
    """Writes the bits of every row of p codes to its places in bits (places, p / 64), and the places to valid.

    Both are zero. What follows the last column of a row are bits of the next one.
    """
    # fewer than 64 codes follow those behind this one
    last = codes.size - WORD
    for i in range(len(position) // 2):
        row = position[2 * i]
        place = position[2 * i + 1]
        valid[place // WORD] |= uint64(1) << uint64(place % WORD)
        for block in range(bits.shape[1]):
            at = row * p + block * WORD
            if at <= last:
                bits[place, block] = pack_bytes(codes, at)
            else:
                word = uint64(0)
                for f in range(codes.size - at):
                    word |= uint64(codes[at + f] != 0) << uint64(f)
                bits[place, block] = word


@native
def _keep_distinct(raw, valid, categories, flips, slots, column, flipped, sets):  # type: ignore[no-untyped-def]
    """How many binary columns remain without constants, repetitions and complements; lists them and their bits.

    `slots` are twice as many as columns, a power of two, and zero; with none, repetitions remain. The row of `sets`
    behind the columns kept is zero again at the end.
    """
    words = len(valid)
    rows = int64(0)
    first = int64(-1)
    for w in range(words):
        rows += count_ones(valid[w])
        if first < 0 and valid[w] != uint64(0):
            first = w
    kept = int64(0)
    for f in range(len(categories)):
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
        hashed = uint64(0)
        for w in range(words):
            sets[kept, w] = (raw[f, w] ^ (uint64(0) - uint64(flip))) & valid[w]
            # each word by another odd number
            hashed += sets[kept, w] * (uint64(2 * w + 1) * uint64(0x9E3779B97F4A7C15))
        if len(slots) > 0:
            hashed = (hashed ^ (hashed >> uint64(32))) * uint64(0xD6E8FEB86659FD93)
            slot = int64(hashed >> uint64(32)) & (len(slots) - 1)
            repeated = False
            while slots[slot] > 0 and not repeated:
                repeated = True
                for w in range(words):
                    repeated = repeated and sets[slots[slot] - 1, w] == sets[kept, w]
                slot = (slot + 1) & (len(slots) - 1)
            if repeated:
                continue
            slots[slot] = kept + 1
        column[kept] = f
        flipped[kept] = flip
        kept += 1
    for w in range(words):
        sets[kept, w] = uint64(0)
    return kept


@native
def _add_literals(codes, p, position, categories, sets, column, literals):  # type: ignore[no-untyped-def]
    """Writes the literals of the categorical columns, the first of which begin where literals[0] says."""
    c = int64(0)
    for f in range(p):
        if categories[f] > 0:
            for i in range(len(position) // 2):
                place = position[2 * i + 1]
                sets[literals[c] + codes[position[2 * i] * p + f], place // WORD] |= uint64(1) << uint64(place % WORD)
            literals[c + 1] = literals[c] + categories[f]
            for k in range(literals[c], literals[c + 1]):
                column[k] = f
            c += 1


@entry
def _pack(codes, position, categories, flips, room, bit_columns, lanes, valid):  # type: ignore[no-untyped-def]
    """As `pack_columns`, of the codes row by row, into these arrays; `bit_columns`: column, flipped, literals, sets.

    `room` is zero, and so are sets, valid and flipped: the bits by row, those by column, a block, then the slots of
    `_keep_distinct`. `lanes` has room for the row bits of all columns, which are written without gaps.
    """
    column, flipped, literals, sets = bit_columns
    p, words = len(categories), len(valid)
    places, blocks = WORD * words, (p + WORD - 1) // WORD
    at = room.ctypes.data
    bits = matrix(at, places, blocks, uint64)
    raw = matrix(at + 8 * places * blocks, WORD * blocks, words, uint64)
    block = room[2 * places * blocks :]
    _pack_rows(codes, p, position, bits, valid)
    for i in range(words):
        for j in range(blocks):
            for r in range(WORD):
                block[r] = bits[i * WORD + r, j]
            transpose_block(block)
            for r in range(WORD):
                raw[j * WORD + r, i] = block[r]
    begin = 2 * places * blocks + WORD
    slots = vector(at + 8 * begin, len(room) - begin, int64)
    literals[0] = _keep_distinct(raw, valid, categories, flips, slots, column, flipped, sets)
    _add_literals(codes, p, position, categories, sets, column, literals)
    width = (literals[-1] + LANES - 1) // LANES
    for i in range((width + 1) // 2):
        for j in range(words):
            for r in range(WORD):
                block[r] = sets[i * WORD + r, j]
            transpose_block(block)
            for r in range(WORD):
                to = (j * WORD + r) * width + 2 * i
                lanes[to] = int32(block[r])
                if 2 * i + 1 < width:
                    lanes[to + 1] = int32(block[r] >> uint64(LANES))


def pack_columns(
    codes: Array, position: Array, categories: Array, words: int, merge: bool, flips: Array
) -> tuple[Array, Array, Array, Array, Array, Array]:
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
    sizes = categories[categories > 0] if np.count_nonzero(categories) else categories[:0]
    most = p + int(sizes.sum()) if len(sizes) else p
    column, flipped, literals = np.empty(most, np.int64), np.zeros(most, np.uint8), np.empty(len(sizes) + 1, np.int64)
    # whole words of columns are transposed; what was tried last may stand behind those that are kept
    sets, valid = np.zeros((most + WORD, words), np.uint64), np.zeros(words, np.uint64)
    slots = 1 << (2 * p + 2).bit_length() if merge else 0
    room = np.zeros(2 * WORD * words * -(-p // WORD) + WORD + slots, np.uint64)
    lanes = np.empty(WORD * words * -(-most // LANES), np.int32)
    _pack(codes.reshape(-1), position, categories, flips, room, (column, flipped, literals, sets), lanes, valid)
    count = literals.item(-1)
    row_bits = lanes[: WORD * words * -(-count // LANES)].reshape(WORD * words, -(-count // LANES))
    return column[:count], flipped[:count], literals, sets[:count], row_bits, valid
