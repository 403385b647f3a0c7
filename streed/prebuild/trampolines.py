"""How native functions are called from outside numba: arguments and results as words (`kernels/prebuilt/calls.py`).

A trampoline is a function in LLVM's language, beside the one that it calls. It makes numba's arrays of addresses and
shapes, calls, and takes numba's results apart.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from streed.kernels.prebuilt.container import ONLY_READ, Overload
from streed.kernels.records import ENGINE, RAISED

_WORD = ir.IntType(64)
_WORDS = _WORD.as_pointer()
_STATUS = ir.IntType(32)


def entry_trampoline(module: ir.Module, context: Any, compiled: Any, symbol: str) -> Overload:
    """Adds the trampoline of an entry, which numba has compiled for its signature, under the symbol; what it takes."""
    fndesc = compiled.fndesc
    function = ir.Function(module, ir.FunctionType(_STATUS, [_WORDS, _WORDS]), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    given, out = function.args
    arguments = []
    at = 0
    for kind in fndesc.argtypes:
        value, at = _argument(context, builder, kind, given, at)
        arguments.append(value)
    callee = context.declare_function(module, fndesc)
    status, result = context.call_conv.call_function(builder, callee, fndesc.restype, fndesc.argtypes, arguments)
    with builder.if_then(status.is_error, likely=False):
        _describe(builder, status, out)
        builder.ret(status.code)
    kinds = list(fndesc.restype) if isinstance(fndesc.restype, types.BaseTuple) else [fndesc.restype]
    if fndesc.restype == types.none:
        kinds = []
    at = 0
    for place, kind in enumerate(kinds):
        part = builder.extract_value(result, place) if isinstance(fndesc.restype, types.BaseTuple) else result
        at = _put(context, builder, kind, part, out, at)
    builder.ret(ir.Constant(_STATUS, 0))
    return Overload(
        symbol,
        tuple(_name(part) for kind in fndesc.argtypes for part in _parts(kind)),
        tuple(_name(kind) for kind in kinds),
        isinstance(fndesc.restype, types.BaseTuple),
    )


def unit_trampoline(module: ir.Module, context: Any, native: str, symbol: str) -> None:
    """Adds that of the work unit `native`, which takes the address of an engine record; an error is noted there."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_WORD]), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    takes = (types.int64,)
    callee = cgutils.get_or_insert_function(module, context.call_conv.get_function_type(types.none, takes), native)
    status, _ = context.call_conv.call_function(builder, callee, types.none, takes, list(function.args))
    with builder.if_then(status.is_error, likely=False):
        place = ir.Constant(_WORD, ENGINE.fields["overflow"][1])  # type: ignore[index]
        pointer = builder.inttoptr(builder.add(function.args[0], place), _WORDS)
        builder.store(builder.or_(builder.load(pointer), ir.Constant(_WORD, RAISED)), pointer)
    builder.ret_void()


def release_function(module: ir.Module, symbol: str) -> None:
    """Adds the function that releases the memory of a result."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_WORD]), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
    decref = cgutils.get_or_insert_function(module, kind, "NRT_decref")
    builder.call(decref, [builder.inttoptr(function.args[0], ir.IntType(8).as_pointer())])
    builder.ret_void()


def _parts(kind: Any) -> list[Any]:
    """A type, or of a named tuple those of its fields."""
    if isinstance(kind, types.NamedTuple):
        return [part for each in kind.types for part in _parts(each)]
    return [kind]


def _name(kind: Any) -> str:
    """A type as the library's contents have it."""
    if isinstance(kind, types.Array):
        if kind.layout != "C":
            raise TypeError(f"an array of layout {kind.layout}")
        return f"{kind.dtype} {kind.ndim}" if kind.mutable else f"{kind.dtype} {kind.ndim} {ONLY_READ}"
    return "bool" if kind == types.boolean else str(kind)


def _argument(context: Any, builder: Any, kind: Any, given: Any, at: int) -> tuple[Any, int]:
    """The argument of a type that begins at a word, and the word behind it."""
    if isinstance(kind, types.NamedTuple):
        fields = []
        for each in kind.types:
            field, at = _argument(context, builder, each, given, at)
            fields.append(field)
        return context.make_tuple(builder, kind, fields), at
    if isinstance(kind, types.Array):
        words = [_word(builder, given, at + i) for i in range(1 + kind.ndim)]
        array = context.make_array(kind)(context, builder)
        item = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        strides = [item]
        for size in reversed(words[2:]):
            strides.insert(0, builder.mul(strides[0], size))
        data = builder.inttoptr(words[0], context.get_data_type(kind.dtype).as_pointer())
        populate_array(array, data=data, shape=words[1:], strides=strides, itemsize=item, meminfo=None)
        return array._getvalue(), at + 1 + kind.ndim
    word = _word(builder, given, at)
    if kind == types.boolean:
        return builder.icmp_unsigned("!=", word, ir.Constant(_WORD, 0)), at + 1
    if kind == types.float64:
        return builder.bitcast(word, ir.DoubleType()), at + 1
    if kind in (types.int64, types.uint64):
        return word, at + 1
    raise TypeError(f"an argument of type {kind}")


def _put(context: Any, builder: Any, kind: Any, value: Any, out: Any, at: int) -> int:
    """Writes a result from a word on; the word behind it."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        _write(builder, out, at, builder.ptrtoint(array.meminfo, _WORD))
        _write(builder, out, at + 1, builder.ptrtoint(array.data, _WORD))
        for i, size in enumerate(cgutils.unpack_tuple(builder, array.shape, kind.ndim)):
            _write(builder, out, at + 2 + i, size)
        return at + 2 + int(kind.ndim)
    if kind == types.boolean:
        word = builder.zext(value, _WORD)
    elif kind == types.float64:
        word = builder.bitcast(value, _WORD)
    elif kind in (types.int64, types.uint64):
        word = value
    else:
        raise TypeError(f"a result of type {kind}")
    _write(builder, out, at, word)
    return at + 1


def _describe(builder: Any, status: Any, out: Any) -> None:
    """Writes where the description of an error begins, and its size."""
    description = builder.load(builder.gep(status.excinfoptr, [_index(0), _index(0)]))
    size = builder.load(builder.gep(status.excinfoptr, [_index(0), _index(1)]))
    _write(builder, out, 0, builder.ptrtoint(description, _WORD))
    _write(builder, out, 1, builder.zext(size, _WORD))


def _index(i: int) -> Any:
    return ir.Constant(ir.IntType(32), i)


def _word(builder: Any, words: Any, at: int) -> Any:
    return builder.load(builder.gep(words, [ir.Constant(_WORD, at)]))


def _write(builder: Any, words: Any, at: int, word: Any) -> None:
    builder.store(word, builder.gep(words, [ir.Constant(_WORD, at)]))
