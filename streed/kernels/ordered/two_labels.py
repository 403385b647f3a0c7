"""Scores of splits for two labels: the best stump on both sides of 32 splits in one pass over the rows of each column.

A row costs s more under label 0 than under label 1 (or less), and nothing under its better label. Rows of signed sum S
and of absolute sum W cost (W - |S|) / 2 in a leaf, and split into parts of sums L and S - L they cost
(W - |L| - |S - L|) / 2, where |L| + |S - L| = max(|S|, 2L - S, S - 2L): of all splits of a column, only the largest and
the smallest L count. Every lane is one of the 32 splits, whose rows are told apart by a word of `mask` for each row.

Amounts: lane (N, 1), s. Sums of |s| over all rows, and of the rows' frequencies, must fit a lane.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint32

from streed.kernels.ordered.record import INFEASIBLE, NEW, ROW, SPLITS, place_rows
from streed.kernels.simd import broadcast, fill, keep_at_least, keep_lanes, maximum, minimum, store
from streed.kernels.views import matrix, native, vector

SCRATCH = 10
"""Vectors that the kernel writes down."""


def make_score(lane: Any, counts: bool) -> Any:
    """The kernel of a lane type; `counts`: leaves need several rows."""

    @native
    def score(e):  # type: ignore[no-untyped-def]
        place_rows(e)
        n = e.asked_rows
        orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
        mask = vector(e.mask, e.rows, uint32)
        signed = matrix(e.amounts, e.rows, 1, lane)
        frequency = matrix(e.frequency, e.rows if counts else 1, 1, lane)
        scratch = matrix(e.scratch, SCRATCH, SPLITS, lane)
        zero = fill(scratch, 0)
        left = zero
        left_weight = zero
        left_rows = zero
        all_sum = zero
        all_weight = zero
        all_rows = zero
        for r in range(n):
            row = int64(orders[0, r] & uint32(ROW))
            lanes = int64(mask[row])
            amount = broadcast(signed, row, 0)
            size = maximum(amount, zero - amount)
            left = left + keep_lanes(lanes, amount)
            left_weight = left_weight + keep_lanes(lanes, size)
            all_sum = all_sum + amount
            all_weight = all_weight + size
            if counts:
                here = broadcast(frequency, row, 0)
                left_rows = left_rows + keep_lanes(lanes, here)
                all_rows = all_rows + here
        right_rows = all_rows - left_rows
        left_most = zero
        left_least = zero
        right_most = zero
        right_least = zero
        for f in range(e.asked_columns):
            on_left = zero
            passed = zero
            rows_on_left = zero
            rows_passed = zero
            for r in range(n):
                entry = orders[f, r]
                row = int64(entry & uint32(ROW))
                if entry >= uint32(NEW):
                    a = on_left
                    b = passed - on_left
                    if counts:
                        rows_on_right = rows_passed - rows_on_left
                        fewest = minimum(rows_on_left, left_rows - rows_on_left)
                        a = keep_at_least(a, fewest, e.min_leaf)
                        fewest = minimum(rows_on_right, right_rows - rows_on_right)
                        b = keep_at_least(b, fewest, e.min_leaf)
                    left_most = maximum(left_most, a)
                    left_least = minimum(left_least, a)
                    right_most = maximum(right_most, b)
                    right_least = minimum(right_least, b)
                lanes = int64(mask[row])
                amount = broadcast(signed, row, 0)
                on_left = on_left + keep_lanes(lanes, amount)
                passed = passed + amount
                if counts:
                    here = broadcast(frequency, row, 0)
                    rows_on_left = rows_on_left + keep_lanes(lanes, here)
                    rows_passed = rows_passed + here
        store(scratch, 0, 0, left)
        store(scratch, 1, 0, left_weight)
        store(scratch, 2, 0, left_most)
        store(scratch, 3, 0, left_least)
        store(scratch, 4, 0, left_rows)
        store(scratch, 5, 0, all_sum - left)
        store(scratch, 6, 0, all_weight - left_weight)
        store(scratch, 7, 0, right_most)
        store(scratch, 8, 0, right_least)
        store(scratch, 9, 0, right_rows)
        write_costs(e, scratch, 0, vector(e.leaf_left, SPLITS, int64), vector(e.stump_left, SPLITS, int64))
        write_costs(e, scratch, 5, vector(e.leaf_right, SPLITS, int64), vector(e.stump_right, SPLITS, int64))

    @native
    def write_costs(e, scratch, at, leaf, stump):  # type: ignore[no-untyped-def]
        for l in range(e.asked_splits):
            total = int64(scratch[at, l])
            weight = int64(scratch[at + 1, l])
            most = 2 * int64(scratch[at + 2, l]) - total
            least = total - 2 * int64(scratch[at + 3, l])
            leaf[l] = (weight - abs(total)) // 2
            stump[l] = (weight - max(most, least)) // 2
            if counts and int64(scratch[at + 4, l]) < e.min_leaf:
                leaf[l] = INFEASIBLE
                stump[l] = INFEASIBLE

    return score
