"""A vector value type inside numba: 32 lanes of int8, int16, int32 or int64, held in registers.

LLVM lowers the same source to AVX-512, AVX2, SSE or NEON; the number of machine registers behind one vector is its
concern. Vectors are loaded from and stored to C-contiguous arrays, whose dtype decides the lane type, and know the
operators + - * & | with vectors and with integers (which are broadcast).
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

from streed.kernels.records import LANES


class Vector(types.Type):
    """The numba type of 32 signed integers of `bits` bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__(name=f"Vector(int{bits} x {LANES})")


VECTORS = {bits: Vector(bits) for bits in (8, 16, 32, 64)}


def llvm_type(vector: Vector) -> ir.VectorType:
    """The type of such vectors in LLVM's code."""
    return ir.VectorType(ir.IntType(vector.bits), LANES)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, llvm_type(vector))


def indices(numbers: Iterable[int]) -> ir.Constant:
    """Which lanes a shuffle takes."""
    listed = list(numbers)
    return ir.Constant(ir.VectorType(ir.IntType(32), len(listed)), listed)


def splat(builder: Any, scalar: Any, kind: ir.VectorType) -> Any:
    """The scalar in every lane of a vector of any number of lanes."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, indices([0] * kind.count))


def constant_bytes(builder: Any, name: str, content: bytearray) -> Any:
    """The address of these bytes, of which a module has one copy."""
    if name in builder.module.globals:
        return builder.module.globals[name]
    constant = ir.Constant(ir.ArrayType(ir.IntType(8), len(content)), content)
    data = cgutils.global_constant(builder, name, constant)
    data.align = 64
    data.unnamed_addr = True
    return data


def _resize(builder: Any, value: Any, bits: int) -> Any:
    width = value.type.width
    if width > bits:
        return builder.trunc(value, ir.IntType(bits))
    return builder.sext(value, ir.IntType(bits)) if width < bits else value


def element(context: Any, builder: Any, array_type: Any, array: Any, *place: Any) -> Any:
    """The address of array[place], an index for each dimension."""
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, place, wraparound=False)


# -- memory --------------------------------------------------------------------------------------------------------


@intrinsic
def load(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """array[row, column : column + 32] as a vector."""
    vector = VECTORS[array.dtype.bitwidth]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = element(context, builder, sig.args[0], *args)
        value = builder.load(builder.bitcast(pointer, llvm_type(vector).as_pointer()))
        value.align = vector.bits // 8
        return value

    return vector(array, types.intp, types.intp), generate


@intrinsic
def store(typing: Any, array: Any, row: Any, column: Any, vector: Any) -> Any:
    """array[row, column : column + 32] = vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = element(context, builder, sig.args[0], *args[:3])
        instruction = builder.store(args[3], builder.bitcast(pointer, llvm_type(vector).as_pointer()))
        instruction.align = vector.bits // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, vector), generate


@intrinsic
def broadcast(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """array[row, column] in every lane."""
    vector = VECTORS[array.dtype.bitwidth]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = element(context, builder, sig.args[0], *args)
        return splat(builder, builder.load(pointer), llvm_type(vector))

    return vector(array, types.intp, types.intp), generate


@intrinsic
def fill(typing: Any, array: Any, scalar: Any) -> Any:
    """`scalar` in every lane of a vector of the array's lane type."""
    vector = VECTORS[array.dtype.bitwidth]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return splat(builder, _resize(builder, args[1], vector.bits), llvm_type(vector))

    return vector(array, types.int64), generate


@intrinsic
def infeasible_of(typing: Any, array: Any) -> Any:
    """The largest lane value of the array (2**62 - 1 for int64): above every cost, it stands for what is infeasible."""
    limit = 2 ** (min(array.dtype.bitwidth, 63) - 1) - 1
    return types.int64(array), lambda context, builder, sig, args: ir.Constant(ir.IntType(64), limit)


# -- arithmetic ----------------------------------------------------------------------------------------------------


def _define(operation: Callable[..., Any], instruction: str) -> None:
    @infer_global(operation)
    class _Typing(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            left, right = args
            if isinstance(left, Vector) and right == left:
                return signature(left, left, left)
            if isinstance(left, Vector) and isinstance(right, types.Integer):
                return signature(left, left, types.int64)
            return None

    def vectors(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    def scalar(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        right = splat(builder, _resize(builder, args[1], sig.args[0].bits), llvm_type(sig.args[0]))
        return getattr(builder, instruction)(args[0], right)

    lower_builtin(operation, Vector, Vector)(vectors)
    lower_builtin(operation, Vector, types.Integer)(scalar)


_define(operator.add, "add")
_define(operator.sub, "sub")
_define(operator.mul, "mul")
_define(operator.and_, "and_")
_define(operator.or_, "or_")


def _choice(name: str, doc: str, comparison: str, compare: str) -> Any:
    def typed(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.select(getattr(builder, compare)(comparison, *args), *args)

        return a(a, b), generate

    typed.__name__, typed.__doc__ = name, doc
    return intrinsic(typed)


_LESS, _MORE = "Lane by lane, the smaller", "Lane by lane, the larger"

minimum = _choice("minimum", f"{_LESS}.", "<", "icmp_signed")
maximum = _choice("maximum", f"{_MORE}.", ">", "icmp_signed")
minimum_unsigned = _choice("minimum_unsigned", f"{_LESS}, of lanes without sign.", "<", "icmp_unsigned")
maximum_unsigned = _choice("maximum_unsigned", f"{_MORE}, of lanes without sign.", ">", "icmp_unsigned")


@intrinsic
def forbid(typing: Any, cost: Any, rows: Any, least: Any, infeasible: Any) -> Any:
    """`cost`, but `infeasible` in the lanes that have some rows and fewer than `least`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        cost, rows, least, infeasible = args
        kind = llvm_type(sig.args[0])
        bits = sig.args[0].bits
        some = builder.icmp_signed(">", rows, ir.Constant(kind, [0] * LANES))
        few = builder.icmp_signed("<", rows, splat(builder, _resize(builder, least, bits), kind))
        return builder.select(builder.and_(some, few), splat(builder, _resize(builder, infeasible, bits), kind), cost)

    return cost(cost, cost, types.int64, types.int64), generate


@intrinsic
def keep_at_least(typing: Any, vector: Any, counts: Any, least: Any) -> Any:
    """`vector`, but zero in the lanes where `counts` is below `least`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector, counts, least = args
        kind = llvm_type(sig.args[0])
        bound = splat(builder, _resize(builder, least, sig.args[0].bits), kind)
        enough = builder.icmp_signed(">=", counts, bound)
        return builder.select(enough, vector, ir.Constant(kind, [0] * LANES))

    return vector(vector, vector, types.int64), generate


@intrinsic
def popcount(typing: Any, vector: Any) -> Any:
    """Lane by lane, the number of one bits."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = llvm_type(vector)
        name = f"llvm.ctpop.v{LANES}i{vector.bits}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name)
        return builder.call(function, args)

    return vector(vector), generate


@intrinsic
def widen(typing: Any, array: Any, vector: Any) -> Any:
    """The vector with its lanes sign-extended to the array's lane type."""
    wide = VECTORS[array.dtype.bitwidth]
    same, kind = wide.bits == vector.bits, llvm_type(wide)
    return wide(array, vector), lambda context, builder, sig, args: args[1] if same else builder.sext(args[1], kind)


@intrinsic
def widen_unsigned(typing: Any, array: Any, vector: Any) -> Any:
    """The vector, whose lanes have no sign, in lanes of the array's lane type, which are wider."""
    wide = VECTORS[array.dtype.bitwidth]
    return wide(array, vector), lambda context, builder, sig, args: builder.zext(args[1], llvm_type(wide))


@intrinsic
def narrow(typing: Any, array: Any, vector: Any) -> Any:
    """The low bits of the vector's lanes, in lanes of the array's lane type, which are narrower."""
    narrow = VECTORS[array.dtype.bitwidth]
    return narrow(array, vector), lambda context, builder, sig, args: builder.trunc(args[1], llvm_type(narrow))


def _reduction(name: str, doc: str, operation: str) -> Any:
    def typed(typing: Any, vector: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = llvm_type(vector)
            full = f"llvm.vector.reduce.{operation}.v{LANES}i{vector.bits}"
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind.element, [kind]), full)
            return _resize(builder, builder.call(function, args), 64)

        return types.int64(vector), generate

    typed.__name__, typed.__doc__ = name, doc
    return intrinsic(typed)


largest = _reduction("largest", "The largest lane, as int64.", "smax")
smallest = _reduction("smallest", "The smallest lane, as int64.", "smin")


# -- bits ----------------------------------------------------------------------------------------------------------


@intrinsic
def keep_lanes(typing: Any, mask: Any, vector: Any) -> Any:
    """The vector with lane i set to zero unless bit i of the mask is set."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(_resize(builder, args[0], LANES), ir.VectorType(ir.IntType(1), LANES))
        return builder.select(bits, args[1], ir.Constant(llvm_type(vector), [0] * LANES))

    return vector(types.int64, vector), generate


@intrinsic
def lanes_with(typing: Any, vector: Any, bits: Any) -> Any:
    """The mask of the lanes in which `vector & bits` is not zero, as int64 (lane i is bit i)."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        common = builder.and_(*args)
        nonzero = builder.icmp_unsigned("!=", common, ir.Constant(common.type, [0] * LANES))
        return builder.zext(builder.bitcast(nonzero, ir.IntType(LANES)), ir.IntType(64))

    return types.int64(vector, vector), generate


@intrinsic
def nibble_of(typing: Any, array: Any, words: Any, which: Any) -> Any:
    """The bits 4 * which .. + 3 of every lane of `words`, in lanes of the array's lane type, which are narrower."""
    narrow = VECTORS[array.dtype.bitwidth]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = llvm_type(words)
        shift = builder.shl(_resize(builder, args[2], words.bits), ir.Constant(kind.element, 2))
        bits = builder.lshr(args[1], splat(builder, shift, kind))
        return builder.trunc(builder.and_(bits, ir.Constant(kind, [15] * LANES)), llvm_type(narrow))

    return narrow(array, words, types.int64), generate


@intrinsic
def load_eight(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """array[row, column : column + 8] of a uint8 array as one 64-bit word, the first byte lowest."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = element(context, builder, sig.args[0], *args)
        word = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()))
        word.align = 1
        if sys.byteorder == "big":
            word = builder.bswap(word)
        return word

    return types.uint64(array, types.intp, types.intp), generate


@intrinsic
def count_ones(typing: Any, word: Any) -> Any:
    """The number of one bits of a 64-bit word, as int64."""
    return types.int64(types.uint64), lambda context, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def first_one(typing: Any, word: Any) -> Any:
    """The position of the lowest one bit of a 64-bit word that is not zero, as int64."""
    true = ir.Constant(ir.IntType(1), 1)
    return types.int64(types.uint64), lambda context, builder, sig, args: builder.cttz(args[0], true)


def _load(name: str, doc: str, order: str) -> Any:
    def typed(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = element(context, builder, sig.args[0], *args[:2])
            return builder.load_atomic(pointer, order, 8)

        return types.int64(array, types.intp), generate

    typed.__name__, typed.__doc__ = name, doc
    return intrinsic(typed)


def _atomic(name: str, doc: str, operation: str) -> Any:
    def typed(typing: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = element(context, builder, sig.args[0], *args[:2])
            return builder.atomic_rmw(operation, pointer, args[2], "monotonic")

        return types.int64(array, types.intp, types.int64), generate

    typed.__name__, typed.__doc__ = name, doc
    return intrinsic(typed)


@intrinsic
def store_release(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = value of an array of whole numbers, after all that was written before."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = element(context, builder, sig.args[0], *args[:2])
        builder.store_atomic(args[2], pointer, "release", sig.args[2].bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


@intrinsic
def swap_atomic(typing: Any, array: Any, index: Any, before: Any, after: Any) -> Any:
    """Whether array[index] of an int64 array was `before`, in whose place `after` was then written, in one step."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = element(context, builder, sig.args[0], *args[:2])
        found = builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), generate


_FRESH = "array[index] of an int64 array, read afresh each time: a plain read in a loop may be hoisted out of it."
_AFTER = "array[index] of an int64 array; what was written before `store_release` wrote it there is seen after this."

load_atomic = _load("load_atomic", _FRESH, "monotonic")
load_acquire = _load("load_acquire", _AFTER, "acquire")
add_atomic = _atomic("add_atomic", "array[index] of an int64 array, to which the value is then added.", "add")
lower_atomic = _atomic("lower_atomic", "array[index] of an int64 array, which is then lowered to the value.", "min")
raise_atomic = _atomic("raise_atomic", "array[index] of an int64 array, which is then raised to the value.", "max")
