"""The grid costs of `check_squares.py` by compiled code: sums by pairs of codes, a class of equal rows at a time."""

from __future__ import annotations

import numpy as np

from streed.proof.check import Array, Limits
from streed.proof.check_squares import Goal, SquaredSums
from streed.proof.counting import compiled, native, side_sums


@native
def grid_cost(moments, factor, min_leaf, big):  # type: ignore[no-untyped-def]
    """What a leaf costs by its moments (4,), rounded down; `big` where it has too few rows."""
    if 0 < moments[3] < min_leaf:
        return big
    return (moments[0] * moments[2] - moments[1] * moments[1]) * factor // max(moments[0], 1)


@compiled
def squared_sides(rows, moments, begins, bits, firsts, factor, split, min_leaf, big):  # type: ignore[no-untyped-def]
    """(Q,) what each side of some rows costs as a leaf, and with the best single split.

    `moments` (n, 4) are those of classes of equal rows, at their first rows; `bits` are the literals, but the first of
    each column, that the rows have, those of row r from begins[r] to begins[r + 1].
    """
    n_bits, n_columns = firsts[len(firsts) - 1], len(firsts) - 1
    pairs, total = np.zeros((4, n_bits, n_bits), np.int64), np.zeros(4, np.int64)
    for r in rows:
        if moments[r, 3] == 0:
            continue
        for k in range(4):
            total[k] += moments[r, k]
            for a in range(begins[r], begins[r + 1]):
                row = pairs[k, bits[a]]
                for b in range(a, begins[r + 1]):
                    row[bits[b]] += moments[r, k]
    for k in range(4):
        for b in range(n_bits):
            for c in range(b):
                pairs[k, b, c] = pairs[k, c, b]
    leaves, stumps = np.empty(n_bits + n_columns, np.int64), np.empty(n_bits + n_columns, np.int64)
    sums, within = np.empty((4, n_bits), np.int64), np.empty(4, np.int64)
    rest, q = np.empty(4, np.int64), 0
    for column in range(n_columns):
        for code in range(firsts[column + 1] - firsts[column] + 1):
            side_sums(pairs, total, firsts, column, code, sums, within)
            leaves[q] = grid_cost(within, factor, min_leaf, big)
            stumps[q] = np.iinfo(np.int64).max
            for second in range(n_columns):
                cost = split
                rest[:] = within
                for b in range(firsts[second], firsts[second + 1]):
                    cost += grid_cost(sums[:, b], factor, min_leaf, big)
                    for k in range(4):
                        rest[k] -= sums[k, b]
                stumps[q] = min(stumps[q], cost + grid_cost(rest, factor, min_leaf, big))
            q += 1
    return leaves, stumps


class CompiledSquares(SquaredSums):
    """Grid costs whose sums are compiled."""

    def __init__(self, X: Array, goal: Goal, limits: Limits) -> None:
        super().__init__(X, goal, limits)
        ends = np.append(self.starts[1:], len(self.held)).astype(np.intp)
        self.firsts = np.concatenate([[0], np.cumsum(ends - self.starts - 1)]).astype(np.int64)
        counted = np.delete(np.arange(len(self.held)), self.starts)
        row, bit = np.nonzero(self.held[counted].T)
        self.begins = np.searchsorted(row, np.arange(self.n + 1))
        self.bits = bit.astype(np.int64)

    def sides(self, i: Array) -> tuple[Array, Array, Array, Array]:
        numbers = (self.factor, int(self.split), self.min_leaf, int(self.big))
        leaves, stumps = squared_sides(i, self.moments, self.begins, self.bits, self.firsts, *numbers)
        return np.zeros(0), leaves.astype(np.float64), stumps.astype(np.float64), np.zeros(0)
