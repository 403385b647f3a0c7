"""Files and JSON of strangers, within limits: every key once, no number without a value, nothing endless.

A task is an attrs class whose fields are its parameters, so both say it all, as nested dicts and lists. Only classes of
`streed` are ever rebuilt, by values: a file names no code to run, no module to import and no other file to open.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import math
import numbers
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from streed.errors import InputError, StreedError, brief
from streed.exact import as_float

MOST_BYTES = 1 << 24
"""Of a saved tree: some hundred thousand nodes."""

MOST_DIGITS = 4_000
"""Of a whole number; Python itself refuses to write or read 4,300."""

_LONGEST: int = 10 ** (MOST_DIGITS - 1)

_DEEPEST = 200  # brackets within brackets

_BESIDE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^\[\]{}"]++')
"""All of JSON but its brackets; a text that does not end goes on to the end, and no letter is looked at twice."""

_FRACTION = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?")


def parse(text: str, argument: str, remedy: str) -> Any:
    """What the JSON text holds, as dicts, lists, texts, ints, finite floats, truth values and None.

    Raises InputError, naming `argument`, for what is no JSON, a key given twice, NaN and infinities, numbers too large
    to be a float, brackets more than 200 deep, texts with half a character, and texts of more than 16 MB.
    """
    try:
        if len(text) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} letters")
        steps = (1 if bracket in "[{" else -1 for bracket in _BESIDE.sub("", text))
        if max(itertools.accumulate(steps), default=0) > _DEEPEST:
            raise ValueError(f"nested more than {_DEEPEST} deep")
        found = json.loads(text, parse_constant=_constant, object_pairs_hook=_distinct)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # finds infinities, and halves of characters
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(argument, f"it is no JSON that can be read ({error})", remedy) from None
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return found


_BLOCK = 1 << 20


def read_text(source: str | Path, argument: str, most: int, absent: str = "check the path") -> str:
    """The UTF-8 text of a file, or of standard input for "-", without a byte order mark.

    Raises InputError, naming `argument`, for what is not there (do `absent`), no file, no UTF-8 text, or longer than
    `most` bytes.
    """
    piped = str(source) == "-"
    shown = "standard input" if piped else repr(str(source))
    if piped and sys.stdin is None:
        raise InputError(argument, "there is no standard input", "name a file")
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if piped else Path(source).open("rb") as file:
            if not piped and stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
                raise InputError(argument, f"{shown} is a device", "give a file")
            # a single read of so much would take its memory first
            data = b"".join(itertools.islice(iter(lambda: file.read(_BLOCK), b""), most // _BLOCK + 1))
    except FileNotFoundError:
        raise InputError(argument, f"there is no file {shown}", absent) from None
    except OSError as error:
        raise InputError(argument, f"{shown} cannot be read ({error.strerror})", "give a readable file") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(argument, f"{shown} is no path ({error})", "check the path") from None
    if len(data) > most:
        raise InputError(argument, f"{shown} has more than {most:,} bytes", "give a smaller file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(argument, f"{shown} is not UTF-8 text", "save it as a UTF-8 text file") from None


FILE = "file"
"""In the metadata of a parameter: it may be the path of a file, which is read when the task is made."""

_REMEDY = "use a file that streed wrote"


def describe(thing: Any) -> Any:
    """`thing` as plain data: an attrs object, number, text, None, or lists, tuples and dicts of these."""
    if thing is None or isinstance(thing, (bool, str)):
        return thing
    if isinstance(thing, numbers.Rational):
        if max(abs(int(thing.numerator)), int(thing.denominator)) >= _LONGEST:
            found = f"it holds a number of more than {MOST_DIGITS:,} digits"
            raise InputError("tree", found, "use smaller numbers, or texts")
        return int(thing) if isinstance(thing, numbers.Integral) else {"fraction": str(thing)}
    if isinstance(thing, numbers.Real) and not math.isnan(thing):
        return float(thing) if math.isfinite(thing) else {"float": str(float(thing))}
    if isinstance(thing, (list, tuple)):
        return [describe(item) for item in thing]
    if isinstance(thing, Mapping):
        return {"items": [[describe(key), describe(item)] for key, item in thing.items()]}
    if attrs.has(type(thing)):
        held = {alias: describe(getattr(thing, field.name)) for alias, field in _parameters(type(thing)).items()}
        return {"class": type(thing).__name__, "module": type(thing).__module__, "parameters": held}
    raise InputError("tree", f"it holds {brief(thing)}, which no file can hold", "use numbers, texts, lists and dicts")


def rebuild(description: Any) -> Any:
    """The thing that `describe` described; lists come back as tuples.

    Raises InputError for what is no description, for classes that are not streed's own, parameters that they do not
    take, paths of files, and numbers beyond the range of floats.
    """
    match description:
        case list():
            return tuple(map(rebuild, description))
        case {"items": list(items)} if all(isinstance(item, list) and len(item) == 2 for item in items):
            try:
                made = {rebuild(key): rebuild(item) for key, item in items}
            except TypeError:
                raise InputError("task", "a list or dict is a key", _REMEDY) from None
            if len(made) < len(items):
                raise InputError("task", "two keys are equal", _REMEDY)
            return made
        case {"class": str(name), "module": str(module), "parameters": dict(parameters)}:
            return _made(_class(module, name), parameters)
        case {"fraction": str(text)} if len(description) == 1:
            match = _FRACTION.fullmatch(text)
            if match is None or max(map(len, text.split("/"))) > MOST_DIGITS or int(match[2] or 1) == 0:
                raise InputError("task", f"{text[:40]!r} is no fraction", _REMEDY)
            description = Fraction(int(match[1]), int(match[2] or 1))
        case {"float": "inf" | "-inf" as text} if len(description) == 1:
            return float(text)
    if isinstance(description, (int, float, Fraction)) and not math.isfinite(as_float(description)):
        raise InputError("task", "a parameter is a number that is too large", _REMEDY)
    if description is None or isinstance(description, (bool, int, float, str, Fraction)):
        return description
    raise InputError("task", f"{brief(description)} describes nothing", _REMEDY)


def _parameters(known: type) -> dict[str, attrs.Attribute[Any]]:
    return {x.alias: x for x in attrs.fields(known) if x.init and not x.metadata.get("bound", False)}


def _made(known: type, parameters: Mapping[str, Any]) -> Any:
    """The object of that class; raises InputError for parameters that it does not take."""
    taken, given = _parameters(known), {key: rebuild(item) for key, item in parameters.items()}
    for key, item in given.items():
        if key not in taken:
            raise InputError("task", f"{known.__name__} has no parameter {brief(key)}", _REMEDY)
        if isinstance(item, str) and taken[key].metadata.get(FILE):
            raise InputError("task", f"{known.__name__}: {key} is a text", "a saved tree names no file to be opened")
    try:
        return known(**given)
    except StreedError:
        raise
    # A class checks what people give it; a file may hold anything, which is no reason to fail otherwise.
    except Exception as error:
        said = f"{known.__name__} does not take these parameters ({type(error).__name__}: {error})"
        raise InputError("task", said[:300], _REMEDY) from error


def _class(module: str, name: str) -> type:
    composed = ("streed.task.algebra", "streed.task.joint", "streed.task.objective", "streed.task.bounded_sums")
    if module in composed or module.startswith("streed.tasks."):
        for package in ("streed.tasks", *composed):
            importlib.import_module(package)  # of these, and of nothing that the file names
        found = getattr(sys.modules.get(module), name, None)
        if isinstance(found, type) and attrs.has(found) and found.__module__ == module:
            return found
    remedy = "load the tree in Python and evaluate it with streed.tree.evaluation.inspect and your own task"
    raise InputError("task", f"{brief(f'{module}.{name}')} is no task that ships with streed", remedy)
