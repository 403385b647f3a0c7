"""What tasks that are made of several tasks share: their statistics side by side, and the state that each part sees."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.base import Task
from streed.task.constrained import Constrained
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


@attrs.frozen
class Joint(Task):
    """A task of several parts, with their statistics side by side, and the labels of those that care."""

    stands_alone: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def parts(self) -> tuple[Task, ...]:
        """The tasks that it is made of, at least one."""

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return any(part.reads_rows for part in self.parts)

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return all(part.any_label for part in self.parts)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {
            part_name(number, name): values
            for number, part in enumerate(self.parts)
            for name, values in part.statistics(data).items()
        }

    def labels(self, data: Dataset) -> Sequence[Any]:
        return joint_labels(self.parts, data)

    @property
    def shows_labels(self) -> bool:
        return self.parts[decisive(self.parts)].shows_labels

    def leaf_label(self, s: State, k: int) -> Any:
        chosen = decisive(self.parts)
        return self.parts[chosen].leaf_label(part_state(s, chosen), k)


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
