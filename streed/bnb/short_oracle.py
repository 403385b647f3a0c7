"""The linear oracle of problems that are surely short: each solve is one native call, and nothing is prepared for it.

Small problems are solved two to ten times under a score or a limit, and each solve is over sooner than a workspace is
laid out. What needs one, the sets of rows that near-optimal trees are counted by, gets the oracle of other problems.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, final

from streed.bnb.procedure import Procedure
from streed.bnb.short_layout import BASE, DIVISOR, HEAD, LANE, LOWER_BOUND, NODES_OF_TREE, UPPER_BOUND, VISITS
from streed.bnb.short_search import NO_PRICES, is_surely_short, kind_of, searched, statistics_of
from streed.encoding.row_costs import category_counts
from streed.exact import Array
from streed.kernels.packed import writable
from streed.kernels.records import INFINITE, LOWEST
from streed.problem import Problem, SearchLimits
from streed.problem.linear_oracle import Answer, LinearOracle
from streed.problem.row_sets import RowSets

_MOST_CODES = 2**17
"""Each solve packs the columns anew: of many more codes than these, packing them once is quicker."""

_WIDEST = 8
"""Bytes: the lanes of a search that was not made."""


def is_for_calls(problem: Problem, search_limits: SearchLimits, procedure: Procedure, n_labels: int) -> bool:
    """Whether solves of the problem are best made by one native call each."""
    return problem.data.X.size <= _MOST_CODES and is_surely_short(problem, search_limits, procedure, n_labels)


@final
class ShortOracle(LinearOracle):
    """A problem whose solves are calls of their own."""

    def __init__(
        self, problem: Problem, kinds: Array, n_labels: int, procedure: Procedure, make: Callable[[], LinearOracle]
    ) -> None:
        """`make` gives the oracle that is asked for what one call does not tell."""
        self._problem, self._kinds, self._procedure, self._make = problem, kinds, procedure, make
        self._codes, self._categories = writable(problem.data.X), category_counts(problem)
        self._kind = kind_of(problem, n_labels)
        self._other: LinearOracle | None = None
        self._head: list[int] | None = [0] * HEAD
        """The first words of the last solve; None if the other oracle made it."""
        self._head[LANE] = _WIDEST
        self._seconds = 0.0

    def solve(
        self,
        costs: Array,
        split: int,
        *,
        below: int | None = None,
        max_depth: int | None = None,
        time_limit: float | None = None,
        report: Callable[[Any, Any, int, str], None] | None = None,
    ) -> Answer:
        problem = self._problem
        depth = problem.max_depth if max_depth is None else max_depth
        given = self._codes, self._categories, costs[self._kinds], split, *NO_PRICES, problem.min_leaf, depth
        begin = time.perf_counter()
        words = searched(given, self._kind)
        self._seconds = time.perf_counter() - begin
        head = [] if words is None else words[:HEAD].tolist()
        if words is None or head[LOWER_BOUND] < head[UPPER_BOUND]:
            self._head = None
            limits: dict[str, Any] = {"below": below, "max_depth": max_depth, "time_limit": time_limit}
            return self._prepared().solve(costs, split, **limits, report=report)
        self._head = head
        base, divisor, lower, upper = head[BASE], head[DIVISOR], head[LOWER_BOUND], head[UPPER_BOUND]
        bound = base + divisor * lower if lower > LOWEST else None
        cost = base + divisor * upper
        if upper >= INFINITE or (below is not None and cost >= below):
            return Answer(bound, None, None, None, head[VISITS])
        return Answer(bound, cost, words[HEAD : HEAD + head[NODES_OF_TREE]], None, head[VISITS])

    def count(self, preorder: Array) -> Array | None:
        return None if self._other is None else self._other.count(preorder)

    def row_sets(self, entries: Array, split: Array, search_limits: SearchLimits) -> RowSets | None:
        return self._prepared().row_sets(entries, split, search_limits)

    def stats(self) -> Mapping[str, Any]:
        if self._head is not None:
            seconds = {"seconds_setup": 0.0, "seconds_search": self._seconds}
            return statistics_of(self._head, self._procedure, self._kind) | seconds
        return self._prepared().stats()

    def close(self) -> None:
        if self._other is not None:
            self._other.close()

    def _prepared(self) -> LinearOracle:
        if self._other is None:
            self._other = self._make()
        return self._other
