"""Prices of rows, as one array of words for the search; and which leaves they overcharge, and by how much at most.

Prices are whole numbers in units of 1 / 2^shift codes. Costs are rounded down to units, which only makes prices look
less feasible than they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.conjunction_beam import heavy_conjunctions
from streed.kernels.conjunctions import heaviest_conjunctions
from streed.kernels.stopping import LONGEST, ROWS_OF_CONTROL
from streed.row_prices.leaves import LEAST_PRICE, Leaves


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
@attrs.frozen
class Found:
    """What pricing found."""

    columns: list[tuple[int, ...]]
    """Conjunctions that are overcharged."""
    excess: int | None
    """No conjunction is overcharged by more units; None if the enumeration did not end."""
    worst: int
    """What the worst one that was seen is overcharged by; at most zero if none is."""


@final
class Pricing:
    """The leaves of a problem, with units for their prices."""

    def __init__(self, leaves: Leaves, control: Array | None = None) -> None:
        self.leaves = leaves
        self._control = np.zeros(ROWS_OF_CONTROL, np.int64) if control is None else control
        total = int(leaves.costs.max(axis=1).sum()) + leaves.n_classes
        due = leaves.due
        self.shift = 0
        while float(due) * 2.0**self.shift < 2**_FINEST and 2 * total << (self.shift + 1) < 1 << _BITS:
            self.shift += 1
        while 2 * total * 2.0**self.shift >= 1 << _BITS:
            self.shift -= 1
        self.due = int(Fraction(due) * Fraction(2) ** self.shift)
        self._costs = leaves.costs << self.shift if self.shift >= 0 else leaves.costs >> -self.shift

    def in_units(self, prices: Array) -> Array:
        """(N,) int64: prices in codes, rounded to units."""
        return np.rint(prices * 2.0**self.shift).astype(np.int64)

    def in_codes(self, units: Array) -> Array:
        """(N,) float64: prices in units, in codes."""
        return units / 2.0**self.shift

    def bound(self, units: Array) -> float:
        """What every tree costs at least, in codes, if the prices are feasible."""
        return float(units.sum()) / 2.0**self.shift - float(self.leaves.due)

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

    def quickly(self, units: Array, width: int, most: int) -> Found:
        """Overcharged leaves by beam search, which may miss some."""
        leaves = self.leaves

        def look(weights: Array, visited: int, found: Sequence[Array]) -> tuple[int, int, bool, int]:
            heaviest, stored = heavy_conjunctions(
                leaves.masks, leaves.allowed, weights, leaves.counts, leaves.min_leaf, self.due, width,
                min(leaves.most_literals, LONGEST), self._control, *found,
            )  # fmt: skip
            return heaviest, 0, True, stored

        return self._found(units, most, look)[0]

    def exactly(self, units: Array, tolerance: int, node_limit: int, most: int) -> Found:
        """Overcharged leaves by enumeration, which misses none that is overcharged by more than the tolerance.

        Of more than `most`, those of each label that are overcharged most.
        """
        leaves = self.leaves

        def look(weights: Array, visited: int, found: Sequence[Array]) -> tuple[int, int, bool, int]:
            answer: tuple[int, int, bool, int] = heaviest_conjunctions(
                leaves.masks, leaves.allowed, weights, leaves.counts, leaves.min_leaf, self.due + tolerance,
                min(leaves.most_literals, 2**30), node_limit - visited, self._control, *found,
            )  # fmt: skip
            return answer

        found, ended = self._found(units, most, look)
        return attrs.evolve(found, excess=max(found.worst, tolerance)) if ended else found

    def _found(self, units: Array, most: int, look: Callable[..., tuple[int, int, bool, int]]) -> tuple[Found, bool]:
        """(what a kernel finds for all labels, whether it ended); it says (heaviest, visited, ended, stored)."""
        sums, lengths, literals = *np.zeros((2, most), np.int64), np.zeros((most, LONGEST), np.int32)
        columns: list[tuple[int, ...]] = []
        worst, nodes, ended = -self.due, 0, True
        for costs in self._costs.T:
            heaviest, visited, ended, stored = look((units - costs).astype(np.int32), nodes, (sums, literals, lengths))
            nodes, worst = nodes + visited, max(worst, heaviest - self.due)
            columns += [tuple(literals[j, : lengths[j]].tolist()) for j in range(stored)]
            if not ended:
                break
        return Found(columns, None, worst), ended
