"""The positions of the bits of a word that are set, listed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from streed.kernels.simd import count_ones
from streed.kernels.target import compresses, this_machine
from streed.kernels.views import inline

_BYTE = 8

_POSITIONS = bytearray(
    position
    for bits in range(2**_BYTE)
    for position in ([p for p in range(_BYTE) if bits >> p & 1] + _BYTE * [0])[:_BYTE]
)
"""Of every byte, the positions of its set bits, and zeros."""


@intrinsic
def _compress_positions(typing: Any, array: Any, at: Any, base: Any, mask: Any) -> Any:
    """`store_set_bits`, by an instruction."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.VectorType(ir.IntType(32), 16)
        mask_kind = ir.VectorType(ir.IntType(1), 16)
        undefined = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(
            undefined, builder.trunc(args[2], ir.IntType(32)), ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 16), [0] * 16)
        positions = builder.add(builder.shuffle_vector(first, undefined, zeros), ir.Constant(kind, list(range(16))))
        bits = builder.bitcast(builder.trunc(args[3], ir.IntType(16)), mask_kind)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind, mask_kind, kind]), "llvm.experimental.vector.compress.v16i32"
        )
        packed = builder.call(function, [positions, bits, undefined])
        struct = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, sig.args[0], struct, [args[1]], wraparound=False)
        instruction = builder.store(packed, builder.bitcast(pointer, kind.as_pointer()))
        instruction.align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64, types.int64), generate


@intrinsic
def _store_positions(typing: Any, array: Any, at: Any, base: Any, bits: Any) -> Any:
    """array[at : at + 8] = base + the positions of the set bits of a byte, by a table."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        name = "streed.set_bits.positions"
        if name in builder.module.globals:
            data = builder.module.globals[name]
        else:
            constant = ir.Constant(ir.ArrayType(ir.IntType(8), len(_POSITIONS)), _POSITIONS)
            data = cgutils.global_constant(builder, name, constant)
            data.align = 64
            data.unnamed_addr = True
        place = builder.shl(args[3], ir.Constant(ir.IntType(64), 3))
        kind = ir.VectorType(ir.IntType(32), _BYTE)
        narrow = ir.VectorType(ir.IntType(8), _BYTE)
        entry = builder.gep(data, [ir.Constant(ir.IntType(64), 0), place])
        listed = builder.load(builder.bitcast(entry, narrow.as_pointer()))
        listed.align = _BYTE
        undefined = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(
            undefined, builder.trunc(args[2], ir.IntType(32)), ir.Constant(ir.IntType(32), 0)
        )
        begin = builder.shuffle_vector(first, undefined, ir.Constant(kind, [0] * _BYTE))
        struct = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, sig.args[0], struct, [args[1]], wraparound=False)
        found = builder.add(builder.zext(listed, kind), begin)
        stored = builder.store(found, builder.bitcast(pointer, kind.as_pointer()))
        stored.align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64, types.int64), generate


@inline
def _look_positions_up(array, at, base, mask):  # type: ignore[no-untyped-def]
    """`store_set_bits`, by a table."""
    low = mask & 255
    _store_positions(array, at, base, low)
    _store_positions(array, at + count_ones(uint64(low)), base + 8, (mask >> 8) & 255)


store_set_bits = _compress_positions if compresses(this_machine()) else _look_positions_up
"""array[at:] = base + the positions of the set bits of a 16-bit mask; may write up to 16 entries past `at`.

`array` is one-dimensional int32 with 16 entries to spare behind the last one that counts.
"""
