"""Limits on leaves, and what tasks and limits are made by: their fields."""

from __future__ import annotations

import abc
from typing import Any, final

import attrs

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import Array
from streed.task.states import State, StateOfPart


class Fields:
    """What is made by its fields, as attrs has it: an `__init__` of its own would leave them unset."""

    __slots__ = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        code = getattr(vars(cls).get("__init__"), "__code__", None)
        if code is not None and not code.co_filename.startswith("<attrs generated"):
            setattr(cls, "__init__", _refuse_to_be_made)  # noqa: B010 - for mypy, a method is not assigned


def _refuse_to_be_made(self: Any, *_: Any, **__: Any) -> None:
    name = type(self).__name__
    raise TaskError(
        f"{name} has an __init__ of its own, and tasks are made by their fields: decorate the class by @attrs.frozen, "
        "write each parameter as a field, such as `price: float = 0.5`, and what is checked in __attrs_post_init__"
    )


@attrs.frozen
class Limit(Fields, abc.ABC):
    """An anti-monotone constraint on leaves (STreeD, Def. 4.5)."""

    def bind(self, data: Dataset) -> Limit:
        """This limit with every constant that depends on the whole data set made explicit (default: itself)."""
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        """What the limit asks of rows beside the task's statistics, as `Task.statistics` (default: nothing).

        They are counted without row weights. A limit with statistics sees these sums alone, and so goes with every
        task.
        """
        return {}

    @abc.abstractmethod
    def allows(self, s: State) -> bool:
        """Whether a leaf may stand at state s."""

    @property
    def has_statistics(self) -> bool:
        """Whether it asks for anything of rows beside the task's statistics."""
        return type(self).statistics is not Limit.statistics

    @property
    def support(self) -> int | None:
        """The number of rows that a leaf needs, if that is all the limit asks for: drivers enforce it natively."""
        return None


@final
@attrs.frozen
class OwnLimit(Limit):
    """A limit that has statistics of its own, on the states of the constrained task."""

    limit: Limit
    number: int

    @property
    def prefix(self) -> str:
        """What the names of its statistics begin with in the whole."""
        return f"limit{self.number}_"

    def allows(self, s: State) -> bool:
        return self.limit.allows(self.seen(s))

    def seen(self, s: State) -> State:
        """The state as the limit knows it."""
        return StateOfPart(s, self.prefix)
