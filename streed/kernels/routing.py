"""The certificate: a tree's cost from the raw codes and costs, by routing every row, apart from what the search did."""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.exact import Array
from streed.kernels.compiled import entry, ready
from streed.kernels.records import LEAF
from streed.kernels.views import native


def route_rows(preorder: Array, codes: Array, arity: Array) -> tuple[Array, Array]:
    """(leaf, end): the place in the preorder of the leaf of each row, and where the subtree of each node ends.

    preorder (m,) int64, codes (n, p) uint8 and arity (p,) int64 as `measure_tree` takes them.
    """
    leaf, end = np.empty(len(codes), np.int64), np.empty(len(preorder), np.int64)
    _route(preorder, codes, arity, leaf, end)
    return leaf, end


@native
def _find_leaves(preorder, codes, arity, leaf, end):  # type: ignore[no-untyped-def]
    """As `route_rows`, into these arrays."""
    for at in range(len(preorder) - 1, -1, -1):
        child = at + 1
        if preorder[at] != LEAF:
            for _ in range(max(arity[preorder[at]], 2)):
                child = end[child]
        end[at] = child
    for i in range(len(codes)):
        at = 0
        while preorder[at] != LEAF:
            child = at + 1
            for _ in range(codes[i, preorder[at]]):
                child = end[child]
            at = child
        leaf[i] = at


_route = entry(_find_leaves.py_func)
"""The same for Python."""


def measure_tree(preorder: Array, codes: Array, arity: Array, costs: Array) -> tuple[Array, Array, Array]:
    """(measured, leaf, end): of each node of a tree label, rows, cost, depth and parent; and what `route_rows` gives.

    preorder (m,) int64: the column of each branch, LEAF for leaves; codes (n, p) uint8; arity (p,) int64: 0 for binary
    columns, else the number of categories; costs (n, K) int64. A leaf has the label of least cost, of equal ones the
    first; a leaf without rows has that of its parent's rows. Only leaves have a cost. `measured` is (5, m) int64.
    """
    m = len(preorder)
    leaf, end, sums = np.empty(len(codes), np.int64), np.empty(m, np.int64), np.zeros((m, costs.shape[1]), np.int64)
    measured = np.zeros((5, m), np.int64)
    measure_rows(preorder, codes, arity, leaf, end, costs, measured, sums)
    return measured, leaf, end


_VECTOR, _TABLE = "int64[::1]", "int64[:, ::1]"

_ROUTED = f"{_VECTOR}, uint8[:, ::1], {_VECTOR}, {_VECTOR}, {_VECTOR}"

MEASURE = f"({_ROUTED}, {_TABLE}, {_TABLE}, {_TABLE})"
"""The signature of `measure_rows`."""


def compile_measuring() -> None:
    """Compiles what measures trees, before time is counted."""
    ready(_route, f"({_ROUTED})")
    ready(measure_rows, MEASURE)


@entry
def measure_rows(preorder, codes, arity, leaf, end, costs, measured, sums):  # type: ignore[no-untyped-def]
    """As `measure_tree`, into these arrays; measured and sums (m, K) are zero."""
    _find_leaves(preorder, codes, arity, leaf, end)
    m = len(preorder)
    n, labels = costs.shape
    label, rows, cost, depth, parent = measured[0], measured[1], measured[2], measured[3], measured[4]
    for at in range(m):
        if preorder[at] != LEAF:
            child = at + 1
            for _ in range(max(arity[preorder[at]], 2)):
                parent[child] = at
                depth[child] = depth[at] + 1
                child = end[child]
    for i in range(n):
        rows[leaf[i]] += 1
        for k in range(labels):
            sums[leaf[i], k] += costs[i, k]
    for at in range(m - 1, 0, -1):
        rows[parent[at]] += rows[at]
        for k in range(labels):
            sums[parent[at], k] += sums[at, k]
    for at in range(m):
        best = int64(0)
        if rows[at] > 0:
            for k in range(1, labels):
                if sums[at, k] < sums[at, best]:
                    best = k
        else:
            best = label[parent[at]]
        label[at] = best
        if preorder[at] == LEAF:
            cost[at] = sums[at, best]
