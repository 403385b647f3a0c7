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
from streed.problem.problem import SearchLimits
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


@attrs.frozen(eq=False)
class ListSpec:
    """The sums that tell trees apart in a list, and which of the trees are of interest.

    An entry is (cost, value, key, ...): sums over the rows of a tree by the labels of their leaves, and over its nodes.
    """

    entries: Array
    """(kinds, labels, width) int64: what a row of a kind with a label adds; width >= 3."""
    split: Array
    """(width,) int64: what a branching node adds."""
    places: Array
    """(digits, 4) int64, of every digit of the keys: the word, what one is worth there, how many there are, the least;
    the sums that a key holds are `(digits @ factors) // divisors`."""
    factors: Array
    """(digits, sums) int64."""
    divisors: Array
    """(sums,) int64."""
    intervals: Array
    """(sums, 2) int64: the least and the most that each sum may be for a whole tree."""
    most_key: int | None = None
    """No entry whose first key is larger is needed, at any node."""
    most_value: int | None = None
    staircase: bool = False
    """Whether no entry is needed that another one has no more of value and first key than."""


class TreeLists(abc.ABC):
    """Lists of all trees below a cost; what it is asked may end in SearchStopped, as do lists that grow too large."""

    @abc.abstractmethod
    def every(self, budget: int) -> Array:
        """(m, width) the entries of cost <= budget, of equal keys one of least value."""

    @abc.abstractmethod
    def best(self, budget: int, below: int) -> tuple[int, tuple[Array, Array]] | None:
        """(value, tree) of the least value below `below` of the entries in their intervals; None if there is none."""

    @abc.abstractmethod
    def tree(self, entry: Array) -> tuple[Array, Array]:
        """(columns, labels) in preorder, -1 for leaves, of a tree of an entry that `every` gave."""


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
        max_depth: int | None = None,
        time_limit: float | None = None,
        report: Callable[[Value | None, Value | None, int, str], None] | None = None,
    ) -> Answer:
        """A tree of least cost, for whole costs (kinds, labels) int64 of a row in a leaf and `split` >= 0 of a node.

        `below`: trees that do not cost less need not be found. `max_depth`: no more than the problem's, None for that.
        The other arguments are as in `SearchLimits`. The tree is not measured again: its caller does that.
        """

    def count(self, preorder: Array) -> Array | None:
        """(m, kinds) int64: how many rows of each kind are at every node of a tree in preorder.

        None where the raw rows tell as quickly (the default).
        """
        return None

    def lists(self, spec: ListSpec, search_limits: SearchLimits) -> TreeLists | None:
        """The trees in lists; None if it has no quick way for that (the default)."""
        return None

    @abc.abstractmethod
    def stats(self) -> Mapping[str, Any]:
        """As in `Outcome`, of the last solve."""

    @abc.abstractmethod
    def close(self) -> None:
        """Gives back what was prepared; there are no further solves."""
