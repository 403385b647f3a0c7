"""The native drivers: one search (bnb/native_search.py), told apart by its procedure.

Depth-first search in STreeD's order (NeurIPS 2023) finishes a part of the tree before the next one begins. Best-first
search is AO* over the and-or graph of splits and their sides (Chaouki, Read, Bifet, "Branches: efficiently seeking
optimal sparse decision trees via AO*", ICML 2025, Section 4.2): the best edge of a node is improved only until it is no
longer the best one.
"""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.bnb.native_search import search_native
from streed.bnb.procedure import BEST_FIRST, DEPTH_FIRST, Procedure
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
from streed.task import TOTAL, Task
from streed.task.base import objective

_MOST_KINDS, _ROWS_OF_KIND = 512, 256
"""So many kinds of rows are counted kind by kind, if each has about as many rows, which fill most of their words."""


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
