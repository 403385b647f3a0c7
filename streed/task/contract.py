"""Whether a task keeps the contract of `streed.Task`, tried in plain Python before anything is compiled or searched.

Every member that the engine calls is called once on a few states. What is missing, raises or returns what it must not
gives an error of two lines: what is wrong, and the line of the task's own source. `streed.testing` tries more.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import itertools
import keyword
import linecache
import math
import numbers
import operator
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, TaskError, brief
from streed.exact import Array
from streed.task.base import COMPONENTWISE, PARTIAL, TOTAL, RowCostTask, Task, Value, objective, parts_of
from streed.task.objective import record_of
from streed.task.row_sums import Totals, beside_sums, in_columns, quick_sums, state_of
from streed.task.states import Limit, OwnLimit, State

_HERE = Path(__file__).resolve().parents[1]
_OTHERS = ("site-packages", "dist-packages", "importlib", "<frozen", "<attrs", "<__array_function__")


def check_contract(task: Task, data: Dataset, *, warns: bool = True) -> None:
    """Raises TaskError, with the line of the source at fault, unless a task keeps the contract; `warns` of weights."""
    ContractCheck(task, data).check(warns=warns)


def build(task: Task | type[Task]) -> Task:
    """The task itself, or one of the class; raises TaskError for members or arguments that are missing."""
    if isinstance(task, Task):
        return task
    if not isinstance(task, type) or not issubclass(task, Task):
        raise TaskError(f"task: {brief(task)} is no Task; give a subclass of streed.Task, or an instance of one")
    missing = sorted(getattr(task, "__abstractmethods__", ()))
    if missing:
        signatures = [f"{name}({', '.join(inspect.signature(getattr(task, name)).parameters)})" for name in missing]
        raise TaskError(
            f"{task.__name__} lacks {', '.join(missing)}; define {' and '.join(signatures)}\n  {_class_line(task)}"
        )
    try:
        inspect.signature(task).bind()
    except TypeError as error:
        raise TaskError(
            f"{task.__name__} needs arguments ({error}); give an instance, such as {task.__name__}(...)\n"
            f"  {_class_line(task)}"
        ) from None
    return task()


def check_task(task: object) -> None:
    """Raises TaskError for what is no task, such as its class."""
    if isinstance(task, type) and issubclass(task, Task):
        raise TaskError(f"task: {task.__name__} is a class; give an instance, such as {task.__name__}()")
    if not isinstance(task, Task):
        raise TaskError(f"task: {brief(task)} is no Task; give one such as streed.tasks.Accuracy()")


def is_shipped(task: Task) -> bool:
    """Whether the task and all tasks that it is made of are streed's own."""
    return all(type(part).__module__.startswith("streed.") for part in parts_of(task))


def own_line(error: BaseException) -> str | None:
    """The innermost line of the user's own code that raised it, as `file:line: text`; None if there is none."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for file, line in reversed(frames):
        if _is_own(file):
            return _line(file, line)
    return None


@final
class ContractCheck:
    """One task, or one limit, on one data set, and how to complain about its members."""

    def __init__(self, task: Any, data: Dataset) -> None:
        self.task = task
        self.data = data
        self.name = type(task).__name__

    def check(self, *, warns: bool = True) -> None:
        if self.task.order not in (TOTAL, COMPONENTWISE, PARTIAL):
            self.fail("order", f"is {self.task.order!r}", f'use "{TOTAL}", "{COMPONENTWISE}" or "{PARTIAL}"')
        given = self.task
        for part in parts_of(given):
            if part.stands_alone and part.overrides("limits"):
                ContractCheck(part, self.data).fail("limits", "are the task's own", "set them by subject_to")
            turned = part is not given and (part.maximize or part.overrides("score"))
            if turned and part.stands_alone and not is_shipped(part):
                ContractCheck(part, self.data).check(warns=warns)
        bound = self.call("bind", self.data)
        if not isinstance(bound, Task):
            self.refuse("bind", (self.data,), bound, "return a Task, such as self")
        self.task = bound
        labels = self.call("labels", self.data)
        if not isinstance(labels, (Sequence, np.ndarray)) or isinstance(labels, str) or not len(labels):
            self.refuse("labels", (self.data,), labels, "return a list of at least one label")
        states = self.states(self.statistics())
        costs: list[Value] = []
        for s in states:
            for k in range(len(labels)):
                cost = self.call("leaf_cost", s, k)
                self.check_value("leaf_cost", (s, k), cost, costs)
                costs.append(cost)
        self.check_operators(costs)
        self.check_bounds(states, costs)
        self.check_direction(given, costs[: len(labels)])
        if warns and self.data.sample_weight is not None:
            self.warn_of_weights(states[0], costs[: len(labels)])

    def statistics(self) -> dict[str, Array]:
        """The statistics by name, as arrays."""
        arguments = (self.data,)
        arrays = {}
        found = self.call("statistics", *arguments)
        if not isinstance(found, dict):
            self.refuse("statistics", arguments, found, "return a dict of arrays by name")
        for name, values in found.items():
            usable = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
            if not usable or name.startswith("_") or name == "rows":
                remedy = "use names such as n or cost: states have them as attributes, and `rows` is taken"
                self.fail("statistics", f"has the name {name!r}", remedy, arguments)
            array = np.asarray(values)
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
                self.fail("statistics", f"has {name!r} with entries that are no finite numbers", "", arguments)
            arrays[name] = in_columns(array)
        return arrays

    def states(self, arrays: dict[str, Array]) -> list[State]:
        """The state of all rows, and those of the first and the last row alone."""
        data, n = self.data, self.data.n_rows
        sums = quick_sums(self.task, data, arrays)
        chosen = [np.arange(n), np.array([0]), np.array([n - 1])] if n > 1 else [np.arange(n)]
        return [state_of(sums, rows, data, beside_sums(self.task, data, rows)) for rows in chosen]

    def warn_of_weights(self, s: State, costs: list[Value]) -> None:
        """Warn where rows have weights, and the task counts them without; `costs`: those of `s`, all rows."""
        data, other = self.data, copy.copy(s)
        if self.task.reads_rows:
            other.__dict__["data"] = attrs.evolve(data, weights=data.frequency, sample_weight=None)
        else:
            other.rows += 1
        same = [self.call("leaf_cost", other, k) for k in range(len(costs))] == costs
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
        if given.order != TOTAL or _shape(costs[0]) is not None:
            return
        if any(map(math.isinf, costs)):
            return
        least, most = min(costs), Fraction(max(costs)) + 1  # of which floats know no sum beyond 2**53
        rising = self.task.better(most, least)
        if given.maximize and not rising:
            self.fail("better", "prefers smaller values, and maximize says that larger ones are", "leave it out")
        if given.maximize and self.data.n_columns:
            asked = (self.data.size, (), 0)
            price = self.call("branching_cost", *asked)
            if price is not None and price > 0:
                remedy = "with maximize it is added to what leaves gain: return -price, or leave maximize out"
                self.fail("branching_cost", f"returns {_brief(price)} for a split", remedy, asked)
        if not given.overrides("score"):
            return
        totals = Totals(given, self.data)
        shown = [self.call("score", value, totals) for value in costs]
        with contextlib.suppress(Exception):  # of a value that no tree need have
            shown += [given.score(value, totals) for value in (least, most)]
        pairs = [(a, b) for a, b in zip([*costs, least, most], shown, strict=False) if isinstance(b, numbers.Real)]
        ordered: list[Any] = [b for _, b in sorted(pairs, key=lambda pair: pair[0])]
        falls, rises = (any(less(b, a) for a, b in itertools.pairwise(ordered)) for less in (operator.lt, operator.gt))
        if falls != rises and falls == (given.larger_is_better == rising):
            self.fail(
                "score",
                f"{'falls' if falls else 'rises'} with the value, of which the {'larger' if rising else 'smaller'} is "
                f"better, and larger_is_better is {given.larger_is_better}",
                "with maximize = True, leaf_cost is a gain, and score may be left out; without it, what is paid, and "
                "a score that falls with that declares larger_is_better = True",
            )

    def check_operators(self, costs: list[Value]) -> None:
        a, b = costs[0], costs[-1]
        if self.data.n_columns:
            asked = (self.data.size, (), 0)
            price = self.call("branching_cost", *asked)
            if price is not None and len(record_of(self.task).parts) > 1:
                price = tuple(0 if each is None else each for each in price)  # parts may name no cost
            if price is not None:
                self.check_value("branching_cost", asked, price, costs)
        self.check_value("combine", (a, b), self.call("combine", a, b), costs)
        for name, arguments in (("better", (a, b)), ("feasible", (a,))):
            answer = self.call(name, *arguments)
            if not isinstance(answer, (bool, np.bool_)):
                self.refuse(name, arguments, answer, "return True or False")
        if self.task.order == COMPONENTWISE and not isinstance(a, tuple):
            self.fail("leaf_cost", f"returns {a!r}, and the order is componentwise", "return a tuple of numbers")

    def check_bounds(self, states: list[State], costs: list[Value]) -> None:
        finite = [cost for cost in costs if all(map(math.isfinite, _flat(cost)))]
        bounds: list[tuple[str, tuple[Any, ...]]] = [("subtract", (finite[0], finite[-1]))] if finite else []
        bounds += [("lower_bound", (s,)) for s in states]
        for name, arguments in bounds:
            bound = self.call(name, *arguments)
            if bound is not None:
                self.check_value(name, arguments, bound, costs)
        worst = self.call("worst_per_row", self.data)
        if worst is not None and np.shape(worst) != (self.data.n_rows,):
            self.refuse("worst_per_row", (self.data,), worst, f"return an array of shape ({self.data.n_rows},)")
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
        for s in states:
            allowed = own.call("allows", s)
            if not isinstance(allowed, (bool, np.bool_)):
                own.refuse("allows", (s,), allowed, "return True or False")

    def check_value(self, name: str, arguments: tuple[Any, ...], value: Any, others: list[Value]) -> None:
        """Complain unless it is a number, or a tuple of them, of the kind that leaves cost."""
        if type(value) is int and (not others or not isinstance(others[0], tuple)):
            return
        if value is None:
            self.refuse(name, arguments, value, "return a number (is a `return` missing?)")
        for x in _flat(value):
            if not isinstance(x, numbers.Real):
                self.refuse(name, arguments, value, "return a number, or a tuple of numbers")
            if math.isnan(x):
                self.refuse(name, arguments, value, "return a number at every state, of few rows too")
        if others and _shape(value) != _shape(others[0]):
            self.refuse(name, arguments, value, f"return what every leaf costs: {_kind(others[0])}")

    def call(self, name: str, *arguments: Any) -> Any:
        """What the member returns; complains about what it raises, but lets InputError pass: the data is at fault."""
        try:
            return getattr(self.task, name)(*arguments)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the user's code raises, told as it is
            raised = error
        said = str(raised) if isinstance(raised, TaskError) else f"{type(raised).__name__}: {raised}"
        key = raised.args[0] if isinstance(raised, KeyError) and raised.args else None
        if isinstance(key, str) and key not in self.data.row_data:
            said = (
                f"KeyError: {key!r}; if that is row data, give {key}= one entry per row (row_data= in streed.testing)"
            )
        if isinstance(raised, IndexError):
            said += "; the places of the labels of y are data.class_numbers"
        shown, place = ", ".join(map(_brief, arguments)), own_line(raised) or self.definition(name)
        raise TaskError(f"{self.name}.{name}({shown}) raised {said}\n  {place}") from raised

    def refuse(self, name: str, arguments: tuple[Any, ...], found: Any, remedy: str) -> NoReturn:
        """Complain about what a member returned, with the line that returned it."""
        shown = f"{name}({', '.join(map(_brief, arguments))})"
        self.fail(shown, f"returned {_brief(found)}", remedy, arguments)

    def fail(self, what: str, found: str, remedy: str, arguments: tuple[Any, ...] | None = None) -> NoReturn:
        name = what.partition("(")[0]
        place = None if arguments is None else self.returning_line(name, arguments)
        said = f"{self.name}.{what} {found}" + (f"; {remedy}" if remedy else "")
        raise TaskError(f"{said}\n  {place or self.definition(name)}")

    def returning_line(self, name: str, arguments: tuple[Any, ...]) -> str | None:
        """The line from which the member returns, found by running it once more."""
        member = getattr(self.task, name)
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

    def definition(self, name: str) -> str:
        """The line that defines the member, or else the class."""
        for owner in (name, *_STANDINS, "leaf_cost"):
            member = inspect.getattr_static(type(self.task), owner, None)
            function = member.fget if isinstance(member, property) else member
            code = getattr(function, "__code__", None)
            found = _defined(function) if code is not None and _is_own(code.co_filename) else None
            if found is not None:
                return found
        return _class_line(type(self.task))


def _is_own(file: str) -> bool:
    """Whether code is the user's: not streed's (but for its tasks), not a library's, not Python's."""
    path = Path(file)
    if any(part in file for part in _OTHERS) or path.is_relative_to(_STANDARD):
        return False
    return not path.is_relative_to(_HERE) or path.is_relative_to(_HERE / "tasks")


_STANDINS = ("row_costs", "rows_cost")
"""What `leaf_cost` calls where it is not the user's own."""

_STANDARD = Path(traceback.__file__).resolve().parent


def _line(file: str, line: int) -> str:
    text = linecache.getline(file, line).strip()
    return f"{_short(file)}:{line}" + (f": {text}" if text else "")


def _short(file: str) -> str:
    """The file as the user would name it: relative, if it is below the current directory."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def _defined(made: Any) -> str | None:
    """The line of the user's that begins with `class` or, below its decorators, `def`."""
    try:
        lines, first = inspect.getsourcelines(made)
        file = inspect.getsourcefile(made) or "<unknown>"
    except (OSError, TypeError):  # typed at a prompt: there is no source
        return None
    ahead = next((place for place, text in enumerate(lines) if text.lstrip().startswith(("def ", "class "))), 0)
    return _line(file, first + ahead)


def _class_line(made_by: type[Any]) -> str:
    return _defined(made_by) or f"class {made_by.__name__}"


def _flat(value: Any) -> list[Any]:
    return [x for entry in value for x in _flat(entry)] if isinstance(value, tuple) else [value]


def _shape(value: Any) -> Any:
    return tuple(map(_shape, value)) if isinstance(value, tuple) else None


def _kind(value: Any) -> str:
    return f"a tuple of {len(value)}, such as {value!r}" if isinstance(value, tuple) else f"a number, such as {value!r}"


def _brief(x: Any) -> str:
    """An argument or answer on one line."""
    return "data" if type(x).__name__ == "Dataset" else brief(x)
