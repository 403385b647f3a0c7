"""What a driver is: a search that takes a problem and proves its optimum.

A driver subclasses `Driver`, says in `check` which tasks it can search, and answers a `Problem` with an `Outcome`.
Costs are whole numbers here, in the unit of `Problem.costs`; `streed.solve` turns them into the task's own units, and
measures every tree again from the raw data.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs

from streed.data import Dataset
from streed.exact import Array, IntegerCosts
from streed.task import Task


@attrs.frozen(eq=False)
class Problem:
    """Data, a bound task and its exact costs, and the trees that are allowed."""

    data: Dataset
    task: Task
    costs: IntegerCosts
    max_depth: int | None
    max_nodes: int | None
    min_leaf: int
    """Rows that a leaf needs: `min_leaf` and the task's limits together."""


@attrs.frozen(eq=False)
class Orders:
    """How long and how large a search may get, and who is told about it."""

    time_limit: float | None = None
    """Seconds of search."""
    memory_limit: int | None = None
    """Bytes of the whole process."""
    threads: int = 1
    report: Callable[[int | None, int, int, str], None] | None = None
    """Called now and then with the best cost so far, the lower bound, the nodes visited, and what is being done."""


@attrs.frozen(eq=False)
class Outcome:
    """What a search found, in whole costs."""

    lower: int
    """No tree within the limits costs less."""
    upper: int | None
    """The cost of the best tree found; None if there is none within the limits."""
    preorder: Array | None
    """(m,) int64: the column of every node of that tree in preorder, -1 for leaves."""
    stopped: str | None
    """None, or what ended the search early: "time", "memory" or "interrupt"."""
    stats: Mapping[str, Any]


class Driver(abc.ABC):
    """A search over the tasks that it accepts."""

    name: ClassVar[str]

    @abc.abstractmethod
    def check(self, task: Task) -> None:
        """Raises TaskError, naming the reason and what would do, if this driver cannot search the task."""

    @abc.abstractmethod
    def search(self, problem: Problem, orders: Orders) -> Outcome:
        """Searches until the optimum is proved or an order says stop."""
