"""The lowest of many costs, found eight at a time: where a cost may be NaN, LLVM compares one by one."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

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

        def lanes(indices: Any) -> ir.Constant:
            return ir.Constant(ir.VectorType(ir.IntType(32), len(indices)), list(indices))

        undefined = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(undefined, start, ir.Constant(ir.IntType(32), 0))
        held = cgutils.alloca_once_value(builder, builder.shuffle_vector(first, undefined, lanes([0] * _EIGHT)))
        array = context.make_array(sig.args[0])(context, builder, costs)
        with cgutils.for_range(builder, count) as loop:
            at = builder.mul(loop.index, ir.Constant(loop.index.type, _EIGHT))
            pointer = cgutils.get_item_pointer(context, builder, sig.args[0], array, [at], wraparound=False)
            more = builder.load(builder.bitcast(pointer, kind.as_pointer()))
            more.align = 8
            builder.store(lower(more, builder.load(held)), held)
        found = builder.load(held)
        for half in (4, 2, 1):
            nothing = ir.Constant(found.type, ir.Undefined)
            low = builder.shuffle_vector(found, nothing, lanes(range(half)))
            found = lower(builder.shuffle_vector(found, nothing, lanes(range(half, 2 * half))), low)
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
