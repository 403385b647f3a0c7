"""The drivers: native ones, with one search (bnb/native_search.py) told apart by its procedure, fronts, and any task.

Depth-first search in STreeD's order (NeurIPS 2023) finishes a part of the tree before the next one begins. Best-first
search is AO* over the and-or graph of splits and their sides (Chaouki, Read, Bifet, "Branches: efficiently seeking
optimal sparse decision trees via AO*", ICML 2025, Section 4.2): the best edge of a node is improved only until it is no
longer the best one.
"""

from __future__ import annotations

import numbers
from typing import ClassVar, final

import attrs
import numpy as np

from streed.bnb.native_search import search_native
from streed.bnb.procedure import BEST_FIRST, DEPTH_FIRST, Procedure
from streed.data import Dataset
from streed.dp.search import search_general
from streed.drivers.points_ahead import search_fronts
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.counting.groups import MOST_GROUPS
from streed.ordered import choice
from streed.ordered.in_order_search import search_in_order
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.problem.linear_oracle import LinearOracle
from streed.task import TOTAL, Task, beside_sums, state_of
from streed.task.base import objective

_MOST_KINDS, _ROWS_OF_KIND = 512, 256
"""So many kinds of rows are counted kind by kind, if each has about as many rows, which fill most of their words."""

_MANY_SPLITS = 150
"""Where more may pay, best-first search was behind at any time, in value and in bound."""


def by_thresholds(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name, of a search over thresholds; None where there are few."""
    if not choice.is_for_thresholds(problem):
        return None
    from streed.ordered.generated_search import search_generated
    from streed.ordered.search import search_ordered

    return search_ordered(problem, search_limits, name) or search_generated(problem, search_limits, name)


@attrs.frozen
class Native(Driver):
    """The native search by a procedure, with all limits; tasks of which no kernels can be made go another way."""

    procedure: ClassVar[Procedure]
    row_prices: bool = True
    """Whether a search without a depth limit that takes long gets bounds by prices of its rows beside it."""

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        found = search_in_order(problem, search_limits, self.name)
        if found is None and problem.questions is None:
            found = by_thresholds(problem, search_limits, self.name)
        if found is not None:
            return found
        began = clock()
        outcome = search_native(problem, search_limits, self.procedure, self.row_prices)
        if outcome is None:
            return self.without_kernels(problem, search_limits)
        if outcome.stopped == "rounding":
            from streed.drivers.closing import close_by_near_optimal

            return close_by_near_optimal(problem, outcome, search_limits.after(clock() - began), self)
        return outcome

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """The outcome for a task of which no kernels can be made: by the front engine, or else by the general route."""
        outcome = search_fronts(problem, search_limits, self)
        return search_general(problem, search_limits) if outcome is None else outcome

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """Takes problems of few kinds of rows; with many thresholds by the ordered search."""
        n_kinds = int(kinds.max(initial=0)) + 1
        if n_kinds > max(MOST_GROUPS, min(_MOST_KINDS, len(kinds) // _ROWS_OF_KIND)):
            return None

        from streed.bnb.oracle import NativeOracle
        from streed.enumerate.packed_rows import packed_rows_of

        def native() -> LinearOracle:
            return NativeOracle(
                problem, kinds, n_labels, splits, search_limits, self.procedure, packed_rows_of, self.row_prices
            )

        if choice.is_for_thresholds(problem):
            from streed.ordered.oracle import OrderedOracle

            return OrderedOracle(problem, kinds, search_limits, self.name, native)
        return native()


@final
@attrs.frozen
class DepthFirst(Native):
    """Depth-first branch and bound with depth-three work units, shared subproblems and similarity bounds."""

    name: ClassVar[str] = DEPTH_FIRST.name
    procedure: ClassVar[Procedure] = DEPTH_FIRST


@final
@attrs.frozen
class Branches(Native):
    """Best-first search: of all partial trees, one of least lower bound is looked at next."""

    name: ClassVar[str] = BEST_FIRST.name
    procedure: ClassVar[Procedure] = BEST_FIRST

    def check(self, task: Task) -> None:
        """Raises TaskError for tasks whose order is not total: there is no best partial tree to go on with."""
        if task.order != TOTAL:
            raise TaskError(
                f"{type(objective(task)).__name__} has a partial order, and best-first search needs a total one\n"
                'use search="depth-first", which finds the front'
            )

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits, best_first=True)
        return attrs.evolve(outcome, stats={**outcome.stats, "search": self.name})


@final
@attrs.frozen
class General(Driver):
    """Dynamic programming in Python over any separable task, with fronts where the order is partial."""

    like: Driver | None = None
    """The driver whose order of search it takes, and whose name."""
    name: ClassVar[str] = "general"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        """Takes every task, but for those that the other driver cannot search."""
        if self.like is not None:
            self.like.check(task)

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits, best_first=isinstance(self.like, Branches))
        name = self.name if self.like is None else self.like.name
        return attrs.evolve(outcome, stats={"search": name, **outcome.stats})


@final
@attrs.frozen
class Fronts(Driver):
    """The front DP: by compiled units where values are sums of whole costs, else by the general route."""

    name: ClassVar[str] = "fronts"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        if task.order == TOTAL:
            raise TaskError(
                f"{type(objective(task)).__name__} has one optimum and no front; join it with another by &, or "
                'leave out search="fronts"'
            )

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return DepthFirst().without_kernels(problem, search_limits)


@final
@attrs.frozen
class Auto(Driver):
    """Depth-first or best-first search, by the problem; `stats` says which in `search`, and why in `chosen`."""

    name: ClassVar[str] = "auto"

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        driver, reason = choose(problem, search_limits)
        outcome = driver.search(problem, search_limits)
        return attrs.evolve(outcome, stats={"search": driver.name, **outcome.stats, "chosen": reason})

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """That of depth-first search where the depth is limited; else each solve is by what its costs choose."""
        if problem.max_depth is None:
            return None
        return DepthFirst().linear_oracle(problem, kinds, n_labels, splits, search_limits)


def choose(problem: Problem, search_limits: SearchLimits) -> tuple[Driver, str]:
    """(the driver, the reason in words)."""
    task, data = problem.task, problem.data
    if task.order != TOTAL:
        return DepthFirst(), "the order is partial"
    if problem.max_depth is not None:
        return DepthFirst(), "the depth is limited: subproblems are shallow, and solved by counting"
    splits = _most_splits(task, data, problem.sums)
    if splits is None:
        return DepthFirst(), "splits cost nothing, or nobody knows how many pay: bounds of partial trees say little"
    if splits > _MANY_SPLITS:
        return DepthFirst(), f"up to {splits:.0f} splits may pay: depth-first search is the first to find large trees"
    if search_limits.within_gap is not None or search_limits.time_limit is not None:
        return Branches(), f"at most {splits:.0f} splits pay, and the search may be stopped"
    return DepthFirst(), "the proof is wanted, and comes sooner"


def _most_splits(task: Task, data: Dataset, sums: dict[str, Array]) -> float | None:
    """How many splits cost as much as all rows in one leaf, about kappa of Branches' Theorem 4.4; None if not known."""
    costs = [task.branching_cost(data.size, (), split) for split in range(data.n_columns)]
    prices = [abs(float(cost)) for cost in costs if isinstance(cost, numbers.Real) and cost]
    if not prices or task.larger_is_better:
        return None
    rows = np.arange(data.n_rows)
    whole = state_of(sums, rows, data, beside_sums(task, data, rows))
    leaves = [task.leaf_cost(whole, label) for label in range(len(task.labels(data)))]
    return min((abs(float(leaf)) for leaf in leaves if isinstance(leaf, numbers.Real)), default=0.0) / min(prices)
