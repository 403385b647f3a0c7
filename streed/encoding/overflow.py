"""How large the numbers become that a task's methods compute with, seen by numbers that keep a record of it.

Native whole numbers wrap round beyond 2**63 where Python's grow, which does not show in the costs alone: a**4 / b**3 is
small.
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
    """The largest size of the whole numbers that were computed."""

    def __init__(self) -> None:
        self.whole = 0.0

    def noted(self, x: Any) -> Any:
        """The number, with this record where it is an int."""
        if type(x) is not int:
            return x
        self.whole = max(self.whole, float(abs(x)) if abs(x).bit_length() < 1000 else math.inf)
        number = _Whole(x)
        number.record = self
        return number


class _Whole(int):
    record: Record


def _binary(function: Callable[[Any, Any], Any], reflected: bool) -> Callable[[Any, Any], Any]:
    def compute(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        a, b = int(self), int(other) if isinstance(other, _Whole) else other
        return self.record.noted(function(b, a) if reflected else function(a, b))

    return compute


for _name in _OPERATORS:
    setattr(_Whole, f"__{_name}__", _binary(getattr(operator, _name), False))
    setattr(_Whole, f"__r{_name}__", _binary(getattr(operator, _name), True))


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
