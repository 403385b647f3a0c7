"""Signatures of native functions, from text to numba's types.

Beside what numba itself reads, a signature may have named tuples, whose fields say what they are, also with a field of
another type, "with_field(Scratch, 'pairs', int32[::1])"; and arrays that are only read: "readonly(uint64[::1])".
"""

from __future__ import annotations

import typing
from typing import Any

import numpy as np
from numba import from_dtype, types


def argument_types(signature: str, tuples: tuple[type, ...] = ()) -> tuple[Any, ...]:
    """The types of the arguments of a function; `tuples` are those that may be named."""
    named = {kind.__name__: _tuple_type(kind) for kind in tuples}
    names = {**vars(types), **named, "with_field": _with_field, "readonly": lambda kind: kind.copy(readonly=True)}
    found: tuple[Any, ...] = eval(signature, {"__builtins__": {}}, names)
    return found


def _tuple_type(kind: Any) -> Any:
    """That of a named tuple."""
    fields = typing.get_type_hints(kind)
    return types.NamedTuple([_field_type(fields[name]) for name in kind._fields], kind)


def _field_type(hint: Any) -> Any:
    if hint is int:
        return types.int64
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return _tuple_type(hint)
    assert typing.get_origin(hint) is np.ndarray, hint
    shape, dtype = typing.get_args(hint)
    return types.Array(from_dtype(np.dtype(typing.get_args(dtype)[0])), len(typing.get_args(shape)), "C")


def _with_field(kind: Any, field: str, other: Any) -> Any:
    """The type of a named tuple with another type of a field."""
    return types.NamedTuple(
        [other if name == field else each for name, each in zip(kind.fields, kind.types, strict=True)],
        kind.instance_class,
    )
