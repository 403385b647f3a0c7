"""Counting rows by look-up tables, for processors that shuffle bytes but count no bits in vectors.

Four rows of a column are a nibble. Of the nibbles of two columns, a table of 16 bytes says for every nibble of a third
one how many rows it shares with the first (the low half of the byte) and with the second (the high half). One shuffle
looks 32 columns up. Three look-ups, a unit of 12 rows, are added before the halves could overflow.

The rows of a unit, an int8 array (units, 6 P): by blocks of 32 columns, first the nibbles of the first, the second and
the third four rows, 32 bytes each; then in the same order where the tables of the columns 0 and 1, 2 and 3, ... begin,
16 int16 each.

Sums of look-ups are bytes again, of which the halves are sorted out at the end (`split_halves`): added as they are and
once more shifted, both modulo 256, they say what each half adds up to, if that is below 256.

What the processor can do is asked of the code that LLVM makes for it, which knows best.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import int64, types, uint64
from numba.core import cgutils
from numba.core.registry import cpu_target

from streed.kernels.records import LANES, NIBBLE, NIBBLES, WORD_ROWS
from streed.kernels.simd import (
    VECTORS,
    constant_bytes,
    fill,
    indices,
    keep_lanes,
    load,
    nibble_of,
    splat,
    store,
)
from streed.kernels.views import Code, inline, instruction, native

_COUNT = f"""
declare <{LANES} x i8> @llvm.ctpop.v{LANES}i8(<{LANES} x i8>)
define <{LANES} x i8> @count(<{LANES} x i8> %bits) {{
  %ones = call <{LANES} x i8> @llvm.ctpop.v{LANES}i8(<{LANES} x i8> %bits)
  ret <{LANES} x i8> %ones
}}"""


def _shuffled_bytes() -> int:
    """How many bytes are shuffled at once where bits are counted by shuffles: 32 or 16; 0 where they are not."""
    machine = cpu_target.target_context.codegen()._tm  # that of numba's code generation
    module = binding.parse_assembly(_COUNT)
    module.triple = machine.triple
    assembly = machine.emit_assembly(module)
    if "pshufb" not in assembly:
        return 0
    return 32 if "ymm" in assembly or "zmm" in assembly else 16


MOST_UNITS = 21
"""Units whose counts add up within a byte."""

AGAINST = 4096
"""Where the tables of rows that count negatively begin: with 4 less what the others say."""

SHUFFLED = _shuffled_bytes()

LOOKS_UP = SHUFFLED > 0
"""Whether rows are counted by tables on the processor that is compiled for."""

_TABLES = bytearray(
    half(column & nibble & 15) | half(column >> 4 & nibble) << 4
    for half in (int.bit_count, lambda bits: NIBBLE - bits.bit_count())
    for column in range(256)
    for nibble in range(16)
)


# -- instructions --------------------------------------------------------------------------------------------------


def _words(builder: Any, value: Any) -> Any:
    return builder.bitcast(value, ir.VectorType(ir.IntType(16), LANES // 2))


def _every(number: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(16), LANES // 2), [number] * (LANES // 2))


def _shuffle(builder: Any, table: Any, lanes: Any) -> Any:
    """For every lane, the entry of the 16-byte table that it names."""
    module, sixteen, all_ = builder.module, table.type, lanes.type
    if SHUFFLED == LANES:
        twice = builder.shuffle_vector(table, ir.Constant(sixteen, ir.Undefined), indices(i % 16 for i in range(LANES)))
        kind = ir.FunctionType(all_, [all_, all_])
        return builder.call(cgutils.get_or_insert_function(module, kind, "llvm.x86.avx2.pshuf.b"), [twice, lanes])
    kind = ir.FunctionType(sixteen, [sixteen, sixteen])
    shuffle = cgutils.get_or_insert_function(module, kind, "llvm.x86.ssse3.pshuf.b.128")
    halves = [
        builder.shuffle_vector(lanes, ir.Constant(all_, ir.Undefined), indices(range(first, first + 16)))
        for first in (0, 16)
    ]
    found = [builder.call(shuffle, [table, half]) for half in halves]
    return builder.shuffle_vector(*found, indices(range(LANES)))


@instruction(lambda units, unit, at, lanes: lanes(units, types.intp, types.intp, lanes))
def _look_up(code: Code, units: Any, unit: Any, at: Any, lanes: Any) -> Any:
    """For every lane, what it finds in the table whose place stands at the bytes `at` and at + 1 of a unit."""
    builder = code.builder
    place = builder.zext(code.load(code.element(0, units, unit, at), ir.IntType(16), 1), ir.IntType(64))
    tables = constant_bytes(builder, "streed.look_up.tables", _TABLES)
    begin = builder.gep(tables, [ir.Constant(ir.IntType(64), 0), place])
    return _shuffle(builder, code.load(begin, ir.VectorType(ir.IntType(8), 16), 16), lanes)


@instruction(lambda units, unit, at, nibbles, table: types.void(units, types.intp, types.intp, nibbles, types.int64))
def store_places(code: Code, units: Any, unit: Any, at: Any, nibbles: Any, table: Any) -> None:
    """Writes to the bytes at: of a unit where the tables of 16 pairs of neighbouring nibbles begin, from `table` on."""
    builder, pairs = code.builder, _words(code.builder, nibbles)
    low = builder.shl(builder.and_(pairs, _every(15)), _every(4))
    places = builder.or_(low, builder.and_(pairs, _every(0x0F00)))
    begin = splat(builder, builder.trunc(table, ir.IntType(16)), pairs.type)
    code.store(builder.or_(places, begin), code.element(0, units, unit, at), 1)


@instruction(lambda sums: sums(sums))
def _shifted(code: Code, sums: Any) -> Any:
    """Pairs of bytes shifted right by four bits: one instruction, where bytes would take two."""
    return code.builder.bitcast(code.builder.lshr(_words(code.builder, sums), _every(4)), code.kind)


@instruction(lambda sums, shifted: sums(sums, shifted))
def _high_halves(code: Code, sums: Any, shifted: Any) -> Any:
    """What the high halves add up to, of bytes added modulo 256 as they are and `_shifted`.

    Of a pair of bytes, the second one's high half is all that was shifted into it. So its low half is known, which is
    what was shifted into the first one beside that one's high half.
    """
    builder = code.builder
    second = builder.shl(builder.and_(_words(builder, shifted), _every(0xFF00)), _every(4))
    known = builder.lshr(builder.sub(_words(builder, sums), second), _every(4))
    return builder.sub(shifted, builder.bitcast(builder.and_(known, _every(0x00F0)), code.kind))


@instruction(lambda sums, high: sums(sums, high))
def _low_halves(code: Code, sums: Any, high: Any) -> Any:
    """What the low halves add up to, once the high ones are known."""
    builder = code.builder
    shifted = builder.and_(builder.shl(_words(builder, high), _every(4)), _every(0xF0F0))
    return builder.sub(sums, builder.bitcast(shifted, code.kind))


# -- counts --------------------------------------------------------------------------------------------------------


@inline
def look_up_bytes(units, begin, end, j, k):  # type: ignore[no-untyped-def]
    """For columns j..j+3 (a vector of bytes each) and k..k+31 (its lanes), what the units begin..end say of both.

    At most MOST_UNITS of them; j is a multiple of 4, and k of 32.
    """
    places = units.shape[1] // 2 + (j >> 5) * 96 + (j & 31)
    low0 = fill(units, 0)
    low1 = low0
    high0 = low0
    high1 = low0
    for u in range(begin, end):
        first = load(units, u, 3 * k)
        second = load(units, u, 3 * k + 32)
        third = load(units, u, 3 * k + 64)
        found = _look_up(units, u, places, first)
        found = found + _look_up(units, u, places + 32, second)
        found = found + _look_up(units, u, places + 64, third)
        low0 = low0 + found
        high0 = high0 + _shifted(found)
        found = _look_up(units, u, places + 2, first)
        found = found + _look_up(units, u, places + 34, second)
        found = found + _look_up(units, u, places + 66, third)
        low1 = low1 + found
        high1 = high1 + _shifted(found)
    high0 = _high_halves(low0, high0)
    high1 = _high_halves(low1, high1)
    return _low_halves(low0, high0), high0, _low_halves(low1, high1), high1


@instruction(VECTORS[16])
def _count_of(code: Code, sums: Any) -> Any:
    """Bytes without sign as int16."""
    return code.builder.zext(sums, code.kind)


@inline
def look_up_tile(units, begin, end, j, k):  # type: ignore[no-untyped-def]
    """As `look_up_bytes`, in int16 and of as many units as these can count."""
    t0 = _count_of(fill(units, 0))
    t1 = t0
    t2 = t0
    t3 = t0
    while begin < end:
        stop = min(end, begin + MOST_UNITS)
        b0, b1, b2, b3 = look_up_bytes(units, begin, stop, j, k)
        begin = stop
        t0 = t0 + _count_of(b0)
        t1 = t1 + _count_of(b1)
        t2 = t2 + _count_of(b2)
        t3 = t3 + _count_of(b3)
    return t0, t1, t2, t3


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
