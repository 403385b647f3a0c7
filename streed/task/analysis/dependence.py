"""What a task's methods depend on, read off their compiled code: what it never names cannot matter."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from streed.task.base import Task

_SEES_ALL = frozenset({"locals", "vars", "eval", "exec", "dir"})
"""Functions that see arguments without naming them."""


_PLACES = {"rows": 1, "path": 2, "split": 3}


def reads(task: Task, argument: str) -> bool:
    """Whether the task's branching cost may depend on its `rows`, `path` or `split`; True where that is not known."""
    function = type(task).branching_cost
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        return True
    return _loads(function.__code__, _PLACES[argument])


@functools.lru_cache(maxsize=1024)
def _loads(code: types.CodeType, place: int) -> bool:
    """Whether the code of a method of three arguments may load the one at that place (0 is `self`)."""
    if code.co_argcount != 4 or code.co_kwonlyargcount or code.co_flags & (0x04 | 0x08):
        return True
    name = code.co_varnames[place]
    if name in code.co_cellvars:
        return True
    for instruction in dis.get_instructions(code):
        named = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if name in named or (isinstance(instruction.argval, str) and instruction.argval in _SEES_ALL):
            return True
    return False


def mentions(function: Any, name: str, seen: set[int]) -> bool:
    """Whether a function, or one that it names, has an attribute or a global of that name in it."""
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return False
    seen.add(id(function))
    names = set(_names(function.__code__))
    known = {**{key: function.__globals__.get(key) for key in names}, **_cells(function)}
    return name in names or any(mentions(each, name, seen) for each in known.values())


def _cells(function: types.FunctionType) -> dict[str, Any]:
    """The variables of outer functions that a function names."""
    found = {}
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[key] = cell.cell_contents
        except ValueError:  # not assigned yet
            found[key] = None
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
