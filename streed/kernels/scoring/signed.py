"""Signed sums: what the gains of depth-two trees of two labels are found by.

Let a row cost s > 0 more under label 0 than under label 1, or -s. A leaf whose rows have signed sum x and worst costs
t costs (t - |x|) / 2, so the best split of rows with signed sum y is the one with the largest |x| + |y - x|. As
|x| + |y - x| = max(|y|, 2x - y, y - 2x), only the largest and the smallest x over all second columns matter, and a
vector of first columns is scored without any horizontal operation. `gain` is t - 2 * cost: the larger the better.

The lowest of many costs is found eight at a time: where a cost may be NaN, LLVM compares one by one.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int64
from numba.core import cgutils, types
from numba.extending import intrinsic

from streed.kernels.records import LANES
from streed.kernels.simd import element, indices, load, maximum, splat, store
from streed.kernels.views import inline

_EIGHT = 8


@intrinsic
def _lowest_of_eights(typing: Any, costs: Any, count: Any, start: Any) -> Any:
    """The lowest of `start`, no NaN, and the first 8 * count of one-dimensional int64 or float64 costs."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        costs, count, start = args
        kind = ir.VectorType(start.type, _EIGHT)
        is_real = isinstance(sig.return_type, types.Float)

        def lower(a: Any, b: Any) -> Any:
            is_less = builder.fcmp_ordered("<", a, b) if is_real else builder.icmp_signed("<", a, b)
            return builder.select(is_less, a, b)

        held = cgutils.alloca_once_value(builder, splat(builder, start, kind))
        with cgutils.for_range(builder, count) as loop:
            at = builder.mul(loop.index, ir.Constant(loop.index.type, _EIGHT))
            pointer = element(context, builder, sig.args[0], costs, at)
            more = builder.load(builder.bitcast(pointer, kind.as_pointer()))
            more.align = 8
            builder.store(lower(more, builder.load(held)), held)
        found = builder.load(held)
        for half in (4, 2, 1):
            nothing = ir.Constant(found.type, ir.Undefined)
            low = builder.shuffle_vector(found, nothing, indices(range(half)))
            found = lower(builder.shuffle_vector(found, nothing, indices(range(half, 2 * half))), low)
        return builder.extract_element(found, ir.Constant(ir.IntType(32), 0))

    return costs.dtype(costs, types.int64, costs.dtype), generate


@inline
def lowest(costs, count, start):  # type: ignore[no-untyped-def]
    """The lowest of `start` and the first `count` costs (n,), int64 or float64; those that are NaN do not count."""
    eights = count // _EIGHT
    best = _lowest_of_eights(costs, eights, start)
    for k in range(eights * _EIGHT, count):
        best = min(best, costs[k])
    return best


SIGNED, WORST = 0, 1
"""Planes of the pair sums."""

PLANES = 2

SMALL, LARGE, DIAGONAL = 0, 1, 2
"""Rows of the node's `sums`: signed sums of the smaller child, of the larger child, of the node itself, by column."""


ROWS_OF_SUMS = 3


@inline
def best_gain(most, least, total, penalty):  # type: ignore[no-untyped-def]
    """The gain of rows with signed sum `total` as a leaf or split once, x ranging from `least` to `most`."""
    split = maximum(most + most - total, total - least - least) - penalty
    return maximum(split, maximum(total, total - total - total))


@inline
def gains(ranges, small, large, small_total, large_total, penalty):  # type: ignore[no-untyped-def]
    """(gains in the smaller child, gains in the larger one) of depth-two trees, by their first column: the lanes.

    ranges: the largest and the smallest signed sums over second columns, of the smaller child's rows with both columns
    and with the second one only, then of the larger child's; `small` and `large`: those of the rows with the first.
    """
    most_sa, least_sa, most_sb, least_sb, most_la, least_la, most_lb, least_lb = ranges
    no = small - small
    gain_small = best_gain(most_sa, least_sa, small, penalty)
    gain_small = gain_small + best_gain(most_sb, least_sb, no + small_total - small, penalty)
    gain_large = best_gain(most_la, least_la, large, penalty)
    gain_large = gain_large + best_gain(most_lb, least_lb, no + large_total - large, penalty)
    return gain_small, gain_large


@inline
def sum_children(pairs, sums, totals, column, small_side, stride):  # type: ignore[no-untyped-def]
    """(signed sum of the smaller child, of the larger one); fills those of their rows with each column."""
    small_total = int64(sums[DIAGONAL, column])
    if small_side == 0:
        small_total = totals[SIGNED] - small_total
    for k in range(0, stride, LANES):
        x = load(pairs, column, k)
        rest = load(sums, DIAGONAL, k) - x
        store(sums, SMALL if small_side == 1 else LARGE, k, x)
        store(sums, LARGE if small_side == 1 else SMALL, k, rest)
    return small_total, totals[SIGNED] - small_total
