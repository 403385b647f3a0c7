"""Sums of numbers of rows: four planes of one pair of columns at once, or many columns of up to four planes.

The arrays are those of `pair_sums.py`; their numbers are int64 or float64.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from streed.kernels.simd import indices, splat
from streed.kernels.views import Code, inline, instruction


def _four(code: Code, argument: int, array: Any, at: Any) -> Any:
    """The address of the four entries with number `at` of the argument, a one-dimensional array."""
    return code.element(argument, array, code.builder.mul(at, ir.Constant(at.type, 4)))


def _number(code: Code, argument: int) -> Any:
    """LLVM's type of the entries of an array."""
    return code.context.get_data_type(code.types[argument].dtype)


def _sum(code: Code, a: Any, b: Any) -> Any:
    """a + b, of entries of the first argument or of vectors of them."""
    return code.builder.fadd(a, b) if isinstance(code.types[0].dtype, types.Float) else code.builder.add(a, b)


def _written(*given: Any) -> Any:
    """The signature of what writes to an array, of arrays and whole numbers."""
    return types.void(*(each if isinstance(each, types.Array) else types.int64 for each in given))


@instruction(_written)
def add_four(code: Code, array: Any, at: Any, values: Any, place: Any) -> None:
    """array[4 * at :] += values[4 * place :], four entries; both are one-dimensional, of int64 or of float64."""
    into, kind = _four(code, 0, array, at), ir.VectorType(_number(code, 0), 4)
    code.store(_sum(code, code.load(into, kind, 8), code.load(_four(code, 2, values, place), kind, 8)), into, 8)


@instruction(_written)
def clear_four(code: Code, array: Any, at: Any) -> None:
    """array[4 * at :] = 0, four entries of a one-dimensional array of int64 or of float64."""
    code.store(ir.Constant(ir.VectorType(_number(code, 0), 4), None), _four(code, 0, array, at), 8)


def _store_row(code: Code, argument: int, into: Any, row: Any, column: Any, found: Any) -> None:
    """into[row, column:] = the numbers of a vector, in the lane type of the argument."""
    lane = _number(code, argument)
    if lane != found.type.element:
        found = code.builder.trunc(found, ir.VectorType(lane, found.type.count))
    code.store(found, code.element(argument, into, row, column), code.types[argument].dtype.bitwidth // 8)


@instruction(_written)
def spread_fours(code: Code, table: Any, at: Any, into: Any, row: Any, stride: Any, count: Any, column: Any) -> None:
    """into[row + p * stride, column : column + 8] = table[4 * at + p :: 4], eight each, for p < `count` <= 4.

    `table` is one-dimensional; numbers are converted to the lane type of `into`.
    """
    builder = code.builder
    fours = code.load(_four(code, 0, table, at), ir.VectorType(_number(code, 0), 32), 8)
    for p in reversed(range(4)):
        # a plane too many is written where the last one belongs, which is written after it
        last = builder.sub(count, ir.Constant(count.type, 1))
        plane = ir.Constant(count.type, p)
        plane = builder.select(builder.icmp_signed("<", plane, last), plane, last)
        eight = builder.shuffle_vector(fours, ir.Constant(fours.type, ir.Undefined), indices(range(p, 32, 4)))
        _store_row(code, 2, into, builder.add(row, builder.mul(plane, stride)), column, eight)


_LANES = 16
"""Columns that sums are made of at once: twice as many as a register holds, so that no sum waits for another."""


def _sums(count: int) -> Any:
    """The operation that sums `count` planes in sixteen columns at once."""

    @instruction(_written)
    def add(  # type: ignore[no-untyped-def]
        code: Code, values, width, first, names, rows, size, bits, column, into, row, stride
    ) -> None:
        builder, word = code.builder, ir.IntType(64)
        kind = ir.VectorType(_number(code, 0), _LANES)
        sums = [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(count)]
        block = builder.lshr(column, ir.Constant(word, 5))
        shift = builder.trunc(builder.and_(column, ir.Constant(word, 31)), ir.IntType(32))
        with cgutils.for_range(builder, size) as loop:
            r = builder.zext(builder.load(code.element(4, rows, loop.index)), word)
            mask = builder.lshr(builder.load(code.element(6, bits, r, block)), shift)
            mask = builder.bitcast(builder.trunc(mask, ir.IntType(_LANES)), ir.VectorType(ir.IntType(1), _LANES))
            place = builder.mul(builder.zext(builder.load(code.element(3, names, r)), word), width)
            for p, held in enumerate(sums):
                at = builder.add(builder.add(place, first), ir.Constant(word, p))
                before = builder.load(held)
                more = _sum(code, before, splat(builder, builder.load(code.element(0, values, at)), kind))
                builder.store(builder.select(mask, more, before), held)
        for p, held in enumerate(sums):
            plane = builder.add(row, builder.mul(ir.Constant(word, p), stride))
            _store_row(code, 8, into, plane, column, builder.load(held))

    return add


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
