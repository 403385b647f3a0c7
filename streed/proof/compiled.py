"""The sums of `check.py` by compiled code, which counts the bits of words (`counting.py`).

    python -m streed.proof.compiled tree.proof table.csv --max-depth 4

The rules, and what follows from them, stay those of `check.py`; only how sums are formed is another. Sums of many kinds
of rows (weights, costs of their own) and those under `min_leaf` are left to numpy.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from streed.proof.check import Array, Limits, Sums
from streed.proof.checker import run_checker
from streed.proof.counting import (
    Counts,
    add_ones,
    add_pairs,
    add_row,
    compiled,
    count_column,
    count_ones,
    scratch_for,
)
from streed.proof.packed import Packed, classes_of, pack_bits, places
from streed.proof.sides import pair_matrices, solve_shallow

MOST_KINDS = 64
"""Of rows; beyond, words would be nearly empty."""


@compiled
def pack_rows(rows, place, n_words):  # type: ignore[no-untyped-def]
    """(W,) uint64: the bits at the places of some rows."""
    packed = np.zeros(n_words, np.uint64)
    for row in rows:
        packed[place[row] >> 6] |= np.uint64(1) << np.uint64(place[row] & 63)
    return packed


@compiled
def count_rows(packed, words, kind_of_word, values, worst, firsts):  # type: ignore[no-untyped-def]
    """(kept, rows, kinds, total, weight, pairs, weights) of `Counts` for packed rows, of all words (W, B)."""
    n_literals = words.shape[1]
    n_rows = 0
    for word in packed:
        n_rows += count_ones(word)
    kept = np.zeros((n_rows // 64 + len(values) + 1, n_literals), np.uint64)
    kinds, rows = np.zeros(len(kept), np.int64), np.zeros(len(kept), np.uint64)
    total, weight = np.zeros(values.shape[1], np.int64), 0
    at, filled, kind = -1, 64, -1
    for w in range(len(packed)):
        word = packed[w]
        while word != 0:
            place = np.uint64(count_ones((word & (~word + np.uint64(1))) - np.uint64(1)))
            word &= word - np.uint64(1)
            if filled == 64 or kind != kind_of_word[w]:
                at, filled, kind = at + 1, 0, kind_of_word[w]
                kinds[at] = kind
            add_row(kept[at], words[w], place, np.uint64(filled))
            rows[at] |= np.uint64(1) << np.uint64(filled)
            filled += 1
            weight += worst[kind, 0]
            for k in range(len(total)):
                total[k] += values[kind, k]
    kept, rows, kinds = kept[: at + 1], rows[: at + 1], kinds[: at + 1]
    pairs = np.empty((values.shape[1], n_literals, n_literals), np.int64)
    weights = np.empty((1, n_literals, n_literals), np.int64)
    add_pairs(kept, kinds, values, -1, pairs)
    add_pairs(kept, kinds, worst, -1, weights)
    return kept, rows, kinds, total, weight, pairs, weights


@compiled
def count_literals(packed, words, kind_of_word, factors, firsts, n_literals):  # type: ignore[no-untyped-def]
    """(Q,) what the packed rows with each literal have together, each as its kind's factor says, and all rows."""
    found, total = np.zeros(n_literals, np.int64), 0
    counted = np.zeros(words.shape[1], np.int64)
    for w in range(len(packed)):
        if packed[w] != 0:
            total += factors[kind_of_word[w]] * count_ones(packed[w])
            add_ones(counted, packed[w], words[w], factors[kind_of_word[w]])
    q = 0
    for column in range(len(firsts) - 1):
        first, rest = q, total
        for b in range(firsts[column], firsts[column + 1]):
            q += 1
            found[q] = counted[b]
            rest -= counted[b]
        found[first] = rest
        q += 1
    return found, total


@compiled
def raise_by_columns(c, columns, n_literals):  # type: ignore[no-untyped-def]
    """(Q,) what follows for all sides from those of the columns, solved at depth two."""
    known, cost = np.zeros(n_literals, np.int64), np.zeros(n_literals, np.int64)
    scratch = scratch_for(c)
    for column in columns:
        count_column(c, column, scratch, cost, known)
    return known


@compiled
def kinds_of(each):  # type: ignore[no-untyped-def]
    """The different rows of numbers (n, m), MOST_KINDS and one at most, and which of them each (n,) is."""
    kinds, kind, count = np.empty((MOST_KINDS + 1, each.shape[1]), np.int64), np.zeros(len(each), np.int64), 0
    for r in range(len(each)):
        for k in range(count):
            if (kinds[k] == each[r]).all():
                kind[r] = k
                break
        else:
            kind[r] = count
            kinds[count] = each[r]
            count += 1
            if count > MOST_KINDS:
                break
    return kinds[:count], kind


class CompiledSums(Sums):
    """The sums of `check.Sums`, compiled where rows are of few kinds and leaves of any size; else those of numpy."""

    def __init__(self, X: Array, regrets: Array, split: int, limits: Limits) -> None:
        super().__init__(X, regrets, split, limits)
        kinds, kind = kinds_of(np.column_stack([self.w, self.v]).astype(np.int64))
        ends = np.append(self.starts[1:], len(self.held))
        self.firsts = np.concatenate([[0], np.cumsum(ends - self.starts - 1)])
        self.is_compiled = len(kinds) <= MOST_KINDS and self.min_leaf == 1 and len(self.starts) > 0
        if not self.is_compiled:
            return
        self.place, self.kind_of_word = places(kind)
        self.worst, self.values = np.ascontiguousarray(kinds[:, :1]), np.ascontiguousarray(kinds[:, 1:])
        packed = pack_bits(self.held, self.place, len(self.kind_of_word))
        counted = np.delete(packed, self.starts, axis=0)
        # literals without rows behind the others, so that vectors of eight words come out even
        self.words = np.zeros((packed.shape[1], -(-len(counted) // 8) * 8), np.uint64)
        self.words[:, : len(counted)] = counted.T
        classes, bits, self.of_class = classes_of(self)
        of_classes = pack_bits(self.held[:, classes], bits, len(self.of_class))
        self.literals = np.hstack([packed, of_classes])
        self.place_of = {c: k for k, c in enumerate(self.columns)}
        self.ones = np.ones(len(kinds), np.int64)
        self.last: tuple[bytes, Counts] | None = None
        self.solved_last: tuple[bytes, tuple[Any, Any, Array, Array]] | None = None

    @functools.cached_property
    def problem(self) -> Packed:
        """As compiled code has it."""
        first, end = int(self.starts[0]), int(np.append(self.starts, len(self.held))[1])
        everything = np.bitwise_or.reduce(self.literals[first:end], axis=0)
        about = self.words, self.literals, everything, self.kind_of_word, self.values, self.worst, self.of_class
        return Packed(*about, self.firsts, int(self.split), int(self.u))

    def counts(self, i: Array) -> Counts:
        """The counts of the rows i."""
        key = i.tobytes()
        if self.last is None or self.last[0] != key:
            packed = pack_rows(i, self.place, len(self.words))
            kept, rows, kinds, total, weight, pairs, weights = count_rows(
                packed, self.words, self.kind_of_word, self.values, self.worst, self.firsts
            )
            unit = int(self.u)
            counted = Counts(
                kept,
                rows,
                kinds,
                self.values,
                self.firsts,
                total,
                weight,
                pairs,
                weights,
                int(self.split) * unit,
                unit,
            )
            self.last = key, counted
        return self.last[1]

    def floors(self, i: Array) -> Array:
        costly = i[self.floor[i] > 0]
        return np.asarray(self.held[:, costly] @ self.floor[costly])

    def packed(self, i: Array) -> Array:
        """The rows i as words, or as (n,) bool where nothing is compiled."""
        if self.is_compiled:
            words: Array = pack_rows(i, self.place, len(self.words))
            return words
        among = np.zeros(self.n, np.bool_)
        among[i] = True
        return among

    def shallow(self, i: Array) -> tuple[Any, Any, Array, Array]:
        """The least costs of a leaf and of depth two or less, and (Q,) of every side's leaf and tree of one split."""
        if not self.is_compiled:
            return super().leaf(i), super().optimum(i, 2), *super().sides(i)[1:3]
        key = i.tobytes()
        if self.solved_last is None or self.solved_last[0] != key:
            self.solved_last = key, solve_shallow(self.counts(i), len(self.held))
        return self.solved_last[1]

    def leaf(self, i: Array) -> Any:
        return self.shallow(i)[0] if self.is_compiled else super().leaf(i)

    def optimum(self, i: Array, depth: int) -> Any:
        return self.shallow(i)[1] if self.is_compiled and depth == 2 else super().optimum(i, depth)

    def sides(self, i: Array) -> tuple[Array, Array, Array, Array]:
        if not self.is_compiled:
            return super().sides(i)
        _, gains, weight = pair_matrices(self.counts(i), len(self.held))
        return weight, *self.shallow(i)[2:], gains

    def by_column(self, lower: Array, i: Array) -> Array:
        if not self.is_compiled:
            return super().by_column(lower, i)
        sizes = self._over_literals(self.packed(i), self.ones)[0] > 0
        allowed = np.add.reduceat(sizes, self.starts, dtype=np.int64) >= 2
        total = self.split + np.add.reduceat(np.where(sizes, lower, 0), self.starts)
        return np.asarray(np.where(allowed, total, self.big))

    def transfer(self, mask: Array, i: Array, anchor: Array, bound: Any) -> Array:
        if not self.is_compiled:
            return super().transfer(mask, i, anchor, bound)
        here, there = self.packed(i), self.packed(np.flatnonzero(anchor))
        if isinstance(bound, np.ndarray):
            lost: Array = bound - self._over_literals(there & ~here, self.worst[:, 0])[0]
            return lost
        weight = self._over_literals(there, self.worst[:, 0])[1]
        known: Array = self._over_literals(here & there, self.worst[:, 0])[0] - weight + int(bound)
        return known

    def _over_literals(self, packed: Array, factors: Array) -> tuple[Array, int]:
        found: tuple[Array, int] = count_literals(
            packed, self.words, self.kind_of_word, factors, self.firsts, len(self.held)
        )
        return found

    def from_columns(self, mask: Array, i: Array, columns: list[int]) -> Array:
        if not self.is_compiled:
            return super().from_columns(mask, i, columns)
        places = np.array([self.place_of[c] for c in columns], np.int64)
        found: Array = raise_by_columns(self.counts(i), places, len(self.held))
        return found


def main(arguments: list[str] | None = None) -> int:
    """As `check.main` or `check_limits.main`, compiled."""
    return run_checker(
        sys.argv[1:] if arguments is None else arguments, "python -m streed.proof.compiled", compiled=True
    )


if __name__ == "__main__":
    sys.exit(main())
