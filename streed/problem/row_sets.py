"""Sets of rows, as the enumeration of near-optimal trees goes down through them (`streed.tables`).

What a set of rows is, and how its splits are found, is left to whoever keeps the rows: a linear oracle with bit columns
in packed words, or plain numpy with the numbers of distinct rows.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from streed.exact import Array


class RowSet(NamedTuple):
    """The rows that reach a node, and the depth that is left to a tree for them."""

    rows: Array
    """The rows, in the form of the `RowSets` that made them."""
    depth: int | None
    """None for any depth."""
    path: tuple[tuple[int, int], ...] = ()
    """The columns tested above, and the codes that the rows have there."""

    def is_within(self, depth: int) -> bool:
        """Whether trees for the rows have at most this depth."""
        return self.depth is not None and self.depth <= depth

    def limited(self, depth: int) -> RowSet:
        """The same rows for trees of at most this depth."""
        return RowSet(self.rows, depth, self.path)

    def child(self, rows: Array, column: int, code: int) -> RowSet:
        """Those of the rows that have the code in the column, one level below."""
        return RowSet(rows, None if self.depth is None else self.depth - 1, (*self.path, (column, code)))


class RowSets(abc.ABC):
    """The sets of rows of one problem, with the sums that the trees over them are told apart by.

    The sums of a tree are an entry (cost, value, key, ...): `width` whole numbers that rows add up to by their labels,
    and branching nodes by `split`. Costs are counted beyond `base`, which every tree pays, in units of `unit`, and none
    is below zero. Up to `direct_depth`, `pair_sums` tells all trees. Every method may raise SearchStopped.
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
        """The columns that trees of cost <= budget may split on first, and what their children with rows cost at least.

        For any depth but 0.
        """

    @abc.abstractmethod
    def pair_sums(self, rows: RowSet) -> tuple[Array, Array, Array, Array]:
        """(columns (m,), pairs (L * P, P), total (L,), least (width,)): sums from which trees of depth two follow.

        See `streed.tables.shallow`; `least` is the entry of the rows under the first label. m = 0 for depth 0. The
        pairs are those of the last call.
        """

    @abc.abstractmethod
    def caller_column(self, column: int) -> tuple[int, bool]:
        """The caller's number of a column, and whether its two codes stand the other way round there."""

    @abc.abstractmethod
    def check_time(self) -> None:
        """Raises SearchStopped if the time is over."""

    @abc.abstractmethod
    def run(self, work: Callable[[], Any]) -> Any:
        """What the work gives; it may ask for sets of rows, as nothing else may."""
