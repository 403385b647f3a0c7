"""Trees as the ordered search tells them, from its plans: what these leave open is found again at its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.ordered.orders import sort_rows
from streed.kernels.ordered.record import NEW, ROW
from streed.ordered import units
from streed.ordered.layout import WORDS

if TYPE_CHECKING:
    from streed.ordered.session import OrderedSession


@final
@attrs.frozen
class Split:
    """A branching node, whose children are splits, or None for leaves."""

    column: int
    rank: int
    """Rows whose rank in the column is at most this go to the first of two children; below 0, each code has a child."""
    children: tuple[Split | None, ...]
    """By code, None also for those that no row has."""


def tree_of(session: OrderedSession, plan: Array) -> Split | None:
    """The tree of a plan."""
    entries = iter(plan[1 : 1 + WORDS * int(plan[0])].reshape(-1, WORDS).tolist())

    def grow(rows: Array) -> Split | None:
        column, rank, _ = next(entries)
        if column >= 0:
            return _split(session, rows, column, rank, grow)
        found = None if rank == 0 else _stump(session, rows)
        return None if found is None else _split(session, rows, *found, lambda _: None)

    return grow(np.arange(session.rows.n_rows))


def _split(
    session: OrderedSession, rows: Array, column: int, rank: int, grow: Callable[[Array], Split | None]
) -> Split:
    """The split of some rows (m,), whose children `grow` makes."""
    ranks = session.ranks[column, rows]
    sides = [ranks <= rank, ranks > rank] if rank >= 0 else [ranks == code for code in range(int(ranks.max()) + 1)]
    children = tuple(grow(rows[side]) if side.any() else None for side in sides)
    return Split(int(session.columns[column]), rank, children)


def _stump(session: OrderedSession, rows: Array) -> tuple[int, int] | None:
    """(column, rank) of the best single split of some rows; None if a leaf is as good."""
    ranks = session.ranks[:, rows]
    ids = np.flatnonzero(ranks.max(axis=1) > ranks.min(axis=1))
    if not len(ids):
        return None
    orders = sort_rows(ranks[ids])
    orders[:, :-1] = rows[orders[:, :-1] & np.uint32(ROW)] | (orders[:, :-1] & np.uint32(NEW))
    answer = np.zeros(4, np.int64)
    units.find_stump(session.address, orders, len(rows), ids, answer)
    leaf, cost, best, position = answer.tolist()
    if cost + session.rows.price >= leaf:
        return None
    if ids[best] >= session.n_ordered:
        return int(ids[best]), -1
    return int(ids[best]), int(session.ranks[ids[best], orders[best, position - 1] & np.uint32(ROW)])
