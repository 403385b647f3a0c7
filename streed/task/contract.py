"""Whether a task keeps the contract of `streed.Task`, tried in plain Python before anything is compiled or searched.

Every member that the engine calls is called once on a few states. What is missing, raises or returns what it must not
gives an error of two lines: what is wrong, and the line of the task's own source. `streed.testing` tries more.
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import functools
import inspect
import itertools
import keyword
import math
import numbers
import operator
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, StreedError, TaskError, brief, class_line, definition, own_line, returning_line
from streed.exact import Array, fraction_of
from streed.task.base import COMPONENTWISE, PARTIAL, TOTAL, GeneralTask, RowCostTask, Task, Value, objective, parts_of
from streed.task.objective import record_of
from streed.task.states import Fields, Limit, OwnLimit, State, Totals, in_columns, quick_sums, state_of

_MOST = 2**1023

_CLASSES = 4
"""How many classes have their rows tried as a leaf."""


def check_contract(task: Task, data: Dataset, *, warns: bool = True) -> Dataset:
    """The data as no task can write to them; `warns` of weights.

    Raises TaskError, with the line of the source at fault, unless a task keeps the contract.
    """
    names = ("X", "class_numbers", "weights", "sample_weight")
    arrays: dict[str, Any] = {x: _to_read(array) for x in names if (array := getattr(data, x)) is not None}
    data = attrs.evolve(data, row_data={name: _to_read(x) for name, x in data.row_data.items()}, **arrays)
    ContractCheck(task, data).check(warns=warns)
    return data


def _to_read(array: Array) -> Array:
    """The array as one that no task can write to, so that a task that tries is found."""
    found = array.view()
    found.setflags(write=False)
    return found


def build(task: Task | type[Task]) -> Task:
    """The task itself, or one of the class; raises TaskError for members or arguments that are missing."""
    if isinstance(task, Task):
        return task
    if not isinstance(task, type) or not issubclass(task, Task):
        raise TaskError(f"task: {brief(task)} is no Task; give a subclass of streed.Task, or an instance of one")
    missing = sorted(getattr(task, "__abstractmethods__", ()))
    if missing:
        signatures = [f"{name}({', '.join(inspect.signature(getattr(task, name)).parameters)})" for name in missing]
        said = f"{task.__name__} lacks {', '.join(missing)}; define {' and '.join(signatures)}"
        raise TaskError(f"{said}\n  {class_line(task)}")
    try:
        inspect.signature(task).bind()
    except TypeError as error:
        said = f"{task.__name__} needs arguments ({error}); give an instance, such as {task.__name__}(...)"
        raise TaskError(f"{said}\n  {class_line(task)}") from None
    return task()


def check_task(task: object) -> None:
    """Raises TaskError for what is no task, such as its class."""
    if isinstance(task, type) and issubclass(task, Task):
        raise TaskError(f"task: {task.__name__} is a class; give an instance, such as {task.__name__}()")
    if not isinstance(task, Task):
        raise TaskError(f"task: {brief(task)} is no Task; give one such as streed.tasks.Accuracy()")


def is_shipped(task: Task) -> bool:
    """Whether the task, all tasks that it is made of, its limits and its gaps are streed's own."""
    return all(type(part).__module__.startswith("streed.") for part in parts_of(task, Fields))


@functools.lru_cache(256)
def _misnamed(made_by: type[Task]) -> list[tuple[str, str]]:
    """Names of a user's class that nothing asks for, each with the one of a member that it nearly is."""
    above = made_by.__mro__
    first = next(place for place, each in enumerate(above) if each.__module__.startswith("streed."))
    known = [name for name in dir(above[first]) if not name.startswith("_")]
    names = {name for each in above[:first] for name in vars(each) if not name.startswith("_")}
    unasked = sorted(names.difference(known, attrs.fields_dict(made_by)))
    return [(name, meant) for name in unasked for meant in difflib.get_close_matches(name, known, 1, 0.8)]


@final
class ContractCheck:
    """One task, or one limit, on one data set, and how to complain about its members."""

    def __init__(self, task: Any, data: Dataset) -> None:
        self.task, self.data, self.name = task, data, type(task).__name__

    def check(self, *, warns: bool = True) -> None:
        given = self.task
        for part in parts_of(given):
            own, check = not type(part).__module__.startswith("streed."), ContractCheck(part, self.data)
            if own:
                check.check_declared(warns)
            if part.stands_alone and part.overrides("limits"):
                check.fail("limits", "are the task's own", "set them by subject_to")
            turned = part is not given and (part.maximize or part.overrides("score"))
            if turned and part.stands_alone and own:
                check.check(warns=warns)
        bound = self.call("bind", self.data)
        if not isinstance(bound, Task):
            self.refuse("bind", (self.data,), bound, "return a Task, such as self")
        self.task = bound
        labels = self.call("labels", self.data)
        if not isinstance(labels, (Sequence, np.ndarray)) or isinstance(labels, str) or not len(labels):
            self.refuse("labels", (self.data,), labels, "return a list of at least one label")
        states = self.states(self.statistics())
        n, best = len(labels), max if self.task.maximize else min
        asked = [(s, k) for s in states for k in range(n)]
        costs = self.values("leaf_cost", asked)
        endless = best(-math.inf, math.inf)
        if endless in costs:
            remedy = "no leaf is better than all others: return a finite number"
            self.refuse("leaf_cost", asked[costs.index(endless)], endless, remedy)
        for i, s in enumerate(states) if self.task.order == TOTAL and self.task.overrides("leaf_label") else ():
            of_state = costs[i * n : (i + 1) * n]
            self.call("leaf_label", s, of_state.index(best(of_state)))
        self.check_operators(costs)
        self.check_bounds(states, costs)
        self.check_direction(given, costs[:n])
        if warns and self.data.sample_weight is not None:
            self.warn_of_weights(states[0], costs[:n])

    def check_declared(self, warns: bool) -> None:
        """Complain about declared facts; warn of names that nothing asks for, and are nearly those of members."""
        if self.task.order not in (TOTAL, COMPONENTWISE, PARTIAL):
            self.fail("order", f"is {self.task.order!r}", f'use "{TOTAL}", "{COMPONENTWISE}" or "{PARTIAL}"')
        for name in ("maximize", "superadditive", "worsening", "any_label"):
            declared = getattr(self.task, name)
            if not isinstance(declared, (bool, np.bool_)):
                self.fail(name, f"is {_brief(declared)}", f"write {name} = True or False, or a property")
        if not isinstance(self.task.value_unit, str):
            self.fail("value_unit", f"is {_brief(self.task.value_unit)}", "write it as text, or a property")
        for name, meant in _misnamed(self.task.__class__) if warns else ():
            said = f"nothing asks for {self.name}.{name}; if {meant} is meant, call it so"
            warnings.warn(said, UserWarning, stacklevel=6)

    def statistics(self) -> dict[str, Array]:
        """The statistics by name, as arrays."""
        arguments = (self.data,)
        arrays = {}
        if isinstance(self.task, RowCostTask):
            costs, shape = self.call("row_costs", self.data), (self.data.n_rows, len(self.call("labels", self.data)))
            if getattr(costs, "shape", None) != shape:
                self.refuse("row_costs", arguments, costs, f"return an array of shape {shape}: rows, labels")
        found, again = self.answers("statistics", [arguments] * 2)
        if not isinstance(found, dict):
            self.refuse("statistics", arguments, found, "return a dict of arrays by name")
        for name, values in found.items():
            usable = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
            if not usable or name.startswith("_") or name == "rows":
                remedy = "use names such as n or cost: states have them as attributes, and `rows` is taken"
                self.fail("statistics", f"has the name {name!r}", remedy, arguments)
            if np.ma.is_masked(values):
                self.fail("statistics", f"has {name!r} with masked entries", "fill them in", arguments)
            try:
                array = np.asarray(values)
            except ValueError:  # of rows of different lengths
                array = np.zeros(())
            if array.ndim not in (1, 2) or len(array) != self.data.n_rows:
                remedy = f"give one entry per row: shape ({self.data.n_rows},) or ({self.data.n_rows}, m)"
                self.fail("statistics", f"has {name!r} of shape {array.shape}", remedy, arguments)
            if array.dtype.kind == "O":
                usable = all(isinstance(x, numbers.Real) and math.isfinite(x) for x in array.flat)
            else:
                usable = array.dtype.kind in "biu" or (array.dtype.kind == "f" and bool(np.isfinite(array).all()))
            if not usable and isinstance(objective(self.task), RowCostTask):  # costs are often the caller's own data
                raise InputError("costs", "a value is NaN, infinite or no number", "give finite numbers")
            if not usable:
                strange = f"has {name!r} with entries that are no finite numbers"
                self.fail("statistics", strange, "give a number for each row", arguments)
            if not np.array_equal(array, again.get(name)):
                remedy = "let it depend on data and fields alone"
                self.fail("statistics", f"has another {name!r} when it is called again", remedy, arguments)
            arrays[name] = in_columns(array)
        return arrays

    def states(self, arrays: dict[str, Array]) -> list[State]:
        """The states of all rows, of the first and the last row alone, of some classes, and of the first rows."""
        data, n = self.data, self.data.n_rows
        sums = quick_sums(self.task, data, arrays)
        classes = np.bincount(data.class_numbers).nonzero()[0][:_CLASSES]
        of_classes = [(data.class_numbers == k).nonzero()[0] for k in classes]
        some = [slice(1), slice(n - 1, n), *of_classes, slice(3), slice((n + 1) // 2)] if n > 1 else []
        chosen: list[Any] = [slice(n), *some]
        return [state_of(sums, rows, data, self.task) for rows in chosen]

    def warn_of_weights(self, s: State, costs: list[Value]) -> None:
        """Warn where rows have weights, and the task counts them without; `costs`: those of `s`, all rows."""
        data, other = self.data, copy.copy(s)
        if self.task.reads_rows:
            other.__dict__["data"] = attrs.evolve(data, weights=data.frequency, sample_weight=None)
        else:
            other.rows += 1
        same = self.answers("leaf_cost", [(other, k) for k in range(len(costs))]) == costs
        found = None
        if same == self.task.reads_rows and (not same or any(map(any, map(_flat, costs)))):  # nothing has no weight
            found = "rows_cost does not use data.weights" if same else "leaf_cost reads s.rows; use s.weight"
        elif data.n_columns and len({self.call("branching_cost", rows, (), 0) for rows in (s.rows, s.rows + 1)}) > 1:
            found = "branching_cost reads rows; give whole weights as frequency="
        if found is not None:
            said = f"rows have weights, and {self.name} counts them without: {found}, unless it is meant so"
            warnings.warn(said, UserWarning, stacklevel=5)

    def check_direction(self, given: Task, costs: list[Value]) -> None:
        """Complain where the better value is shown as the worse one, or branching nodes gain; `costs`: of all rows."""
        scores = given.overrides("score")
        told = given.order == TOTAL and (given.maximize or scores) and not isinstance(costs[0], tuple)
        if not (told and all(map(_is_finite, costs))):
            return
        least, most = min(costs), fraction_of(max(costs)) + 1  # of which floats know no sum beyond 2**53
        rising = self.task.better(most, least)
        if given.maximize and not rising:
            self.fail("better", "prefers smaller values, and maximize says that larger ones are", "leave it out")
        if given.maximize and self.data.n_columns:
            asked = (self.data.size, (), 0)
            price = self.call("branching_cost", *asked)
            if price is not None and price > 0:
                remedy = "with maximize it is added to what leaves gain: return -price, or leave maximize out"
                self.fail("branching_cost", f"returns {_brief(price)} for a split", remedy, asked)
        if not scores:
            return
        totals = Totals(given, self.data)
        shown = [self.call("score", value, totals) for value in costs]
        if None in shown:
            self.refuse("score", (costs[0], totals), None, "return a number (is a `return` missing?)")
        with contextlib.suppress(Exception):  # of a value that no tree need have
            shown += [given.score(value, totals) for value in (least, most)]
        pairs = [(a, b) for a, b in zip([*costs, least, most], shown, strict=False) if isinstance(b, numbers.Real)]
        ordered: list[Any] = [b for _, b in sorted(pairs, key=lambda pair: pair[0])]
        falls, rises = (any(less(b, a) for a, b in itertools.pairwise(ordered)) for less in (operator.lt, operator.gt))
        if falls != rises and falls == (given.larger_is_better == rising):
            moves, side = "falls" if falls else "rises", "larger" if rising else "smaller"
            said = f"{moves} with the value, of which the {side} is better, and larger_is_better is"
            remedy = "with maximize = True, leaf_cost is a gain, and score may be left out; else a score that falls "
            remedy += "with what is paid declares larger_is_better = True"
            self.fail("score", f"{said} {given.larger_is_better}", remedy)

    def check_operators(self, costs: list[Value]) -> None:
        a, b = costs[0], costs[-1]
        columns = range(self.data.n_columns) if self.task.overrides("branching_cost") else ()
        asked = [(self.data.size, (), split) for split in columns]
        prices = self.answers("branching_cost", asked)
        if prices and len(record_of(self.task).parts) > 1:  # parts may name no cost
            prices = [price and tuple(0 if each is None else each for each in price) for price in prices]
        self.check_values("branching_cost", asked, prices, costs)
        by_entry = self.task.order == COMPONENTWISE or not (self.task.order == TOTAL or self.task.overrides("better"))
        if by_entry and not isinstance(a, tuple):
            self.fail("leaf_cost", f"returns {a!r}, and the order is {self.task.order}", "return a tuple of numbers")
        self.values("combine", [(a, b)], costs)
        for name, arguments in (("better", (a, b)), ("feasible", (a,))):
            answer = self.call(name, *arguments)
            if not isinstance(answer, (bool, np.bool_)):
                self.refuse(name, arguments, answer, "return True or False")
        if self.call("better", a, a):
            self.refuse("better", (a, a), True, "no value is better than itself: return a < b, not a <= b")

    def check_bounds(self, states: list[State], costs: list[Value]) -> None:
        if self.task.overrides("subtract"):
            finite = [cost for cost in costs if all(map(_is_finite, _flat(cost)))]
            self.values("subtract", [(finite[0], finite[-1])] if finite else [], costs)
        self.values("lower_bound", [(s,) for s in states], costs)
        worst = self.call("worst_per_row", self.data)
        if worst is not None:
            plain = np.asarray(worst)
            usable = plain.dtype.kind in "biufO" and plain.shape == (self.data.n_rows,)
            if not usable or not (np.isfinite(plain).all() if plain.dtype.kind != "O" else all(map(_is_finite, plain))):
                remedy = f"return an array of shape ({self.data.n_rows},), finite numbers"
                self.refuse("worst_per_row", (self.data,), worst, remedy)
        for limit in self.task.limits:
            self.check_limit(limit, states)

    def check_limit(self, limit: Limit, states: list[State]) -> None:
        """Complain about the limit itself, whatever holds it."""
        if isinstance(limit, OwnLimit):
            states = [limit.seen(s) for s in states]
            limit = limit.limit
        own = ContractCheck(limit, self.data)
        if "rows" in own.call("statistics", self.data):
            remedy = "use another: states have them as attributes, and `rows` is taken"
            own.fail("statistics", "has the name 'rows'", remedy, (self.data,))
        for s, allowed in zip(states, own.answers("allows", [(s,) for s in states]), strict=True):
            if not isinstance(allowed, (bool, np.bool_)):
                own.refuse("allows", (s,), allowed, "return True or False")

    def values(self, name: str, asked: Sequence[Any], costs: Sequence[Value] = ()) -> list[Value]:
        """What the member returns for each of these, checked; `costs`: what leaves cost, where others are asked."""
        found = self.answers(name, asked)
        self.check_values(name, asked, found, costs or found)
        return found

    def check_values(self, name: str, asked: Sequence[Any], values: list[Value], costs: Sequence[Value]) -> None:
        """Complain unless each is a number, or a tuple of them, of the kind that leaves cost; or None, if it may be."""
        for arguments, value in zip(asked, values, strict=True):
            usual = type(value) is int is type(costs[0]) and -_MOST < value < _MOST
            if usual or (value is None and name not in ("leaf_cost", "combine")):
                continue
            if value is None:
                self.refuse(name, arguments, value, "return a number (is a `return` missing?)")
            for x in _flat(value):
                if not isinstance(x, numbers.Real):
                    self.refuse(name, arguments, value, "return a number, or a tuple of numbers")
                if isinstance(x, np.floating) and not isinstance(x, float):
                    self.refuse(name, arguments, value, "return a number of Python's, as by float(...)")
                if x != x:
                    self.refuse(name, arguments, value, "return a number at every state, of few rows too")
                if abs(x) != math.inf and not _is_finite(x):
                    self.refuse(name, arguments, value, "return a number that a float can hold")
            if _shape(value) != _shape(costs[0]):
                self.refuse(name, arguments, value, f"return what every leaf costs: {_kind(costs[0])}")

    def call(self, name: str, *arguments: Any) -> Any:
        """What the member returns, see `answers`."""
        return self.answers(name, [arguments])[0]

    def answers(self, name: str, asked: Sequence[Any]) -> list[Any]:
        """What the member returns for each of these arguments; complains about what it raises, but for streed's own."""
        arguments: tuple[Any, ...] = ()
        try:
            member = getattr(self.task, name)
            return [member(*(arguments := each)) for each in asked]
        except Exception as error:
            if isinstance(error, InputError) or (isinstance(error, StreedError) and own_line(error) is None):
                raise
            raised = error
        said = str(raised) if isinstance(raised, TaskError) else f"{type(raised).__name__}: {raised}"
        key = raised.args[0] if isinstance(raised, KeyError) and raised.args else None
        if isinstance(key, str) and key not in self.data.row_data:
            said = f"KeyError: {key!r}; if that is row data, give {key}= an entry per row (row_data= in streed.testing)"
        if isinstance(raised, IndexError) and name == "branching_cost":
            said += f"; a split is the number of one of {self.data.n_columns} columns, counted from 0"
        elif isinstance(raised, IndexError):
            said += "; the places of the labels of y are data.class_numbers"
        place = own_line(raised) or definition(type(self.task), name)
        raise TaskError(f"{self.name}.{self.written(name, arguments)} raised {said}\n  {place}") from raised

    def written(self, name: str, arguments: tuple[Any, ...]) -> str:
        """The call of a member as the user wrote it, of tasks that have others in its place."""
        if name == "leaf_cost" and isinstance(self.task, GeneralTask):
            s, k = arguments
            name, arguments = "rows_cost", (self.data, s.members, k)
        if name == "branching_cost" and isinstance(self.task, RowCostTask):
            name, arguments = "split_cost", ()
        return f"{name}({', '.join(map(_brief, arguments))})"

    def refuse(self, name: str, arguments: tuple[Any, ...], found: Any, remedy: str) -> NoReturn:
        """Complain about what a member returned, with the line that returned it."""
        self.fail(self.written(name, arguments), f"returned {_brief(found)}", remedy, arguments, name)

    def fail(
        self, what: str, found: str, remedy: str, arguments: tuple[Any, ...] | None = None, name: str | None = None
    ) -> NoReturn:
        """Complain about a member, or a call of it; `name`: what the search calls it, if that is another."""
        written = what.partition("(")[0]
        place = None if arguments is None else returning_line(getattr(self.task, name or written), arguments)
        said = f"{self.name}.{what} {found}; {remedy}"
        raise TaskError(f"{said}\n  {place or definition(type(self.task), written)}")


def _is_finite(x: Any) -> bool:
    """Whether a number is one that a float can hold; of numbers of any size."""
    return bool(x - x == 0 and abs(x) < _MOST)


def _flat(value: Any) -> list[Any]:
    return [x for entry in value for x in _flat(entry)] if isinstance(value, tuple) else [value]


def _shape(value: Any) -> Any:
    return tuple(map(_shape, value)) if isinstance(value, tuple) else None


def _kind(value: Any) -> str:
    return f"a tuple of {len(value)}, such as {value!r}" if isinstance(value, tuple) else f"a number, such as {value!r}"


def _brief(x: Any) -> str:
    """An argument or answer on one line."""
    return "data" if type(x).__name__ == "Dataset" else brief(x)
