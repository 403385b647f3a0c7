"""The certificate: a tree's cost from the raw codes and costs, by routing every row, apart from what the search did."""

from __future__ import annotations

import numpy as np

from streed.engine.compiled import entry
from streed.engine.records import LEAF
from streed.engine.views import native


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
def measure_tree(preorder, codes, arity, costs):  # type: ignore[no-untyped-def]
    """(labels, rows, costs, depths) of every node of a tree in preorder; label and cost are those of leaves.

    preorder (m,) int64: the column of each branch, LEAF for leaves; codes (n, p) uint8; arity (p,) int64: 0 for binary
    columns, else the number of categories; costs (n, K) int64. A leaf has the label of least cost, of equal ones the
    first; a leaf without rows has that of its parent's rows.
    """
    m = len(preorder)
    n, labels = costs.shape
    end = np.empty(m, np.int64)
    _find_ends(preorder, arity, end)
    sums = np.zeros((m, labels), np.int64)
    rows = np.zeros(m, np.int64)
    parent = np.full(m, LEAF, np.int64)
    depth = np.zeros(m, np.int64)
    for at in range(m):
        if preorder[at] != LEAF:
            child = at + 1
            for _ in range(max(arity[preorder[at]], 2)):
                parent[child] = at
                depth[child] = depth[at] + 1
                child = end[child]
    for i in range(n):
        at = 0
        while preorder[at] != LEAF:
            side = codes[i, preorder[at]]
            child = at + 1
            for _ in range(side):
                child = end[child]
            at = child
        rows[at] += 1
        for k in range(labels):
            sums[at, k] += costs[i, k]
    for at in range(m - 1, 0, -1):
        rows[parent[at]] += rows[at]
        for k in range(labels):
            sums[parent[at], k] += sums[at, k]
    label = np.empty(m, np.int64)
    cost = np.zeros(m, np.int64)
    for at in range(m):
        source = at if rows[at] > 0 else parent[at]
        label[at] = np.argmin(sums[source]) if rows[at] > 0 else label[source]
        cost[at] = sums[at, label[at]] if preorder[at] == LEAF else 0
    return label, rows, cost, depth
