"""Vectors of whole numbers as keys of 63 bits, and back: where each component stands, and what is taken off before."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from streed.enumerate.packing import Packing
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
    """The components by their place in keys, the least wide one first."""
    bases: tuple[int, ...]
    divisors: tuple[int, ...]
    packing: Packing
    layout: KeyLayout
    narrow: bool

    @classmethod
    def of(cls, costs: VectorCosts, most_branches: int) -> Keys | None:
        """The keys of trees of so many branching nodes at most; None if the components need too many bits.

        A cap below what every tree has is stored as no cap: see `is_empty`.
        """
        least = costs.costs.min(axis=2)
        bases = [int(each.sum()) for each in least]
        rest = costs.costs - least[:, :, None]
        divisors = [
            max(1, math.gcd(split, int(np.gcd.reduce(part, axis=None))))
            for part, split in zip(rest, costs.splits, strict=True)
        ]
        splits = [split // divisor for split, divisor in zip(costs.splits, divisors, strict=True)]
        most = [
            int(part.max(axis=1).sum()) // divisor + split * most_branches
            for part, split, divisor in zip(rest, splits, divisors, strict=True)
        ]
        order = sorted(range(len(most)), key=lambda j: (most[j], j))
        if sum(each.bit_length() + 1 for each in most) > _MOST_BITS:
            return None
        parts = [rest[j] // divisors[j] for j in order]
        packing = Packing.of(parts, [splits[j] for j in order], most_branches, guarded=True)
        guards, cap = 0, 0
        for j, (_, worth, radix) in zip(order, packing.places, strict=True):
            given = costs.caps[j]
            whole = most[j] if given is None else (given - bases[j]) // divisors[j]
            guards += worth * (radix // 2)
            cap += worth * min(max(whole, 0), radix // 2 - 1)
        few = len(order) == 2 and most[order[0]] < _MOST_BUCKETS
        shifts = np.array([worth.bit_length() - 1 for _, worth, _ in packing.places], np.int64)
        layout = KeyLayout(shifts, guards, guards + cap, packing.split[0], most[order[0]] + 1 if few else 0)
        return cls(tuple(order), tuple(bases), tuple(divisors), packing, layout, guards < 1 << _NARROW)

    @property
    def costs(self) -> Array:
        """(n, K) int64: the key of a row by its label."""
        return self.packing.costs[:, :, 0]

    def is_empty(self, costs: VectorCosts) -> bool:
        """Whether no tree keeps the caps."""
        return any(cap is not None and cap < base for cap, base in zip(costs.caps, self.bases, strict=True))

    def vector(self, key: int) -> tuple[int, ...]:
        """The components of a key, in the order of the task."""
        digits = dict(zip(self.order, self.packing.digits((key,)), strict=True))
        return tuple(base + by * digits[j] for j, (base, by) in enumerate(zip(self.bases, self.divisors, strict=True)))


def dominates(guards: int, keys: Array, key: int) -> Array:
    """(f,) bool: which keys are nowhere above the given one."""
    found: Array = (((key | guards) - keys) & guards) == guards
    return found
