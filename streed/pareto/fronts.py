"""The fronts of sets of rows by the engine: its units up to depth two, and above that one column after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from streed.exact import Array
from streed.kernels.stopping import NODES, STOP
from streed.pareto.arrays import LEAF
from streed.pareto.packed_vectors import close_front, merge, open_front
from streed.pareto.staircases import front_of_node

if TYPE_CHECKING:
    from streed.pareto.packing import Packed

Front = tuple[Array, Array]
"""Nondominated keys in ascending order, and the root column of the tree of each, or `LEAF` less its label."""

_UNIT = 2
"""Up to this depth fronts are made by the engine alone."""

_ENTRY = 400
"""Bytes of a front that is remembered, beside its rows and points."""


@final
class FrontEngine:
    """Solves subproblems of one problem; `control` is as in `streed.kernels.stopping`."""

    def __init__(self, packed: Packed, control: Array, most_bytes: int) -> None:
        self.control = control
        self._packed = packed
        self._rows = packed.rows
        self._layout = packed.keys.layout
        self._scratch = packed.scratch()
        self._room = most_bytes
        """Bytes that are left for what is remembered."""
        self._memo: dict[tuple[bytes, int], Front] = {}
        self._buckets: dict[int, tuple[Array, Array]] = {}
        if packed.problem.max_depth is None or packed.problem.max_depth > _UNIT:
            # compiled before the time is counted
            nothing, buckets = (np.zeros(0, np.int64), np.zeros(0, np.int32)), self._empty_buckets(0)
            open_front(self._layout, *nothing, *buckets)
            merge(self._layout, *nothing, nothing[0], nothing[0], 0, *buckets)
            close_front(self._layout, *nothing, *buckets)

    @property
    def stopped(self) -> bool:
        """Whether the search is to end; fronts then may lack points."""
        return bool(self.control[STOP])

    @property
    def kept(self) -> int:
        """Fronts that are remembered."""
        return len(self._memo)

    def solve(self, node: Array, depth: int, known: Front | None = None) -> Front:
        """The front of trees of so much depth at the rows (W,) uint64; of the root, `known` is what is known of it."""
        depth = min(depth, self._useful(node))
        if depth < _UNIT:
            return self._shallow(node, depth)
        name = (node.tobytes(), depth)
        found = self._memo.get(name)
        if found is None:
            found = self._shallow(node, depth) if depth == _UNIT else self._deep(node, depth, known)
            size = _ENTRY + len(name[0]) + found[0].nbytes + found[1].nbytes
            if not self.stopped and size <= self._room:
                self._room -= size
                self._memo[name] = found
        return found

    def children(self, node: Array, column: int) -> tuple[Array, Array]:
        """The rows that have the bit column, and those that do not."""
        side = node & self._rows.column_rows[column]
        return side, node ^ side

    def _useful(self, node: Array) -> int:
        """The depth that trees at the node can have."""
        if self._rows.min_leaf == 1:
            return max(0, int.from_bytes(node.tobytes(), "little").bit_count() - 1)
        data = self._packed.problem.data
        return max(0, min(data.n_rows, data.size // self._rows.min_leaf) - 1)

    def _shallow(self, node: Array, depth: int) -> Front:
        self.control[NODES] += 1
        found: Front = front_of_node(self._rows, self._scratch, node, depth)
        return found

    def _deep(self, node: Array, depth: int, known: Front | None) -> Front:
        layout = self._layout
        keys, columns = self._shallow(node, 0) if known is None else known
        best, origins = self._empty_buckets(depth)
        open_front(layout, keys, columns, best, origins)
        promising = dict.fromkeys(column for column in columns.tolist() if not is_leaf(column))
        for column in [*promising, *(f for f in range(len(self._rows.column_rows)) if f not in promising)]:
            if self.stopped or (best[0] == 0 if layout.buckets else len(keys) == 1 and keys[0] == 0):
                break  # or a tree costs no more than any tree must
            a, b = self.children(node, column)
            if not a.any() or not b.any():
                continue
            left, right = self.solve(a, depth - 1)[0], self.solve(b, depth - 1)[0]
            keys, columns = merge(layout, keys, columns, left, right, column, best, origins)
        found: Front = close_front(layout, keys, columns, best, origins)
        return found

    def _empty_buckets(self, depth: int) -> tuple[Array, Array]:
        if depth not in self._buckets:
            size = max(self._layout.buckets, 1)
            self._buckets[depth] = np.full(size, np.iinfo(np.int64).max, np.int64), np.zeros(size, np.int32)
        return self._buckets[depth]


def is_leaf(column: int) -> bool:
    """Whether a root column stands for a leaf."""
    return column <= LEAF
