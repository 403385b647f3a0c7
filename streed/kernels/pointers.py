"""Calling compiled functions through their addresses.

A kernel takes the address of an `Engine` record, finds there what it is asked and leaves its answer there. It is
compiled and cached by itself, so a new kind of scoring never recompiles the search, and code is not compiled again in
each of its callers.

Entry points, which Python calls, take the address as well: to unpack a record of so many fields for native code takes
numba longer than a small search.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from streed.kernels.views import ENGINE_TYPE

KERNEL = types.void(types.int64)
"""The signature of every kernel."""


@intrinsic
def engine_at(typing: Any, address: Any) -> Any:
    """The engine record at an address."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(ENGINE_TYPE))

    return ENGINE_TYPE(types.int64), generate


@intrinsic
def call(typing: Any, pointer: Any, engine: Any) -> Any:
    """Calls the kernel at an address with the engine record."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(function, [builder.ptrtoint(args[1], ir.IntType(64))])
        return context.get_dummy_value()

    return types.void(types.int64, ENGINE_TYPE), generate
