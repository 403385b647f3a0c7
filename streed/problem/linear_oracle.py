"""One problem solved again and again under changing costs, by what a driver offers for it or by searches of its own.

The reductions (`streed.reductions`) ask for nothing else, but for the sets of rows over which near-optimal trees are
enumerated (`streed.tables`): bits in packed words of an oracle, or numbers of distinct rows.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.problem import Driver, Problem, SearchLimits
from streed.task import RowCostTask
from streed.tree import Branch, walk


class RowSet(NamedTuple):
    """The rows that reach a node, and the depth that is left to a tree for them."""

    rows: Array
    """The rows, in the form of the `RowSets` that made them."""
    depth: int | None
    """None for any depth."""

    def is_within(self, depth: int) -> bool:
        """Whether trees for the rows have at most this depth."""
        return self.depth is not None and self.depth <= depth

    def limited(self, depth: int) -> RowSet:
        """The same rows for trees of at most this depth."""
        return RowSet(self.rows, depth)

    def child(self, rows: Array) -> RowSet:
        """Some of the rows, one level below."""
        return RowSet(rows, None if self.depth is None else self.depth - 1)


class RowSets(abc.ABC):
    """The sets of rows of one problem, with the sums that the trees over them are told apart by.

    The sums of a tree are an entry (cost, value, key, ...), as in `tables/entries.py`. Costs are counted beyond `base`,
    which every tree pays, in units of `unit`. Up to `direct_depth`, `pair_sums` tells all trees. Every method may raise
    SearchStopped.
    """

    direct_depth: int
    base: int
    unit: int
    split: Array
    """(width,) int64: what a branching node adds, its cost in units."""

    @abc.abstractmethod
    def whole(self) -> RowSet:
        """All rows, with the depth that the problem allows."""

    @abc.abstractmethod
    def children(self, rows: RowSet, column: int) -> list[RowSet | None]:
        """The rows of every code of a column, in the order of codes; None for a code that no row has."""

    @abc.abstractmethod
    def splits(self, rows: RowSet, budget: int) -> Iterator[tuple[int, list[int]]]:
        """The first columns of trees of cost <= budget, and what their children with rows cost at least."""

    @abc.abstractmethod
    def pair_sums(self, rows: RowSet) -> tuple[Array, Array, Array, Array]:
        """(columns (m,), pairs (L * P, P), total (L,), least (width,)): sums from which trees of depth two follow.

        See `streed.tables.shallow`; `least` is the entry of the rows under the first label. m = 0 for depth 0. The
        pairs are those of the last call.
        """

    def caller_column(self, column: int) -> tuple[int, bool]:
        """The caller's number of a column, and whether its two codes stand the other way round there."""
        return column, False

    @abc.abstractmethod
    def check_time(self) -> None:
        """Raises SearchStopped if the time is over."""

    def run(self, work: Callable[[], Any]) -> Any:
        """What the work gives; it may ask for sets of rows, as nothing else may."""
        return work()


@attrs.frozen(eq=False)
class Answer:
    """What a solve found."""

    lower: int | None
    """No allowed tree costs less; None if nothing is known."""
    cost: int | None
    """Of the tree; None if there is none."""
    preorder: Array | None
    """(m,) int64: the column of every node of the tree, children in their order, -1 for leaves."""
    stopped: str | None
    """As in `Outcome`."""
    nodes: int
    """Visited."""


class LinearOracle(abc.ABC):
    """One problem under costs that change from solve to solve; what does not change is prepared once.

    Rows are of few kinds, numbered from 0, and cost alike within a kind; where leaves need several rows, the rows of a
    kind have equal frequencies, too.
    """

    @abc.abstractmethod
    def solve(
        self, costs: Array, split: int, search_limits: SearchLimits, *, below: int | None = None, ahead: bool = False
    ) -> Answer:
        """A tree of least cost, for whole costs (kinds, labels) int64 of a row in a leaf and `split` >= 0 of a node.

        `below`: trees that do not cost less need not be found. `ahead`: a good tree soon, by a rolling lookahead,
        which need not be the best. Nobody asks for a gap or a value to beat. The tree is not measured again: its caller
        does that.
        """

    def row_sets(self, entries: Array, split: Array, time_limit: float | None) -> RowSets | None:
        """The problem's sets of rows, over which near-optimal trees are enumerated; None without any (the default).

        entries (kinds, labels, width) int64: what a row of a kind with a label adds to a tree's entry (see `RowSets`),
        split (width,) int64 what a branching node adds. `time_limit`: seconds, after which questions are refused.
        """
        return None

    @abc.abstractmethod
    def stats(self) -> Mapping[str, Any]:
        """As in `Outcome`, of the last solve."""

    @abc.abstractmethod
    def close(self) -> None:
        """Gives back what was prepared; there are no further solves."""


_AHEAD = 3
"""Levels of a tree that is to be found soon."""


@final
@attrs.frozen(eq=False)
class FixedCosts(RowCostTask):
    """Costs per row and label that are known already; labels are numbers."""

    costs: Array
    """(n, K) int64."""
    split: int

    def labels(self, data: Dataset) -> Sequence[int]:
        return range(self.costs.shape[1])

    def row_costs(self, data: Dataset) -> Array:
        return self.costs

    def split_cost(self) -> int:
        return self.split


@final
@attrs.define(eq=False)
class OracleBySearch(LinearOracle):
    """The searches of a driver for one problem; a tree is found even if it does not cost less than `below`."""

    driver: Driver
    problem: Problem
    kinds: Array
    _stats: Mapping[str, Any] = attrs.field(init=False, factory=dict)

    def solve(
        self, costs: Array, split: int, search_limits: SearchLimits, *, below: int | None = None, ahead: bool = False
    ) -> Answer:
        depth = self.problem.max_depth
        if ahead:
            depth = _AHEAD if depth is None else min(depth, _AHEAD)
        problem = attrs.evolve(self.problem, task=FixedCosts(costs[self.kinds], split), max_depth=depth)
        outcome = self.driver.search(problem, search_limits)
        self._stats = outcome.stats
        cost, preorder = None, None
        if outcome.solutions:
            cost, nodes = outcome.solutions[0].value, walk(outcome.solutions[0].root)
            preorder = np.array([node.column if isinstance(node, Branch) else -1 for node in nodes], np.int64)
        return Answer(outcome.lower, cost, preorder, outcome.stopped, int(outcome.stats["nodes"]))

    def stats(self) -> Mapping[str, Any]:
        """The last search's, without its trace: the values there are those of its costs, and not the user's."""
        return {key: value for key, value in self._stats.items() if key != "trace"}

    def close(self) -> None:
        """There is nothing to give back."""
