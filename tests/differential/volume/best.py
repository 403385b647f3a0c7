"""The least cost of any tree, by dynamic programming over sets of rows in plain numpy.

Nothing of the engine, of the tasks or of the reference takes part. A cost is float64 or, in arrays of objects, an
exact Python number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from streed.exact import Array

LeafCosts = Callable[[Array], Array]
"""(m, n) bool sets of rows to (m,) costs of the best leaf of each."""

Prices = Callable[[int, tuple[int, ...]], list[Any]]
"""From how many rows a branching node has and the columns asked above it to (p,) what asking each column costs."""

INFEASIBLE = math.inf


@attrs.define(eq=False)
class Best:
    """The best trees of one problem."""

    X: Array
    """(n, p) codes."""
    copies: Array
    """(n,) how many rows each row stands for."""
    leaf: LeafCosts
    prices: Prices
    min_leaf: int = 1
    by_path: bool = False
    """Whether prices depend on the columns asked above."""
    _memo: dict[Any, Any] = attrs.field(factory=dict, init=False)
    _literals: Array = attrs.field(init=False)
    """(literals, n) bool: rows with a code of a column, column by column."""
    _starts: list[int] = attrs.field(init=False)
    """(p + 1,) where the literals of each column begin."""

    def __attrs_post_init__(self) -> None:
        literals, self._starts = [], [0]
        for column in self.X.T:
            literals += [column == code for code in range(int(column.max(initial=0)) + 1)]
            self._starts.append(len(literals))
        self._literals = np.array(literals).reshape(-1, len(self.X))

    def optimum(self, max_depth: int | None, max_nodes: int | None, rows: Array | None = None) -> Any:
        """The least cost of a tree within the limits for rows (n,) bool or all of them; INFEASIBLE if there is none."""
        everything = np.ones(len(self.X), np.bool_) if rows is None else rows
        deepest = min(self.X.shape[1], int(self.copies.sum()) - 1)
        depth = deepest if max_depth is None else min(max_depth, deepest)
        widest = max(2, int(self.X.max(initial=0)) + 1)
        if max_nodes is not None and (max_nodes >= widest**depth or max_nodes >= int(self.copies.sum())):
            max_nodes = None
        return self._best(everything, depth, max_nodes, ())

    def _best(self, rows: Array, depth: int, nodes: int | None, path: tuple[int, ...]) -> Any:
        key = (rows.tobytes(), depth, nodes, path if self.by_path else ())
        if key not in self._memo:
            size = int(self.copies[rows].sum())
            best = self.leaf(rows[None])[0] if size >= self.min_leaf else INFEASIBLE
            if depth > 0 and nodes != 0 and size >= 2 * self.min_leaf:
                best = min([best, *self._splits(rows, depth, nodes, path, self.prices(size, path))])
            self._memo[key] = best
        return self._memo[key]

    def _splits(
        self, rows: Array, depth: int, nodes: int | None, path: tuple[int, ...], prices: list[Any]
    ) -> Iterator[Any]:
        """The best cost by every column that splits the rows into large enough parts."""
        parts = self._literals & rows
        sizes = parts @ self.copies
        filled = sizes > 0
        large = sizes >= self.min_leaf
        usable = []
        for column, (first, last) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            inside = filled[first:last]
            if inside.sum() >= 2 and large[first:last][inside].all():
                usable.append((column, [first + int(at) for at in np.flatnonzero(inside)]))
        if not usable:
            return
        if depth == 1 or nodes == 1:
            costs = self.leaf(parts[[at for _, places in usable for at in places]])
            begin = 0
            for column, places in usable:
                yield sum(costs[begin : begin + len(places)]) + prices[column]
                begin += len(places)
            return
        for column, places in usable:
            below = (*path, column)
            for shares in _shares(nodes, len(places)):
                total = prices[column]
                for at, share in zip(places, shares, strict=True):
                    total = total + self._best(parts[at], depth - 1, share, below)
                yield total


def _shares(nodes: int | None, children: int) -> Iterator[tuple[int | None, ...]]:
    """The ways to share all but one of the nodes among the children."""
    if nodes is None:
        yield (None,) * children
        return
    yield from _divided(nodes - 1, children)


def _divided(total: int, children: int) -> Iterator[tuple[int, ...]]:
    if children == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _divided(total - first, children - 1):
            yield (first, *rest)


def merged(X: Array, sums: Array, copies: Array) -> tuple[Array, Array, Array]:
    """(different rows of X, the sums (n, q) of those alike, how many there are): for costs that only read sums."""
    found, place = np.unique(X, axis=0, return_inverse=True)
    total = np.zeros((len(found), sums.shape[1]), sums.dtype)
    np.add.at(total, place.reshape(-1), sums)
    counted = np.zeros(len(found), np.int64)
    np.add.at(counted, place.reshape(-1), copies)
    return found, total, counted


def least_label(costs: Array) -> LeafCosts:
    """The leaf costs of rows with a cost per label (n, K): the least sum, exact in both types."""
    exact = costs.dtype == object

    def leaf(sets: Array) -> Array:
        least: Array = ((sets.astype(object) if exact else sets.astype(np.float64)) @ costs).min(axis=1)
        return least

    return leaf


def narrow(costs: Array) -> Array:
    """The whole numbers (n, K), of any size, as float64 where no sum of them is rounded, else as objects."""
    total = sum(max(map(abs, row)) for row in costs.tolist()) if costs.size else 0
    return costs.astype(np.float64 if total < 2**53 else object)
