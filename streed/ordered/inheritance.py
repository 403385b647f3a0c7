"""What a node that is searched for a price per split tells its sides: thresholds that need not be tried again there.

Let nothing cheaper than a limit begin with a threshold u at a node, and let another threshold part its rows into B,
which become a leaf, and the rest D. If all of B is on one side of u, a tree for D that begins with u is a tree for the
node that begins with u, too, and parts B from D below: it has the same leaves, so it costs no more than the tree for D,
the leaf B and a price. So no tree for D that begins with u costs less than the limit, less the leaf and the price. The
same splits in another order are then not searched again, though the rows that they part off may be others.

If u parts B as well, that holds of trees for D that have a leaf of B's label on one side of u: those of B's rows that
are on this side join it, and the others are parted off by one split. All other trees that begin with u have on each
side a leaf of another label, or pay for a split.

Splits of which an optimum has no need, as a side saves no more than the price, have none at D either: fewer rows save
less. Depths and leaves are no more and no smaller than before.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint32

from streed.kernels.ordered.record import INFEASIBLE, NEW, ROW
from streed.kernels.views import matrix, native
from streed.ordered.bounds import costs_by_label
from streed.ordered.categories import count_ordered

_OPEN, _CLOSED, _CLOSED_TO_LEAVES = range(3)


@native
def find_leaf(e, orders, n):  # type: ignore[no-untyped-def]
    """(what the best leaf for some rows costs, its label)."""
    sums = costs_by_label(e, orders, n)
    label = int64(sums.argmin())
    return sums[label], label


@native
def hand_on(  # type: ignore[no-untyped-def]
    e, orders, n, columns, names, side, mine, size, its_columns, its_names, left, right, limit
):
    """Marks the thresholds of a side, at e.handed uint8 (columns, size), that its node has closed.

    `side` (N,) is `mine` for its `size` rows; thresholds whose bounds add up to `limit` are closed.
    """
    rows = matrix(orders, columns, n + 1, uint32)
    ordered = count_ordered(e, its_names, its_columns)
    closed = matrix(e.handed, max(ordered, 1), size, uint8)
    f = int64(0)
    for g in range(ordered):
        while names[f] != its_names[g]:
            f += 1
        closed[g, :] = _OPEN
        inside = int64(0)
        for r in range(n):
            if rows[f, r] >= uint32(NEW) and left[f, r] + right[f, r] >= limit and 0 < inside < size:
                outside = r - inside
                if outside == 0 or outside == n - size:
                    closed[g, inside] = _CLOSED
                elif closed[g, inside] == _OPEN:
                    closed[g, inside] = _CLOSED_TO_LEAVES
            inside += int64(side[int64(rows[f, r] & uint32(ROW))] == mine)


@native
def close_inherited(e, orders, n, columns, closed_at, label, limit, left, right):  # type: ignore[no-untyped-def]
    """Closes the thresholds that are marked, where no sides cost less than `limit` together."""
    rows = matrix(orders, columns, n + 1, uint32)
    closed = matrix(closed_at, columns, n, uint8)
    costs = matrix(e.leaf_costs, e.rows, e.labels, int64)
    everything = costs_by_label(e, orders, n)
    passed = np.zeros(e.labels, np.int64)
    for f in range(columns):
        passed[:] = 0
        for r in range(n):
            if closed[f, r] == _CLOSED:
                left[f, r] = INFEASIBLE
            elif closed[f, r] == _CLOSED_TO_LEAVES:
                on_left = e.least + e.split_cost
                on_right = e.least + e.split_cost
                for k in range(e.labels):
                    if k != label:
                        on_left = min(on_left, passed[k])
                        on_right = min(on_right, everything[k] - passed[k])
                if max(left[f, r], on_left) + max(right[f, r], on_right) >= limit:
                    left[f, r] = INFEASIBLE
            row = int64(rows[f, r] & uint32(ROW))
            for k in range(e.labels):
                passed[k] += costs[row, k]
