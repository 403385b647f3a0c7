"""Pair sums of what takes many different values: sums over rows, where counting by groups would not pay.

Rows that are equal in every column are one row here, and each has a place of its own with a number per plane. A row
adds its numbers, four planes at a time, to every pair of columns that it has; few columns are on, so few pairs are met.
Sums of int64 numbers are exact; float64 numbers are those of a task's statistics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import float64, int16, int32, int64, types, uint64
from numba.core import cgutils

from streed.kernels.counting.columns import store_set_bits
from streed.kernels.counting.rows import list_side
from streed.kernels.records import FOUR, LANES, NONE, WORD_ROWS
from streed.kernels.simd import count_ones, first_one, indices, splat
from streed.kernels.views import Code, inline, instruction, matrix, native, vector

_FEW_BLOCKS = 8
"""Of so many blocks of columns, sums are made in registers, over the rows that have a column; of more, row by row,
unless rows have many columns."""

_DENSE = 4
"""Rows have many columns if they have one for so many of them."""

BLOCK = 8
"""Pair sums for scored tasks end with the block of columns that holds the diagonal."""


@inline
def padded(planes):  # type: ignore[no-untyped-def]
    """The planes, padded."""
    return (planes + FOUR - 1) // FOUR * FOUR


@native
def sum_node(e, lane, number, planes):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) and totals (S,) of the node at hand; lists the columns of its rows for its children.

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
    ones = vector(e.ones, e.width, int64)
    together = int64(0)
    for k in range(e.n_active):
        together += ones[k]
    e.dense = int64(_DENSE * together > e.n_rows * e.stride)
    if has_few_blocks(e):
        _sum_blocks(e, values, width, pairs, planes, int64(NONE), int64(1))
        if e.scored == 0:
            _mirror(e, pairs, planes)
        return
    _list_columns(e)
    table = vector(e.table, e.width * e.width * width, number)
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    _clear(e, table, width)
    for r in range(e.n_rows):
        _add_row(e, table, values, columns, starts[r], starts[r + 1], int64(rows[r]), width)
    _spread(e, table, width, pairs, planes, e.scored == 0)


@native
def sum_child(e, lane, number, planes, column, side):  # type: ignore[no-untyped-def]
    """Pair sums (S * P, P) of the rows of the node on the side of the local column."""
    width = padded(planes)
    child_pairs = matrix(e.child_pairs, planes * e.stride, e.stride, lane)
    if has_few_blocks(e):
        _sum_blocks(e, vector(e.row_values, e.row_space * width, number), width, child_pairs, planes, column, side)
        if e.scored == 0:
            _mirror(e, child_pairs, planes)
        return
    words = matrix(e.words, e.n_words, e.stride, int16)
    node_rows = vector(e.rows, e.row_space + 64, int32)
    rows = vector(e.child_rows, e.row_space + 64, int32)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    begins = vector(e.group_begins, e.groups + 1, int64)
    values = vector(e.row_values, e.row_space * width, number)
    table = vector(e.table, e.width * e.width * width, number)
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    n = int64(0)
    for g in range(e.groups):
        n += list_side(words, begins[g], group_rows[g + 1] - group_rows[g], column, side, rows, n, group_rows[g])
    _clear(e, table, width)
    for i in range(n):
        r = int64(rows[i])
        _add_row(e, table, values, columns, starts[r], starts[r + 1], int64(node_rows[r]), width)
    _spread(e, table, width, child_pairs, planes, e.scored == 0)


@native
def sum_floors(e):  # type: ignore[no-untyped-def]
    """Writes floor_sums (P + 1): the floors of the node's rows that have each column; then of all its rows.

    Needs the columns that `sum_node` lists where there are many.
    """
    rows = vector(e.rows, e.row_space + 64, int32)
    floors = vector(e.row_floors, e.row_space, float64)
    sums = vector(e.floor_sums, e.width + 1, float64)
    if has_few_blocks(e):
        by_column = matrix(e.floor_sums, 1, e.width, float64)
        bits = matrix(e.local_bits, e.row_space + 64, e.stride // LANES, int32)
        listed = vector(e.rows_with, e.row_space + 64, int32)
        sums[e.width] = 0.0
        for r in range(e.n_rows):
            listed[r] = r
            sums[e.width] += floors[rows[r]]
        for column in range(0, e.n_active, 2 * BLOCK):
            _sum_sixteen(floors, 1, 0, 1, rows, listed, e.n_rows, bits, column, by_column, 0, e.width)
        return
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    for k in range(e.width + 1):
        sums[k] = 0.0
    for r in range(e.n_rows):
        floor = floors[rows[r]]
        sums[e.width] += floor
        for a in range(starts[r], starts[r + 1]):
            sums[columns[a]] += floor


@native
def _list_columns(e):  # type: ignore[no-untyped-def]
    """Lists the local columns that every row of the node has, ascending, from the bits that `spread_rows` wrote."""
    blocks = e.stride // LANES
    bits = matrix(e.local_bits, e.row_space + 64, blocks, int32)
    starts = vector(e.row_starts, e.row_space + 1, int32)
    columns = vector(e.row_columns, e.row_space * e.width, int16)
    count = int64(0)
    for r in range(e.n_rows):
        starts[r] = count
        for block in range(blocks):
            left = np.uint64(np.uint32(bits[r, block]))
            while left != np.uint64(0):
                columns[count] = block * LANES + first_one(left)
                count += 1
                left = left & (left - np.uint64(1))
    starts[e.n_rows] = count


@inline
def has_few_blocks(e):  # type: ignore[no-untyped-def]
    """Whether to pass over blocks of columns in which a row has none takes little time: few blocks, or many columns."""
    return e.stride <= _FEW_BLOCKS * BLOCK or e.dense == 1


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


@inline
def _clear(e, table, width):  # type: ignore[no-untyped-def]
    """Empties what `_spread` reads of the table."""
    parts = width // FOUR
    for j in range(e.n_active):
        for at in range(j * e.stride * parts, (j * e.stride + j + 1) * parts):
            _clear_four(table, at)


@inline
def _add_row(e, table, values, columns, begin, end, place, width):  # type: ignore[no-untyped-def]
    """Adds the numbers of a place to the pairs j >= k of the listed columns."""
    stride = e.stride
    if width == FOUR:
        for a in range(begin, end):
            line = int64(columns[a]) * stride
            for b in range(begin, a + 1):
                _add_four(table, line + int64(columns[b]), values, place)
        return
    parts = width // FOUR
    for a in range(begin, end):
        line = int64(columns[a]) * stride
        for b in range(begin, a + 1):
            at = (line + int64(columns[b])) * parts
            for part in range(parts):
                _add_four(table, at + part, values, place * parts + part)


@inline
def _spread(e, table, width, pairs, planes, mirrored):  # type: ignore[no-untyped-def]
    """Writes pairs[p * P + j, k] from table[j, k, p], but, unless `mirrored`, only for k up to the block of j.

    Numba's loops are vectorised if they begin at 0, so the lower triangle is the one that is kept.
    """
    stride = e.stride
    if width == FOUR:
        for j in range(e.n_active):
            for k in range(0, j + 1, BLOCK):
                _spread_fours(table, j * stride + k, pairs, j, stride, planes, k)
    for p in range(planes):
        for j in range(e.n_active):
            row = p * stride + j
            at = j * stride * width + p
            if width != FOUR:
                for k in range(j + 1):
                    pairs[row, k] = table[at + k * width]
            end = stride if mirrored else block_end(e, j)
            for k in range(j + 1, min(end, e.n_active)):
                pairs[row, k] = table[(k * stride + j) * width + p]
            for k in range(e.n_active, end):
                pairs[row, k] = 0


# -- sums of four planes of one pair of columns, or of up to four planes of many columns ------------------------------


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
def _add_four(code: Code, array: Any, at: Any, values: Any, place: Any) -> None:
    """array[4 * at :] += values[4 * place :], four entries; both are one-dimensional, of int64 or of float64."""
    into, kind = _four(code, 0, array, at), ir.VectorType(_number(code, 0), 4)
    code.store(_sum(code, code.load(into, kind, 8), code.load(_four(code, 2, values, place), kind, 8)), into, 8)


@instruction(_written)
def _clear_four(code: Code, array: Any, at: Any) -> None:
    """array[4 * at :] = 0, four entries of a one-dimensional array of int64 or of float64."""
    code.store(ir.Constant(ir.VectorType(_number(code, 0), 4), None), _four(code, 0, array, at), 8)


def _store_row(code: Code, argument: int, into: Any, row: Any, column: Any, found: Any) -> None:
    """into[row, column:] = the numbers of a vector, in the lane type of the argument."""
    lane = _number(code, argument)
    if lane != found.type.element:
        found = code.builder.trunc(found, ir.VectorType(lane, found.type.count))
    code.store(found, code.element(argument, into, row, column), code.types[argument].dtype.bitwidth // 8)


@instruction(_written)
def _spread_fours(code: Code, table: Any, at: Any, into: Any, row: Any, stride: Any, count: Any, column: Any) -> None:
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


_COLUMNS = 16
"""Columns that sums are made of at once: twice as many as a register holds, so that no sum waits for another."""


def _sums(count: int) -> Any:
    """The operation that sums `count` planes in sixteen columns at once."""

    @instruction(_written)
    def add(  # type: ignore[no-untyped-def]
        code: Code, values, width, first, names, rows, size, bits, column, into, row, stride
    ) -> None:
        builder, word = code.builder, ir.IntType(64)
        kind = ir.VectorType(_number(code, 0), _COLUMNS)
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
                more = _sum(code, before, splat(builder, builder.load(code.element(0, values, at)), kind))
                builder.store(builder.select(mask, more, before), held)
        for p, held in enumerate(sums):
            plane = builder.add(row, builder.mul(ir.Constant(word, p), stride))
            _store_row(code, 8, into, plane, column, builder.load(held))

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
