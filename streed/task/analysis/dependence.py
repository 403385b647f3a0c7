"""What a task's branching costs depend on, read off their compiled code: what it never names cannot matter."""

from __future__ import annotations

import dis
import functools
import types

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
