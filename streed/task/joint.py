"""What tasks that are made of several tasks share: statistics side by side, the states that parts see, and labels."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import Array
from streed.task.base import Task
from streed.task.states import State, StateOfPart

BESIDE_SUMS = ("data", "members")
"""Attributes of a state that are no sums: the data set and the numbers of the rows, of tasks that read rows."""


def joint_labels(parts: Sequence[Task], data: Dataset) -> Sequence[Any]:
    """The labels of the whole; raises TaskError unless all parts that care for labels have the same."""
    chosen = parts[_decisive(parts)]
    labels = chosen.labels(data)
    for part in parts:
        if not part.any_label and not chosen.any_label and tuple(part.labels(data)) != tuple(labels):
            raise TaskError(
                f"{name(chosen)} and {name(part)} cannot be joined: their labels are {tuple(labels)} and "
                f"{tuple(part.labels(data))}"
            )
    return labels


def _decisive(parts: Sequence[Task]) -> int:
    """The number of the part whose labels are those of the whole: the first whose leaf cost depends on the label.

    If there is none, the first that shows something of its own at leaves, else the first.
    """
    labelled = [number for number, part in enumerate(parts) if not part.any_label]
    showing = [number for number, part in enumerate(parts) if not part.shows_labels]
    return [*labelled, *showing, 0][0]


@attrs.frozen
class Joint(Task):
    """A task of several parts, with their statistics side by side, and the labels of those that care.

    The names of the statistics of a part that is not alone begin with its number.
    """

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

    @property
    def shows_labels(self) -> bool:
        return self.parts[_decisive(self.parts)].shows_labels

    def prefix(self, number: int) -> str:
        """What the names of the part's statistics begin with in the whole."""
        return f"part{number}_" if len(self.parts) > 1 else ""

    def seen(self, whole: State, number: int) -> State:
        """The state as part number `number` knows it: its own statistics by their own names."""
        # What is beside the sums, of tasks that read rows, belongs to all parts.
        return StateOfPart(whole, self.prefix(number), BESIDE_SUMS) if len(self.parts) > 1 else whole

    def cost_of(self, number: int, s: State, k: int) -> Any:
        """What a leaf costs by that part."""
        part = self.parts[number]
        return part.leaf_cost(self.seen(s, number), 0 if part.any_label else k)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {
            self.prefix(number) + name: values
            for number, part in enumerate(self.parts)
            for name, values in part.statistics(data).items()
        }

    def labels(self, data: Dataset) -> Sequence[Any]:
        return joint_labels(self.parts, data)

    def leaf_label(self, s: State, k: int) -> Any:
        chosen = _decisive(self.parts)
        return self.parts[chosen].leaf_label(self.seen(s, chosen), k)


def check_operand(task: Any, operator: str, wanted: str = "joins tasks") -> None:
    """Raises TaskError for what is no task, or is one with limits on its leaves, beside an operator."""
    if not isinstance(task, Task):
        raise TaskError(f"the operator {operator} {wanted}, and {task!r} is none")
    if task.without_limits is not task:
        raise TaskError(f"put subject_to last: the operator {operator} joins objectives, not constrained tasks")


def name(task: Task) -> str:
    """What messages call a task."""
    return type(task).__name__
