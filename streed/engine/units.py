"""The work units as compiled pointers: what the search calls without knowing lanes or kinds of tasks.

A unit takes the address of an `Engine` record and finds there what it is asked (`asked_*`) and leaves its answer. It is
compiled and cached by itself, so a new kind of scoring never recompiles the search.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from streed.engine import labels, signed
from streed.engine.compiled import unit
from streed.engine.depth_three import solve_depth_three
from streed.engine.expansion import expand_labelled
from streed.engine.views import ENGINE_TYPE

_SIGNATURE = types.void(types.int64)


@intrinsic
def engine_at(typing: Any, address: Any) -> Any:
    """The engine record at an address."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(ENGINE_TYPE))

    return ENGINE_TYPE(types.int64), generate


@intrinsic
def call_unit(typing: Any, pointer: Any, engine: Any) -> Any:
    """Calls the unit at an address with the engine record."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(function, [builder.ptrtoint(args[1], ir.IntType(64))])
        return context.get_dummy_value()

    return types.void(types.int64, ENGINE_TYPE), generate


@functools.cache
def signed_unit(lane: Any) -> Any:
    """`solve_depth_three` for two labels, in lanes of the given numpy type."""

    @unit(_SIGNATURE)
    def solve_signed(address):  # type: ignore[no-untyped-def]
        solve_depth_three(
            engine_at(address), lane, signed.prepare_signed, signed.solve_signed_children, signed.signed_leaves
        )

    return solve_signed


@functools.cache
def labelled_unit(lane: Any) -> Any:
    """`solve_depth_three` for any labels, columns and minimum support, in lanes of the given numpy type."""

    @unit(_SIGNATURE)
    def solve_labelled(address):  # type: ignore[no-untyped-def]
        solve_depth_three(
            engine_at(address), lane, labels.prepare_labelled, labels.solve_labelled_children, labels.labelled_leaves
        )

    return solve_labelled


@functools.cache
def expansion_unit(lane: Any) -> Any:
    """`expand_labelled` in lanes of the given numpy type."""

    @unit(_SIGNATURE)
    def expand(address):  # type: ignore[no-untyped-def]
        expand_labelled(engine_at(address), lane)

    return expand


LANE_TYPES = (np.int16, np.int32, np.int64)

__all__ = ["LANE_TYPES", "call_unit", "engine_at", "expansion_unit", "labelled_unit", "signed_unit"]
