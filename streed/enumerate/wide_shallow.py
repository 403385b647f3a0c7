"""The best tree of depth two or less by costs of any size: several float64 for each number, whose sums are exact.

A cost is high * 2**shift + low, where high is what the engine adds and low what rounding took away. High and low are
whole numbers whose sums over the rows stay below 2**53, so floats hold them, and sums over pairs of columns are
products of matrices; a low part of more bits is cut in several. Sums are compared part by part, the carries made.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.records import LEAF
from streed.whole_costs import IntegerCosts, WideCosts

_BITS = 52
"""Of a sum over all rows, at most; one more is for what is added up in the end."""

_AT_ONCE = 10**6
"""Products of so many numbers stand in memory for all planes at once."""

_MOST_SPLIT = 2**51


@final
@attrs.frozen
class WideTree:
    """A tree by what it costs, exactly, in the unit of the wide costs."""

    cost: int
    columns: tuple[int, ...]
    """The places of the columns of its nodes in preorder, LEAF for leaves; first the rows without the column."""


@final
class WideRows:
    """The distinct rows of a problem, by bits (n, F) uint8, with what they cost exactly: in parts, high first.

    Columns are called by their places among those that `keep` leaves, at first all.
    """

    def __init__(self, bits: Array, rounded: IntegerCosts, wide: WideCosts, min_leaf: int) -> None:
        first, self.member = find_classes(np.ascontiguousarray(bits))
        self.bits = bits[first].astype(np.float64)
        self._min_leaf = float(max(1, min_leaf))
        n, self._labels = rounded.costs.shape
        most = _BITS - n.bit_length()
        self._widths = [most] * (wide.shift // most) + [wide.shift % most] * (wide.shift % most > 0)
        """The bits of the low parts, the highest first."""
        parts = [part.astype(np.float64) for part in (rounded.costs, *self._cut(wide.rests))]
        self._parts = len(parts)
        planes = [np.bincount(self.member, part[:, k], len(first)) for part in parts for k in range(self._labels)]
        planes.append(np.bincount(self.member, minlength=len(first)).astype(np.float64))
        self._planes = np.ascontiguousarray(np.array(planes))
        """(parts * K + 1, rows): what a row costs by each label, and how many it stands for."""
        self._split = np.array([rounded.split, *(int(part) for part in self._cut(wide.split_rest))], np.float64)
        self.fits = rounded.split < _MOST_SPLIT

    def _cut(self, rests: Any) -> list[Any]:
        """The low parts of whole numbers below 2**shift."""
        parts, below = [], sum(self._widths)
        for width in self._widths:
            below -= width
            parts.append((rests >> below) & ((1 << width) - 1))
        return parts

    def keep(self, columns: Array) -> None:
        """Goes on with these columns only."""
        self.bits = np.ascontiguousarray(self.bits[:, columns])

    def are_told(self, rows: Array) -> bool:
        """Whether all distinct rows whose labels cost differently are among those that the rows (of n) stand for."""
        costs = self._carried(self._planes[:-1].reshape(self._parts, self._labels, -1))
        differ = (costs != costs[:, :1]).any(axis=(0, 1))
        differ[self.member[rows]] = False
        return not differ.any()

    def effort(self, rows: Array) -> float:
        """How many products of numbers `best` adds up for the rows."""
        return float(len(rows) * self.bits.shape[1] ** 2 * len(self._planes))

    def best(self, rows: Array, depth: int) -> WideTree | None:
        """The cheapest tree of a depth up to two for the rows, (m,) places of distinct ones; None if none is allowed.

        Of equal ones, the one with a leaf, then with the first column, at the root first.
        """
        planes, bits = self._planes[:, rows], self.bits[rows]
        whole = planes.sum(axis=1)
        leaf = self._leaf(whole[:, None])[:, 0]
        if depth == 0:
            return self._tree(leaf, (LEAF,))
        single = planes @ bits
        if depth == 1:
            sides = self._leaf(np.stack([whole[:, None] - single, single], axis=1))
            chosen = np.zeros((2, bits.shape[1]), np.int64)
        else:
            sides, chosen = self._sides(whole, single, _pair_sums(planes, bits))
        roots = self._carried(sides[:, 0] + sides[:, 1] + self._split[:, None])
        at = int(self._least(np.concatenate([leaf[:, None], roots], axis=1)))
        if at == 0:
            return self._tree(leaf, (LEAF,))
        below = [(LEAF,) if each == 0 else (each - 1, LEAF, LEAF) for each in chosen[:, at - 1].tolist()]
        return self._tree(roots[:, at - 1], (at - 1, *below[0], *below[1]))

    def _sides(self, whole: Array, single: Array, pairs: Array) -> tuple[Array, Array]:
        """((parts, 2, F), (2, F)): what the best trees of depth one cost without each column and with it.

        The second says how they begin: 0 for a leaf, else one more than the column.
        """
        outer = single[:, :, None] - pairs  # with the first, without the second
        other = single[:, None, :] - pairs
        neither = whole[:, None, None] - single[:, :, None] - other
        leaves = self._leaf(np.stack([neither, other, outer, pairs], axis=1))
        split = self._carried(leaves[:, ::2] + leaves[:, 1::2] + self._split[:, None, None, None])
        own = self._leaf(np.stack([whole[:, None] - single, single], axis=1))
        every = np.concatenate([own[..., None], split], axis=3)
        at = self._least(every)
        return np.take_along_axis(every, at[None, ..., None], axis=3)[..., 0], at

    def _leaf(self, sums: Array) -> Array:
        """(parts, ...): what leaves of such sums (planes, ...) cost by their best labels; infinite if not allowed."""
        labels = self._labels
        costs = self._carried(sums[:-1].reshape(self._parts, labels, *sums.shape[1:]))
        best: Array = costs[:, 0]
        for k in range(1, labels):
            best = np.where(_is_less(costs[:, k], best), costs[:, k], best)
        best[0][sums[-1] < self._min_leaf] = np.inf
        return best

    def _carried(self, sums: Array) -> Array:
        """The sums with every part but the first below its own power of two."""
        parts = sums.copy()
        for at in range(len(parts) - 1, 0, -1):
            unit = 2.0 ** self._widths[at - 1]
            over = np.floor(parts[at] / unit)
            parts[at] -= over * unit
            parts[at - 1] += over
        return parts

    def _least(self, sums: Array) -> Array:
        """The first place on the last axis where carried sums (parts, ..., m) are least."""
        among: Any = True
        for part in sums:
            part = np.where(among, part, np.inf)
            among = among & (part == part.min(axis=-1, keepdims=True))
        first: Array = np.argmax(among, axis=-1)
        return first

    def _tree(self, sums: Array, columns: tuple[int, ...]) -> WideTree | None:
        if not np.isfinite(sums[0]):
            return None
        cost = 0
        for part, width in zip(sums.tolist(), [0, *self._widths], strict=True):
            cost = (cost << width) + int(part)
        return WideTree(cost, columns)


def _pair_sums(planes: Array, bits: Array) -> Array:
    """(planes, F, F): the sums of the planes (planes, m) over the rows that have two columns of the bits (m, F)."""
    if planes.size * bits.shape[1] > _AT_ONCE:
        return np.stack([(bits.T * plane) @ bits for plane in planes])
    found: Array = (bits.T * planes[:, None, :]).reshape(-1, len(bits)) @ bits
    return found.reshape(len(planes), bits.shape[1], bits.shape[1])


def _is_less(first: Array, second: Array) -> Array:
    """Where carried sums (parts, ...) are less than others."""
    less: Array = first[-1] < second[-1]
    for at in range(len(first) - 2, -1, -1):
        less = (first[at] < second[at]) | ((first[at] == second[at]) & less)
    return less
