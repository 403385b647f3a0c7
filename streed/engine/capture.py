"""What a task's methods depend on: the numbers that they read, the functions and constants that they name.

A method stays plain Python. To compile it, a copy is made whose helper functions, wherever they live, are compiled too;
to name its compiled form, a fingerprint covers all that could change its meaning: the bodies of the method and its
helpers, the constants and defaults that they use. The task's own numbers are data, so new values compile nothing.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import numbers
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from streed.engine.mathematics import STAND_INS
from streed.errors import TaskError

Function = types.FunctionType


@attrs.frozen(eq=False)
class Number:
    """A number, or an array of numbers, that a task's methods read from `self`."""

    name: str
    kind: str
    """"int", "real", or "ints1", "reals2" ...: arrays with their number of dimensions."""
    value: Any
    """An int, a float, or an int64 or float64 array, C-contiguous."""


def numbers_of(task: Any, functions: Mapping[str, Callable[..., Any]]) -> tuple[Number, ...]:
    """The numbers of the task that the functions name, by name; raises TaskError for what is no number."""
    found = []
    for name in sorted({name for function in functions.values() for name in _attributes_of_self(function)}):
        value = getattr(task, name, None)
        number = _number(name, value)
        if number is None:
            raise TaskError(
                f"{type(task).__name__}.{name} is {value!r}, which native code cannot read\n"
                "make it a number or an array of numbers; a helper belongs outside the class, as a function"
            )
        found.append(number)
    return tuple(found)


def _attributes_of_self(function: Callable[..., Any]) -> frozenset[str]:
    """The attributes that a method reads from its first argument."""
    return _attributes_of_first(function.__code__)


@functools.lru_cache(maxsize=4096)
def _attributes_of_first(code: types.CodeType) -> frozenset[str]:
    names = set()
    own = code.co_varnames[0] if code.co_argcount else None
    before = None
    for instruction in dis.get_instructions(code):
        loads_self = before is not None and before.opname.startswith("LOAD_FAST") and before.argval == own
        if loads_self and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            names.add(str(instruction.argval))
        before = instruction
    return frozenset(names)


def _number(name: str, value: Any) -> Number | None:
    if isinstance(value, numbers.Integral):
        return Number(name, "int", int(value)) if abs(int(value)) < 2**63 else Number(name, "real", float(value))
    if isinstance(value, numbers.Real) or (hasattr(value, "as_integer_ratio") and not isinstance(value, np.ndarray)):
        return Number(name, "real", float(value))
    if isinstance(value, (tuple, list, np.ndarray)):
        try:
            array = np.asarray(value)
            array = array.astype(np.int64 if array.dtype.kind in "bui" else np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        if array.ndim in (1, 2):
            kind = "ints" if array.dtype == np.int64 else "reals"
            return Number(name, f"{kind}{array.ndim}", np.ascontiguousarray(array))
    return None


# -- fingerprints --------------------------------------------------------------------------------------------------


def fingerprint(parts: Mapping[str, Any]) -> str:
    """A hash of named parts: texts, numbers, and functions with all that they depend on."""
    digest = hashlib.sha256()
    seen: set[int] = set()
    for name, part in parts.items():
        digest.update(f"[{name}]".encode())
        _update(digest, part, seen)
    return digest.hexdigest()[:24]


def _update(digest: Any, part: Any, seen: set[int]) -> None:
    if isinstance(part, Dispatcher):
        part = part.py_func
    if isinstance(part, Function):
        if id(part) in seen:
            return
        seen.add(id(part))
        _update(digest, part.__code__, seen)
        _update(digest, part.__defaults__, seen)
        _update(digest, tuple(sorted((part.__kwdefaults__ or {}).items())), seen)
        for name, value in _dependencies(part):
            digest.update(f"<{name}>".encode())
            _update(digest, value, seen)
    elif isinstance(part, types.CodeType):
        digest.update(part.co_code)
        for field in (part.co_names, part.co_varnames, part.co_freevars, part.co_argcount):
            digest.update(repr(field).encode())
        for constant in part.co_consts:
            _update(digest, constant, seen)
    elif isinstance(part, (tuple, list, frozenset)):
        digest.update(f"{type(part).__name__}{len(part)}".encode())
        for item in sorted(part, key=repr) if isinstance(part, frozenset) else part:
            _update(digest, item, seen)
    elif isinstance(part, np.ndarray):
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    elif isinstance(part, types.ModuleType):
        digest.update(f"module {part.__name__}".encode())
    else:
        digest.update(f"{type(part).__name__} {part!r}".encode())


def _dependencies(function: Function) -> Iterator[tuple[str, Any]]:
    """(name, value) of the globals and of the outer functions' variables that a function names."""
    for name in _global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif hasattr(builtins, name):
            yield name, name
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


@functools.lru_cache(maxsize=4096)
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= set(_global_names(constant))
    return tuple(sorted(names))


# -- compilable copies ---------------------------------------------------------------------------------------------


def compilable(function: Callable[..., Any], module: str) -> Any:
    """The function for numba: a copy, in the module of that name, whose helper functions are compiled as well."""
    return _Copies(module).copy(function)


class _Copies:
    """Copies of functions, one of each."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._made: dict[int, Any] = {}

    def copy(self, function: Callable[..., Any]) -> Any:
        assert isinstance(function, Function)
        if id(function) in self._made:
            return self._made[id(function)]
        names = {name: self._value(value) for name, value in _dependencies(function)}
        code = function.__code__
        namespace = {**{name: names[name] for name in _global_names(code) if name in names}, "__builtins__": builtins}
        for name in _global_names(code):
            if name not in function.__globals__:
                namespace.pop(name, None)
        namespace["__name__"] = self._module
        cells = tuple(types.CellType(names[name]) for name in code.co_freevars)
        made = Function(code, namespace, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        self._made[id(function)] = njit(forceinline=True, error_model="numpy")(made)
        return self._made[id(function)]

    def _value(self, value: Any) -> Any:
        if id(value) in STAND_INS:
            return STAND_INS[id(value)]
        if isinstance(value, Function):
            return self.copy(value)
        return (
            float(value) if isinstance(value, numbers.Rational) and not isinstance(value, numbers.Integral) else value
        )
