"""Sets of rows by the numbers of distinct rows, in numpy: for any driver, many kinds of rows, columns of categories."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from streed.enumerate.entries import COST
from streed.enumerate.shallow import least_shallow
from streed.enumerate.vector_trees import Trees
from streed.exact import Array
from streed.kernels.records import INFINITE, LANES
from streed.problem import Problem
from streed.problem.oracle_by_search import FixedCosts
from streed.problem.row_sets import RowSet, RowSets

_SHALLOW = 2
"""The depth up to which sums over pairs of columns tell all entries, where no column has categories."""

Ranked = tuple[int, int, list[int]]
"""What a split costs at least, its column, and what each child with rows costs at least."""


@final
class NumberedRowSets(RowSets):
    """Rows as (m,) int64 numbers of distinct rows. Children's bounds are optima, by pair sums or searches."""

    unit = 1

    def __init__(self, trees: Trees, entries: Array, split: Array) -> None:
        self._trees = trees
        self.split = split
        self._widths = trees.arity.tolist()
        """Of every column how many categories it has, 0 for a binary one."""
        self.direct_depth = 0 if any(self._widths) else _SHALLOW
        least = entries[:, :, COST].min(axis=1, keepdims=True)
        self.base = int(trees.sizes @ least[:, 0])
        entries = entries.copy()
        entries[:, :, COST] -= least
        self._costs = entries[:, :, COST]
        first, self._member = trees.distinct_rows
        self._codes = trees.data.X[first]
        self._counts = np.zeros(len(first), np.int64)
        np.add.at(self._counts, self._member, trees.data.counts)
        self._sums = trees.merged(entries)
        profits = (self._sums[:, 1:] - self._sums[:, :1]).reshape(len(first), -1)
        self._profits = np.concatenate([self._counts[:, None], profits], axis=1)
        self._exact = float if np.abs(self._profits).sum() < 2**53 else np.int64
        """What adds up profits exactly, floats sooner."""
        self._bounds: dict[tuple[bytes, int | None], int] = {}
        self._ranked: dict[tuple[bytes, int | None], list[Ranked]] = {}

    def whole(self) -> RowSet:
        return RowSet(np.arange(len(self._codes)), self._trees.problem.max_depth)

    def caller_column(self, column: int) -> tuple[int, bool]:
        return column, False

    def children(self, rows: RowSet, column: int) -> list[RowSet | None]:
        here = self._codes[rows.rows, column]
        parts = (rows.rows[here == code] for code in range(self._widths[column] or 2))
        return [rows.child(part, column, code) if len(part) else None for code, part in enumerate(parts)]

    def pair_sums(self, rows: RowSet) -> tuple[Array, Array, Array, Array]:
        codes, profits = self._codes[rows.rows], self._profits[rows.rows].astype(self._exact)
        ones = codes.sum(axis=0, dtype=np.int64)
        columns = np.flatnonzero((ones > 0) & (ones < len(codes))) if rows.depth and self.direct_depth else ones[:0]
        having = np.zeros((len(codes), -(-len(columns) // LANES) * LANES), self._exact)
        having[:, : len(columns)] = codes[:, columns]
        pairs = np.concatenate([having.T @ (having * each[:, None]) for each in profits.T]).astype(np.int64)
        total = self._profits[rows.rows].sum(axis=0)
        return columns, pairs, total, self._sums[rows.rows, 0].sum(axis=0)

    def splits(self, rows: RowSet, budget: int) -> Iterator[tuple[int, list[int]]]:
        name = (rows.rows.tobytes(), rows.depth)
        if name not in self._ranked:
            self.check_time()
            self._ranked[name] = sorted(self._rank(rows), key=operator.itemgetter(0))
        for total, column, bounds in self._ranked[name]:
            if total > budget:
                return
            yield column, bounds

    def check_time(self) -> None:
        self._trees.remaining()

    def run(self, work: Callable[[], Any]) -> Any:
        return work()

    def _rank(self, rows: RowSet) -> Iterator[Ranked]:
        for column in range(len(self._widths)):
            children = [child for child in self.children(rows, column) if child is not None]
            if len(children) > 1:
                bounds = [self._bound(child) for child in children]
                if max(bounds) < INFINITE:
                    yield sum(bounds) + int(self.split[COST]), column, bounds

    def _bound(self, rows: RowSet) -> int:
        """The least cost of a tree for the rows; INFINITE if none is allowed."""
        name = (rows.rows.tobytes(), rows.depth)
        if name not in self._bounds:
            self.check_time()
            is_shallow = rows.is_within(self.direct_depth)
            self._bounds[name] = self._least_shallow(rows) if is_shallow else self._least_tree(rows)
        return self._bounds[name]

    def _least_shallow(self, rows: RowSet) -> int:
        columns, *sums, least = self.pair_sums(rows)
        found = least_shallow(*sums, len(columns), self.split, rows.depth, self._trees.problem.min_leaf)[0]
        return int(found + least[COST] if found < INFINITE else INFINITE)

    def _least_tree(self, rows: RowSet) -> int:
        chosen = np.zeros(len(self._codes), np.bool_)
        chosen[rows.rows] = True
        members = np.flatnonzero(chosen[self._member])
        of = self._trees.problem
        costs = FixedCosts(self._costs[self._trees.kinds[members]], int(self.split[COST]))
        most = None if of.max_nodes is None else max(0, of.max_nodes - 1)
        found = self._trees.search(Problem(self._trees.data.subset(members), costs, rows.depth, most, of.min_leaf))
        return found.solutions[0].value if found.solutions else INFINITE
