"""The costs of both sides of 32 splits, from the scratch to where the search reads them.

Rows of the scratch, lane (space, SPLITS): 0 and 2 the costs of the left and of the right side as leaves, 1 and 3 those
of their best stumps, 4 and 5 the rows of the sides.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from streed.kernels.ordered.record import INFEASIBLE, SPLITS
from streed.kernels.views import native, vector


def make_write_sides(counts: bool) -> Any:
    """The kernel that writes the costs; INFEASIBLE of a side with too few rows, if `counts`: leaves need several."""

    @native
    def write_sides(e, scratch):  # type: ignore[no-untyped-def]
        write_costs(e, scratch, vector(e.leaf_left, SPLITS, int64), 0, 4)
        write_costs(e, scratch, vector(e.stump_left, SPLITS, int64), 1, 4)
        write_costs(e, scratch, vector(e.leaf_right, SPLITS, int64), 2, 5)
        write_costs(e, scratch, vector(e.stump_right, SPLITS, int64), 3, 5)

    @native
    def write_costs(e, scratch, costs, at, rows):  # type: ignore[no-untyped-def]
        for l in range(e.asked_splits):
            few = counts and int64(scratch[rows, l]) < e.min_leaf
            costs[l] = INFEASIBLE if few else int64(scratch[at, l])

    return write_sides
