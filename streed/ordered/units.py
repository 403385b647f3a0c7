"""The kernels of the ordered search as compiled code, by kind of costs and lane type, and its entry points."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import int64

from streed.kernels.compiled import entry, unit
from streed.kernels.ordered import cost_matrix, many_labels, two_labels
from streed.kernels.ordered.orders import mark_sides, split_orders
from streed.kernels.ordered.pointers import record_at
from streed.kernels.pointers import KERNEL
from streed.ordered.branch import solve
from streed.ordered.categories import ask_columns, find_best_stump
from streed.ordered.deepening import deepen
from streed.ordered.layout import ALONE, GROW, LABELLED, MATRIX, SHALLOW, SIGNED
from streed.ordered.lookahead import look_ahead
from streed.ordered.shallow import solve_shallow
from streed.ordered.sharing import tell_shallow

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
def search_tree(address, part, depth, splits, budget, lower, orders, names, plan, own, answer):  # type: ignore[no-untyped-def]
    """Searches all rows, whose orders are given, or does the `part` of a thread of several (layout.py).

    answer (2,): lower and upper bound. `plan` is that of all threads, `own` one of this thread, which need not be kept.
    """
    e = record_at(address)
    n = e.rows
    at = int64(orders.ctypes.data)
    if part == ALONE:
        deepen(e, depth, at, n, e.columns, names, splits, budget, lower, plan, answer)
    elif part == GROW:
        other = np.empty(len(own), np.int64)
        answer[1] = look_ahead(e, min(depth, splits), at, n, e.columns, names, splits, plan, other)
    elif part == SHALLOW:
        depth = min(depth, splits, n - 1, 2)
        low, upper = solve_shallow(e, depth, at, n, e.columns, names, min(splits, int64(3)), budget, e.least, own)
        tell_shallow(e, low, upper, own, plan)
    else:
        answer[0], answer[1] = solve(e, depth, at, n, e.columns, names, splits, budget, lower, plan)


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
