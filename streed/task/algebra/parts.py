"""What tasks that are made of several tasks share: statistics, the states that parts see, and directions.

`minimize(A)` and `maximize(A)` say which way a part goes.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.errors import TaskError
from streed.exact import Array
from streed.task.analysis.linear_form import adds
from streed.task.base import TOTAL, Task
from streed.task.composable import Term, indented
from streed.task.constrained import Constrained, Holding, leaf_limits, limited, objective
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


@final
@attrs.frozen
class Negated(Holding):
    """A task whose sums are to be as large as can be: the search minimises minus them."""

    @property
    def larger_is_better(self) -> bool:
        return True

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        return self.task.maximize and self.task.superadditive

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return self.task.maximize and self.task.worsening

    def bind(self, data: Dataset) -> Task:
        bound = self.task.bind(data)
        return bound if bound.larger_is_better and not bound.maximize else Negated(bound)

    def leaf_cost(self, s: State, k: int) -> Any:
        return -self.task.leaf_cost(s, k)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return _minus(self.task.branching_cost(rows, path, split))

    def lower_bound(self, s: State) -> Any:
        return _minus(self.task.lower_bound(s)) if self.task.maximize else None

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        return _minus(self.task.exact_cost(data, rows, k))

    def score(self, value: Any, totals: State) -> Any:
        return self.task.score(-value, totals)

    def overrides(self, name: str) -> bool:
        asked = name in ("branching_cost", "exact_cost", "lower_bound")
        return self.task.overrides(name) if asked else super().overrides(name)

    def written_terms(self, weight: Fraction = Fraction(1), prefix: str = "") -> tuple[Term, ...]:
        return self.task.written_terms(-weight, prefix)

    def outline(self) -> list[str]:
        return ["maximum of", *indented(self.task.outline())]


def _minus(value: Any) -> Any:
    return None if value is None else -value


def minimize(task: Task) -> Task:
    """The task itself, which is minimised already; the word is for the reader of a composed objective.

    Raises TaskError for a task that is maximised.
    """
    if not isinstance(task, Task):
        raise TaskError(f"minimize takes a Task, not {name(task)}; write 0.01 * Splits() + Accuracy()")
    if task.larger_is_better:
        raise TaskError(f"{name(task)} is maximised, so minimize cannot be said of it; leave minimize out")
    return task


def maximize(task: Task) -> Task:
    """The task of the largest value of an additive task; one that is maximised already is itself.

    Raises TaskError for tasks whose values are not added up: order need not be preserved when it is turned round.
    """
    if not isinstance(task, Task):
        raise TaskError(f"maximize takes a Task, not {name(task)}")
    if task.larger_is_better:
        return as_costs(task)
    inner = objective(task)
    if not adds(inner):
        raise TaskError(
            f"maximize takes tasks whose values are added up, and {name(inner)} has a combine, order or feasible of "
            "its own; declare that it is maximised by `maximize = True` instead"
        )
    return limited(Negated(inner), leaf_limits(task))


def gain_sign(task: Task) -> int:
    """1 if the task's values are gains, of which larger ones are better, -1 if they are minus gains, 0 if costs."""
    inner = objective(task)
    if isinstance(inner, Negated):
        return -1
    return int(inner.larger_is_better and not inner.overrides("score"))


def as_costs(task: Task) -> Task:
    """The task; of one whose values are gains that are added up, the same in costs, which searches are quickest with.

    Others that are maximised are searched by their own order.
    """
    from streed.task.analysis.facts import is_larger_better

    inner = objective(task)
    adds_gains = inner.maximize and inner.order == TOTAL and inner.adds_values and not inner.overrides("feasible")
    if not (adds_gains and is_larger_better(inner)):
        return task
    return limited(Negated(inner), leaf_limits(task))
