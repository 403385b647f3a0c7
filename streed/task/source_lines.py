"""Where in a user's own source something stands: what errors about a task show, as `file:line: text`."""

from __future__ import annotations

import contextlib
import inspect
import linecache
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_HERE = Path(__file__).resolve().parents[1]
_OTHERS = ("site-packages", "dist-packages", "importlib", "<frozen", "<attrs", "<__array_function__")
"""Parts of the names of files that no user wrote."""

_STANDINS = ("row_costs", "rows_cost")
"""What `leaf_cost` calls where it is not the user's own."""

_STANDARD = Path(traceback.__file__).resolve().parent


def own_line(error: BaseException) -> str | None:
    """The innermost line of the user's own code that raised it, as `file:line: text`; None if there is none."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return next((_line(file, line) for file, line in reversed(frames) if _is_own(file)), None)


def returning_line(member: Any, arguments: tuple[Any, ...]) -> str | None:
    """The line from which the member returns, found by running it once more."""
    code = getattr(getattr(member, "__func__", member), "__code__", None)
    if code is None or not _is_own(code.co_filename):
        return None
    lines: list[int] = []

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if frame.f_code is not code:
            return None
        if event == "return":
            lines.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        member(*arguments)
    finally:
        sys.settrace(before)
    return _line(code.co_filename, lines[-1]) if lines else None


def definition(made_by: type[Any], name: str) -> str:
    """The line that defines the member, or else the class."""
    for owner in (name, *_STANDINS, "leaf_cost"):
        member = inspect.getattr_static(made_by, owner, None)
        function = member.fget if isinstance(member, property) else member
        code = getattr(function, "__code__", None)
        found = _defined(function) if code is not None and _is_own(code.co_filename) else None
        if found is not None:
            return found
    return class_line(made_by)


def _is_own(file: str) -> bool:
    """Whether code is the user's: not streed's (but for its tasks), not a library's, not Python's."""
    path = Path(file)
    if any(part in file for part in _OTHERS) or path.is_relative_to(_STANDARD):
        return False
    return not path.is_relative_to(_HERE) or path.is_relative_to(_HERE / "tasks")


def _line(file: str, line: int) -> str:
    """`file:line: text`, the file as the user would name it: relative, if it is below the current directory."""
    text = linecache.getline(file, line).strip()
    with contextlib.suppress(ValueError, OSError):
        file = str(Path(file).relative_to(Path.cwd()))
    return f"{file}:{line}" + (f": {text}" if text else "")


def _defined(made: Any) -> str | None:
    """The line of the user's that begins with `class` or, below its decorators, `def`."""
    try:
        lines, first = inspect.getsourcelines(made)
        file = inspect.getsourcefile(made) or "<unknown>"
    except (OSError, TypeError):  # typed at a prompt: there is no source
        return None
    ahead = next((place for place, text in enumerate(lines) if text.lstrip().startswith(("def ", "class "))), 0)
    return _line(file, first + ahead)


def class_line(made_by: type[Any]) -> str:
    """The line that defines the class, or its name where there is no source."""
    return _defined(made_by) or f"class {made_by.__name__}"
