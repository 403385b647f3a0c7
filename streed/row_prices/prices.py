"""Leaves, prices of rows as one array of words for the search, and which leaves they overcharge, by how much at most.

Prices are whole numbers in units of 1 / 2^shift codes. Costs are rounded down to units, which only makes prices look
less feasible than they are.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.conjunctions import heaviest_conjunctions
from streed.kernels.packed import PackedProblem
from streed.kernels.records import UNLIMITED
from streed.kernels.stopping import LONGEST
from streed.problem import Problem
from streed.task.states import sums_by

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
    def literals(self) -> Array:
        """(L,) int64: those that are allowed."""
        return np.flatnonzero(self.allowed)

    @functools.cached_property
    def removed(self) -> Array:
        """(P, N) uint64: which allowed literals remove a class; the first is the lowest bit of the first plane."""
        removed = self.bits[:, self.literals >> 1] != self.literals & 1
        words = np.zeros((self.n_classes, -(-len(self.literals) // 64) * 8), np.uint8)
        words[:, : -(-len(self.literals) // 8)] = np.packbits(removed, axis=1, bitorder="little")
        return np.ascontiguousarray(words.view("<u8").T, np.uint64)

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
    problem: Problem, packed: PackedProblem, costs: Array, divisor: int, split: int
) -> tuple[Leaves, Array] | None:
    """The leaves of a problem's trees, and the first place of each class of rows; None if nothing is split.

    costs (n, K) int64 are those of its rows, before they are divided by the divisor; `split` is a split's price, a
    code.
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
    summed, counts = (sums_by(class_of.reshape(-1), each, len(first)) for each in (own, many))
    bits = np.unpackbits(words[first], axis=1, count=packed.n_columns, bitorder="little")
    allowed = np.ones(2 * packed.n_columns, np.uint8)
    allowed[2 * packed.n_binary :: 2] = 0
    due = Fraction(split, packed.most_sides - 1)
    # where rows stand for several, what leaves of fewer rows would cost is no harm
    min_leaf = problem.min_leaf if problem.data.frequency is None else 1
    # costs of a class are rounded down, which no bound minds
    leaves = Leaves(bits, summed // divisor, counts, allowed, due, min_leaf, problem.max_depth or UNLIMITED)
    return leaves, places[first]


@final
@attrs.frozen(eq=False)
class Prices:
    """Feasible prices, and the bound that they are."""

    units: Array
    """(N,) int64: of every class of rows, in units of 1 / 2^shift codes."""
    shift: int
    bound: float
    """What every tree of all rows costs at least, in codes."""

    def code(self, leaves: Leaves) -> int:
        """The bound as a code: costs are whole numbers."""
        units, due = self._whole(leaves)
        return -int((due - int(units.sum())) >> max(self.shift, 0))

    def words(self, leaves: Leaves, places: Array, row_space: int, epoch: int) -> Array:
        """int64: the prices of classes at their first places (N,), as kernels/stopping.py has them."""
        units, due = self._whole(leaves)
        mask = np.zeros(row_space, np.uint8)
        mask[places] = units != 0
        of_place = np.zeros(row_space, np.int64)
        of_place[places] = units
        head = np.array([epoch, max(self.shift, 0), due], np.int64)
        return np.concatenate([head, np.packbits(mask, bitorder="little").view(np.int64), of_place])

    def _whole(self, leaves: Leaves) -> tuple[Array, int]:
        """(prices, due) in units that are no larger than a code."""
        shift = max(self.shift, 0)
        return self.units << (shift - self.shift), math.ceil(leaves.due * 2**shift)


_BITS = 29
"""Weights add up to less than 2^_BITS, so that two such sums fit int32."""

_FINEST = 14
"""Binary digits of a due, at most: finer units of prices say nothing."""


@final
class Pricing:
    """The leaves of a problem, with units for their prices."""

    def __init__(self, leaves: Leaves, control: Array) -> None:
        self.leaves, self._control = leaves, control
        total = int(leaves.costs.max(axis=1).sum()) + leaves.n_classes
        due = leaves.due
        self.shift = 0
        while float(due) * 2.0**self.shift < 2**_FINEST and 2 * total << (self.shift + 1) < 1 << _BITS:
            self.shift += 1
        while 2 * total * 2.0**self.shift >= 1 << _BITS:
            self.shift -= 1
        self.due = int(Fraction(due) * Fraction(2) ** self.shift)
        self._costs = leaves.costs << self.shift if self.shift >= 0 else leaves.costs >> -self.shift

    def in_codes(self, units: Array) -> Array:
        """(N,) float64: prices in units, in codes."""
        return units / 2.0**self.shift

    def scaled(self, units: Array, excess: int) -> Array:
        """Prices that overcharge no leaf, of such as overcharge none by more than the excess.

        What leaves cost besides their dues is not negative, so all prices times due / (due + excess) are feasible.
        """
        if excess <= 0:
            return units
        return (units.astype(object) * self.due // (self.due + excess)).astype(np.int64)

    def lowered(self, units: Array, columns: Array) -> Array:
        """Prices that overcharge none of the leaves of `columns` (M, N) bool: lower by little more than suffices."""
        excess = columns @ units - (columns @ self._costs).min(axis=1) - self.due
        columns = columns[excess > 0]
        excess = excess[excess > 0]
        cuts = np.zeros(len(units), np.int64)
        room = units - np.floor(LEAST_PRICE * self._costs.max(axis=1)).astype(np.int64)
        for at in np.argsort(-excess):
            inside = np.flatnonzero(columns[at])
            short = int(excess[at]) - int(cuts[inside].sum())
            if short > 0:
                left = np.maximum(room - cuts, 0)[inside]
                cuts[inside] += -(-short * left // left.sum())
        return units - cuts

    def exactly(
        self, units: Array, tolerance: int, node_limit: int, most: int
    ) -> tuple[list[tuple[int, ...]], int | None]:
        """(at most so many overcharged leaves of a label, by how many units no leaf is overcharged more).

        None that is overcharged by more than the tolerance is missed, unless there are more nodes than the limit: then
        the last is None.
        """
        leaves, longest = self.leaves, min(self.leaves.most_literals, 2**30)
        answers = np.zeros(most, np.int64), np.zeros((most, LONGEST), np.int32), np.zeros(most, np.int64)
        columns: list[tuple[int, ...]] = []
        worst, ended = -self.due, True
        for costs in self._costs.T:
            weights, threshold = units - costs, self.due + tolerance
            kept = np.flatnonzero((weights != 0) | (leaves.min_leaf > 1))
            of_rows = np.ascontiguousarray(leaves.removed[:, kept]), weights[kept], leaves.counts[kept]
            heaviest, visited, ended, stored = heaviest_conjunctions(
                of_rows, leaves.literals, leaves.min_leaf, threshold, longest, node_limit, self._control, answers
            )
            node_limit, worst = node_limit - visited, max(worst, heaviest - self.due)
            columns += [tuple(answers[1][j, : answers[2][j]].tolist()) for j in range(stored)]
            if not ended:
                break
        return columns, max(worst, tolerance) if ended else None
