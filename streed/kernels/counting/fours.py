"""Sums of numbers of rows: four planes of one pair of columns at once, or many columns of up to four planes.

The arrays are those of `pair_sums.py`; their numbers are int64 or float64.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from streed.kernels.simd import element, indices, splat
from streed.kernels.views import inline


def _four(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """The address of the four entries with number `at` of a one-dimensional array, as that of a vector."""
    pointer = element(context, builder, array_type, array, builder.mul(at, ir.Constant(at.type, 4)))
    return builder.bitcast(pointer, ir.VectorType(context.get_data_type(array_type.dtype), 4).as_pointer())


@intrinsic
def add_four(typing: Any, array: Any, at: Any, values: Any, place: Any) -> Any:
    """array[4 * at :] += values[4 * place :], four entries; both are one-dimensional, of int64 or of float64."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        into = _four(context, builder, sig.args[0], args[0], args[1])
        old, more = builder.load(into), builder.load(_four(context, builder, sig.args[2], args[2], args[3]))
        is_real = isinstance(sig.args[0].dtype, types.Float)
        stored = builder.store(builder.fadd(old, more) if is_real else builder.add(old, more), into)
        old.align = more.align = stored.align = 8
        return context.get_dummy_value()

    return types.void(array, types.int64, values, types.int64), generate


@intrinsic
def clear_four(typing: Any, array: Any, at: Any) -> Any:
    """array[4 * at :] = 0, four entries of a one-dimensional array of int64 or of float64."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        into = _four(context, builder, sig.args[0], args[0], args[1])
        stored = builder.store(ir.Constant(into.type.pointee, None), into)
        stored.align = 8
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def spread_fours(typing: Any, table: Any, at: Any, into: Any, row: Any, stride: Any, count: Any, column: Any) -> Any:
    """into[row + p * stride, column : column + 8] = table[4 * at + p :: 4], eight each, for p < `count` <= 4.

    `table` is one-dimensional; numbers are converted to the lane type of `into`.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        table, at, into, row, stride, count, column = args
        pointer = _four(context, builder, sig.args[0], table, at)
        number = pointer.type.pointee.element
        fours = builder.load(builder.bitcast(pointer, ir.VectorType(number, 32).as_pointer()))
        fours.align = 8
        lane = context.get_data_type(sig.args[2].dtype)
        undefined = ir.Constant(fours.type, ir.Undefined)
        for p in reversed(range(4)):
            # a plane too many is written where the last one belongs, which is written after it
            last = builder.sub(count, ir.Constant(count.type, 1))
            plane = ir.Constant(count.type, p)
            plane = builder.select(builder.icmp_signed("<", plane, last), plane, last)
            eight = builder.shuffle_vector(fours, undefined, indices(range(p, 32, 4)))
            if lane != number:
                eight = builder.trunc(eight, ir.VectorType(lane, 8))
            place = builder.add(row, builder.mul(plane, stride))
            to = element(context, builder, sig.args[2], into, place, column)
            stored = builder.store(eight, builder.bitcast(to, eight.type.as_pointer()))
            stored.align = sig.args[2].dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(table, types.int64, into, types.int64, types.int64, types.int64, types.int64), generate


_LANES = 16
"""Columns that sums are made of at once: twice as many as a register holds, so that no sum waits for another."""


def _sums(count: int) -> Any:
    """The intrinsic that sums `count` planes in sixteen columns at once."""

    def typed(
        typing: Any,
        values: Any,
        width: Any,
        first: Any,
        names: Any,
        rows: Any,
        size: Any,
        bits: Any,
        column: Any,
        into: Any,
        row: Any,
        stride: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            _, width, first, _, _, size, bits, column, into, row, stride = args
            arrays = {i: context.make_array(sig.args[i])(context, builder, args[i]) for i in (0, 3, 4)}

            def at(i: int, index: Any) -> Any:
                return cgutils.get_item_pointer(context, builder, sig.args[i], arrays[i], [index], wraparound=False)

            number = context.get_data_type(sig.args[0].dtype)
            is_real = isinstance(sig.args[0].dtype, types.Float)
            kind = ir.VectorType(number, _LANES)
            int64 = ir.IntType(64)
            sums = [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(count)]
            word = builder.lshr(column, ir.Constant(int64, 5))
            shift = builder.trunc(builder.and_(column, ir.Constant(int64, 31)), ir.IntType(32))
            with cgutils.for_range(builder, size) as loop:
                r = builder.zext(builder.load(at(4, loop.index)), int64)
                mask = builder.load(element(context, builder, sig.args[6], bits, r, word))
                mask = builder.trunc(builder.lshr(mask, shift), ir.IntType(_LANES))
                mask = builder.bitcast(mask, ir.VectorType(ir.IntType(1), _LANES))
                place = builder.mul(builder.zext(builder.load(at(3, r)), int64), width)
                for p, held in enumerate(sums):
                    one = builder.load(at(0, builder.add(builder.add(place, first), ir.Constant(int64, p))))
                    all_, before = splat(builder, one, kind), builder.load(held)
                    more = builder.fadd(before, all_) if is_real else builder.add(before, all_)
                    builder.store(builder.select(mask, more, before), held)
            lane = context.get_data_type(sig.args[8].dtype)
            for p, held in enumerate(sums):
                found = builder.load(held)
                if lane != number:
                    found = builder.trunc(found, ir.VectorType(lane, _LANES))
                place = builder.add(row, builder.mul(ir.Constant(int64, p), stride))
                to = element(context, builder, sig.args[8], into, place, column)
                stored = builder.store(found, builder.bitcast(to, found.type.as_pointer()))
                stored.align = sig.args[8].dtype.bitwidth // 8
            return context.get_dummy_value()

        whole = types.int64
        types_ = (values, whole, whole, names, rows, whole, bits, whole, into, whole, whole)
        return types.void(*types_), generate

    typed.__name__ = f"sum_{count}"
    return intrinsic(typed)


_sum_one, _sum_two, _sum_three, _sum_four = map(_sums, (1, 2, 3, 4))


@inline
def sum_sixteen(values, width, first, planes, names, rows, size, bits, column, into, row, stride):  # type: ignore[no-untyped-def]
    """Sums of up to four planes over the listed rows in 16 columns: into[row + p * stride, column : column + 16].

    Row r = rows[i], i < size, adds values[names[r] * width + first + p], p < `planes`, in the lanes of its set bits[r].
    `column` is a multiple of 16. Numbers become the lane type of `into`.
    """
    if planes == 1:
        _sum_one(values, width, first, names, rows, size, bits, column, into, row, stride)
    elif planes == 2:
        _sum_two(values, width, first, names, rows, size, bits, column, into, row, stride)
    elif planes == 3:
        _sum_three(values, width, first, names, rows, size, bits, column, into, row, stride)
    else:
        _sum_four(values, width, first, names, rows, size, bits, column, into, row, stride)
