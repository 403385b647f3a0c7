"""Matrices of bits, 64 x 64 at a time: packed from bytes, and transposed in registers; and the set bits of a word,
listed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic

from streed.kernels.simd import constant_bytes, count_ones, element, indices, splat
from streed.kernels.views import inline

WORD = 64

_WORD = ir.IntType(64)
_BLOCK = ir.VectorType(_WORD, WORD)


@intrinsic
def pack_bytes(typing: Any, array: Any, at: Any) -> Any:
    """A word whose k-th bit says whether array[at + k] is not 0, for the next 64 bytes of a one-dimensional array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = builder.gep(array.data, [args[1]])
        codes = builder.load(builder.bitcast(pointer, ir.VectorType(ir.IntType(8), WORD).as_pointer()))
        codes.align = 1
        return builder.bitcast(builder.icmp_unsigned("!=", codes, ir.Constant(codes.type, None)), _WORD)

    return types.uint64(array, types.intp), generate


@intrinsic
def transpose_block(typing: Any, block: Any) -> Any:
    """Transposes a 64 x 64 bit matrix in place: bit c of block[r] becomes bit r of block[c].

    Halves change places, then quarters of these, and so on (Warren, Hacker's Delight, Section 7-3).
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = builder.bitcast(array.data, _BLOCK.as_pointer())
        rows = builder.load(pointer)
        rows.align = 8
        for width in (32, 16, 8, 4, 2, 1):
            upper = [r & width == 0 for r in range(WORD)]
            left = sum(1 << c for c in range(WORD) if c & width == 0)
            partners = indices(r ^ width for r in range(WORD))
            other = builder.shuffle_vector(rows, ir.Constant(_BLOCK, ir.Undefined), partners)
            by = ir.Constant(_BLOCK, [width] * WORD)
            is_upper = ir.Constant(ir.VectorType(ir.IntType(1), WORD), [int(here) for here in upper])
            moved = builder.select(is_upper, builder.shl(other, by), builder.lshr(other, by))
            stays = ir.Constant(_BLOCK, [left if here else left ^ (2**WORD - 1) for here in upper])
            rows = builder.or_(builder.and_(rows, stays), builder.and_(moved, builder.not_(stays)))
        builder.store(rows, pointer).align = 8
        return context.get_dummy_value()

    return types.void(block), generate


_BYTE = 8

_POSITIONS = bytearray(
    position
    for bits in range(2**_BYTE)
    for position in ([p for p in range(_BYTE) if bits >> p & 1] + _BYTE * [0])[:_BYTE]
)
"""Of every byte, the positions of its set bits, and zeros."""


@intrinsic
def _store_positions(typing: Any, array: Any, at: Any, base: Any, bits: Any) -> Any:
    """array[at : at + 8] = base + the positions of the set bits of a byte, by a table."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = constant_bytes(builder, "streed.set_bits.positions", _POSITIONS)
        place = builder.shl(args[3], ir.Constant(ir.IntType(64), 3))
        kind = ir.VectorType(ir.IntType(32), _BYTE)
        narrow = ir.VectorType(ir.IntType(8), _BYTE)
        entry = builder.gep(data, [ir.Constant(ir.IntType(64), 0), place])
        listed = builder.load(builder.bitcast(entry, narrow.as_pointer()))
        listed.align = _BYTE
        begin = splat(builder, builder.trunc(args[2], ir.IntType(32)), kind)
        pointer = element(context, builder, sig.args[0], *args[:2])
        found = builder.add(builder.zext(listed, kind), begin)
        stored = builder.store(found, builder.bitcast(pointer, kind.as_pointer()))
        stored.align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64, types.int64), generate


@inline
def store_set_bits(array, at, base, mask):  # type: ignore[no-untyped-def]
    """array[at:] = base + the positions of the set bits of a 16-bit mask; may write up to 16 entries past `at`.

    `array` is one-dimensional int32 with 16 entries to spare behind the last one that counts.
    """
    low = mask & 255
    _store_positions(array, at, base, low)
    _store_positions(array, at + count_ones(uint64(low)), base + 8, (mask >> 8) & 255)
