"""The kernels of the ordered search as compiled code, by kind of costs and lane type, and its entry points."""

from __future__ import annotations

import functools
from typing import Any

from numba import int64

from streed.kernels.compiled import entry, unit
from streed.kernels.ordered import cost_matrix, many_labels, two_labels
from streed.kernels.ordered.orders import mark_sides, split_orders
from streed.kernels.ordered.pointers import record_at
from streed.kernels.pointers import KERNEL
from streed.ordered.categories import ask_columns, find_best_stump
from streed.ordered.deepening import deepen
from streed.ordered.layout import LABELLED, MATRIX, SIGNED

_ROOMS = {SIGNED: two_labels, LABELLED: many_labels, MATRIX: cost_matrix}


@functools.cache
def score(kind: str, lane: Any, counts: bool) -> Any:
    """The kernel that scores splits."""
    kernel = _ROOMS[kind].make_score(lane, counts)

    @unit(KERNEL)
    def score_splits(address):  # type: ignore[no-untyped-def]
        kernel(record_at(address))

    return score_splits


@functools.cache
def stump(kind: str, lane: Any, counts: bool) -> Any:
    """The kernel that finds the best single split."""
    kernel = _ROOMS[kind].make_stump(lane, counts)

    @unit(KERNEL)
    def find_stump(address):  # type: ignore[no-untyped-def]
        kernel(record_at(address))

    return find_stump


@entry
def search_tree(address, depth, splits, budget, orders, names, plan, answer):  # type: ignore[no-untyped-def]
    """Searches all rows, by their orders; answer (2,): lower and upper bound, the latter of the tree of the plan."""
    e = record_at(address)
    deepen(e, depth, int64(orders.ctypes.data), e.rows, e.columns, names, splits, budget, int64(0), plan, answer)


@entry
def find_stump(address, orders, rows, columns, ordered, answer):  # type: ignore[no-untyped-def]
    """Asks for the best single split of some rows; answer (4,): the leaf's cost, the split's, its column and place.

    The first `ordered` of the columns have thresholds; of another, there is no place.
    """
    e = record_at(address)
    ask_columns(e, int64(orders.ctypes.data), rows, columns, ordered)
    find_best_stump(e)
    answer[0] = e.found_leaf
    answer[1] = e.found_cost
    answer[2] = e.found_column
    answer[3] = e.found_position


@entry
def split_rows(address, orders, rows, columns, names, column, position, side, left, left_names, right, right_names):  # type: ignore[no-untyped-def]
    """Splits the rows by a column of the node; how many columns each side has, (2,)."""
    e = record_at(address)
    at = int64(orders.ctypes.data)
    mark_sides(e, at, rows, column, position, side)
    return split_orders(
        e,
        at,
        rows,
        columns,
        names,
        side,
        int64(left.ctypes.data),
        position,
        left_names,
        int64(right.ctypes.data),
        right_names,
    )
