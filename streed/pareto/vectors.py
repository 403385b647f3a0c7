"""Vectors of whole numbers as keys of 63 bits, and back: where each component stands, and what is taken off before."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.pareto.arrays import KeyLayout
from streed.task.analysis.vector_form import VectorCosts

_MOST_BITS = 62
"""Of a key, guard bits and all."""

_MOST_BUCKETS = 2**14
"""Of two components: so many values of the first are quicker to run through than keys are to sort."""

_NARROW = 31
"""Keys of so many bits fit the narrow lanes of pair counts."""


@final
@attrs.frozen(eq=False)
class Keys:
    """The components of a problem, less what every tree has of them and divided by their greatest common divisors."""

    order: tuple[int, ...]
    bases: tuple[int, ...]
    divisors: tuple[int, ...]
    widths: tuple[int, ...]
    """Bits of each, with its guard bit."""
    costs: Array
    """(n, K) int64: the key of a row by its label."""
    layout: KeyLayout
    narrow: bool

    @classmethod
    def of(cls, costs: VectorCosts, most_branches: int) -> Keys | None:
        """The keys of trees of so many branching nodes at most; None if the components need too many bits.

        A cap below what every tree has is stored as no cap: see `is_empty`.
        """
        parts = costs.costs
        least = parts.min(axis=2)
        bases = [int(each.sum()) for each in least]
        rest = parts - least[:, :, None]
        divisors = [
            max(1, math.gcd(split, int(np.gcd.reduce(part, axis=None))))
            for part, split in zip(rest, costs.splits, strict=True)
        ]
        most = [
            int(part.max(axis=1).sum()) // divisor + split // divisor * most_branches
            for part, split, divisor in zip(rest, costs.splits, divisors, strict=True)
        ]
        order = sorted(range(len(most)), key=lambda j: (most[j], j))
        widths = [most[j].bit_length() + 1 for j in order]
        if sum(widths) > _MOST_BITS:
            return None
        shifts = [sum(widths[at + 1 :]) for at in range(len(order))]
        caps = []
        for j, width in zip(order, widths, strict=True):
            cap = costs.caps[j]
            whole = most[j] if cap is None else (cap - bases[j]) // divisors[j]
            caps.append(min(max(whole, 0), 2 ** (width - 1) - 1))
        guards = sum(1 << (shift + width - 1) for shift, width in zip(shifts, widths, strict=True))
        few = len(order) == 2 and most[order[0]] < _MOST_BUCKETS
        layout = KeyLayout(
            np.array(shifts, np.int64),
            guards,
            guards + sum(cap << shift for cap, shift in zip(caps, shifts, strict=True)),
            sum((costs.splits[j] // divisors[j]) << shift for j, shift in zip(order, shifts, strict=True)),
            most[order[0]] + 1 if few else 0,
        )
        keys = sum((rest[j] // divisors[j]) << shift for j, shift in zip(order, shifts, strict=True))
        narrow = sum(widths) <= _NARROW
        return cls(tuple(order), tuple(bases), tuple(divisors), tuple(widths), np.asarray(keys), layout, narrow)

    def is_empty(self, costs: VectorCosts) -> bool:
        """Whether no tree keeps the caps."""
        return any(cap is not None and cap < base for cap, base in zip(costs.caps, self.bases, strict=True))

    def vector(self, key: int) -> tuple[int, ...]:
        """The components of a key, in the order of the task."""
        found = [0] * len(self.order)
        for j, shift, width in zip(self.order, self.layout.shifts.tolist(), self.widths, strict=True):
            found[j] = self.bases[j] + self.divisors[j] * ((key >> shift) & ((1 << width) - 1))
        return tuple(found)


def dominates(guards: int, keys: Array, key: int) -> Array:
    """(f,) bool: which keys are nowhere above the given one."""
    found: Array = (((key | guards) - keys) & guards) == guards
    return found
