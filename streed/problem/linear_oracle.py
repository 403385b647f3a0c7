"""What a driver may offer beyond `search`: one problem solved again and again under changing costs.

The reductions (`streed.reductions`) ask for nothing else. A driver that has no quicker way than a search of its own for
each solve need not offer it.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from streed.exact import Array
from streed.problem import SearchLimits
from streed.problem.row_sets import RowSets
from streed.task import Value


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
    counts: Array | None = None
    """(m, kinds) int64: how many rows of each kind are at every node of the tree, where the driver knows it."""


class LinearOracle(abc.ABC):
    """One problem under costs that change from solve to solve; what does not change is prepared once.

    Rows are of few kinds, numbered from 0, and cost alike within a kind; where leaves need several rows, the rows of a
    kind have equal frequencies, too.
    """

    @abc.abstractmethod
    def solve(
        self,
        costs: Array,
        split: int,
        *,
        below: int | None = None,
        ahead: bool = False,
        time_limit: float | None = None,
        report: Callable[[Value | None, Value | None, int, str], None] | None = None,
    ) -> Answer:
        """A tree of least cost, for whole costs (kinds, labels) int64 of a row in a leaf and `split` >= 0 of a node.

        `below`: trees that do not cost less need not be found. `ahead`: a good tree soon, by a rolling lookahead,
        which need not be the best. The other arguments are as in `SearchLimits`. The tree is not measured again: its
        caller does that.
        """

    def count(self, preorder: Array) -> Array | None:
        """(m, kinds) int64: how many rows of each kind are at every node of a tree in preorder.

        None where the raw rows tell as quickly (the default).
        """
        return None

    def row_sets(self, entries: Array, split: Array, search_limits: SearchLimits) -> RowSets | None:
        """The problem's sets of rows, over which near-optimal trees are enumerated; None without any (the default).

        entries (kinds, labels, width) int64: what a row of a kind with a label adds to a tree's entry (see `RowSets`),
        split (width,) int64 what a branching node adds.
        """
        return None

    @abc.abstractmethod
    def stats(self) -> Mapping[str, Any]:
        """As in `Outcome`, of the last solve."""

    @abc.abstractmethod
    def close(self) -> None:
        """Gives back what was prepared; there are no further solves."""
