"""States: the sums of a task's statistics over a set of rows, whole or as one part of a composed task sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from streed.errors import TaskError


class State:
    """The sums of a task's statistics over the rows of a state, by attribute, `rows` and `weight`.

    `rows` is how many rows it has, each as often as its frequency says; `weight` is what they weigh together, the same
    number where rows have no weights (a statistic of that name takes its place). A statistic of shape (n,) has a number
    as its sum; one of shape (n, m) has a tuple of m numbers. The states of a task that `reads_rows` also have `data`,
    the data set, and `members`, the numbers of their rows there, (rows,) int64 in ascending order.
    """

    rows: int
    weight: Any

    def __init__(self, rows: int, **sums: Any) -> None:
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
    """A state as a part of a composed task knows it: the part's statistics, by their own names.

    In the whole their names begin with a prefix. What is `shared`, such as the numbers of the rows, has one name in the
    whole and in all its parts. The weight of the rows is the whole's, unless the part has a statistic of that name.
    """

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
