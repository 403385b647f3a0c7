"""Finding a task that the shell names: my_tasks.py:MyTask, package.module:MyTask(0.5), or one of streed's own."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streed import registry
from streed.errors import InputError, StreedError
from streed.task import Task


def load_task(written: str) -> Task | type[Task]:
    """The task, or the class if it is written without brackets; raises InputError where there is none."""
    place, colon, name = written.partition(":")
    if not colon:
        return registry.make_task(written, {})
    name, bracket, rest = name.partition("(")
    found: Any = load_object(written, name)
    if not bracket:
        if _is_task(found):
            return found  # type: ignore[no-any-return]
        raise InputError("task", f"{name!r} in {place!r} is no Task", "name a class or an instance of one")
    positional, named = registry.read_arguments(rest, written, "task")
    task = _run(lambda: found(*positional, **named), written, "give the arguments that it takes")
    if not isinstance(task, Task):
        raise InputError("task", f"{written} makes {task!r}", "name a task")
    return task


def load_object(written: str, name: str) -> Any:
    """The object `name` of the file or module before the colon of `written`; raises InputError where there is none."""
    place = written.partition(":")[0]
    module = _file(Path(place)) if place.endswith(".py") else _module(place)
    if not hasattr(module, name):
        there = ", ".join(key for key, value in vars(module).items() if _is_task(value)) or "none"
        raise InputError("task", f"there is no {name!r} in {place!r}", f"its tasks: {there}")
    return getattr(module, name)


def _file(path: Path) -> Any:
    """The module that a file is; files beside it can be imported from it, as if it were run as a script."""
    if not path.is_file():
        raise InputError("task", f"there is no file {str(path)!r}", "check the path")
    known = sys.modules.get(path.stem)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() == path.resolve():
        return known
    name = path.stem if known is None else f"{path.stem}_checked"
    spec: Any = importlib.util.spec_from_file_location(name, path)
    _search(str(path.resolve().parent))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        _run(lambda: spec.loader.exec_module(module), str(path))
    except InputError:
        del sys.modules[name]
        raise
    return module


def _is_task(thing: Any) -> bool:
    return isinstance(thing, Task) or (isinstance(thing, type) and issubclass(thing, Task) and thing is not Task)


def _module(name: str) -> Any:
    _search(str(Path.cwd()))
    return _run(lambda: importlib.import_module(name), name)


def _search(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _run(load: Callable[[], Any], place: str, remedy: str = "make it run with python first") -> Any:
    """What the user's code gives; raises InputError where it raises another error."""
    try:
        return load()
    except StreedError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError("task", f"{place}: {type(error).__name__}: {error}", remedy) from error
