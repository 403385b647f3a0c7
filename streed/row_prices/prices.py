"""Prices of rows, and how the search reads them: one array of words, whose address is handed over."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.row_prices.leaves import Leaves


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
        """int64: the prices of classes at their first places (N,), as kernels/control.py has them."""
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
