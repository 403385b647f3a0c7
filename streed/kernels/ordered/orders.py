"""The rows of a problem and of its nodes, in the order of each column (see `record.py`)."""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.exact import Array
from streed.kernels.ordered.record import NEW, ROW, SPLITS
from streed.kernels.views import matrix, native, vector


def sort_rows(ranks: Array) -> Array:
    """uint32 (F, n + 1): the orders of all rows, by their ranks (F, n) int32."""
    columns, n = ranks.shape
    orders = np.zeros((columns, n + 1), np.uint32)
    if ranks.max(initial=0) < 2**16:
        # numbers of 16 bits are sorted digit by digit, which is quicker
        short = ranks.astype(np.uint16)
        for column in range(columns):
            order = np.argsort(short[column], kind="stable")
            sorted_ranks = ranks[column][order]
            orders[column, :n] = order
            orders[column, 1:n] |= np.where(sorted_ranks[1:] != sorted_ranks[:-1], np.uint32(NEW), np.uint32(0))
        return orders
    # numbers are sorted quicker than their places: a rank and a row are one of 64 bits
    rows = np.arange(n, dtype=np.int64)
    for column in range(columns):
        both = (ranks[column].astype(np.int64) << 32) | rows
        both.sort()
        orders[column, :n] = both & (2**32 - 1)
        both >>= 32
        orders[column, 1:n] |= np.where(both[1:] != both[:-1], np.uint32(NEW), np.uint32(0))
    return orders


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
