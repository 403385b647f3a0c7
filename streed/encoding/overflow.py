"""How large the numbers become that a task's methods compute with, seen by numbers that keep a record of it.

Native whole numbers wrap round beyond 2**63 where Python's grow, and real ones lose what is small beside the largest of
them. Neither shows in the costs alone: a**4 / b**3 is small, and so is what is left of two large sums.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from streed.exact import Array
from streed.task import State, Task

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


class Record:
    """The largest sizes of the whole and of the real numbers that were computed."""

    def __init__(self) -> None:
        self.whole = 0.0
        self.real = 0.0

    def noted(self, x: Any) -> Any:
        """The number with a record, where it is an int or a float."""
        if type(x) is int:
            self.whole = max(self.whole, float(abs(x)) if abs(x).bit_length() < 1000 else math.inf)
            return _of(_Whole, x, self)
        if type(x) is float:
            self.real = max(self.real, abs(x)) if math.isfinite(x) else self.real
            return _of(_Real, x, self)
        return x


class _Whole(int):
    record: Record


class _Real(float):
    record: Record


def _of(kind: Any, x: Any, record: Record) -> Any:
    number = kind(x)
    number.record = record
    return number


def _plain(x: Any) -> Any:
    return int(x) if isinstance(x, _Whole) else float(x) if isinstance(x, _Real) else x


def _binary(function: Callable[[Any, Any], Any], reflected: bool) -> Callable[[Any, Any], Any]:
    def compute(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        a, b = _plain(self), _plain(other)
        return self.record.noted(function(b, a) if reflected else function(a, b))

    return compute


for _name in _OPERATORS:
    for _kind in (_Whole, _Real):
        setattr(_kind, f"__{_name}__", _binary(getattr(operator, _name), False))
        setattr(_kind, f"__r{_name}__", _binary(getattr(operator, _name), True))


def magnitudes(task: Task, sums: dict[str, Array], labels: int, rows: int) -> Record:
    """What the leaf costs compute with at the largest states: of all rows, and of all that add to a sum."""
    record = Record()
    signed = {name: values.sum(axis=0) for name, values in sums.items()}
    largest = {name: abs(values).sum(axis=0) for name, values in sums.items()}
    alike = all((signed[name] == largest[name]).all() for name in sums)
    for totals in (signed,) if alike else (signed, largest):
        named: dict[str, Any] = {
            name: tuple(total.tolist()) if total.ndim else total.item() for name, total in totals.items()
        }
        note_costs(task, record, range(labels), State(rows, **named))
    return record


def note_costs(task: Task, record: Record, labels: Sequence[int], s: State) -> None:
    """Notes what the costs of a leaf at the state, which need not be one of the data's, compute with."""
    noted: dict[str, Any] = {
        name: tuple(map(record.noted, total)) if isinstance(total, tuple) else record.noted(total)
        for name, total in vars(s).items()
    }
    for k in labels:
        try:
            task.leaf_cost(State(**noted), k)
        except Exception:  # noqa: BLE001 - of no state of the data the methods owe an answer
            return
