"""What a task is, as plain data: nested dicts and lists that JSON holds, from which the task can be made again.

A task is a frozen attrs class whose fields are its parameters, so its class and its fields say it all; compositions
are such classes too. Only classes of `streed` are ever rebuilt: a file names no code of its own to run.
"""

from __future__ import annotations

import importlib
import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import attrs

from streed.errors import InputError

Description = dict[str, Any]
"""{"class": ..., "module": ..., "parameters": {...}} of an attrs object; numbers and texts stay themselves."""

_DEEPEST = 50


def describe(thing: Any) -> Any:
    """`thing` as plain data: an attrs object, number, text, None, or lists, tuples and dicts of these.

    Raises InputError for anything else, such as a function.
    """
    if thing is None or isinstance(thing, (bool, str)):
        return thing
    if isinstance(thing, numbers.Integral):
        return int(thing)
    if isinstance(thing, Fraction):
        return {"fraction": str(thing)}
    if isinstance(thing, float):
        return float(thing)
    if isinstance(thing, (list, tuple)):
        return [describe(item) for item in thing]
    if isinstance(thing, Mapping):
        return {"items": [[describe(key), describe(item)] for key, item in thing.items()]}
    if attrs.has(type(thing)):
        return {
            "class": type(thing).__name__,
            "module": type(thing).__module__,
            "parameters": {
                f.alias: describe(getattr(thing, f.name))
                for f in attrs.fields(type(thing))
                if f.init and not f.metadata.get("bound", False)
            },
        }
    raise InputError("task", f"it holds {thing!r}, which no file can hold", "use numbers, texts, lists and dicts")


def rebuild(description: Any, depth: int = 0) -> Any:
    """The thing that `describe` described; lists come back as tuples.

    Raises InputError for what is no description, and for classes that are not streed's own.
    """
    if depth > _DEEPEST:
        raise InputError("task", "its description is nested too deeply", "describe it anew")
    if description is None or isinstance(description, (bool, int, float, str)):
        return description
    if isinstance(description, list):
        return tuple(rebuild(item, depth + 1) for item in description)
    match description:
        case {"fraction": str(text)}:
            try:
                return Fraction(text)
            except (ValueError, ZeroDivisionError):
                raise InputError("task", f"{text!r} is no fraction", "describe the task anew") from None
        case {"items": list(items)} if all(isinstance(item, list) and len(item) == 2 for item in items):
            return {rebuild(key, depth + 1): rebuild(item, depth + 1) for key, item in items}
        case {"class": str(name), "module": str(module), "parameters": dict(parameters)}:
            known = _class(module, name)
            try:
                return known(**{key: rebuild(item, depth + 1) for key, item in parameters.items()})
            except TypeError as error:
                raise InputError("task", f"{name} does not take these parameters: {error}", "use streed's") from error
    raise InputError("task", f"{description!r} describes nothing", "use a file that streed wrote")


_FORMER_HOMES = (
    {"streed.constrained": "streed.task.constrained", "streed.sums": "streed.task.sums"}
    | {
        f"streed.algebra.{name}": f"streed.task.algebra.{name}"
        for name in ("directions", "penalties", "products", "sums", "thresholds")
    }
    | {"streed.trades": "streed.task.tradeoffs"}
)
"""Where files of version 0.1 say that a class is, and where it is."""


def _class(module: str, name: str) -> type:
    module = _FORMER_HOMES.get(module, module)
    homes = ("streed.task.constrained", "streed.task.sums", "streed.task.tradeoffs")
    own = module in homes or module.startswith(("streed.task.algebra.", "streed.tasks."))
    if own:
        try:
            found = getattr(importlib.import_module(module), name, None)
        except ModuleNotFoundError:
            found = None
        if isinstance(found, type) and attrs.has(found) and found.__module__ == module:
            return found
    raise InputError(
        "task",
        f"{module}.{name} is no task that ships with streed",
        "load the tree in Python and evaluate it with streed.tree.evaluation.inspect and your own task",
    )
