"""What does not compile, told in two lines: the reason, and the user's own line."""

from __future__ import annotations

import linecache
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
    text, kind = re.sub(r"\x1b\[[0-9;]*m", "", str(error)), type(objective(task)).__name__
    lines = filter(None, map(str.strip, text.splitlines()))
    telling = (each for each in lines if not each.startswith(("Failed in", "During", "File", "- ", "There are")))
    reason = f"cannot be compiled: {next(telling, 'numba does not know why')}"
    for path, line in reversed(re.findall(r'File "([^"]+)", line (\d+)', text)):
        for name, function in functions.items():
            code = function.__code__
            first = code.co_firstlineno
            last = max((number for *_, number in code.co_lines() if number is not None), default=first)
            if code.co_filename.endswith(path.lstrip("./")) and first <= int(line) <= last:
                source = linecache.getline(code.co_filename, int(line)).strip()
                return f"{kind}.{name.rstrip('0123456789')} {reason}\n  {code.co_filename}:{line}: {source}"
    return f"{kind} {reason}\n  see the chained error for the line"
