"""Which threshold of a run is solved, and how far, where bounds are proved from below, price by price."""

from __future__ import annotations

from numba import uint32

from streed.kernels.ordered.record import NEW
from streed.kernels.views import matrix, native


@native
def end_of_leaf(e, orders, n, columns, f, first, last, middle, left, right):  # type: ignore[no-untyped-def]
    """Which threshold of a run to solve: where its best one has a leaf on one side, the last of as cheap a leaf.

    The other side costs least there, so what it costs closes all of them.
    """
    rows = matrix(orders, columns, n + 1, uint32)
    best = middle
    for r in range(first, last + 1):
        if rows[f, r] >= uint32(NEW) and left[f, r] + right[f, r] < left[f, best] + right[f, best]:
            best = r
    most = e.least + e.split_cost
    found = best
    if left[f, best] < most and left[f, best] <= right[f, best]:
        for r in range(best, last + 1):
            if left[f, r] > left[f, best]:
                break
            found = r if rows[f, r] >= uint32(NEW) else found
        return found
    if right[f, best] < most:
        for r in range(best, first - 1, -1):
            if right[f, r] > right[f, best]:
                break
            found = r if rows[f, r] >= uint32(NEW) else found
        return found
    return middle


@native
def within_price(e, needed, wanted):  # type: ignore[no-untyped-def]
    """A budget of a side from `needed` to `wanted`, of trees with no more splits than `needed` allows."""
    price = e.split_cost
    return min(wanted, e.least + (needed - e.least + price - 1) // price * price)
