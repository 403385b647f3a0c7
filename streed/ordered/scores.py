"""Scores of splits: what both sides of 32 of them cost as leaves and with their best stumps.

One pass over the rows of each column; every lane is one of the splits, whose rows are told apart by a word of `mask`
for each row. Sums of costs over all rows, and of the rows' frequencies, must fit a lane.

Rows of the scratch, lane (space, SPLITS), for 32 splits: 0 and 2 the costs of the left and of the right side as leaves,
1 and 3 those of their best stumps, 4 and 5 the rows of the sides.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import int32, int64, uint32

from streed.kernels.compiled import unit
from streed.kernels.ordered import INFEASIBLE, NEW, ROW, SPLITS, place_rows, record_at
from streed.kernels.simd import broadcast, fill, infeasible_of, keep_at_least, keep_lanes, load, maximum, minimum, store
from streed.kernels.views import KERNEL, inline, matrix, native, vector

SIGNED, LABELLED, MATRIX = "signed", "labelled", "matrix"
"""Kinds of costs: of two labels; the same for all labels but one; any."""

RESULTS = 8
"""Vectors at the beginning of a kernel's scratch; then, of a cost matrix, 4 for each label, of the same costs for all
labels but one, 2 for each label and 4 for each row."""


@functools.cache
def score(kind: str, lane: Any, counts: bool) -> Any:
    """The kernel that scores splits of costs of a kind; `counts`: leaves need several rows."""
    kernel = {SIGNED: make_signed, LABELLED: make_labelled, MATRIX: make_matrix}[kind](lane, counts)

    @unit(KERNEL)
    def score_splits(address):  # type: ignore[no-untyped-def]
        kernel(record_at(address))

    return score_splits


@inline
def _add(values, row, lanes, inside, everything):  # type: ignore[no-untyped-def]
    """Two sums with what a row adds to them: of the rows in each lane, and of all."""
    here = broadcast(values, row, 0)
    return inside + keep_lanes(lanes, here), everything + here


def make_signed(lane: Any, counts: bool) -> Any:
    """For two labels: the best stump on both sides in one pass over the rows of each column.

    A row costs s more under label 0 than under label 1 (or less), and nothing under its better label. Rows of signed
    sum S and of absolute sum W cost (W - |S|) / 2 in a leaf, and split into parts of sums L and S - L they cost
    (W - |L| - |S - L|) / 2, where |L| + |S - L| = max(|S|, 2L - S, S - 2L): of all splits of a column, only the largest
    and the smallest L count. Amounts: lane (N, 1), s.
    """

    @native
    def score(e):  # type: ignore[no-untyped-def]
        place_rows(e)
        n = e.asked_rows
        orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
        mask = vector(e.mask, e.rows, uint32)
        signed = matrix(e.amounts, e.rows, 1, lane)
        frequency = matrix(e.frequency, e.rows if counts else 1, 1, lane)
        scratch = matrix(e.scratch, e.scratch_space, SPLITS, lane)
        zero = fill(scratch, 0)
        left = left_weight = left_rows = all_sum = all_weight = all_rows = zero
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
                left_rows, all_rows = _add(frequency, row, lanes, left_rows, all_rows)
        right_rows = all_rows - left_rows
        left_most = left_least = right_most = right_least = zero
        for f in range(e.asked_columns):
            on_left = passed = rows_on_left = rows_passed = zero
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
                on_left, passed = _add(signed, row, lanes, on_left, passed)
                if counts:
                    rows_on_left, rows_passed = _add(frequency, row, lanes, rows_on_left, rows_passed)
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


def make_labelled(lane: Any, counts: bool) -> Any:
    """Where every row is of one label: it costs its weight under every other one (weighted errors).

    A leaf costs the weight of its rows less that of their heaviest label. One pass over the rows of a column keeps the
    weights of the labels that were passed, and writes down the largest for every row; these only grow, so a pass costs
    a few operations a row whatever the number of labels. A second pass from the other end adds the largest weight
    behind. Amounts: lane (N, 1), the weights; `label_of` int32 (N).
    """
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
        left_weight = all_weight = left_rows = all_rows = left_leaf = right_leaf = zero
        for r in range(n):
            row = int64(orders[0, r] & uint32(ROW))
            lanes = int64(mask[row])
            weight, on_left, sum_left, sum_right = _add_row(scratch, lanes, weights, row, int64(label_of[row]))
            left_weight = left_weight + on_left
            all_weight = all_weight + weight
            left_leaf = maximum(left_leaf, sum_left)
            right_leaf = maximum(right_leaf, sum_right)
            if counts:
                left_rows, all_rows = _add(frequency, row, lanes, left_rows, all_rows)
        right_rows = all_rows - left_rows
        left_best = right_best = zero
        for f in range(e.asked_columns):
            for k in range(2 * labels):
                store(scratch, RESULTS + k, 0, zero)
            most_left = most_right = rows_left = rows_passed = zero
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
                    rows_left, rows_passed = _add(frequency, row, lanes, rows_left, rows_passed)
            for k in range(2 * labels):
                store(scratch, RESULTS + k, 0, zero)
            most_left = most_right = zero
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


def make_matrix(lane: Any, counts: bool) -> Any:
    """For any costs per row and label. Amounts: lane (N, K), the costs, none below 0."""
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
            left = everything = zero
            for r in range(n):
                row = int64(orders[0, r] & uint32(ROW))
                cost = broadcast(costs, row, k)
                left = left + keep_lanes(int64(mask[row]), cost)
                everything = everything + cost
            store(scratch, RESULTS + 4 * k, 0, left)
            store(scratch, RESULTS + 4 * k + 1, 0, everything - left)
        left_rows = all_rows = zero
        if counts:
            for r in range(n):
                row = int64(orders[0, r] & uint32(ROW))
                left_rows, all_rows = _add(frequency, row, int64(mask[row]), left_rows, all_rows)
        right_rows = all_rows - left_rows
        left_leaf = right_leaf = fill(scratch, worst)
        for k in range(labels):
            left_leaf = minimum(left_leaf, load(scratch, RESULTS + 4 * k, 0))
            right_leaf = minimum(right_leaf, load(scratch, RESULTS + 4 * k + 1, 0))
        left_saved = right_saved = zero
        for f in range(e.asked_columns):
            for k in range(labels):
                store(scratch, RESULTS + 4 * k + 2, 0, zero)
                store(scratch, RESULTS + 4 * k + 3, 0, zero)
            rows_left = rows_passed = zero
            for r in range(n):
                entry = orders[f, r]
                row = int64(entry & uint32(ROW))
                if entry >= uint32(NEW):
                    left_before = left_behind = right_before = right_behind = fill(scratch, worst)
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
                    rows_left, rows_passed = _add(frequency, row, lanes, rows_left, rows_passed)
        store(scratch, 0, 0, left_leaf)
        store(scratch, 1, 0, left_leaf - left_saved)
        store(scratch, 2, 0, right_leaf)
        store(scratch, 3, 0, right_leaf - right_saved)
        store(scratch, 4, 0, left_rows)
        store(scratch, 5, 0, right_rows)
        write_sides(e, scratch)

    return score
