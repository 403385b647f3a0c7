"""The kernels of the ordered search as compiled code, by kind of costs and lane type, and its entry points."""

from __future__ import annotations

import functools
from typing import Any

from numba import int64

from streed.kernels import compilation
from streed.kernels.compiled import entry, ready, unit, was_kept
from streed.kernels.ordered import cost_matrix, many_labels, two_labels
from streed.kernels.ordered.record import record_at
from streed.kernels.routing import MEASURE, measure_rows
from streed.kernels.views import KERNEL
from streed.ordered.cache import Node
from streed.ordered.depth_two import solve_asked
from streed.ordered.intervals import find_best_stump
from streed.ordered.layout import LABELLED, MATRIX, SIGNED
from streed.ordered.lookahead import search_all

_STUMP = "(int64, uint32[:, ::1], int64, int64[::1], int64[::1])"
"""The signature of `find_stump`."""

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
def shallow() -> Any:
    """The kernel that solves nodes to depth two."""

    @unit(KERNEL)
    def solve_shallow(address):  # type: ignore[no-untyped-def]
        solve_asked(record_at(address))

    return solve_shallow


@functools.cache
def link() -> int:
    """Compiles what a search needs, part of it by a second process; the address of the kernel of depth two."""
    is_made = was_kept(find_stump, _STUMP)
    with compilation.plan(None if is_made else "from streed.ordered.units import compile_shared; compile_shared()"):
        ready(search_tree, "(int64, int64, int64, int64, uint32[:, ::1], int64[::1], int64[::1], int64[::1])")
    return int(shallow().address)


def compile_shared() -> None:
    """What the second process does."""
    compilation.announce = compilation.tell
    shallow()
    ready(find_stump, _STUMP)
    ready(measure_rows, MEASURE)


@entry
def search_tree(address, depth, splits, budget, orders, ids, plan, answer):  # type: ignore[no-untyped-def]
    """Searches all rows, by their orders; answer (2,): lower and upper bound, the latter of the tree of the plan."""
    e = record_at(address)
    node = Node(int64(orders.ctypes.data), e.rows, e.columns, ids)
    search_all(e, node, depth, splits, budget, plan, answer)


@entry
def find_stump(address, orders, rows, ids, answer):  # type: ignore[no-untyped-def]
    """Asks for the best single split of some rows; answer (4,): the leaf's cost, the split's, its column and place.

    Of a categorical column, there is no place.
    """
    e = record_at(address)
    find_best_stump(e, Node(int64(orders.ctypes.data), int64(rows), int64(len(ids)), ids), True)
    answer[0] = e.found_leaf
    answer[1] = e.found_cost
    answer[2] = e.found_column
    answer[3] = e.found_position
