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
    kernel = {SIGNED: score_signed, LABELLED: score_labelled, MATRIX: score_matrix}[kind]
    has_labels = kind == MATRIX

    @unit(KERNEL)
    def score_splits(address):  # type: ignore[no-untyped-def]
        e = record_at(address)
        place_rows(e)
        amounts = matrix(e.amounts, e.rows, e.labels if has_labels else 1, lane)
        scratch = matrix(e.scratch, e.scratch_space, SPLITS, lane)
        kernel(e, amounts, matrix(e.frequency, e.rows, 1, lane) if counts else None, scratch)

    return score_splits


@inline
def _asked(e):  # type: ignore[no-untyped-def]
    """(the rows in the order of each column, the splits that have each row on their left)."""
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), e.asked_rows + 1, uint32)
    return orders, vector(e.mask, e.rows, uint32)


@inline
def _add(values, row, lanes, inside, everything):  # type: ignore[no-untyped-def]
    """Two sums with what a row adds to them: of the rows in each lane, and of all; as they are without values."""
    if values is None:
        return inside, everything
    here = broadcast(values, row, 0)
    return inside + keep_lanes(lanes, here), everything + here


@inline
def _keep_allowed(amount, frequency, rows, rest, e):  # type: ignore[no-untyped-def]
    """An amount in the lanes of stumps with rows enough on both sides, else 0."""
    return amount if frequency is None else keep_at_least(amount, minimum(rows, rest), e.min_leaf)


@native
def score_signed(e, signed, frequency, scratch):  # type: ignore[no-untyped-def]
    """For two labels: the best stump on both sides in one pass over the rows of each column.

    A row costs s more under label 0 than under label 1 (or less), and nothing under its better label. Rows of signed
    sum S and of absolute sum W cost (W - |S|) / 2 in a leaf, and split into parts of sums L and S - L they cost
    (W - |L| - |S - L|) / 2, where |L| + |S - L| = max(|S|, 2L - S, S - 2L): of all splits of a column, only the largest
    and the smallest L count. Amounts: lane (N, 1), s.
    """
    orders, mask = _asked(e)
    zero = fill(scratch, 0)
    left = left_weight = left_rows = all_sum = all_weight = all_rows = zero
    for r in range(e.asked_rows):
        row = int64(orders[0, r] & uint32(ROW))
        lanes = int64(mask[row])
        amount = broadcast(signed, row, 0)
        size = maximum(amount, zero - amount)
        left = left + keep_lanes(lanes, amount)
        left_weight = left_weight + keep_lanes(lanes, size)
        all_sum = all_sum + amount
        all_weight = all_weight + size
        left_rows, all_rows = _add(frequency, row, lanes, left_rows, all_rows)
    right_rows = all_rows - left_rows
    left_most = left_least = right_most = right_least = zero
    for f in range(e.asked_columns):
        on_left = passed = rows_left = rows_passed = zero
        for r in range(e.asked_rows):
            entry = orders[f, r]
            row = int64(entry & uint32(ROW))
            if entry >= uint32(NEW):
                rows_right = rows_passed - rows_left
                a = _keep_allowed(on_left, frequency, rows_left, left_rows - rows_left, e)
                b = _keep_allowed(passed - on_left, frequency, rows_right, right_rows - rows_right, e)
                left_most = maximum(left_most, a)
                left_least = minimum(left_least, a)
                right_most = maximum(right_most, b)
                right_least = minimum(right_least, b)
            lanes = int64(mask[row])
            on_left, passed = _add(signed, row, lanes, on_left, passed)
            rows_left, rows_passed = _add(frequency, row, lanes, rows_left, rows_passed)
    _write_signed(e, scratch, (left, left_weight, left_most, left_least), e.leaf_left, e.stump_left)
    right = (all_sum - left, all_weight - left_weight, right_most, right_least)
    _write_signed(e, scratch, right, e.leaf_right, e.stump_right)
    _forbid(e, frequency, scratch, left_rows, right_rows)


@inline
def _write_signed(e, scratch, side, leaf, stump):  # type: ignore[no-untyped-def]
    """Writes what a side costs, of its sums: signed and absolute, and the largest and the smallest of its stumps."""
    store(scratch, 0, 0, side[0])
    store(scratch, 1, 0, side[1])
    store(scratch, 2, 0, side[2])
    store(scratch, 3, 0, side[3])
    for l in range(e.asked_splits):
        total, weight = int64(scratch[0, l]), int64(scratch[1, l])
        most, least = 2 * int64(scratch[2, l]) - total, total - 2 * int64(scratch[3, l])
        vector(leaf, SPLITS, int64)[l] = (weight - abs(total)) // 2
        vector(stump, SPLITS, int64)[l] = (weight - max(most, least)) // 2


@inline
def _forbid(e, frequency, scratch, left_rows, right_rows):  # type: ignore[no-untyped-def]
    """Makes sides with too few rows for a leaf INFEASIBLE."""
    if frequency is not None:
        store(scratch, 0, 0, left_rows)
        store(scratch, 1, 0, right_rows)
        for l in range(e.asked_splits):
            if int64(scratch[0, l]) < e.min_leaf:
                vector(e.leaf_left, SPLITS, int64)[l] = vector(e.stump_left, SPLITS, int64)[l] = INFEASIBLE
            if int64(scratch[1, l]) < e.min_leaf:
                vector(e.leaf_right, SPLITS, int64)[l] = vector(e.stump_right, SPLITS, int64)[l] = INFEASIBLE


@inline
def _write_sides(e, scratch, costs):  # type: ignore[no-untyped-def]
    """Writes what sides cost: leaf and stump on the left, then on the right."""
    store(scratch, 0, 0, costs[0])
    store(scratch, 1, 0, costs[1])
    store(scratch, 2, 0, costs[2])
    store(scratch, 3, 0, costs[3])
    for l in range(e.asked_splits):
        vector(e.leaf_left, SPLITS, int64)[l] = int64(scratch[0, l])
        vector(e.stump_left, SPLITS, int64)[l] = int64(scratch[1, l])
        vector(e.leaf_right, SPLITS, int64)[l] = int64(scratch[2, l])
        vector(e.stump_right, SPLITS, int64)[l] = int64(scratch[3, l])


@inline
def _clear_labels(e, scratch):  # type: ignore[no-untyped-def]
    """Makes the sums of all labels 0 on both sides."""
    for k in range(RESULTS, RESULTS + 2 * e.labels):
        store(scratch, k, 0, fill(scratch, 0))


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


@native
def score_labelled(e, weights, frequency, scratch):  # type: ignore[no-untyped-def]
    """Where every row is of one label: it costs its weight under every other one (weighted errors).

    A leaf costs the weight of its rows less that of their heaviest label. One pass over the rows of a column keeps the
    weights of the labels that were passed, and writes down the largest for every row; these only grow, so a pass costs
    a few operations a row whatever the number of labels. A second pass from the other end adds the largest weight
    behind. Amounts: lane (N, 1), the weights; `label_of` int32 (N).
    """
    orders, mask = _asked(e)
    label_of = vector(e.label_of, e.rows, int32)
    zero = fill(scratch, 0)
    _clear_labels(e, scratch)
    left_weight = all_weight = left_rows = all_rows = left_leaf = right_leaf = zero
    for r in range(e.asked_rows):
        row = int64(orders[0, r] & uint32(ROW))
        lanes = int64(mask[row])
        weight, on_left, sum_left, sum_right = _add_row(scratch, lanes, weights, row, int64(label_of[row]))
        left_weight = left_weight + on_left
        all_weight = all_weight + weight
        left_leaf = maximum(left_leaf, sum_left)
        right_leaf = maximum(right_leaf, sum_right)
        left_rows, all_rows = _add(frequency, row, lanes, left_rows, all_rows)
    right_rows = all_rows - left_rows
    right_weight = all_weight - left_weight
    left_best = right_best = zero
    for f in range(e.asked_columns):
        _pass_labels(e, f, weights, frequency, scratch)
        most_left = most_right = zero
        _clear_labels(e, scratch)
        for behind in range(e.asked_rows - 1):
            r = e.asked_rows - 1 - behind
            entry = orders[f, r]
            row = int64(entry & uint32(ROW))
            _, _, sum_left, sum_right = _add_row(scratch, int64(mask[row]), weights, row, int64(label_of[row]))
            most_left = maximum(most_left, sum_left)
            most_right = maximum(most_right, sum_right)
            if entry >= uint32(NEW):
                at = RESULTS + 2 * e.labels + 4 * r
                a = load(scratch, at, 0) + most_left
                b = load(scratch, at + 1, 0) + most_right
                if frequency is not None:
                    rows_left, rows_right = load(scratch, at + 2, 0), load(scratch, at + 3, 0)
                    a = _keep_allowed(a, frequency, rows_left, left_rows - rows_left, e)
                    b = _keep_allowed(b, frequency, rows_right, right_rows - rows_right, e)
                left_best = maximum(left_best, a)
                right_best = maximum(right_best, b)
    left = left_weight - left_leaf, left_weight - left_best
    _write_sides(e, scratch, (*left, right_weight - right_leaf, right_weight - right_best))
    _forbid(e, frequency, scratch, left_rows, right_rows)


@inline
def _pass_labels(e, f, weights, frequency, scratch):  # type: ignore[no-untyped-def]
    """Writes down at every threshold of a column the largest weight of a label on the way there, and how many rows."""
    orders, mask = _asked(e)
    label_of = vector(e.label_of, e.rows, int32)
    most_left = most_right = rows_left = rows_passed = fill(scratch, 0)
    _clear_labels(e, scratch)
    for r in range(e.asked_rows):
        entry = orders[f, r]
        row = int64(entry & uint32(ROW))
        if entry >= uint32(NEW):
            at = RESULTS + 2 * e.labels + 4 * r
            store(scratch, at, 0, most_left)
            store(scratch, at + 1, 0, most_right)
            if frequency is not None:
                store(scratch, at + 2, 0, rows_left)
                store(scratch, at + 3, 0, rows_passed - rows_left)
        lanes = int64(mask[row])
        _, _, sum_left, sum_right = _add_row(scratch, lanes, weights, row, int64(label_of[row]))
        most_left = maximum(most_left, sum_left)
        most_right = maximum(most_right, sum_right)
        rows_left, rows_passed = _add(frequency, row, lanes, rows_left, rows_passed)


@native
def score_matrix(e, costs, frequency, scratch):  # type: ignore[no-untyped-def]
    """For any costs per row and label. Amounts: lane (N, K), the costs, none below 0."""
    orders, mask = _asked(e)
    zero = fill(scratch, 0)
    # of label k: sums left and right of the split; then those of the rows that were passed
    left_leaf = right_leaf = fill(scratch, infeasible_of(scratch))
    for k in range(e.labels):
        left = everything = zero
        for r in range(e.asked_rows):
            row = int64(orders[0, r] & uint32(ROW))
            cost = broadcast(costs, row, k)
            left = left + keep_lanes(int64(mask[row]), cost)
            everything = everything + cost
        store(scratch, RESULTS + 4 * k, 0, left)
        store(scratch, RESULTS + 4 * k + 1, 0, everything - left)
        left_leaf = minimum(left_leaf, left)
        right_leaf = minimum(right_leaf, everything - left)
    left_rows = all_rows = zero
    for r in range(e.asked_rows if frequency is not None else 0):
        row = int64(orders[0, r] & uint32(ROW))
        left_rows, all_rows = _add(frequency, row, int64(mask[row]), left_rows, all_rows)
    right_rows = all_rows - left_rows
    left_saved = right_saved = zero
    for f in range(e.asked_columns):
        for k in range(e.labels):
            store(scratch, RESULTS + 4 * k + 2, 0, zero)
            store(scratch, RESULTS + 4 * k + 3, 0, zero)
        rows_left = rows_passed = zero
        for r in range(e.asked_rows):
            entry = orders[f, r]
            row = int64(entry & uint32(ROW))
            if entry >= uint32(NEW):
                rows_right = rows_passed - rows_left
                # what the split saves of the cost of a leaf, never below 0
                a, b = _costs_of_stumps(e, scratch)
                a = _keep_allowed(left_leaf - a, frequency, rows_left, left_rows - rows_left, e)
                b = _keep_allowed(right_leaf - b, frequency, rows_right, right_rows - rows_right, e)
                left_saved = maximum(left_saved, a)
                right_saved = maximum(right_saved, b)
            lanes = int64(mask[row])
            for k in range(e.labels):
                at = RESULTS + 4 * k
                cost = broadcast(costs, row, k)
                on_left = keep_lanes(lanes, cost)
                store(scratch, at + 2, 0, load(scratch, at + 2, 0) + on_left)
                store(scratch, at + 3, 0, load(scratch, at + 3, 0) + (cost - on_left))
            rows_left, rows_passed = _add(frequency, row, lanes, rows_left, rows_passed)
    _write_sides(e, scratch, (left_leaf, left_leaf - left_saved, right_leaf, right_leaf - right_saved))
    _forbid(e, frequency, scratch, left_rows, right_rows)


@inline
def _costs_of_stumps(e, scratch):  # type: ignore[no-untyped-def]
    """What stumps cost on the left and on the right, which tell the rows that were passed from those behind."""
    left_before = left_behind = right_before = right_behind = fill(scratch, infeasible_of(scratch))
    for k in range(e.labels):
        at = RESULTS + 4 * k
        passed = load(scratch, at + 2, 0)
        left_before = minimum(left_before, passed)
        left_behind = minimum(left_behind, load(scratch, at, 0) - passed)
        passed = load(scratch, at + 3, 0)
        right_before = minimum(right_before, passed)
        right_behind = minimum(right_behind, load(scratch, at + 1, 0) - passed)
    return left_before + left_behind, right_before + right_behind
