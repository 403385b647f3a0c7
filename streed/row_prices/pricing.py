"""Pricing: which leaves the prices of rows overcharge, and by how much at most.

Prices are whole numbers in units of 1 / 2^shift codes, so that weights fit the kernel and nothing is lost to rounding:
costs are rounded down to units, which only makes prices look less feasible than they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.conjunction_beam import heavy_conjunctions
from streed.kernels.conjunctions import heaviest_conjunctions
from streed.kernels.control import LONGEST, ROWS_OF_CONTROL
from streed.row_prices.leaves import LEAST_PRICE, Leaves
from streed.row_prices.programs import least_cover

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
        if self.shift >= 0:
            self._costs = leaves.costs << self.shift
        else:
            self._costs = leaves.costs >> -self.shift

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
        excess = self._excess(units, columns)
        columns = columns[excess > 0]
        excess = excess[excess > 0]
        cuts = np.zeros(len(units), np.int64)
        if len(excess):
            room = units - np.floor(LEAST_PRICE * self._costs.max(axis=1)).astype(np.int64)
            cuts = np.ceil(least_cover(columns, excess, np.maximum(room, 0))).astype(np.int64)
            for members, over in zip(columns, excess.tolist(), strict=True):
                short = over - int(cuts[members].sum())
                if short > 0:
                    inside = np.flatnonzero(members)
                    cuts[inside[(room - cuts)[inside].argmax()]] += short
        return units - cuts

    def _excess(self, units: Array, columns: Array) -> Array:
        """(M,) int64: what the leaves are overcharged by; at most zero where they are not."""
        over: Array = columns @ units - (columns @ self._costs).min(axis=1) - self.due
        return over

    def quickly(self, units: Array, width: int, most: int) -> Found:
        """Overcharged leaves by beam search, which may miss some."""
        leaves = self.leaves
        found = _Store(most)
        worst = -self.due
        for weights in self._weights(units):
            heaviest, stored = heavy_conjunctions(
                leaves.masks, leaves.allowed, weights, leaves.counts, leaves.min_leaf, self.due, width,
                min(leaves.most_literals, LONGEST), self._control, *found.arrays,
            )  # fmt: skip
            worst = max(worst, heaviest - self.due)
            found.take(stored)
        return Found(found.columns, None, worst)

    def exactly(self, units: Array, tolerance: int, node_limit: int, most: int) -> Found:
        """Overcharged leaves by enumeration, which misses none that is overcharged by more than the tolerance.

        Of more than `most`, those of each label that are overcharged most.
        """
        leaves = self.leaves
        found = _Store(most)
        worst, nodes, ended = -self.due, 0, True
        for weights in self._weights(units):
            heaviest, visited, complete, stored = heaviest_conjunctions(
                leaves.masks, leaves.allowed, weights, leaves.counts, leaves.min_leaf, self.due + tolerance,
                min(leaves.most_literals, 2**30), node_limit - nodes, self._control, *found.arrays,
            )  # fmt: skip
            nodes += visited
            worst = max(worst, heaviest - self.due)
            ended = ended and complete
            found.take(stored)
            if not ended:
                break
        return Found(found.columns, max(worst, tolerance) if ended else None, worst)

    def _weights(self, units: Array) -> Iterator[Array]:
        """(N,) int32 for each label: what the prices exceed its costs by."""
        for label in range(self._costs.shape[1]):
            yield (units - self._costs[:, label]).astype(np.int32)


@final
class _Store:
    """Where the kernels put what they find."""

    def __init__(self, most: int) -> None:
        self.arrays = np.zeros(most, np.int64), np.zeros((most, LONGEST), np.int32), np.zeros(most, np.int64)
        self.columns: list[tuple[int, ...]] = []

    def take(self, stored: int) -> None:
        _, literals, lengths = self.arrays
        self.columns += [tuple(literals[j, : lengths[j]].tolist()) for j in range(stored)]
