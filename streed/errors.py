"""Errors that name the input, the task or the law at fault, and say what to do; text that is seen as what it is.

What is wrong with a user's task is told with the place in the user's own source, as `file:line: text`.
"""

from __future__ import annotations

import contextlib
import html
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def brief(x: Any, most: int = 80) -> str:
    """What an error shows of an object, on one line."""
    try:
        text = " ".join((str(x) if isinstance(x, Fraction) else repr(x)).split())
    except Exception:  # noqa: BLE001 - integers of too many digits, and whatever a class of the caller's raises
        text = f"a {type(x).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def shown(values: Iterable[Any], most: int = 5) -> str:
    """The first few values as text, and how many there are if that is more."""
    values = list(values)
    text = ", ".join(repr(v) for v in values[:most])
    return text if len(values) <= most else f"{text}, ... ({len(values)} of them)"


_SIGNS: dict[int, str] = dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "�")
_SIGNS |= {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡", 0x85: "␤", 0x2028: "␤", 0x2029: "␤"}


def visible(text: str) -> str:
    """The text in one line that every terminal, picture and file can hold.

    Control characters become their pictures (␀ to ␟, ␡), other line breaks ␤, and what is no character �.
    """
    return text.translate(_SIGNS)


def escaped(text: str) -> str:
    """The visible text as XML and HTML have it: some control characters are allowed there in no form at all."""
    return html.escape(visible(text))


class StreedError(Exception):
    """The base of every error that streed raises on purpose; its message holds no addresses of objects."""

    def __init__(self, *said: Any) -> None:
        super().__init__(*(_ADDRESS.sub("", each) if isinstance(each, str) else each for each in said))


class InputError(StreedError, ValueError):
    """An argument of the caller's is not usable; the message names it, what was found and what to do."""

    def __init__(self, argument: str, found: str, remedy: str) -> None:
        super().__init__(f"{argument}: {found}; {remedy}")
        self.argument = argument
        self.found = found
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return type(self), (self.argument, self.found, self.remedy)


@contextlib.contextmanager
def argument_names(**names: str) -> Iterator[None]:
    """Errors about an argument, by its name inside, are about what the caller passed on to it."""
    try:
        yield
    except InputError as error:
        if error.argument not in names:
            raise
        raise InputError(names[error.argument], error.found, error.remedy) from None


def listed(argument: str, given: Any, remedy: str) -> tuple[Any, ...]:
    """The members of a list, an array or the like; raises InputError for a text, a mapping, and what has no members."""
    if not isinstance(given, (str, bytes, Mapping)):
        with contextlib.suppress(TypeError):  # as of an array without dimensions
            return tuple(given)
    raise InputError(argument, f"{brief(given)} is no list", remedy)


def members(given: Any) -> list[Any]:
    """One or several, or None for none, as a list; a text is one."""
    if not isinstance(given, str):
        with contextlib.suppress(TypeError):
            return list(given)
    return [] if given is None else [given]


def path_of(argument: str, given: Any) -> Path:
    """The path of a file, whether there is one or not; raises InputError for a directory, and for what is no path."""
    try:
        path = Path(given)
        with contextlib.suppress(OSError):
            path.lstat()  # raises ValueError for letters that no path has
    except (TypeError, ValueError) as error:
        raise InputError(argument, f"{brief(given)} is no path ({error})", "give the name of a file") from None
    if path.is_dir():
        raise InputError(argument, f"{str(path)!r} is a directory", "give the name of a file")
    return path


def check_kind(argument: str, given: Any, kinds: type | tuple[type, ...]) -> None:
    """Raises InputError for what is of none of the types; "or None" is among them as NoneType."""
    if not isinstance(given, kinds):
        names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        raise InputError(argument, f"it is {brief(given)}", f"give a {' or '.join(names).replace('NoneType', 'None')}")


def check_choice(argument: str, given: Any, choices: Iterable[str]) -> None:
    """Raises InputError for what is none of the choices."""
    if not isinstance(given, str) or given not in choices:
        raise InputError(argument, brief(given), f"use one of {', '.join(choices)}")


def check_known(argument: str, given: Iterable[Any], known: Any, what: str) -> None:
    """Raises InputError for the first of those given that is none of the known; `what` they are, such as "column"."""
    for each in given:
        if each not in known:
            raise InputError(argument, f"there is no {what} {each!r}", f"use one of {shown(known, 10)}")


class TaskError(StreedError, TypeError):
    """A task breaks the contract of `streed.Task`, or asks for what the chosen driver cannot do."""


class NotSeparableError(TaskError):
    """A task is not separable (STreeD, Thm 4.6), so no dynamic programme finds its optimum."""

    report: Any = None
    """The `streed.testing.Report` of the laws, where they were tried on data."""


class MissingPackageError(StreedError, ImportError):
    """A part of streed needs a package that is not installed."""


class MismatchError(StreedError, AssertionError):
    """A tree, evaluated again from the raw data, does not have the value that the search claimed."""


_HERE = Path(__file__).resolve().parent
_OTHERS = ("site-packages", "dist-packages", "importlib", "<frozen", "<attrs", "<__array_function__")
"""Parts of the names of files that no user wrote."""

_STANDINS = ("row_costs", "rows_cost")
"""What `leaf_cost` calls where it is not the user's own."""

_STANDARD = Path(traceback.__file__).resolve().parent


def own_line(error: BaseException) -> str | None:
    """The innermost line of the user's own code that raised it, as `file:line: text`; None if there is none."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return next((_line(file, line) for file, line in reversed(frames) if _is_own(file)), None)


@contextlib.contextmanager
def errors_of_methods(*kinds: type) -> Iterator[None]:
    """What a method of an object of these kinds, a task or a limit, raises becomes a TaskError with the user's line."""
    try:
        yield
    except StreedError:
        raise
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        called = [frame for frame in frames if isinstance(frame.f_locals.get("self"), kinds)]
        place = own_line(error)
        if not called or place is None:
            raise
        name = f"{type(called[-1].f_locals['self']).__name__}.{called[-1].f_code.co_name}"
        raise TaskError(f"{name} raised {type(error).__name__}: {error}\n  {place}") from error


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
