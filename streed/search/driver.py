"""What a driver is: a search that takes a problem and proves its optimum.

A driver subclasses `Driver`, says in `check` which tasks it can search, and answers a `Problem` with an `Outcome`,
whose values are those of the bound task. Whatever a driver computes with, it measures every tree again from raw data
before it hands it out (`certificate.py`).
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from streed.data import Dataset
from streed.exact import Array
from streed.task import TOTAL, Task, Value, quick_sums
from streed.tree import Node

if TYPE_CHECKING:
    from streed.search.repricing import Repricing


@attrs.frozen(eq=False)
class Problem:
    """Data, a bound task, and the trees that are allowed."""

    data: Dataset
    task: Task
    max_depth: int | None
    max_nodes: int | None
    min_leaf: int
    """Rows that a leaf needs: `min_leaf` and the task's limits together."""

    @functools.cached_property
    def sums(self) -> dict[str, Array]:
        """The task's statistics as machine numbers, see `quick_sums`."""
        return quick_sums(self.task, self.data)


@attrs.frozen(eq=False)
class Orders:
    """How long and how large a search may get, and who is told about it."""

    time_limit: float | None = None
    """Seconds of search."""
    memory_limit: int | None = None
    """Bytes of the whole process."""
    threads: int = 1
    report: Callable[[Value | None, Value | None, int, str], None] | None = None
    """Called now and then with the best value so far, the bound, the nodes visited, and what is being done."""
    enough: Callable[[Value, Value], bool] | None = None
    """Whether a best value and a bound are so close that the search may stop."""

    def is_enough(self, best: Value | None, bound: Value | None) -> bool:
        """Whether the search may stop with these, None for what is not known."""
        return self.enough is not None and best is not None and bound is not None and self.enough(best, bound)


@attrs.frozen(eq=False)
class Solution:
    """A tree and its value, measured from the raw data."""

    value: Value
    root: Node
    shown: tuple[Any, ...] | None = None
    """What its leaves show, left to right, where a driver knows it and it is not their labels."""
    score: Any = None
    """The task's score of the value, where a driver knows it."""


@attrs.frozen(eq=False)
class Outcome:
    """What a search found."""

    solutions: tuple[Solution, ...]
    """The nondominated ones: at most one where the order is total."""
    lower: Value | None
    """Where the order is total: no tree within the limits has a better value; None if nothing is known."""
    stopped: str | None
    """None, or what ended the search early: "time", "memory", "gap" or "interrupt"."""
    stats: Mapping[str, Any]
    unit: Fraction | int = 1
    """Leaves cost this much times their `cost`."""
    real: bool = False
    """Whether values are real numbers by their nature, so that whole ones are shown as floats, too."""
    score_bound: Any = None
    """In place of `lower`, where the value is a tuple: no tree within the limits has a better score.

    Of a front whose scores are tuples: none has a better score in any component.
    """


class Driver(abc.ABC):
    """A search over the tasks that it accepts."""

    name: ClassVar[str]

    reduces: ClassVar[bool] = True
    """Whether it is better asked for scalar solves where a task of several sums allows it (`streed.reductions`)."""

    def knows_gap(self, task: Task) -> bool:
        """Whether the search has a bound on the task's value while it runs."""
        return task.order == TOTAL

    @abc.abstractmethod
    def check(self, task: Task) -> None:
        """Raises TaskError, naming the reason and what would do, if this driver cannot search the task."""

    @abc.abstractmethod
    def search(self, problem: Problem, orders: Orders) -> Outcome:
        """Searches until the optimum is proved or an order says stop."""

    def reprice(self, problem: Problem, kinds: Array, n_labels: int, splits: bool, orders: Orders) -> Repricing | None:
        """Quick solves of the problem's trees under changing costs; None: `search` has to do (the default).

        `kinds` (n,) int64: which kind each row is. `n_labels`: as many columns have the costs. `splits`: whether
        branching may cost anything. The problem's task is not read.
        """
        return None
