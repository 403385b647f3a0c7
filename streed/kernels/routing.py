"""The certificate: a tree's cost from the raw codes and costs, by routing every row, apart from what the search did."""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.records import LEAF
from streed.kernels.views import native


@native
def _find_ends(preorder, arity, end):  # type: ignore[no-untyped-def]
    """Writes where the subtree of every node ends."""
    for at in range(len(preorder) - 1, -1, -1):
        child = at + 1
        if preorder[at] != LEAF:
            for _ in range(max(arity[preorder[at]], 2)):
                child = end[child]
        end[at] = child


@entry
def route_rows(preorder, codes, arity):  # type: ignore[no-untyped-def]
    """(leaf, end): the place in the preorder of the leaf of each row, and where the subtree of each node ends.

    preorder (m,) int64, codes (n, p) uint8 and arity (p,) int64 as `measure_tree` takes them.
    """
    end = np.empty(len(preorder), np.int64)
    _find_ends(preorder, arity, end)
    leaf = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        at = 0
        while preorder[at] != LEAF:
            child = at + 1
            for _ in range(codes[i, preorder[at]]):
                child = end[child]
            at = child
        leaf[i] = at
    return leaf, end


def measure_tree(preorder: Array, codes: Array, arity: Array, costs: Array) -> Array:
    """(4, m) int64: label, rows, cost and depth of every node of a tree in preorder; only leaves have a cost.

    preorder (m,) int64: the column of each branch, LEAF for leaves; codes (n, p) uint8; arity (p,) int64: 0 for binary
    columns, else the number of categories; costs (n, K) int64. A leaf has the label of least cost, of equal ones the
    first; a leaf without rows has that of its parent's rows.
    """
    m = len(preorder)
    measured, sums = np.zeros((4, m), np.int64), np.zeros((m, costs.shape[1]), np.int64)
    measure_rows(preorder, codes, arity, costs, measured, sums, np.empty((3, m), np.int64))
    return measured


_TABLE = "int64[:, ::1]"

MEASURE = f"(int64[::1], uint8[:, ::1], int64[::1], {_TABLE}, {_TABLE}, {_TABLE}, {_TABLE})"
"""The signature of `measure_rows`."""


@entry
def measure_rows(preorder, codes, arity, costs, measured, sums, walk):  # type: ignore[no-untyped-def]
    """As `measure_tree`; sums (m, K) are zero, and walk (3, m) is room."""
    m = len(preorder)
    n, labels = costs.shape
    end, parent, second = walk[0], walk[1], walk[2]
    label, rows, cost = measured[0], measured[1], measured[2]
    _find_parents(preorder, arity, end, parent, measured[3], second)
    for i in range(n):
        at = _find_leaf(preorder, codes[i], end, second)
        rows[at] += 1
        for k in range(labels):
            sums[at, k] += costs[i, k]
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


@native
def _find_leaf(preorder, codes, end, second):  # type: ignore[no-untyped-def]
    """The leaf of the row with these codes (p,): its place in the preorder."""
    at = 0
    while preorder[at] != LEAF:
        side = codes[preorder[at]]
        child = at + 1 if side == 0 else second[at]
        for _ in range(1, side):
            child = end[child]
        at = child
    return at


@native
def _find_parents(preorder, arity, end, parent, depth, second):  # type: ignore[no-untyped-def]
    """Writes the parent (LEAF for the root), the depth and the second child of every node."""
    _find_ends(preorder, arity, end)
    parent[0] = LEAF
    depth[0] = 0
    for at in range(len(preorder)):
        if preorder[at] != LEAF:
            child = at + 1
            second[at] = end[child]
            for _ in range(max(arity[preorder[at]], 2)):
                parent[child] = at
                depth[child] = depth[at] + 1
                child = end[child]
