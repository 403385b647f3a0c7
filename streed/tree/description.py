"""What is kept with a tree: what a solve says about it, and what its task is, as nested dicts and lists.

JSON holds them, and the task can be made of them again. A task is a frozen attrs class whose fields are its parameters,
so its class and its fields say it all; compositions are such classes too. Only classes of `streed` are ever rebuilt, by
parameters that are values: a file names no code to run, no module to import and no other file to open.
"""

from __future__ import annotations

import importlib
import numbers
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from streed.data.dataset import AUTO, Dataset
from streed.data.strict_json import is_finite, whole_fraction
from streed.errors import InputError, StreedError

if TYPE_CHECKING:
    from streed.data.database import Roles


Description = dict[str, Any]
"""{"class": ..., "module": ..., "parameters": {...}} of an attrs object; numbers and texts stay themselves."""

FILE = "file"
"""In the metadata of a parameter: it may be the path of a file, which is read when the task is made."""

_DEEPEST = 50

_REMEDY = "use a file that streed wrote"


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
        held = {field.alias: describe(getattr(thing, field.name)) for field in _parameters(type(thing))}
        return {"class": type(thing).__name__, "module": type(thing).__module__, "parameters": held}
    raise InputError("task", f"it holds {thing!r}, which no file can hold", "use numbers, texts, lists and dicts")


def rebuild(description: Any, depth: int = 0) -> Any:
    """The thing that `describe` described; lists come back as tuples.

    Raises InputError for what is no description, for classes that are not streed's own, parameters that they do not
    take, paths of files, and numbers beyond the range of floats.
    """
    if depth > _DEEPEST:
        raise InputError("task", "its description is nested too deeply", "describe it anew")
    if isinstance(description, dict) and isinstance(description.get("fraction"), str) and len(description) == 1:
        description = whole_fraction(description["fraction"], "task", _REMEDY)
    if isinstance(description, (int, float, Fraction)) and not is_finite(description):
        raise InputError("task", "a parameter is a number that is too large", _REMEDY)
    if description is None or isinstance(description, (bool, int, float, str, Fraction)):
        return description
    if isinstance(description, list):
        return tuple(rebuild(item, depth + 1) for item in description)
    match description:
        case {"items": list(items)} if all(isinstance(item, list) and len(item) == 2 for item in items):
            return _items(items, depth)
        case {"class": str(name), "module": str(module), "parameters": dict(parameters)}:
            return _made(_class(module, name), parameters, depth)
    raise InputError("task", f"{_short(description)} describes nothing", _REMEDY)


def _parameters(known: type) -> list[attrs.Attribute[Any]]:
    return [field for field in attrs.fields(known) if field.init and not field.metadata.get("bound", False)]


def _items(items: list[Any], depth: int) -> dict[Any, Any]:
    found = [(rebuild(key, depth + 1), rebuild(item, depth + 1)) for key, item in items]
    try:
        made = dict(found)
    except TypeError:
        raise InputError("task", "a list or dict is a key", _REMEDY) from None
    if len(made) < len(found):
        raise InputError("task", "two keys are equal", _REMEDY)
    return made


def _made(known: type, parameters: Mapping[str, Any], depth: int) -> Any:
    """The object of that class; raises InputError for parameters that it does not take."""
    taken = {field.alias: field for field in _parameters(known)}
    given = {}
    for key, item in parameters.items():
        if key not in taken:
            raise InputError("task", f"{known.__name__} has no parameter {_short(key)}", _REMEDY)
        given[key] = rebuild(item, depth + 1)
        if isinstance(given[key], str) and taken[key].metadata.get(FILE):
            raise InputError("task", f"{known.__name__}: {key} is a text", "a saved tree names no file to be opened")
    try:
        return known(**given)
    except StreedError:
        raise
    # A class checks what people give it; a file may hold anything, which is no reason to fail otherwise.
    except Exception as error:
        said = f"{known.__name__} does not take these parameters ({type(error).__name__}: {error})"
        raise InputError("task", said[:300], _REMEDY) from error


def _short(thing: Any) -> str:
    """What messages show of something of any size and depth."""
    return repr(thing if isinstance(thing, (str, int, float)) else type(thing).__name__)[:80]


def _class(module: str, name: str) -> type:
    home = "streed.task.objective"
    if module == home or module.startswith(("streed.task.algebra.", "streed.tasks.")):
        for package in ("streed.tasks", "streed.task.algebra", home):
            importlib.import_module(package)  # of these, and of nothing that the file names
        found = getattr(sys.modules.get(module), name, None)
        if isinstance(found, type) and attrs.has(found) and found.__module__ == module:
            return found
    remedy = "load the tree in Python and evaluate it with streed.tree.evaluation.inspect and your own task"
    raise InputError("task", f"{_short(f'{module}.{name}')} is no task that ships with streed", remedy)


@attrs.frozen
class Claims:
    """What a solve said about its tree, kept with it so that anyone may check it again."""

    task: Any
    """The task, or the description of it that was read from a file."""
    value: Any
    """What the task's `score` gave, in the task's own units."""
    lower_bound: Any
    upper_bound: Any
    status: str
    n_rows: int
    max_depth: int | None = None
    max_nodes: int | None = None
    min_leaf: int = 1
    roles: Roles | None = None
    """The columns of the labels, of weights and groups, where the shell read a table."""
    over: str = ""
    """Among which splits the tree is the best, as `extent_text` says it."""
    max_cuts: int | None = None
    """The most thresholds of each ordered column that were tried; None: all of them."""

    gains: int = 0
    """1 where the costs of leaves are what they gain, the larger the better; -1 where they are minus that."""

    positive: int | None = None
    """The number of the class that the task calls positive."""

    def cut(self, data: Dataset) -> Dataset:
        """The data with the thresholds that the solve tried, where the caller left open how many there are."""
        return data if self.max_cuts is None or data.max_cuts != AUTO else data.cut(self.max_cuts)

    def describe_task(self) -> Description:
        """The task as nested dicts, lists and plain values."""
        return self.task if isinstance(self.task, dict) else describe(self.task)


def extent_text(extent: str, bound: Any, maximize: bool) -> str:
    """Among which splits a tree is the best (`Dataset.extent`), and what no tree over all thresholds is better than.

    `bound`: None where that is not known.
    """
    if bound is None:
        return extent
    from streed.tree.tree import number

    return f"{extent}; no tree over all thresholds is worth {'more' if maximize else 'less'} than {number(bound)}"
