"""What does not compile, told in two lines: the reason, and the user's own line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from numba.core.errors import NumbaError

from streed.errors import TaskError
from streed.kernels.codegen import generate
from streed.kernels.codegen.spec import KernelSpec
from streed.task import Task
from streed.task.base import objective


def compile_kernels(
    shape: KernelSpec, functions: dict[str, Callable[..., Any]], task: Task, *, ordered: bool = False
) -> generate.Kernels:
    """The task's kernels; raises TaskError, in two lines, for methods that do not compile."""
    try:
        return generate.compile_kernels(shape, functions, ordered)
    except NumbaError as error:
        raise TaskError(_explanation(error, functions, task)) from error


def _explanation(error: Exception, functions: dict[str, Callable[..., Any]], task: Task) -> str:
    """Two lines: what does not compile, and the user's own line."""
    text = str(error)
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    for path, line in reversed(places):
        for name, function in functions.items():
            code = function.__code__
            first = code.co_firstlineno
            last = max((number for *_, number in code.co_lines() if number is not None), default=first)
            own_file = code.co_filename.endswith(path.lstrip("./")) or path == code.co_filename
            if own_file and first <= int(line) <= last:
                source = _source_line(code.co_filename, int(line))
                reason = _reason(text)
                method = f"{type(objective(task)).__name__}.{name.rstrip('0123456789')}"
                return f"{method} cannot be compiled: {reason}\n  {code.co_filename}:{line}: {source}"
    return f"{type(objective(task)).__name__} cannot be compiled: {_reason(text)}\n  see the chained error for the line"


def _source_line(path: str, line: int) -> str:
    import linecache

    return linecache.getline(path, line).strip()


def _reason(text: str) -> str:
    """The shortest line of numba's message that says something."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in text.splitlines()]
    telling = [
        line for line in lines if line and not line.startswith(("Failed in", "During", "File", "- ", "There are"))
    ]
    return telling[0] if telling else "numba does not know why"
