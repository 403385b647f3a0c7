"""What weights and frequencies mean to a task: whether it takes weights, and the data as it can count them.

A row of weight w is to count as w equal rows. The statistics see to that, as their sums are weighted, unless a task
asks how many rows there are beside. Where it does not say itself whether it takes weights, its methods tell.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from streed.errors import InputError
from streed.task.base import RowCostTask, Task

if TYPE_CHECKING:
    from streed.data import Dataset

MOST_COPIES = 2**20
"""Rows of frequency above 1 are written out for functions of a leaf's rows as long as there are no more than this."""


def takes_weights(task: Task) -> bool:
    """Whether a row of weight w counts as w equal rows for the task and all that it is made of."""
    return all(_objection(part) is None for part in parts_of(task))


def check_weights(task: Task, data: Dataset) -> None:
    """Raises InputError if rows of the data weigh differently and the task takes no weights."""
    if data.sample_weight is None:
        return
    for part in parts_of(task):
        objection = _objection(part)
        if objection is not None:
            raise InputError("sample_weight", *objection)


def in_copies(task: Task, data: Dataset) -> Dataset:
    """The data as the task counts its rows: a function of a leaf's rows gets each as often as its frequency says.

    Such a task is given the data as they are if it declares that it takes weights. Raises InputError for more than
    2**20 rows.
    """
    if data.summed:
        check_summed_rows(task, data)
    if data.frequency is None or not task.reads_rows:
        return data
    asking = [part for part in parts_of(task) if part.reads_rows and part.stands_alone]
    if all(part.takes_weights for part in asking):
        return data
    if data.size > MOST_COPIES:
        name = next(type(part).__name__ for part in asking if not part.takes_weights)
        raise InputError(
            "frequency",
            f"{name} is a function of a leaf's rows, which come to {data.size:,}, more than {MOST_COPIES:,}",
            "let it use data.weights and declare takes_weights = True, or give fewer rows",
        )
    return data.expanded()


def check_summed_rows(task: Task, data: Dataset) -> None:
    """Raises InputError for data whose rows were added up for tasks that are not this one."""
    if data.summed != task.summed_rows():
        found = f"its rows were added up ({', '.join(sorted(data.summed))}), and {type(task).__name__} reads others"
        raise InputError("X", found, "read the data with task= this one, or without task=")


def parts_of(task: Task) -> Iterator[Task]:
    """The task, and those that it is made of."""
    yield task
    for name in field_names(type(task)):
        yield from _tasks_in(getattr(task, name, None))


@functools.lru_cache(maxsize=1024)
def field_names(kind: type) -> tuple[str, ...]:
    """Those of an attrs class; none of any other."""
    return tuple(field.name for field in attrs.fields(kind)) if attrs.has(kind) else ()


def _tasks_in(value: Any) -> Iterator[Task]:
    if isinstance(value, Task):
        yield from parts_of(value)
    elif isinstance(value, tuple):
        for each in value:
            yield from _tasks_in(each)


def _objection(task: Task) -> tuple[str, str] | None:
    """(what stands against weights, what to do); None if the task takes them."""
    kind = type(task)
    name = kind.__name__
    if task.takes_weights or not task.stands_alone:
        return None
    if task.takes_weights is not None:
        return f"{name} takes no weights", "leave it out; whole numbers of equal rows go into frequency="
    asked = ("score",) if issubclass(kind, RowCostTask) else ("leaf_cost", "lower_bound", "score")
    for method in asked:
        function = getattr(kind, method)
        if function is not getattr(Task, method) and mentions(function, "rows", set()):
            remedy = "use s.weight for what they weigh, or declare takes_weights = True if it is meant so"
            return f"{name}.{method} reads the number of rows, whatever they weigh", remedy
    if kind.branching_cost is not Task.branching_cost and not issubclass(kind, RowCostTask) and _loads_rows(kind):
        remedy = "give whole weights as frequency=, or declare takes_weights = True if it is meant so"
        return f"{name}.branching_cost reads the number of rows, whatever they weigh", remedy
    if task.reads_rows and not mentions(getattr(kind, "rows_cost", kind.leaf_cost), "weights", set()):
        remedy = "let it use data.weights, or declare takes_weights = True if it does"
        return f"{name} is a function of a leaf's rows and does not read data.weights", remedy
    return None


def mentions(function: Any, name: str, seen: set[int]) -> bool:
    """Whether a function, or one that it names, has an attribute or a global of that name in it."""
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return False
    seen.add(id(function))
    names = set(_names(function.__code__))
    known = {**{key: function.__globals__.get(key) for key in names}, **_cells(function)}
    return name in names or any(mentions(each, name, seen) for each in known.values())


def _cells(function: types.FunctionType) -> dict[str, Any]:
    """The variables of outer functions that a function names."""
    found = {}
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[key] = cell.cell_contents
        except ValueError:  # not assigned yet
            found[key] = None
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _loads_rows(kind: type[Task]) -> bool:
    """Whether the branching cost loads its argument `rows`; False where that cannot be told."""
    function = kind.branching_cost
    if not isinstance(function, types.FunctionType) or function.__code__.co_argcount != 4:
        return False
    rows = function.__code__.co_varnames[1]
    return any(
        rows in (i.argval if isinstance(i.argval, tuple) else (i.argval,))
        for i in dis.get_instructions(function.__code__)
    )
