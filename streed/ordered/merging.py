"""Equal rows as one: they go the same way in every tree, so their costs may be added beforehand.

What the rows of a place must cost, whatever its label, thereby becomes part of what every tree pays.
"""

from __future__ import annotations

import attrs
import numpy as np

from streed.exact import Array
from streed.ordered.layout import LABELLED
from streed.ordered.problem import OrderedRows

_SEED = 1

_MUCH = 0.5
"""Kernels for any costs take a few times as long as those for one label a row; so many rows must remain at most."""


def merge_rows(rows: OrderedRows, *, always: bool) -> OrderedRows:
    """The rows with equal ones as one; as they are where that does not pay, unless it is to be done `always`."""
    first, place = places_of(rows.ranks)
    if len(first) == len(place):
        return rows
    costs = sum_by_place(rows.costs, place, len(first))
    frequency = None
    if rows.min_leaf > 1:
        copies = np.ones(len(place), np.int64) if rows.frequency is None else rows.frequency
        frequency = sum_by_place(copies, place, len(first))
    ranks = np.ascontiguousarray(rows.ranks[:, first])
    merged = attrs.evolve(rows, ranks=ranks, costs=costs, frequency=frequency)
    if always or rows.kind != LABELLED or merged.kind == LABELLED or len(first) <= _MUCH * len(place):
        return merged
    return rows


def sum_by_place(values: Array, place: Array, places: int) -> Array:
    """(places, ...) int64: the sums over the rows of each place."""
    found = np.zeros((places, *values.shape[1:]), np.int64)
    np.add.at(found, place, values)
    return found


def places_of(ranks: Array) -> tuple[Array, Array]:
    """(first, place): of each different row the number of one that is it, and for every row which of them it is."""
    n = ranks.shape[1]
    if (ranks.max(axis=1, initial=0) == n - 1).any():
        # the rows of a column all differ
        return np.arange(n), np.arange(n)
    factors = np.random.default_rng(_SEED).integers(1, 2**63, len(ranks), dtype=np.uint64) | np.uint64(1)
    sums = np.zeros(n, np.uint64)
    for factor, each in zip(factors, ranks, strict=True):
        sums += factor * each.astype(np.uint64)
        sums ^= sums >> np.uint64(29)
    in_order = np.sort(sums)
    if (in_order[1:] != in_order[:-1]).all():
        return np.arange(n), np.arange(n)
    _, first, place = np.unique(sums, return_index=True, return_inverse=True)
    if all((each[first][place] == each).all() for each in ranks):
        return first, place
    # two rows that differ have the same sum
    _, first, place = np.unique(ranks, axis=1, return_index=True, return_inverse=True)
    return first, place.reshape(-1)
