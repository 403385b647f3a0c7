"""What is asked of a search, and what it answers: a problem, the limits of the search, solutions and the outcome.

A driver is a search that takes a problem and proves its optimum. It subclasses `Driver`, says in `check` which tasks it
can search, and answers a `Problem` with an `Outcome`, whose values are those of the bound task. Whatever a driver
computes with, it measures every tree again from raw data before it hands it out (`certificate.py`).
"""

from __future__ import annotations

import abc
import functools
import math
import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from streed.data import Dataset
from streed.data.questions import Questions
from streed.exact import Array
from streed.task import TOTAL, ExactSums, RowCostTask, Task, Value, quick_sums
from streed.task.analysis.facts import first_costs, vector_costs
from streed.task.analysis.linear_form import row_cost_form
from streed.task.bounded_sums import RowSum, exact_costs
from streed.tree import Node
from streed.whole_costs import IntegerCosts

if TYPE_CHECKING:
    from streed.problem.linear_oracle import LinearOracle


@attrs.frozen(eq=False)
class Problem:
    """Data, a bound task, and the trees that are allowed."""

    data: Dataset
    task: Task
    max_depth: int | None
    max_nodes: int | None
    min_leaf: int
    """Rows that a leaf needs: `min_leaf` and the task's limits together."""
    questions: Questions | None = None
    """Where the columns are questions about ordered ones: which."""

    def broken_by(self, depth: int, branches: int, smallest_leaf: int) -> str | None:
        """What a tree has that a limit forbids; None if it keeps them all."""
        if self.max_depth is not None and depth > self.max_depth:
            return f"depth {depth}"
        if self.max_nodes is not None and branches > self.max_nodes:
            return f"{branches} branching nodes"
        return f"a leaf of {smallest_leaf} rows" if smallest_leaf < self.min_leaf else None

    @functools.cached_property
    def most_branches(self) -> int:
        """No tree within the limits has more branching nodes that part rows of the data."""
        data, nodes = self.data, self.max_nodes
        most = max(0, min(data.n_rows, data.size // max(1, self.min_leaf)) - 1)
        if self.max_depth is not None:
            levels, widest = range(min(self.max_depth, most.bit_length())), data.most_children
            most = min(most, sum([widest**level for level in levels]))
        return most if nodes is None else min(most, nodes)

    @functools.cached_property
    def statistics(self) -> dict[str, Array]:
        """The task's statistics, those of its limits included."""
        return self.task.statistics(self.data)

    @functools.cached_property
    def sums(self) -> dict[str, Array]:
        """The task's statistics as machine numbers, see `quick_sums`."""
        return quick_sums(self.task, self.data, self.statistics)

    @functools.cached_property
    def row_form(self) -> RowCostTask | None:
        """The task, without limits on leaves, as a cost per row and label; None where it is no such task."""
        return row_cost_form(self.task, self.data, lambda: self.statistics)

    @functools.cached_property
    def row_costs(self) -> IntegerCosts | None:
        """These costs in whole numbers of one unit."""
        return None if self.row_form is None else exact_costs(self.row_form, self.data)

    @functools.cached_property
    def vector_costs(self) -> tuple[RowSum, ...] | None:
        """The same of every component, of a task of sums in the componentwise order."""
        return vector_costs(self.task, self.data)

    @functools.cached_property
    def exact_sums(self) -> ExactSums:
        """The task's statistics as whole numbers and the worth of 1."""
        return ExactSums(self.task, self.data)

    @functools.cached_property
    def first_costs(self) -> list[Value]:
        """The costs of a few leaves, of a task that reads only sums, see `first_costs` in facts.py."""
        return first_costs(self.task, self.sums, self.data)


@attrs.frozen(eq=False)
class SearchLimits:
    """How long and how large a search may get, and who is told about it."""

    time_limit: float | None = attrs.field(default=None, converter=attrs.converters.optional(float))
    """Seconds of search."""
    memory_limit: int | None = attrs.field(default=None, converter=attrs.converters.optional(math.ceil))
    """Bytes of the whole process."""
    threads: int = 1
    report: Callable[[Value | None, Value | None, int, str], None] | None = None
    """Called now and then with the best value so far, the bound, the nodes visited, and what is being done."""
    within_gap: Callable[[Value, Value], bool] | None = None
    """Whether a best value and a bound are so close that the search may stop."""
    beat: Value | None = None
    """Only trees of a better value than this are asked for; a search that finds none need not find any tree."""
    hopeless: Callable[[Value], bool] | None = None
    """Where there is a value to beat: whether a bound shows that no tree beats it, so that the search may stop."""

    def after(self, seconds: float) -> SearchLimits:
        """The limits once so many seconds have passed."""
        if self.time_limit is None:
            return self
        return attrs.evolve(self, time_limit=max(self.time_limit - seconds, 0.0))

    def tell(self, best: Value | None, bound: Value | None, nodes: int) -> bool:
        """Reports where the search stands, None for what is not known; whether it may stop there."""
        if self.report is not None:
            self.report(best, bound, nodes, "searching")
        if self.hopeless is not None and bound is not None and self.hopeless(bound):
            return True
        return self.within_gap is not None and best is not None and bound is not None and self.within_gap(best, bound)


@attrs.frozen(eq=False)
class Solution:
    """A tree and its value, measured from the raw data."""

    value: Value
    root: Node
    shown: tuple[Any, ...] | None = None
    """What its leaves show, left to right, where a driver knows it and it is not their labels."""
    score: Any = None
    """The task's score of the value, where a driver knows it."""


CLOSE = 2.0**-30
"""Part of its size by which rounding may keep a value and the bound on it apart."""


def agree(value: Value, bound: Value, size: Any) -> bool:
    """Whether a bound proves a value: they are equal or, of real numbers of a size, as near as rounding lets them be.

    `size`: as in `Outcome`. A bound of 0 proves 0 alone.
    """
    if value == bound:
        return True
    # the difference is exact, and what follows quicker in floats than in fractions
    return size is not None and bound != 0 and float(abs(value - bound)) <= CLOSE * max(abs(float(value)), float(size))


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
    real: bool = False
    """Whether values are real numbers by their nature, so that whole ones are shown as floats, too."""
    score_bound: Any = None
    """In place of `lower`, where the value is a tuple: no tree within the limits has a better score.

    Of a front whose scores are tuples: none has a better score in any component.
    """
    size: Any = None
    """Of real numbers, what costs may cancel to the value: 0 where none do; None, where numbers are exact."""

    @property
    def meets(self) -> bool:
        """Whether value and bound are equal, where the order is total and both are known."""
        return not self._is_bounded or bool(self.solutions[0].value == self.lower)

    @functools.cached_property
    def is_proved(self) -> bool:
        """Whether value and bound meet, or are as near as rounding of real numbers lets them be; see `agree`."""
        return not self._is_bounded or agree(self.solutions[0].value, self.lower, self.size)

    @property
    def _is_bounded(self) -> bool:
        """Whether there is a value, and a bound on it that is not the value itself."""
        value = self.solutions[0].value if self.solutions else None
        return value is not self.lower and isinstance(value, numbers.Real) and isinstance(self.lower, numbers.Real)


class SearchStopped(Exception):
    """A search ended before its answer was proved: its limits, or Ctrl-C, said so.

    `reason` is as in `Outcome.stopped`. What is known by then: `lower`, a lower bound on what was to be minimised, and
    `tree`, the best tree so far; None where nothing is known.
    """

    def __init__(self, reason: str, lower: int | None = None, tree: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lower = lower
        self.tree = tree


class Driver(abc.ABC):
    """A search over the tasks that it accepts."""

    name: ClassVar[str]

    reduces: ClassVar[bool] = True
    """Whether it is better asked for scalar solves where a task of several sums allows it (`streed.reductions`)."""

    def knows_gap(self, task: Task) -> bool:
        """Whether the search has a bound on the task's value while it runs."""
        return task.order == TOTAL

    def check(self, task: Task) -> None:  # noqa: B027
        """Raises TaskError, naming the reason and what would do, for a task that it cannot search (default: none)."""

    @abc.abstractmethod
    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """Searches until the optimum is proved or an order says stop."""

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """Quick solves of the problem's trees under changing costs; None: `search` has to do (the default).

        `kinds` (n,) int64: which kind each row is. `n_labels`: as many columns have the costs. `splits`: whether
        branching may cost anything. The problem's task is not read.
        """
        return None
