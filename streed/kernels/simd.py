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
from numba.extending import models, register_model

from streed.kernels.records import LANES
from streed.kernels.views import Code, instruction


class Vector(types.Type):
    """The numba type of 32 signed integers of `bits` bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__(name=f"Vector(int{bits} x {LANES})")


VECTORS = {bits: Vector(bits) for bits in (8, 16, 32, 64)}


def vector_of(array: Any) -> Vector:
    """The type of vectors of an array's numbers."""
    return VECTORS[array.dtype.bitwidth]


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


def _splat(code: Code, scalar: Any, kind: ir.VectorType) -> Any:
    """The whole number of any size in every lane."""
    return splat(code.builder, _resize(code.builder, scalar, kind.element.width), kind)


# -- memory --------------------------------------------------------------------------------------------------------


@instruction(lambda array, row, column: vector_of(array)(array, types.intp, types.intp))
def load(code: Code, array: Any, row: Any, column: Any) -> Any:
    """array[row, column : column + 32] as a vector."""
    return code.load(code.element(0, array, row, column), code.kind, code.kind.element.width // 8)


@instruction(lambda array, row, column, vector: types.void(array, types.intp, types.intp, vector))
def store(code: Code, array: Any, row: Any, column: Any, vector: Any) -> None:
    """array[row, column : column + 32] = vector."""
    code.store(vector, code.element(0, array, row, column), vector.type.element.width // 8)


@instruction(lambda array, row, column: vector_of(array)(array, types.intp, types.intp))
def broadcast(code: Code, array: Any, row: Any, column: Any) -> Any:
    """array[row, column] in every lane."""
    return splat(code.builder, code.builder.load(code.element(0, array, row, column)), code.kind)


@instruction(lambda array, scalar: vector_of(array)(array, types.int64))
def fill(code: Code, array: Any, scalar: Any) -> Any:
    """`scalar` in every lane of a vector of the array's lane type."""
    return _splat(code, scalar, code.kind)


@instruction(types.int64)
def infeasible_of(code: Code, array: Any) -> Any:
    """The largest lane value of the array (2**62 - 1 for int64): above every cost, it stands for what is infeasible."""
    return ir.Constant(code.kind, 2 ** (min(code.types[0].dtype.bitwidth, 63) - 1) - 1)


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
    def choose(code: Code, a: Any, b: Any) -> Any:
        return code.builder.select(getattr(code.builder, compare)(comparison, a, b), a, b)

    choose.__name__, choose.__doc__ = name, doc
    return instruction(lambda a, b: a(a, b))(choose)


_LESS, _MORE = "Lane by lane, the smaller", "Lane by lane, the larger"

minimum = _choice("minimum", f"{_LESS}.", "<", "icmp_signed")
maximum = _choice("maximum", f"{_MORE}.", ">", "icmp_signed")
minimum_unsigned = _choice("minimum_unsigned", f"{_LESS}, of lanes without sign.", "<", "icmp_unsigned")
maximum_unsigned = _choice("maximum_unsigned", f"{_MORE}, of lanes without sign.", ">", "icmp_unsigned")


@instruction(lambda cost, rows, least, infeasible: cost(cost, cost, types.int64, types.int64))
def forbid(code: Code, cost: Any, rows: Any, least: Any, infeasible: Any) -> Any:
    """`cost`, but `infeasible` in the lanes that have some rows and fewer than `least`."""
    builder, kind = code.builder, code.kind
    some = builder.icmp_signed(">", rows, ir.Constant(kind, None))
    few = builder.icmp_signed("<", rows, _splat(code, least, kind))
    return builder.select(builder.and_(some, few), _splat(code, infeasible, kind), cost)


@instruction(lambda vector, counts, least: vector(vector, vector, types.int64))
def keep_at_least(code: Code, vector: Any, counts: Any, least: Any) -> Any:
    """`vector`, but zero in the lanes where `counts` is below `least`."""
    enough = code.builder.icmp_signed(">=", counts, _splat(code, least, code.kind))
    return code.builder.select(enough, vector, ir.Constant(code.kind, None))


def _ask(code: Code, name: str, vector: Any, result: Any) -> Any:
    """What LLVM's function of this name makes of a vector."""
    full = f"llvm.{name}.v{LANES}i{vector.type.element.width}"
    kind = ir.FunctionType(result, [vector.type])
    return code.builder.call(cgutils.get_or_insert_function(code.builder.module, kind, full), [vector])


@instruction(lambda vector: vector(vector))
def popcount(code: Code, vector: Any) -> Any:
    """Lane by lane, the number of one bits."""
    return _ask(code, "ctpop", vector, vector.type)


@instruction(lambda array, vector: vector_of(array)(array, vector))
def widen(code: Code, array: Any, vector: Any) -> Any:
    """The vector with its lanes sign-extended to the array's lane type."""
    return vector if vector.type == code.kind else code.builder.sext(vector, code.kind)


@instruction(lambda array, vector: vector_of(array)(array, vector))
def widen_unsigned(code: Code, array: Any, vector: Any) -> Any:
    """The vector, whose lanes have no sign, in lanes of the array's lane type, which are wider."""
    return code.builder.zext(vector, code.kind)


@instruction(lambda array, vector: vector_of(array)(array, vector))
def narrow(code: Code, array: Any, vector: Any) -> Any:
    """The low bits of the vector's lanes, in lanes of the array's lane type, which are narrower."""
    return code.builder.trunc(vector, code.kind)


def _reduction(name: str, doc: str, operation: str) -> Any:
    def reduce(code: Code, vector: Any) -> Any:
        found = _ask(code, f"vector.reduce.{operation}", vector, vector.type.element)
        return _resize(code.builder, found, 64)

    reduce.__name__, reduce.__doc__ = name, doc
    return instruction(types.int64)(reduce)


largest = _reduction("largest", "The largest lane, as int64.", "smax")
smallest = _reduction("smallest", "The smallest lane, as int64.", "smin")


# -- bits ----------------------------------------------------------------------------------------------------------


@instruction(lambda mask, vector: vector(types.int64, vector))
def keep_lanes(code: Code, mask: Any, vector: Any) -> Any:
    """The vector with lane i set to zero unless bit i of the mask is set."""
    bits = code.builder.bitcast(_resize(code.builder, mask, LANES), ir.VectorType(ir.IntType(1), LANES))
    return code.builder.select(bits, vector, ir.Constant(code.kind, None))


@instruction(lambda vector, bits: types.int64(vector, vector))
def lanes_with(code: Code, vector: Any, bits: Any) -> Any:
    """The mask of the lanes in which `vector & bits` is not zero, as int64 (lane i is bit i)."""
    common = code.builder.and_(vector, bits)
    nonzero = code.builder.icmp_unsigned("!=", common, ir.Constant(common.type, None))
    return code.builder.zext(code.builder.bitcast(nonzero, ir.IntType(LANES)), code.kind)


@instruction(lambda array, words, which: vector_of(array)(array, words, types.int64))
def nibble_of(code: Code, array: Any, words: Any, which: Any) -> Any:
    """The bits 4 * which .. + 3 of every lane of `words`, in lanes of the array's lane type, which are narrower."""
    builder, kind = code.builder, words.type
    shift = builder.shl(_resize(builder, which, kind.element.width), ir.Constant(kind.element, 2))
    bits = builder.lshr(words, splat(builder, shift, kind))
    return builder.trunc(builder.and_(bits, ir.Constant(kind, [15] * LANES)), code.kind)


@instruction(lambda array, row, column: types.uint64(array, types.intp, types.intp))
def load_eight(code: Code, array: Any, row: Any, column: Any) -> Any:
    """array[row, column : column + 8] of a uint8 array as one 64-bit word, the first byte lowest."""
    word = code.load(code.element(0, array, row, column), code.kind, 1)
    return code.builder.bswap(word) if sys.byteorder == "big" else word


@instruction(lambda word: types.int64(types.uint64))
def count_ones(code: Code, word: Any) -> Any:
    """The number of one bits of a 64-bit word, as int64."""
    return code.builder.ctpop(word)


@instruction(lambda word: types.int64(types.uint64))
def first_one(code: Code, word: Any) -> Any:
    """The position of the lowest one bit of a 64-bit word that is not zero, as int64."""
    return code.builder.cttz(word, ir.Constant(ir.IntType(1), 1))


def _load(name: str, doc: str, order: str) -> Any:
    def read(code: Code, array: Any, index: Any) -> Any:
        return code.builder.load_atomic(code.element(0, array, index), order, 8)

    read.__name__, read.__doc__ = name, doc
    return instruction(lambda array, index: types.int64(array, types.intp))(read)


def _atomic(name: str, doc: str, operation: str) -> Any:
    def change(code: Code, array: Any, index: Any, value: Any) -> Any:
        return code.builder.atomic_rmw(operation, code.element(0, array, index), value, "monotonic")

    change.__name__, change.__doc__ = name, doc
    return instruction(lambda array, index, value: types.int64(array, types.intp, types.int64))(change)


@instruction(lambda array, index, value: types.void(array, types.intp, array.dtype))
def store_release(code: Code, array: Any, index: Any, value: Any) -> None:
    """array[index] = value of an array of whole numbers, after all that was written before."""
    code.builder.store_atomic(value, code.element(0, array, index), "release", value.type.width // 8)


@instruction(lambda array, index, before, after: types.boolean(array, types.intp, types.int64, types.int64))
def swap_atomic(code: Code, array: Any, index: Any, before: Any, after: Any) -> Any:
    """Whether array[index] of an int64 array was `before`, in whose place `after` was then written, in one step."""
    found = code.builder.cmpxchg(code.element(0, array, index), before, after, "acq_rel", "acquire")
    return code.builder.extract_value(found, 1)


_FRESH = "array[index] of an int64 array, read afresh each time: a plain read in a loop may be hoisted out of it."
_AFTER = "array[index] of an int64 array; what was written before `store_release` wrote it there is seen after this."

load_atomic = _load("load_atomic", _FRESH, "monotonic")
load_acquire = _load("load_acquire", _AFTER, "acquire")
add_atomic = _atomic("add_atomic", "array[index] of an int64 array, to which the value is then added.", "add")
lower_atomic = _atomic("lower_atomic", "array[index] of an int64 array, which is then lowered to the value.", "min")
raise_atomic = _atomic("raise_atomic", "array[index] of an int64 array, which is then raised to the value.", "max")
