"""The rows of a problem and of its nodes, in the order of each column (see `record.py`)."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, uint8, uint32

from streed.kernels.ordered.record import NEW, ROW, SPLITS
from streed.kernels.views import matrix, native, vector


@native
def mark_sides(e, orders, n, column, position, side):  # type: ignore[no-untyped-def]
    """Writes 1 to `side` (N,) for the rows left of the split, 0 for the others."""
    of_column = matrix(orders, column + 1, n + 1, uint32)
    for r in range(n):
        side[int64(of_column[column, r] & uint32(ROW))] = uint8(1) if r < position else uint8(0)


@native
def split_orders(  # type: ignore[no-untyped-def]
    e, orders, n, columns, names, side, left, left_rows, left_names, right, right_names
):
    """Writes the orders of both sides, and the columns of the whole problem that theirs are; (columns left, right).

    Columns in which the rows of a side do not differ are left out. `names` int64 (columns,) says which columns those
    of the node are; a side's orders have an entry more than rows.
    """
    right_rows = n - left_rows
    here = matrix(orders, columns, n + 1, uint32)
    lefts = matrix(left, columns, left_rows + 1, uint32)
    rights = matrix(right, columns, right_rows + 1, uint32)
    ranks = matrix(e.ranks, e.columns, e.rows, int32)
    n_left = 0
    n_right = 0
    for g in range(columns):
        a = 0
        b = 0
        # whether a larger value than that of the side's last row was passed
        new_left = uint32(0)
        new_right = uint32(0)
        for r in range(n):
            entry = here[g, r]
            row = entry & uint32(ROW)
            is_left = uint32(side[int64(row)])
            new_left |= entry & uint32(NEW)
            new_right |= entry & uint32(NEW)
            lefts[n_left, a] = row | new_left
            rights[n_right, b] = row | new_right
            a += int64(is_left)
            b += int64(uint32(1) - is_left)
            new_left &= is_left - uint32(1)
            new_right &= uint32(0) - is_left
        lefts[n_left, 0] &= uint32(ROW)
        rights[n_right, 0] &= uint32(ROW)
        name = names[g]
        if ranks[name, int64(lefts[n_left, 0])] != ranks[name, int64(lefts[n_left, left_rows - 1] & uint32(ROW))]:
            left_names[n_left] = name
            n_left += 1
        if ranks[name, int64(rights[n_right, 0])] != ranks[name, int64(rights[n_right, right_rows - 1] & uint32(ROW))]:
            right_names[n_right] = name
            n_right += 1
    return n_left, n_right


@native
def nearest_position(of_column, near, low, high):  # type: ignore[no-untyped-def]
    """The position in low..high closest to `near` at which the order can be split; 0 if there is none."""
    below = near
    above = near + 1
    while below >= low or above <= high:
        if below >= low:
            if of_column[below] >= uint32(NEW):
                return below
            below -= 1
        if above <= high:
            if of_column[above] >= uint32(NEW):
                return above
            above += 1
    return int64(0)


@native
def place_values(e):  # type: ignore[no-untyped-def]
    """Writes the mask of a categorical column: bit l is 1 for the rows of the l-th value that is asked for."""
    n = e.asked_rows
    orders = matrix(e.asked_orders, e.asked_fan + 1, n + 1, uint32)
    mask = vector(e.mask, e.rows, uint32)
    value = -e.asked_first
    for r in range(n):
        entry = orders[e.asked_fan, r]
        value += 1 if entry >= uint32(NEW) else 0
        if 0 <= value < SPLITS:
            mask[int64(entry & uint32(ROW))] = uint32(1) << uint32(value)


@native
def place_rows(e):  # type: ignore[no-untyped-def]
    """Writes the mask of the asked splits: bit l of a row's word is 1 if the row is left of split l."""
    n = e.asked_rows
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
    mask = vector(e.mask, e.rows, uint32)
    columns = vector(e.split_columns, 32, int64)
    positions = vector(e.split_positions, 32, int64)
    splits = e.asked_splits
    for r in range(n):
        mask[int64(orders[0, r] & uint32(ROW))] = uint32(0)
    if e.asked_fan >= 0:
        place_values(e)
        return
    # the splits by column and position; there are few
    order = np.empty(32, np.int64)
    for l in range(splits):
        at = l
        while at > 0 and (
            columns[order[at - 1]] > columns[l]
            or (columns[order[at - 1]] == columns[l] and positions[order[at - 1]] > positions[l])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = l
    at = 0
    while at < splits:
        column = columns[order[at]]
        end = at
        lanes = uint32(0)
        while end < splits and columns[order[end]] == column:
            lanes |= uint32(1) << uint32(order[end])
            end += 1
        r = 0
        while at < end:
            behind = positions[order[at]]
            while r < behind:
                mask[int64(orders[column, r] & uint32(ROW))] |= lanes
                r += 1
            lanes &= ~(uint32(1) << uint32(order[at]))
            at += 1
