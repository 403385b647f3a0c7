"""Pair sums of what takes many different values: sums over rows, where counting by groups would not pay.

Rows that are equal in every column are one row here, and each has a place of its own with a number per plane. Of every
column, the rows that have it are listed, and their numbers added up in registers, sixteen further columns at a time.
Sums of int64 numbers are exact; float64 numbers are those of a task's statistics.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import float64, int16, int32, int64, types, uint64
from numba.core import cgutils

from streed.kernels.counting.columns import store_set_bits
from streed.kernels.records import FOUR, LANES, NONE, WORD_ROWS
from streed.kernels.simd import count_ones, splat
from streed.kernels.views import Code, inline, instruction, matrix, native, vector

BLOCK = 8
"""Pair sums for scored tasks end with the block of columns that holds the diagonal."""


@inline
def padded(planes):  # type: ignore[no-untyped-def]
    """The planes, padded."""
    return (planes + FOUR - 1) // FOUR * FOUR


@native
def sum_node(e, lane, number, planes):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) and totals (S,) of the node at hand.

    `number` is the type of the numbers, int64 or float64, and `lane` that of the pair sums.
    """
    width = padded(planes)
    rows = vector(e.rows, e.row_space + 64, int32)
    totals = vector(e.totals, planes, number)
    values = vector(e.row_values, e.row_space * width, number)
    for p in range(planes):
        totals[p] = 0
    for r in range(e.n_rows):
        for p in range(planes):
            totals[p] += values[rows[r] * width + p]
    pairs = matrix(e.pairs, planes * e.stride, e.stride, lane)
    _sum_blocks(e, values, width, pairs, planes, int64(NONE), int64(1))


@native
def sum_child(e, lane, number, planes, column, side):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) of the rows of the node on the side of the local column."""
    width = padded(planes)
    child_pairs = matrix(e.child_pairs, planes * e.stride, e.stride, lane)
    values = vector(e.row_values, e.row_space * width, number)
    _sum_blocks(e, values, width, child_pairs, planes, column, side)


@native
def sum_floors(e):  # type: ignore[no-untyped-def]
    """Writes floor_sums (P + 1): the floors of the node's rows that have each column; then of all its rows."""
    rows = vector(e.rows, e.row_space + 64, int32)
    floors = vector(e.row_floors, e.row_space, float64)
    sums = vector(e.floor_sums, e.width + 1, float64)
    by_column = matrix(e.floor_sums, 1, e.width, float64)
    bits = matrix(e.local_bits, e.row_space + 64, e.stride // LANES, int32)
    listed = vector(e.rows_with, e.row_space + 64, int32)
    sums[e.width] = 0.0
    for r in range(e.n_rows):
        listed[r] = r
        sums[e.width] += floors[rows[r]]
    for column in range(0, e.n_active, 2 * BLOCK):
        _sum_sixteen(floors, 1, 0, 1, rows, listed, e.n_rows, bits, column, by_column, 0, e.width)


@native
def _sum_blocks(e, values, width, pairs, planes, column, side):  # type: ignore[no-untyped-def]
    """Writes the pair sums of the node's rows on the side of the local column (all if it is NONE) up to j's block."""
    stride = e.stride
    bits = matrix(e.local_bits, e.row_space + 64, stride // LANES, int32)
    names = vector(e.rows, e.row_space + 64, int32)
    listed = vector(e.rows_with, e.row_space + 64, int32)
    for j in range(e.n_active):
        count = _list_common(e, j, column, side, listed)
        for p in range(0, planes, FOUR):
            for k in range(0, block_end(e, j), 2 * BLOCK):
                _sum_sixteen(values, width, p, planes - p, names, listed, count, bits, k, pairs, p * stride + j, stride)
    if e.scored == 0:
        _mirror(e, pairs, planes)


@inline
def _list_common(e, j, column, side, listed):  # type: ignore[no-untyped-def]
    """How many of the node's rows have column j and lie on the side of `column` (if it is not NONE); lists them."""
    words = matrix(e.words, e.n_words, e.stride, int16)
    begins = vector(e.group_begins, e.groups + 1, int64)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    count = int64(0)
    for g in range(e.groups):
        first = group_rows[g]
        for word in range(begins[g], begins[g + 1]):
            common = int64(words[word, j]) & 0xFFFF
            if column != NONE:
                other = int64(words[word, column])
                common = common & (other if side == 1 else ~other)
            store_set_bits(listed, count, first, common)
            count += count_ones(uint64(common))
            first += WORD_ROWS
    return count


@native
def _mirror(e, pairs, planes):  # type: ignore[no-untyped-def]
    """Completes the pair sums behind the block of j."""
    stride = e.stride
    for p in range(planes):
        for j in range(e.n_active):
            row = p * stride + j
            for k in range(block_end(e, j), e.n_active):
                pairs[row, k] = pairs[p * stride + k, j]
            for k in range(max(block_end(e, j), e.n_active), stride):
                pairs[row, k] = 0


@inline
def block_end(e, j):  # type: ignore[no-untyped-def]
    """The first column behind the block of j."""
    return min(e.stride, (j + BLOCK) // BLOCK * BLOCK)


_COLUMNS = 16
"""Columns that sums are made of at once: twice as many as a register holds, so that no sum waits for another."""


def _sums(count: int) -> Any:
    """The operation that sums `count` planes in sixteen columns at once."""

    @instruction(lambda *given: types.void(*(each if isinstance(each, types.Array) else types.int64 for each in given)))
    def add(  # type: ignore[no-untyped-def]
        code: Code, values, width, first, names, rows, size, bits, column, into, row, stride
    ) -> None:
        builder, word = code.builder, ir.IntType(64)
        number, lane = (code.context.get_data_type(code.types[argument].dtype) for argument in (0, 8))
        kind, plus = ir.VectorType(number, _COLUMNS), builder.add if isinstance(number, ir.IntType) else builder.fadd
        sums = [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(count)]
        block = builder.lshr(column, ir.Constant(word, 5))
        shift = builder.trunc(builder.and_(column, ir.Constant(word, 31)), ir.IntType(32))
        with cgutils.for_range(builder, size) as loop:
            r = builder.zext(builder.load(code.element(4, rows, loop.index)), word)
            mask = builder.lshr(builder.load(code.element(6, bits, r, block)), shift)
            mask = builder.bitcast(builder.trunc(mask, ir.IntType(_COLUMNS)), ir.VectorType(ir.IntType(1), _COLUMNS))
            place = builder.mul(builder.zext(builder.load(code.element(3, names, r)), word), width)
            for p, held in enumerate(sums):
                at = builder.add(builder.add(place, first), ir.Constant(word, p))
                before = builder.load(held)
                more = plus(before, splat(builder, builder.load(code.element(0, values, at)), kind))
                builder.store(builder.select(mask, more, before), held)
        for p, held in enumerate(sums):
            plane = builder.add(row, builder.mul(ir.Constant(word, p), stride))
            found = builder.load(held)
            if lane != number:
                found = builder.trunc(found, ir.VectorType(lane, _COLUMNS))
            code.store(found, code.element(8, into, plane, column), code.types[8].dtype.bitwidth // 8)

    return add


_sum_one, _sum_two, _sum_three, _sum_four = map(_sums, (1, 2, 3, 4))


@inline
def _sum_sixteen(values, width, first, planes, names, rows, size, bits, column, into, row, stride):  # type: ignore[no-untyped-def]
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
