"""What leaves may be and what they cost: the classes of equal rows, the literals, and the dues of a leaf."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.packed import PackedProblem

LEAST_PRICE, MOST_PRICE = -0.25, 1.25
"""Of a class of rows, in what its worst label costs: prices beyond help little, and swing."""


@final
@attrs.frozen(eq=False)
class Leaves:
    """All leaves that a tree may have, each a conjunction of literals: 2 f + v says that bit column f has the value v.

    Costs are whole numbers, those of the search (its codes).
    """

    bits: Array
    """(N, F) uint8: the bit columns of every class of equal rows."""
    costs: Array
    """(N, K) int64: what each label costs for all rows of a class, at least zero."""
    counts: Array
    """(N,) int64: rows of a class."""
    allowed: Array
    """(2 F,) uint8: literals that branches have; of categories only that a row is of one."""
    due: Fraction
    """What each leaf pays: the price of a split, divided by the leaves that one split can add."""
    min_leaf: int
    most_literals: int
    """Of a branch: the depth limit."""

    @property
    def n_classes(self) -> int:
        return len(self.costs)

    @functools.cached_property
    def masks(self) -> Array:
        """(N, F) int8: -1 where a class has a column."""
        return np.ascontiguousarray(-(self.bits.astype(np.int8)))

    @functools.cached_property
    def _packed(self) -> Array:
        """(2 F + 1, N / 8) uint8: the classes with each literal, eight to a byte; and in the last row, all classes."""
        both = np.stack([self.bits.T == 0, self.bits.T == 1], axis=1).reshape(-1, self.n_classes)
        return np.packbits(np.concatenate([both, np.ones((1, self.n_classes), bool)]), axis=1)

    def members(self, conjunctions: Sequence[tuple[int, ...]]) -> Array:
        """(M, N) bool: the different sets of classes that satisfy the literals of a conjunction, in ascending order."""
        every = np.full((len(conjunctions), max(map(len, conjunctions), default=0) + 1), 2 * self.bits.shape[1])
        for at, literals in enumerate(conjunctions):
            every[at, : len(literals)] = literals
        inside = np.ascontiguousarray(np.bitwise_and.reduce(self._packed[every], axis=1))
        different = np.unique(inside.view(np.dtype((np.void, inside.shape[1]))).ravel())
        packed = different.view(np.uint8).reshape(-1, inside.shape[1])
        return np.unpackbits(packed, axis=1, count=self.n_classes).astype(bool)

    def costs_of(self, members: Array) -> Array:
        """(M,) float64: what leaves of these classes (M, N) bool cost under their best labels, and their dues."""
        paid: Array = (members.astype(np.float64) @ self.costs.astype(np.float64)).min(axis=1) + float(self.due)
        return paid


def leaves_of(
    packed: PackedProblem, costs: Array, divisor: int, split: int, min_leaf: int, max_depth: int
) -> tuple[Leaves, Array] | None:
    """The leaves of a packed problem's trees, and the first place of each class of rows; None if nothing is split.

    costs (rows, K) int64 are those of its rows, before they are divided by the divisor; `split` is a split's price, a
    code. `min_leaf` are rows of the packed problem, of which some may stand for several: let it be 1 then, as what
    leaves of fewer rows would cost is no harm.
    """
    if split == 0 or packed.n_columns == 0 or packed.groups.values is not None or len(packed.groups.places) == 0:
        return None
    pairs, times = packed.groups.places.reshape(-1, 2), packed.groups.times
    rows, first_of_row = np.unique(pairs[:, 0], return_index=True)
    places = pairs[first_of_row, 1]
    many = np.ones(len(rows), np.int64) if times is None or not len(times) else times[first_of_row]
    words = np.ascontiguousarray(packed.row_bits[places]).view(np.uint8)
    _, first, class_of = np.unique(words, axis=0, return_index=True, return_inverse=True)
    own = (costs[rows] - costs[rows].min(axis=1, keepdims=True)) * many[:, None]
    summed, counts = np.zeros((len(first), costs.shape[1]), np.int64), np.zeros(len(first), np.int64)
    np.add.at(summed, class_of.reshape(-1), own)
    np.add.at(counts, class_of.reshape(-1), many)
    bits = np.unpackbits(words[first], axis=1, count=packed.n_columns, bitorder="little")
    allowed = np.ones(2 * packed.n_columns, np.uint8)
    allowed[2 * packed.n_binary :: 2] = 0
    due = Fraction(split, most_sides(packed.literals) - 1)
    # costs of a class are rounded down, which no bound minds
    return Leaves(bits, summed // divisor, counts, allowed, due, min_leaf, max_depth), places[first]


def most_sides(literals: Array) -> int:
    """The most sides of a split, where (C + 1,) int64 says where the literals of each categorical column begin."""
    return max(2, int(np.diff(literals).max(initial=2)))
