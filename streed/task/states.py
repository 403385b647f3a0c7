"""States, the sums of a task's statistics over a set of rows, limits on them, and what tasks and limits are made by."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, final
from weakref import WeakKeyDictionary

import attrs

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import Array

T = TypeVar("T")


class State:
    """The sums of a task's statistics over the rows of a state, by attribute, `rows` and `weight`.

    `rows` is how many rows it has, each as often as its frequency says; `weight` is what they weigh together, the same
    number where rows have no weights (a statistic of that name takes its place). A statistic of shape (n,) has a number
    as its sum; one of shape (n, m) has a tuple of m numbers. The states of a task that `reads_rows` also have `data`,
    the data set, and `members`, the numbers of their rows there, (rows,) int64 in ascending order.
    """

    rows: int
    weight: Any

    def __init__(self, rows: int, /, **sums: Any) -> None:
        self.rows = rows
        self.__dict__.update(sums)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "weight":
            return self.rows
        raise TaskError(f"this state has no statistic {name!r}; it has {', '.join(sorted(self.names()))}")

    def names(self) -> list[str]:
        """The attributes that tasks and limits may read."""
        return [name for name in self.__dict__ if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={getattr(self, name)}' for name in self.names())})"


@final
class StateOfPart(State):
    """A state as a part knows it: names without a prefix; what is `shared`, and the weight, are those of the whole."""

    def __init__(self, whole: State, prefix: str, shared: Sequence[str] = ()) -> None:
        super().__init__(whole.rows)
        self.__dict__["_whole"] = (whole, prefix, shared)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        whole, prefix, shared = self.__dict__["_whole"]
        try:
            return getattr(whole, name if name in shared else prefix + name)
        except TaskError:
            return whole.weight if name == "weight" else super().__getattr__(name)

    def names(self) -> list[str]:
        whole, prefix, _ = self.__dict__["_whole"]
        return ["rows", *(name.removeprefix(prefix) for name in whole.names() if name.startswith(prefix))]


@final
class StateInParts(State):
    """A state whose sums are found when they are first asked for."""

    def __init__(self, rows: int, names: Sequence[str], find: Callable[[str], Any]) -> None:
        super().__init__(rows)
        self.__dict__["_parts"] = (names, find)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            names, find = self.__dict__["_parts"]
            if name in names:
                self.__dict__[name] = find(name)
                return self.__dict__[name]
        return super().__getattr__(name)

    def names(self) -> list[str]:
        return ["rows", *self.__dict__["_parts"][0]]


class Fields:
    """What is made by its fields, as attrs has it: an `__init__` of its own would leave them unset."""

    __slots__ = ()

    def __init__(self, *given: Any, **named: Any) -> None:
        """What a class has that attrs did not make: nothing to be told."""
        if given or named:
            raise TaskError(f"{type(self).__name__} takes no arguments: {_BY_FIELDS}")

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        code = getattr(vars(cls).get("__init__"), "__code__", None)
        if code is not None and not code.co_filename.startswith("<attrs generated"):
            setattr(cls, "__init__", _refuse_to_be_made)  # noqa: B010 - for mypy, a method is not assigned


def _refuse_to_be_made(self: Any, *_: Any, **__: Any) -> None:
    name = type(self).__name__
    raise TaskError(f"{name} has an __init__ of its own, and tasks are made by their fields: {_BY_FIELDS}")


_BY_FIELDS = (
    "decorate the class by @attrs.frozen, write each parameter as a field, such as `price: float = 0.5`, and what is "
    "checked in __attrs_post_init__"
)


@attrs.frozen(init=False)
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


def kept_by_data(function: Callable[..., T]) -> Callable[..., T]:
    """The function of a data set and more, whose answers are kept as long as the data are there."""
    known: WeakKeyDictionary[Dataset, dict[Any, T]] = WeakKeyDictionary()

    @functools.wraps(function)
    def kept(data: Dataset, *more: Any) -> T:
        answers = known.setdefault(data, {})
        if more not in answers:
            answers[more] = function(data, *more)
        return answers[more]

    return kept
