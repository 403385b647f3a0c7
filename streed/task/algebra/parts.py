"""What tasks that are made of several tasks share: their statistics side by side, and the state that each part sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.base import Limit, Task
from streed.task.constrained import Constrained, LimitOfPart
from streed.task.states import State, StateOfPart

if TYPE_CHECKING:
    from streed.data import Dataset


BESIDE_SUMS = ("data", "members")
"""Attributes of a state that are no sums: the data set and the numbers of the rows, of tasks that read rows."""


def part_name(number: int, name: str) -> str:
    """The name that a statistic of a part has in the whole."""
    return f"part{number}_{name}"


def part_state(whole: State, number: int) -> State:
    """The state as part number `number` knows it: its own statistics by their own names."""
    # What is beside the sums, of tasks that read rows, belongs to all parts.
    return StateOfPart(whole, part_name(number, ""), BESIDE_SUMS)


@final
@attrs.frozen
class PartLimit(LimitOfPart):
    """A limit that a part sets by itself, on the states of the whole."""

    @property
    def prefix(self) -> str:
        return part_name(self.number, "")

    def seen(self, s: State) -> State:
        return part_state(s, self.number)

    @property
    def support(self) -> int | None:
        return self.limit.support


def joint_statistics(parts: Sequence[Task], data: Dataset) -> dict[str, Array]:
    """The statistics of all parts, each by its `part_name`."""
    return {
        part_name(number, name): values
        for number, part in enumerate(parts)
        for name, values in part.statistics(data).items()
    }


def joint_limits(parts: Sequence[Task]) -> tuple[Limit, ...]:
    """The limits that the parts set; raises TaskError for one that asks for statistics of its own."""
    for part in parts:
        for limit in (each for each in part.limits if each.has_statistics):
            raise TaskError(
                f"{limit!r} of {name(part)} asks for statistics of its own, which a task that is joined to others "
                "cannot give it; set it by subject_to on the whole"
            )
    return tuple(PartLimit(limit, number) for number, part in enumerate(parts) for limit in part.limits)


def decisive(parts: Sequence[Task]) -> int:
    """The number of the part whose labels are those of the whole: the first whose leaf cost depends on the label.

    If there is none, the first that shows something of its own at leaves, else the first.
    """
    labelled = [number for number, part in enumerate(parts) if not part.any_label]
    showing = [number for number, part in enumerate(parts) if not part.shows_labels]
    return [*labelled, *showing, 0][0]


def joint_labels(parts: Sequence[Task], data: Dataset) -> Sequence[Any]:
    """The labels of the whole; raises TaskError unless all parts that care for labels have the same."""
    chosen = parts[decisive(parts)]
    labels = chosen.labels(data)
    for part in parts:
        if not part.any_label and not chosen.any_label and tuple(part.labels(data)) != tuple(labels):
            raise TaskError(
                f"{name(chosen)} and {name(part)} cannot be joined: their labels are {tuple(labels)} and "
                f"{tuple(part.labels(data))}"
            )
    return labels


def label_number(part: Task, k: int) -> int:
    """The label by which the part knows label number k of the whole."""
    return 0 if part.any_label else k


def check_operand(task: Any, operator: str, wanted: str = "joins tasks") -> None:
    """Raises TaskError for what is no task, or is one with limits on its leaves, beside an operator."""
    if isinstance(task, Constrained):
        raise TaskError(f"put subject_to last: the operator {operator} joins objectives, not constrained tasks")
    if not isinstance(task, Task):
        raise TaskError(f"the operator {operator} {wanted}, and {task!r} is none")


def name(task: Task) -> str:
    """What messages call a task."""
    return type(task).__name__
