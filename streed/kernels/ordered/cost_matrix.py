"""Scores of splits for any costs per row and label: sums of every label on both sides of 32 splits.

Amounts: lane (N, K), the costs, none below 0. Their sums, and those of frequencies, must fit a lane. Every lane is one
of 32 splits, as in `two_labels.py`.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint32

from streed.kernels.ordered.record import NEW, RESULTS, ROW, SPLITS, make_write_sides, place_rows
from streed.kernels.simd import broadcast, fill, infeasible_of, keep_at_least, keep_lanes, load, maximum, minimum, store
from streed.kernels.views import matrix, native, vector


def make_score(lane: Any, counts: bool) -> Any:
    """The kernel of a lane type; `counts`: leaves need several rows."""
    write_sides = make_write_sides(counts)

    @native
    def score(e):  # type: ignore[no-untyped-def]
        place_rows(e)
        n = e.asked_rows
        labels = e.labels
        orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
        mask = vector(e.mask, e.rows, uint32)
        costs = matrix(e.amounts, e.rows, labels, lane)
        frequency = matrix(e.frequency, e.rows if counts else 1, 1, lane)
        scratch = matrix(e.scratch, e.scratch_space, SPLITS, lane)
        zero = fill(scratch, 0)
        worst = infeasible_of(scratch)
        # of label k: sums left and right of the split; then those of the rows that were passed
        for k in range(labels):
            left = zero
            everything = zero
            for r in range(n):
                row = int64(orders[0, r] & uint32(ROW))
                cost = broadcast(costs, row, k)
                left = left + keep_lanes(int64(mask[row]), cost)
                everything = everything + cost
            store(scratch, RESULTS + 4 * k, 0, left)
            store(scratch, RESULTS + 4 * k + 1, 0, everything - left)
        left_rows = zero
        all_rows = zero
        if counts:
            for r in range(n):
                row = int64(orders[0, r] & uint32(ROW))
                here = broadcast(frequency, row, 0)
                left_rows = left_rows + keep_lanes(int64(mask[row]), here)
                all_rows = all_rows + here
        right_rows = all_rows - left_rows
        left_leaf = fill(scratch, worst)
        right_leaf = fill(scratch, worst)
        for k in range(labels):
            left_leaf = minimum(left_leaf, load(scratch, RESULTS + 4 * k, 0))
            right_leaf = minimum(right_leaf, load(scratch, RESULTS + 4 * k + 1, 0))
        left_saved = zero
        right_saved = zero
        for f in range(e.asked_columns):
            for k in range(labels):
                store(scratch, RESULTS + 4 * k + 2, 0, zero)
                store(scratch, RESULTS + 4 * k + 3, 0, zero)
            rows_left = zero
            rows_passed = zero
            for r in range(n):
                entry = orders[f, r]
                row = int64(entry & uint32(ROW))
                if entry >= uint32(NEW):
                    left_before = fill(scratch, worst)
                    left_behind = fill(scratch, worst)
                    right_before = fill(scratch, worst)
                    right_behind = fill(scratch, worst)
                    for k in range(labels):
                        at = RESULTS + 4 * k
                        passed = load(scratch, at + 2, 0)
                        left_before = minimum(left_before, passed)
                        left_behind = minimum(left_behind, load(scratch, at, 0) - passed)
                        passed = load(scratch, at + 3, 0)
                        right_before = minimum(right_before, passed)
                        right_behind = minimum(right_behind, load(scratch, at + 1, 0) - passed)
                    # what the split saves of the cost of a leaf, never below 0
                    on_left = left_leaf - (left_before + left_behind)
                    on_right = right_leaf - (right_before + right_behind)
                    if counts:
                        rows_right = rows_passed - rows_left
                        on_left = keep_at_least(on_left, minimum(rows_left, left_rows - rows_left), e.min_leaf)
                        on_right = keep_at_least(on_right, minimum(rows_right, right_rows - rows_right), e.min_leaf)
                    left_saved = maximum(left_saved, on_left)
                    right_saved = maximum(right_saved, on_right)
                lanes = int64(mask[row])
                for k in range(labels):
                    at = RESULTS + 4 * k
                    cost = broadcast(costs, row, k)
                    on_left = keep_lanes(lanes, cost)
                    store(scratch, at + 2, 0, load(scratch, at + 2, 0) + on_left)
                    store(scratch, at + 3, 0, load(scratch, at + 3, 0) + (cost - on_left))
                if counts:
                    here = broadcast(frequency, row, 0)
                    rows_left = rows_left + keep_lanes(lanes, here)
                    rows_passed = rows_passed + here
        store(scratch, 0, 0, left_leaf)
        store(scratch, 1, 0, left_leaf - left_saved)
        store(scratch, 2, 0, right_leaf)
        store(scratch, 3, 0, right_leaf - right_saved)
        store(scratch, 4, 0, left_rows)
        store(scratch, 5, 0, right_rows)
        write_sides(e, scratch)

    return score
