"""The columns of a data set as the ordered search reads them, its thresholds as questions, and its trees.

The search tells trees by plans: what these leave open is found again at its rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.ordered import NO_LIMIT, OrderedValues
from streed.exact import Array
from streed.kernels.ordered import NEW, ROW, WORDS, sort_rows
from streed.ordered.session import OrderedSession, find_stump
from streed.problem import process_memory


@final
@attrs.frozen(eq=False)
class Features:
    """The columns of a data set as the search reads them: ordered ones, binary ones, which have one threshold, and
    categorical ones, whose ranks are codes.

    An ordered column with gaps is two features: with its gaps before all values and behind them. A threshold of a
    feature lies behind each of its ranks but the last, so that the question whether a value is missing is one of both.
    """

    data: Dataset
    ranks: Array
    """(F, n) int32, C-contiguous; all ranks of a feature occur but those of a coded one."""
    column: Array
    """(F,) int64: the data's column that the feature is made of."""
    limits: tuple[Array, ...]
    """For each feature, by threshold, int64: the largest rank in the column of what is below; one 0 of coded ones."""
    gaps_last: Array
    """(F,) bool: of an ordered column, whether gaps are behind all values, or there are none; they go to child 1."""

    @classmethod
    def of(cls, data: Dataset) -> Features:
        """The features of the data."""
        found = [
            (*_ranked(data.X[:, j], values, gaps_last), j, gaps_last)
            for j, values in sorted(data.ordered.items())
            for gaps_last in ((True, False) if values.has_gaps else (True,))
        ]
        ranks, limits, columns, last = zip(*found, strict=True) if found else ((), (), (), ())
        binary = [j for j in range(data.n_columns) if j not in data.ordered and j not in data.categorical]
        coded = [*binary, *data.categorical]
        together = np.concatenate([np.array(ranks, np.int32).reshape(-1, data.n_rows), data.X[:, coded].T])
        limits, last = (*limits, *[np.zeros(1, np.int64)] * len(coded)), (*last, *[False] * len(coded))
        column = np.array([*columns, *coded], np.int64)
        return cls(data, np.ascontiguousarray(together, np.int32), column, limits, np.array(last, bool))

    @property
    def categories(self) -> int:
        """How many features, the last ones, are categorical."""
        return len(self.data.categorical)

    def stats(self, session: OrderedSession) -> dict[str, Any]:
        """What is said of the last search of a session over these columns."""
        thresholds, lane = sum(map(len, self.limits)) - self.categories, str(session.arrays["amounts"].dtype)
        said = {"route": "thresholds", "threads": 1, "peak_bytes": process_memory.peak(), "kernel": session.rows.kind}
        return said | {"columns": len(self.ranks), "thresholds": thresholds, "lane": lane}

    def question(self, feature: int, rank: int) -> tuple[int, int, int]:
        """(column, limit, gaps) of the threshold behind this rank of the feature, as `Questions` has them."""
        limit = int(self.limits[feature][rank])
        return int(self.column[feature]), limit, 1 if limit == NO_LIMIT else int(self.gaps_last[feature])

    def is_turned(self, feature: int, rank: int) -> bool:
        """Whether the question's child 0 is for what is above the threshold: gaps come first, and are asked for."""
        return not self.gaps_last[feature] and int(self.limits[feature][rank]) == NO_LIMIT

    def preorder(self, session: OrderedSession, plan: Array) -> list[tuple[int, int, int] | None]:
        """The tree of a plan in preorder: the question of each branching node, None for leaves, also of no rows."""
        entries = iter(plan[1 : 1 + WORDS * int(plan[0])].reshape(-1, WORDS).tolist())

        def grow(rows: Array) -> Any:
            column, rank, _ = next(entries)
            if column >= 0:
                return split(rows, column, rank, grow)
            found = None if rank == 0 else _stump(session, rows)
            return [None] if found is None else split(rows, *found, lambda _: [None])

        def split(rows: Array, column: int, rank: int, below: Callable[[Array], Any]) -> Any:
            """The tree of a split of some rows (m,): up to a rank or, below 0, by codes."""
            ranks, feature = session.ranks[column, rows], int(session.columns[column])
            codes = range(0 if rank >= 0 else len(self.data.column(int(self.column[feature])).categories))
            sides = [ranks <= rank, ranks > rank] if rank >= 0 else [ranks == code for code in codes]
            parts = [below(rows[side]) if side.any() else [None] for side in sides]
            told = parts[::-1] if self.is_turned(feature, rank) else parts
            return [self.question(feature, rank), *itertools.chain.from_iterable(told)]

        found: list[tuple[int, int, int] | None] = grow(np.arange(session.rows.n_rows))
        return found


def _ranked(ranks: Array, values: OrderedValues, gaps_last: bool) -> tuple[Array, Array]:
    """(ranks among the groups of values that cuts tell apart, the cut behind each but the last)."""
    uncut = len(values.cuts) + 1 < len(values.values)
    below = np.searchsorted(values.cuts, ranks).astype(np.int32) if uncut else ranks.astype(np.int32)
    if not values.has_gaps or not len(values.values):
        return below if len(values.values) else np.zeros(len(ranks), np.int32), values.cuts
    missing = ranks == values.gap_rank
    if gaps_last:
        below[missing] = len(values.cuts) + 1
        return below, np.append(values.cuts, NO_LIMIT)
    below += 1
    below[missing] = 0
    return below, np.concatenate([[NO_LIMIT], values.cuts])


def _stump(session: OrderedSession, rows: Array) -> tuple[int, int] | None:
    """(column, rank) of the best single split of some rows; None if a leaf is as good."""
    ranks = session.ranks[:, rows]
    ids = np.flatnonzero(ranks.max(axis=1) > ranks.min(axis=1))
    if not len(ids):
        return None
    orders = sort_rows(ranks[ids])
    orders[:, :-1] = rows[orders[:, :-1] & np.uint32(ROW)] | (orders[:, :-1] & np.uint32(NEW))
    answer = np.zeros(4, np.int64)
    find_stump(session.record.address, orders, len(rows), ids, answer)
    leaf, cost, best, position = answer.tolist()
    if cost + session.rows.price >= leaf:
        return None
    if ids[best] >= session.n_ordered:
        return int(ids[best]), -1
    return int(ids[best]), int(session.ranks[ids[best], orders[best, position - 1] & np.uint32(ROW)])
