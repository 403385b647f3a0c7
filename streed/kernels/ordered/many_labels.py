"""Scores of splits where every row is of one label: it costs its weight under every other one (weighted errors).

A leaf costs the weight of its rows less that of their heaviest label. One pass over the rows of a column keeps the
weights of the labels that were passed, and writes down the largest for every row; these only grow, so a pass costs a
few operations a row whatever the number of labels. A second pass from the other end adds the largest weight behind.
Every lane is one of 32 splits, as in `two_labels.py`.

Amounts: lane (N, 1), the weights; `label_of` int32 (N). Their sum, and that of frequencies, must fit a lane.
"""

from __future__ import annotations

from typing import Any

from numba import int32, int64, uint32

from streed.kernels.ordered.record import NEW, RESULTS, ROW, SPLITS, make_write_sides, place_rows
from streed.kernels.simd import broadcast, fill, keep_at_least, keep_lanes, load, maximum, minimum, store
from streed.kernels.views import inline, matrix, native, vector


@inline
def _add_row(scratch, lanes, weights, row, label):  # type: ignore[no-untyped-def]
    """(weight, weight on the left, sums of its label on both sides) of a row, which is added to these."""
    weight = broadcast(weights, row, 0)
    on_left = keep_lanes(lanes, weight)
    k = RESULTS + 2 * label
    sum_left = load(scratch, k, 0) + on_left
    sum_right = load(scratch, k + 1, 0) + (weight - on_left)
    store(scratch, k, 0, sum_left)
    store(scratch, k + 1, 0, sum_right)
    return weight, on_left, sum_left, sum_right


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
        weights = matrix(e.amounts, e.rows, 1, lane)
        label_of = vector(e.label_of, e.rows, int32)
        frequency = matrix(e.frequency, e.rows if counts else 1, 1, lane)
        scratch = matrix(e.scratch, e.scratch_space, SPLITS, lane)
        zero = fill(scratch, 0)
        begin = RESULTS + 2 * labels
        for k in range(2 * labels):
            store(scratch, RESULTS + k, 0, zero)
        left_weight = zero
        all_weight = zero
        left_rows = zero
        all_rows = zero
        left_leaf = zero
        right_leaf = zero
        for r in range(n):
            row = int64(orders[0, r] & uint32(ROW))
            lanes = int64(mask[row])
            weight, on_left, sum_left, sum_right = _add_row(scratch, lanes, weights, row, int64(label_of[row]))
            left_weight = left_weight + on_left
            all_weight = all_weight + weight
            left_leaf = maximum(left_leaf, sum_left)
            right_leaf = maximum(right_leaf, sum_right)
            if counts:
                here = broadcast(frequency, row, 0)
                left_rows = left_rows + keep_lanes(lanes, here)
                all_rows = all_rows + here
        right_rows = all_rows - left_rows
        left_best = zero
        right_best = zero
        for f in range(e.asked_columns):
            for k in range(2 * labels):
                store(scratch, RESULTS + k, 0, zero)
            most_left = zero
            most_right = zero
            rows_left = zero
            rows_passed = zero
            for r in range(n):
                entry = orders[f, r]
                row = int64(entry & uint32(ROW))
                if entry >= uint32(NEW):
                    at = begin + 4 * r
                    store(scratch, at, 0, most_left)
                    store(scratch, at + 1, 0, most_right)
                    if counts:
                        store(scratch, at + 2, 0, rows_left)
                        store(scratch, at + 3, 0, rows_passed - rows_left)
                lanes = int64(mask[row])
                _, _, sum_left, sum_right = _add_row(scratch, lanes, weights, row, int64(label_of[row]))
                most_left = maximum(most_left, sum_left)
                most_right = maximum(most_right, sum_right)
                if counts:
                    here = broadcast(frequency, row, 0)
                    rows_left = rows_left + keep_lanes(lanes, here)
                    rows_passed = rows_passed + here
            for k in range(2 * labels):
                store(scratch, RESULTS + k, 0, zero)
            most_left = zero
            most_right = zero
            for behind in range(n - 1):
                r = n - 1 - behind
                entry = orders[f, r]
                row = int64(entry & uint32(ROW))
                lanes = int64(mask[row])
                _, _, sum_left, sum_right = _add_row(scratch, lanes, weights, row, int64(label_of[row]))
                most_left = maximum(most_left, sum_left)
                most_right = maximum(most_right, sum_right)
                if entry >= uint32(NEW):
                    at = begin + 4 * r
                    on_left = load(scratch, at, 0) + most_left
                    on_right = load(scratch, at + 1, 0) + most_right
                    if counts:
                        rows = load(scratch, at + 2, 0)
                        on_left = keep_at_least(on_left, minimum(rows, left_rows - rows), e.min_leaf)
                        rows = load(scratch, at + 3, 0)
                        on_right = keep_at_least(on_right, minimum(rows, right_rows - rows), e.min_leaf)
                    left_best = maximum(left_best, on_left)
                    right_best = maximum(right_best, on_right)
        store(scratch, 0, 0, left_weight - left_leaf)
        store(scratch, 1, 0, left_weight - left_best)
        store(scratch, 2, 0, (all_weight - left_weight) - right_leaf)
        store(scratch, 3, 0, (all_weight - left_weight) - right_best)
        store(scratch, 4, 0, left_rows)
        store(scratch, 5, 0, right_rows)
        write_sides(e, scratch)

    return score
