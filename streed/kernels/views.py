"""Typed views of the arrays whose addresses an `Engine` record holds.

A view is made of an address and a shape and owns nothing, so making one costs a few instructions and no reference
counting; the Python side keeps the arrays alive for as long as the record is in use.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import carray, from_dtype, njit, types
from numba.extending import intrinsic

from streed.kernels.records import CHILD, EDGE, ENGINE, NODE

ENGINE_TYPE = from_dtype(ENGINE)
NODE_TYPE = from_dtype(NODE)
EDGE_TYPE = from_dtype(EDGE)
CHILD_TYPE = from_dtype(CHILD)

inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For the small functions that a kernel is made of."""

native = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For functions that only other native functions call."""


@intrinsic
def _pointer(typing: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


@inline
def vector(address, size, dtype):  # type: ignore[no-untyped-def]
    """The `size` entries at `address`, (size,)."""
    return carray(_pointer(address), (size,), dtype)


@inline
def matrix(address, rows, columns, dtype):  # type: ignore[no-untyped-def]
    """The rows x columns entries at `address`, C-contiguous."""
    return carray(_pointer(address), (rows, columns), dtype)


@intrinsic
def keep_apart(typing: Any) -> Any:
    """Says of the function that calls it that no array among its arguments, if written, overlaps another."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for argument in builder.function.args:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.void(), generate


def records(record: Any) -> Any:
    """A native function (address, size) -> the records of the given type at the address, (size,)."""

    @intrinsic
    def pointer(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(sig.return_type))

        return types.CPointer(record)(types.int64), generate

    @inline
    def view(address, size):  # type: ignore[no-untyped-def]
        return carray(pointer(address), (size,))

    return view
