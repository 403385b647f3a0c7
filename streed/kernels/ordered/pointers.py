"""The record of the search over thresholds in native code, and the kernels that it has the addresses of."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from streed.kernels.ordered.record import RECORD
from streed.kernels.views import RecordType

RECORD_TYPE = RecordType(RECORD)


@intrinsic
def record_at(typing: Any, address: Any) -> Any:
    """The record at an address."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(RECORD_TYPE))

    return RECORD_TYPE(address), generate


@intrinsic
def ask(typing: Any, pointer: Any, record: Any) -> Any:
    """Calls the kernel at an address with the record."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(function, [builder.ptrtoint(args[1], ir.IntType(64))])
        return context.get_dummy_value()

    return types.void(types.int64, record), generate
