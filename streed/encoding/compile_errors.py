"""What does not compile, told in two lines: the reason, and the user's own line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from streed.errors import TaskError
from streed.kernels.codegen import generate
from streed.kernels.codegen.spec import KernelSpec
from streed.task import Task
from streed.task.constrained import objective

Kernels = TypeVar("Kernels")


def compile_kernels(shape: KernelSpec, functions: dict[str, Callable[..., Any]], task: Task) -> generate.Kernels:
    """The task's kernels; raises TaskError, in two lines, for methods that do not compile."""
    return explain_compilation(generate.compile_kernels, shape, functions, task)


def explain_compilation(
    compile_: Callable[[KernelSpec, dict[str, Callable[..., Any]]], Kernels],
    shape: KernelSpec,
    functions: dict[str, Callable[..., Any]],
    task: Task,
) -> Kernels:
    """What the function makes of the spec and the methods; raises TaskError, in two lines, if they do not compile."""
    try:
        return compile_(shape, functions)
    except Exception as error:
        if not _is_numbas(error):
            raise
        raise TaskError(_explanation(error, functions, task)) from error


def _is_numbas(error: Exception) -> bool:
    """Whether it says that something does not compile; without numba nothing does."""
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(error, errors.NumbaError)


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
