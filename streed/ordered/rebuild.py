"""Trees as the ordered search tells them, from its plans: what these leave open is found again at its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.ordered.record import ROW
from streed.ordered import units
from streed.ordered.layout import WORDS

if TYPE_CHECKING:
    from streed.ordered.session import OrderedSession


@final
@attrs.frozen
class Cut:
    """A branching node: rows whose rank in the column is at most `rank` go left."""

    column: int
    rank: int
    left: OrderedNode
    right: OrderedNode


@final
@attrs.frozen
class Leaf:
    """A leaf."""

    label: int
    cost: int
    """Of its rows, as given."""
    rows: int
    """How many, by their frequencies."""


@final
@attrs.frozen
class MultiwaySplit:
    """A branching node of a categorical column: a child for each code that its rows have."""

    column: int
    children: tuple[tuple[int, OrderedNode], ...]
    """(code, child), by code."""


OrderedNode = Cut | MultiwaySplit | Leaf


class _Rows(NamedTuple):
    """The rows at a node, see `nodes.Node`."""

    orders: Array
    n: int
    ids: Array


@final
class Rebuilding:
    """The tree of a plan."""

    def __init__(self, session: OrderedSession, plan: Array) -> None:
        self._session = session
        self._entries = iter(plan[1 : 1 + WORDS * int(plan[0])].reshape(-1, WORDS).tolist())

    def tree(self) -> OrderedNode:
        """The whole tree."""
        session = self._session
        return self._grow(_Rows(session.orders, session.rows.n_rows, np.arange(session.n_columns)))

    def _grow(self, node: _Rows) -> OrderedNode:
        session = self._session
        column, rank, _ = next(self._entries)
        if column >= 0:
            local = int(np.flatnonzero(node.ids == column)[0])
            if rank < 0:
                return self._multiway(node, local, last=False)
            return self._cut(
                node, local, int(np.searchsorted(self._ranks(node, local), rank, side="right")), last=False
            )
        if rank == 0 or not len(node.ids):
            return self._leaf(node)
        answer = np.zeros(4, np.int64)
        units.find_stump(session.address, node.orders, node.n, node.ids, answer)
        leaf, cost, best, position = answer.tolist()
        if cost + session.rows.price >= leaf:
            return self._leaf(node)
        if node.ids[best] >= session.n_ordered:
            return self._multiway(node, best, last=True)
        return self._cut(node, best, position, last=True)

    def _multiway(self, node: _Rows, local: int, *, last: bool) -> MultiwaySplit:
        """The tree of a split with a child for each value; `last`: they are leaves."""
        codes, begins = np.unique(self._ranks(node, local), return_index=True)
        ends = [*begins[1:].tolist(), node.n]
        children: list[tuple[int, OrderedNode]] = []
        for code, begin, end in zip(codes.tolist(), begins.tolist(), ends, strict=True):
            child, _ = self._parts(node, local, begin, end)
            children.append((code, self._leaf(child) if last else self._grow(child)))
        return MultiwaySplit(int(self._session.columns[node.ids[local]]), tuple(children))

    def _cut(self, node: _Rows, local: int, position: int, *, last: bool) -> Cut:
        """The tree of a split; `last`: its sides are leaves."""
        parts = self._parts(node, local, 0, position)
        left, right = [self._leaf(part) if last else self._grow(part) for part in parts]
        rank = int(self._ranks(node, local)[position - 1])
        return Cut(int(self._session.columns[node.ids[local]]), rank, left, right)

    def _parts(self, node: _Rows, local: int, begin: int, end: int) -> list[_Rows]:
        """The rows at some positions of a column, and the others."""
        session, width = self._session, len(node.ids)
        sizes = end - begin, node.n - end + begin
        flat = np.empty(width * (node.n + 2), np.uint32)
        ids, side = np.empty((2, width), np.int64), np.zeros(session.rows.n_rows, np.uint8)
        part = np.array([local, begin, end])
        widths = units.split_rows(session.address, node.orders, node.n, node.ids, part, side, flat, ids)
        orders = np.split(flat, [width * (sizes[0] + 1)])
        return [
            _Rows(each.reshape(width, size + 1), size, kept[:count].copy())
            for each, size, kept, count in zip(orders, sizes, ids, widths, strict=True)
        ]

    def _leaf(self, node: _Rows) -> Leaf:
        return Leaf(*self._session.rows.leaf_of(node.orders[0, : node.n] & np.uint32(ROW)))

    def _ranks(self, node: _Rows, local: int) -> Array:
        """The ranks of the rows in a column, in order."""
        found: Array = self._session.ranks[node.ids[local], node.orders[local, : node.n] & np.uint32(ROW)]
        return found
