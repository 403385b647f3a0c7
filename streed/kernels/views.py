"""Typed views of the arrays whose addresses an `Engine` record holds, and calls of the kernels whose addresses it has.

A view is made of an address and a shape and owns nothing, so making one costs a few instructions and no reference
counting; the Python side keeps the arrays alive for as long as the record is in use.

A kernel takes the address of an `Engine` record, finds there what it is asked and leaves its answer there. It is
compiled and cached by itself, so a new kind of scoring never recompiles the search, and code is not compiled again in
each of its callers.

Entry points, which Python calls, take the address as well: to unpack a record of so many fields for native code takes
numba longer than a small search.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, final

from llvmlite import ir
from numba import from_dtype, njit, types
from numba.core import cgutils
from numba.core.datamodel.models import RecordModel
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import populate_array

from streed.kernels.late_linking import QuickCompiler
from streed.kernels.records import CHILD, EDGE, ENGINE, NODE


@final
class RecordType(types.Record):  # type: ignore[misc]
    """A record type of few letters: numba writes the types of a function out at each of its passes, field by field."""

    def __init__(self, dtype: Any) -> None:
        plain = from_dtype(dtype)
        super().__init__([(name, field._asdict()) for name, field in plain.fields.items()], plain.size, plain.aligned)

    def __repr__(self) -> str:
        return f"Record({self._code})"


register_model(RecordType)(RecordModel)

ENGINE_TYPE = RecordType(ENGINE)
NODE_TYPE = RecordType(NODE)
EDGE_TYPE = RecordType(EDGE)
CHILD_TYPE = RecordType(CHILD)

_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": QuickCompiler}

native = njit(**_INNER)
"""For functions that only other native functions call."""

inline = njit(forceinline=True, **_INNER)
"""For the small functions that a kernel is made of."""

uncounted = njit(_nrt=False, forceinline=True, **_INNER)
"""For what loops do at every step with arrays, giving numbers: references to the arrays are not counted, since that
takes ten times as long as a look at an entry."""


@inline
def copy_into(target, source):  # type: ignore[no-untyped-def]
    """Writes the entries of one vector to the first of another.

    Where an array is assigned as a whole, numba compiles the text of the message that sizes differ: a second for each
    process that compiles.
    """
    for i in range(len(source)):
        target[i] = source[i]


@final
class Code:
    """Where the code of an operation is made: by `builder`, of arguments of `types`, with a result of LLVM's `kind`."""

    def __init__(self, context: Any, builder: Any, sig: Any) -> None:
        self.context, self.builder, self.types = context, builder, sig.args
        self.kind = context.get_value_type(sig.return_type)

    def element(self, argument: int, array: Any, *place: Any) -> Any:
        """The address of array[place], an index for each dimension; the array is the argument of this number."""
        struct = self.context.make_array(self.types[argument])(self.context, self.builder, array)
        return cgutils.get_item_pointer(
            self.context, self.builder, self.types[argument], struct, place, wraparound=False
        )

    def load(self, address: Any, kind: Any, align: int) -> Any:
        """What of this kind is at an address."""
        value = self.builder.load(self.builder.bitcast(address, kind.as_pointer()))
        value.align = align
        return value

    def store(self, value: Any, address: Any, align: int) -> None:
        """Writes a value of any kind to an address."""
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer())).align = align


def instruction(typed: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorates what makes the code (a `Code`, values) of an operation; `typed` gives its signature, of their types."""

    def decorate(make: Callable[..., Any]) -> Any:
        @functools.wraps(make)
        def operation(typing: Any, *arguments: Any) -> Any:
            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                value = make(Code(context, builder, sig), *args)
                return context.get_dummy_value() if value is None else value

            return typed(*arguments), generate

        return intrinsic(operation)

    return decorate


def _view(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Makes the array of a signature (address, size of every dimension, dtype): what `vector` and `matrix` become.

    Numba's `carray` is a function that calls a function, and each has its types inferred anew for every dtype.
    """
    kind = sig.return_type
    made = context.make_array(kind)(context, builder)
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape, strides = args[1 : 1 + kind.ndim], [item]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size, flags=["nsw"]))
    data = builder.inttoptr(args[0], made.data.type)
    populate_array(made, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
    return made._getvalue()


@intrinsic
def vector(typing: Any, address: Any, size: Any, dtype: Any) -> Any:
    """The `size` entries at `address`, (size,)."""
    return types.Array(dtype.dtype, 1, "C")(types.int64, types.intp, dtype), _view


@intrinsic
def matrix(typing: Any, address: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """The rows x columns entries at `address`, C-contiguous."""
    return types.Array(dtype.dtype, 2, "C")(types.int64, types.intp, types.intp, dtype), _view


@instruction(types.void)
def keep_apart(code: Code) -> None:
    """Says of the function that calls it that no array among its arguments, if written, overlaps another."""
    for argument in code.builder.function.args:
        if isinstance(argument.type, ir.PointerType):
            argument.add_attribute("noalias")


def records(record: Any) -> Any:
    """A native function (address, size) -> the records of the given type at the address, (size,)."""

    @intrinsic
    def view(typing: Any, address: Any, size: Any) -> Any:
        return types.Array(record, 1, "C")(types.int64, types.intp), _view

    return view


KERNEL = types.void(types.int64)
"""The signature of every kernel."""


def record_at(kind: Any) -> Any:
    """A native function (address) -> the record of the given type at the address."""

    @instruction(lambda address: kind(types.int64))
    def view(code: Code, address: Any) -> Any:
        return code.builder.inttoptr(address, code.kind)

    return view


engine_at = record_at(ENGINE_TYPE)


@instruction(lambda pointer, record: types.void(types.int64, record))
def call(code: Code, pointer: Any, record: Any) -> None:
    """Calls the kernel at an address with the record."""
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
    function = code.builder.inttoptr(pointer, kind.as_pointer())
    code.builder.call(function, [code.builder.ptrtoint(record, ir.IntType(64))])
