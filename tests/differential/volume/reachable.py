"""The sums that trees can have: every vector of sums over rows, each row counted by the label of its leaf.

A vector is one whole number, its entries the digits of a mixed radix, so that sums of vectors are sums of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from streed.exact import Array


@attrs.frozen(eq=False)
class Coding:
    """Vectors of whole numbers from 0 up to `largest`, as one number each."""

    largest: tuple[int, ...]

    @property
    def places(self) -> list[int]:
        """What a unit of every entry is worth."""
        places = [1]
        for most in self.largest:
            places.append(places[-1] * (most + 1))
        return places

    @property
    def dtype(self) -> Any:
        return np.int64 if self.places[-1] < 2**62 else object

    def encode(self, vectors: Array) -> Array:
        """(..., q) to (...)."""
        codes: Array = vectors.astype(self.dtype) @ np.array(self.places[:-1], self.dtype)
        return codes

    def decode(self, codes: Array) -> Array:
        """(m,) to (m, q)."""
        columns = []
        for most in self.largest:
            columns.append(codes % (most + 1))
            codes = codes // (most + 1)
        return np.stack(columns, axis=1)


@attrs.define(eq=False)
class Reachable:
    """The vectors of the trees of one problem; the last entry is the number of branching nodes."""

    X: Array
    """(n, p) codes."""
    copies: Array
    """(n,) how many rows each row stands for."""
    sums: Array
    """(n, K, q) whole numbers >= 0: what a row adds under each label."""
    min_leaf: int = 1
    counted: bool = False
    """Whether nodes are counted; else their number is left at 0."""
    most_nodes: int | None = None
    _coding: Coding = attrs.field(init=False)
    _codes: Array = attrs.field(init=False)
    """(n, K)"""
    _memo: dict[Any, Array] = attrs.field(factory=dict, init=False)

    def vectors(self, max_depth: int | None) -> Array:
        """(m, q + 1) the different vectors of all trees within the limits, in some order."""
        n, p = self.X.shape
        depth = min(max_depth if max_depth is not None else p, p, int(self.copies.sum()))
        totals = self.sums.max(axis=1).sum(axis=0).tolist()
        self._coding = Coding((*totals, max(int((self.copies > 0).sum()), 1)))
        self._codes = self._coding.encode(np.concatenate([self.sums, np.zeros((*self.sums.shape[:2], 1), int)], axis=2))
        return self._coding.decode(self._reach(np.ones(n, np.bool_), depth))

    def _reach(self, rows: Array, depth: int) -> Array:
        key = (rows.tobytes(), depth)
        if key not in self._memo:
            size = int(self.copies[rows].sum())
            found = [self._codes[rows].sum(axis=0)] if size >= self.min_leaf else []
            if depth > 0 and size >= 2 * self.min_leaf:
                found += [self._split(rows, column, depth) for column in range(self.X.shape[1])]
            codes = np.unique(np.concatenate(found)) if found else np.zeros(0, self._coding.dtype)
            if self.most_nodes is not None:
                node = self._coding.places[-2]
                codes = codes[codes // node <= self.most_nodes]
            self._memo[key] = codes
        return self._memo[key]

    def _split(self, rows: Array, column: int, depth: int) -> Array:
        """The vectors of trees that ask the column first."""
        asked = self.X[:, column]
        parts = [part for code in range(int(asked.max()) + 1) if (part := rows & (asked == code)).any()]
        none = np.zeros(0, self._coding.dtype)
        if len(parts) < 2:
            return none
        total = np.array([self._coding.places[-2] if self.counted else 0], self._coding.dtype)
        for part in parts:
            below = self._reach(part, depth - 1)
            if not len(below):
                return none
            total = np.unique((total[:, None] + below[None]).reshape(-1))
        return total


def whole(values: Sequence[Any]) -> tuple[list[int], int]:
    """(the fractions as whole multiples, of one over this)."""
    common = math.lcm(*{value.denominator for value in values})
    return [value.numerator * (common // value.denominator) for value in values], common
