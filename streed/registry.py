"""The tasks by the names of the shell, found in `streed.tasks`: a new task is there without a line here.

`SparseAccuracy` is "sparse-accuracy", by the name that `streed.tasks` exports; its parameters are the fields of its
class, written as Python literals.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

import streed.tasks
from streed.errors import InputError, StreedError, brief
from streed.task import Limit, Task, is_parameter
from streed.tasks.fairness import Fairness
from streed.tasks.rates import RightPredictions

FAIRLEARN = {"true_positive_rate_parity": "equal-opportunity", "false_positive_rate_parity": "predictive-equality"}
"""What fairlearn calls a notion that has another name here; underscores are read as hyphens."""


@attrs.frozen
class Entry:
    """A task or limit that ships with streed."""

    name: str
    summary: str
    parameters: Mapping[str, str]
    """By name: "required", or the default as Python writes it."""
    made_by: type[Any]


def _entries(base: type[Any]) -> dict[str, Entry]:
    found = {name: getattr(streed.tasks, name) for name in streed.tasks.__all__}
    entries = [_entry(name, made) for name, made in found.items() if isinstance(made, type) and issubclass(made, base)]
    return {entry.name: entry for entry in entries}


tasks, limits, notions, rates = (functools.partial(_entries, x) for x in (Task, Limit, Fairness, RightPredictions))
"""Every task, limit, notion of fairness, and rate of right predictions that can be asked for, by name."""


def make_task(written: str, parameters: Mapping[str, str]) -> Task:
    """The task that `written` names: "accuracy", or with arguments "sparse-accuracy(0.01)" or "...(lam=0.01)".

    `parameters` are further arguments as text. Raises InputError for unknown tasks, parameters and values.
    """
    return cast("Task", _make(written, parameters, tasks(), "task"))


def make_limit(written: str) -> Limit:
    """The limit that `written` names: "min-support(5)", "recall >= 0.9", "error-rate-parity.highest <= 0.2".

    Raises InputError as `make_task` does.
    """
    asked = re.fullmatch("(.*?)([<>]=)(.*)", written, re.DOTALL)
    if asked is None:
        return cast("Limit", _make(written, {}, limits(), "subject_to"))
    name, end = asked[1].strip(), literal(asked[3].strip())
    notion, _, side = name.rpartition(".")
    try:
        if side in ("ratio", "lowest", "highest"):
            limited = getattr(_make(notion, {}, notions(), "subject_to"), side)
        else:
            limited = _make(name, {}, notions() | rates() | (tasks() if asked[2] == "<=" else {}), "subject_to")
        return cast("Limit", limited >= end if asked[2] == ">=" else limited <= end)
    except InputError as error:
        if error.argument != "limit":
            raise
        raise InputError("subject_to", f"in {written!r}, {error.found}", error.remedy) from error


def find_notion(name: str) -> Entry:
    """The notion of a name, streed's or fairlearn's; raises InputError for other names."""
    known = notions()
    found = None if not isinstance(name, str) else known.get(FAIRLEARN.get(name, name).replace("_", "-"))
    if found is None:
        raise InputError("notion", brief(name), f"use one of {', '.join(known)}, or a notion of streed.tasks")
    return found


def make_notion(name: str, sensitive: Sequence[str]) -> Any:
    """A notion of fairness between the groups of these columns; raises InputError where there are no columns."""
    if not sensitive:
        raise InputError(name, "between which groups?", "name the column of the groups: --sensitive COLUMN")
    return notions()[name].made_by(sensitive[0] if len(sensitive) == 1 else tuple(sensitive))


def literal(text: str) -> Any:
    """The Python literal that `text` writes, or the text itself where it writes none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _entry(exported: str, made_by: type[Any]) -> Entry:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", exported).lower()
    summary = (inspect.getdoc(made_by) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")
    parameters = {field.alias: _default(field) for field in attrs.fields(made_by) if is_parameter(field)}
    return Entry(name, summary, parameters, made_by)


def _default(field: attrs.Attribute[Any]) -> str:
    default: Any = field.default
    if default is attrs.NOTHING:
        return "required"
    factory = getattr(default, "factory", None)
    return repr(default if factory is None else factory())


def _make(written: str, parameters: Mapping[str, str], known: Mapping[str, Entry], argument: str) -> Any:
    name, bracket, rest = written.strip().partition("(")
    entry = known.get(name.strip().replace("_", "-"))
    if entry is None:
        raise InputError(argument, f"there is no {name.strip()!r}", f"use one of {', '.join(known)}")
    positional, named = read_arguments(rest, written, argument) if bracket else ([], {})
    named |= {key: literal(text) for key, text in parameters.items()}
    for key in named.keys() - entry.parameters.keys():
        taken = ", ".join(entry.parameters) or "none"
        raise InputError(argument, f"{entry.name} has no parameter {key!r}", f"its parameters: {taken}")
    missing = [key for key, default in entry.parameters.items() if default == "required" and key not in named]
    if len(missing) > len(positional):
        raise InputError(argument, f"{entry.name} needs {missing[len(positional)]}", f"write {entry.name}(...)")
    try:
        return entry.made_by(*positional, **named)
    except StreedError:
        raise
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(argument, f"{written}: {error}", "see `streed tasks` for the parameters") from error


def read_arguments(rest: str, written: str, argument: str) -> tuple[list[Any], dict[str, Any]]:
    """The literals of a call, of which `rest` stands behind the bracket; raises InputError where it has others."""
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("not one pair of brackets")
        positional = [ast.literal_eval(node) for node in call.args]
        named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        if len(named) < len(call.keywords):
            raise ValueError("** is not understood")
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        remedy = "write literals, as in name(0.01) or name(lam=0.01)"
        raise InputError(argument, f"{written!r} cannot be read ({error})", remedy) from error
    return positional, named
