"""What a task's methods depend on: the numbers that they read, the functions and constants that they name.

A method stays plain Python. To compile it, a copy is made whose helper functions are compiled too (`generate.py`); to
name its compiled form, a fingerprint covers all that could change its meaning: the bodies of the method and its
helpers, the constants and defaults that they use. The task's own numbers are data, so new values compile nothing.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import numbers
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

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


def numbers_of(task: Any, functions: Iterable[Callable[..., Any]], named: Collection[str]) -> tuple[Number, ...]:
    """The numbers of the task that the functions name, by name; raises TaskError for what is no number.

    A helper function that is given the task reads it by another name than `self`, so every attribute that is `named`
    anywhere counts if it is a number of the task's.
    """
    found = []
    own = {name for function in functions for name in _attributes_of_first(function.__code__)}
    fields = {field.name for field in attrs.fields(type(task))} if attrs.has(type(task)) else set()
    for name in sorted(own.union(fields.intersection(named))):
        number = _number(name, getattr(task, name, None))
        if number is not None:
            found.append(number)
        elif name in own:
            raise TaskError(
                f"{type(task).__name__}.{name} is {getattr(task, name, None)!r}, which native code cannot read\n"
                "make it a number or an array of numbers; a helper belongs outside the class, as a function"
            )
    return tuple(found)


def names_within(functions: Iterable[Any]) -> set[str]:
    """All names of attributes and globals in functions and in those that they name."""
    found, seen, waiting = set[str](), set[int](), list(functions)
    for each in waiting:  # which grows
        function = each if isinstance(each, Function) else each.py_func if is_dispatcher(each) else None
        if function is not None and id(function) not in seen:
            seen.add(id(function))
            found.update(attributes_of(function.__code__))
            waiting += [value for _, value in dependencies(function) if callable(value)]
    return found


def is_dispatcher(part: Any) -> bool:
    """Whether it is a function that numba compiles; without numba there are none."""
    dispatcher = sys.modules.get("numba.core.dispatcher")
    return dispatcher is not None and isinstance(part, dispatcher.Dispatcher)


@functools.lru_cache(maxsize=4096)
def _attributes_of_first(code: types.CodeType) -> frozenset[str]:
    """The attributes that a method reads from its first argument."""
    return frozenset(_attributes_read(code, code.co_varnames[0] if code.co_argcount else None))


def _attributes_read(code: types.CodeType, own: str | None) -> Iterator[str]:
    """The attributes of the variable that are read in the code and in the expressions within it."""
    before = None
    for instruction in dis.get_instructions(code):
        loaded = None
        if before is not None and before.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
            loaded = before.argval[-1] if isinstance(before.argval, tuple) else before.argval
        if loaded == own and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield str(instruction.argval)
        before = instruction
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and own in constant.co_freevars:
            yield from _attributes_read(constant, own)


def _names_of(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_of(constant)


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
            empty = "" if array.size else " empty"
            return Number(name, f"{kind}{array.ndim}{empty}", np.ascontiguousarray(array))
    return None


# -- fingerprints --------------------------------------------------------------------------------------------------


def fingerprint(parts: Mapping[str, Any]) -> str:
    """A hash of named parts: texts, numbers, and functions with all that they depend on."""
    digest = hashlib.sha256()
    seen: dict[int, int] = {}
    for name, part in parts.items():
        digest.update(f"[{name}]".encode())
        _update(digest, part, seen)
    return digest.hexdigest()[:24]


def _update(digest: Any, part: Any, seen: dict[int, int], names: Collection[str] = ()) -> None:
    """Adds a part; of a module, only what `names`, those of the function that uses it, find there."""
    if isinstance(part, Function):
        if id(part) in seen:
            digest.update(f"again {seen[id(part)]}".encode())
            return
        seen[id(part)] = len(seen)
        digest.update(_digest_of(part.__code__))
        if part.__defaults__ or part.__kwdefaults__:
            _update(digest, (part.__defaults__, *sorted((part.__kwdefaults__ or {}).items())), seen)
        attributes = attributes_of(part.__code__)
        for name, value in dependencies(part):
            digest.update(f"<{name}>".encode())
            _update(digest, value, seen, attributes)
    elif isinstance(part, types.CodeType):
        digest.update(_digest_of(part))
    elif isinstance(part, (tuple, list, frozenset)):
        digest.update(f"{type(part).__name__}{len(part)}".encode())
        for item in sorted(part, key=repr) if isinstance(part, frozenset) else part:
            _update(digest, item, seen)
    elif isinstance(part, np.ndarray):
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    elif isinstance(part, types.ModuleType):
        digest.update(f"module {part.__name__}".encode())
        for name, value in module_parts(part, names):
            digest.update(f"<{name}>".encode())
            _update(digest, value, seen, names)
    elif isinstance(part, enum.EnumMeta):
        members: Any = part.__members__
        digest.update(repr([(name, member.value) for name, member in members.items()]).encode())
    elif not isinstance(part, str) and is_dispatcher(part):
        digest.update(repr(sorted(part.targetoptions.items())).encode())
        _update(digest, part.py_func, seen)
    else:
        digest.update(f"{type(part).__name__} {part!r}".encode())


@functools.lru_cache(maxsize=4096)
def _digest_of(code: types.CodeType) -> bytes:
    digest = hashlib.sha256(code.co_code)
    for field in (code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_flags):
        digest.update(repr(field).encode())
    for constant in code.co_consts:
        _update(digest, constant, {})
    return digest.digest()


@functools.lru_cache(maxsize=4096)
def attributes_of(code: types.CodeType) -> tuple[str, ...]:
    """The names of attributes and globals in some code, sorted."""
    return tuple(sorted({*_names_of(code)}))


def dependencies(function: Function) -> Iterator[tuple[str, Any]]:
    """(name, value) of the globals and of the outer functions' variables that a function names."""
    for name in global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif hasattr(builtins, name):
            yield name, name
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def module_parts(module: types.ModuleType, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a user's module has by these names; numba knows the libraries that it compiles itself."""
    if module.__name__.partition(".")[0] in _KNOWN_MODULES:
        return
    for name in names:
        if name in vars(module):
            yield name, vars(module)[name]


_KNOWN_MODULES = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator", "random"})


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The globals that some code reads, sorted."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= set(global_names(constant))
    return tuple(sorted(names))
