"""What the ordered search is asked, as arrays: ranks of the rows in every column, and their costs by label.

Equal rows go the same way in every tree, so their costs are added beforehand. What the rows of a place must cost,
whatever its label, thereby becomes part of what every tree pays.
"""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np

from streed.exact import LARGEST_TOTAL, Array
from streed.ordered.scores import LABELLED, MATRIX, RESULTS, SIGNED, score
from streed.task.row_sums import sums_by

LANES = (np.int16, np.int32, np.int64)


@final
@attrs.frozen(eq=False)
class OrderedRows:
    """Rows, their places in each column, and what they cost.

    Trees cost the sum of their rows' costs under the labels of their leaves and `split_cost` for each branching node.
    A session searches whole numbers beyond `base`, in units of `divisor`.
    """

    ranks: Array
    """(F, n) int32: the rows' places among the distinct values of each column, from 0."""
    costs: Array
    """(n, K) int64 of a row under each label; any numbers whose absolute values sum to less than 2**60."""
    split_cost: int = 0
    frequency: Array | None = None
    """(n,) int64 >= 1: how many rows of a leaf each row counts as (its costs are of all of them together)."""
    min_leaf: int = 1
    categories: int = 0
    """How many of the columns, the last ones, are categorical: their ranks are codes, and a split has a child for each.
    Then `min_leaf` must be 1, as what a tree costs on more rows would not be bounded by worst costs: a child without
    rows may get some, and too few."""

    whole = True
    """Whether the kernels' costs are those of the trees, and not rounded down."""
    bounded = True
    """Whether `worst` is known; else it is 0, and only a tree's cost on more rows bounds that on fewer."""

    def __attrs_post_init__(self) -> None:
        if float(np.abs(self.costs).astype(np.float64).sum()) >= LARGEST_TOTAL / 2:
            raise ValueError("costs: their sum is too large")

    @property
    def n_rows(self) -> int:
        return int(self.costs.shape[0])

    @functools.cached_property
    def most_children(self) -> int:
        """Of a branching node."""
        coded = self.ranks[len(self.ranks) - self.categories :]
        return max(2, int(coded.max(initial=0)) + 1)

    @property
    def n_labels(self) -> int:
        return int(self.costs.shape[1])

    @functools.cached_property
    def base(self) -> int:
        """What every tree pays: the rows' least costs."""
        return int(self.costs.min(axis=1).sum())

    @functools.cached_property
    def divisor(self) -> int:
        """What all costs beyond the base, and the cost of a split, are multiples of."""
        found = int(np.gcd.reduce(self.costs - self.costs.min(axis=1, keepdims=True), axis=None))
        return max(int(np.gcd(found, self.split_cost)), 1)

    @functools.cached_property
    def reduced(self) -> Array:
        """(n, K) int64: costs less the row's least one, in units of the divisor."""
        reduced: Array = (self.costs - self.costs.min(axis=1, keepdims=True)) // self.divisor
        return reduced

    @functools.cached_property
    def price(self) -> int:
        """Of a branching node, in units of the divisor; no more than what is never paid."""
        return min(self.split_cost // self.divisor, int(self.worst.sum()) + 1)

    @functools.cached_property
    def worst(self) -> Array:
        """(n,) int64: what a row adds at most to the cost of a tree, its largest cost, reduced."""
        worst: Array = self.reduced.max(axis=1)
        return worst

    @functools.cached_property
    def kind(self) -> str:
        """The kind of kernels that its costs allow."""
        if self.costs.shape[1] == 2:
            return SIGNED
        return LABELLED if bool((self.reduced.sum(axis=1) == (self.costs.shape[1] - 1) * self.worst).all()) else MATRIX

    @functools.cached_property
    def lane(self) -> Any:
        """The narrowest lane type in which no sum overflows."""
        largest = int(self.worst.sum())
        if self.min_leaf > 1:
            largest = max(largest, self.min_leaf, self.size)
        return next(lane for lane in LANES if largest <= np.iinfo(lane).max)

    @property
    def lane_name(self) -> str:
        """That of the type of what is added up."""
        return str(np.dtype(self.lane))

    @functools.cached_property
    def size(self) -> int:
        """How many rows there are, by their frequencies."""
        return self.costs.shape[0] if self.frequency is None else int(self.frequency.sum())

    @functools.cached_property
    def amounts(self) -> Array:
        """(n, numbers) of the lane type: what the kernels add up."""
        if self.kind == SIGNED:
            found = self.reduced[:, :1] - self.reduced[:, 1:]
        elif self.kind == LABELLED:
            found = self.worst[:, None]
        else:
            found = self.reduced
        return np.ascontiguousarray(found.astype(self.lane))

    @functools.cached_property
    def label_of(self) -> Array:
        """(n,) int32: the label under which a row costs least."""
        least: Array = self.reduced.argmin(axis=1).astype(np.int32)
        return least

    @property
    def kernels(self) -> tuple[int, int]:
        """The addresses of the kernels that score splits, and that find the best one (0: by `costs_by_label`)."""
        return score(self.kind, self.lane, self.min_leaf > 1).address, 0

    @property
    def costs_by_label(self) -> Array | None:
        """(n, K) int64: what a row costs in a leaf of each label, if costs are those of rows."""
        return np.ascontiguousarray(self.reduced)

    @property
    def scratch_vectors(self) -> int:
        """Vectors that the kernels write down."""
        return RESULTS + 4 * self.n_labels + (4 * self.n_rows if self.kind == LABELLED else 2)

    def summands(self) -> dict[str, Array]:
        """What the kernels add up and read, by the record's names."""
        ones = np.ones(self.n_rows, np.int64)
        frequency = ones if self.frequency is None else self.frequency
        return {
            "copies": frequency,
            "frequency": frequency.astype(self.lane) if self.min_leaf > 1 else np.ones(1, self.lane),
            "amounts": self.amounts,
            "label_of": self.label_of if self.kind == LABELLED else np.zeros(1, np.int32),
        }


_SEED = 1

_MUCH = 0.5
"""Kernels for any costs take a few times as long as those for one label a row; so many rows must remain at most."""


def merge_rows(rows: OrderedRows, *, always: bool) -> OrderedRows:
    """The rows with equal ones as one; as they are where that does not pay, unless it is to be done `always`."""
    first, place = places_of(rows.ranks)
    if len(first) == len(place):
        return rows
    costs = sums_by(place, rows.costs, len(first))
    frequency = None
    if rows.min_leaf > 1:
        copies = np.ones(len(place), np.int64) if rows.frequency is None else rows.frequency
        frequency = sums_by(place, copies, len(first))
    ranks = np.ascontiguousarray(rows.ranks[:, first])
    merged = attrs.evolve(rows, ranks=ranks, costs=costs, frequency=frequency)
    if always or rows.kind != LABELLED or merged.kind == LABELLED or len(first) <= _MUCH * len(place):
        return merged
    return rows


def places_of(ranks: Array) -> tuple[Array, Array]:
    """(first, place): of each different row the number of one that is it, and for every row which of them it is."""
    factors = np.random.default_rng(_SEED).integers(1, 2**63, len(ranks), dtype=np.uint64) | np.uint64(1)
    sums = np.zeros(ranks.shape[1], np.uint64)
    for factor, each in zip(factors, ranks, strict=True):
        sums += factor * each.astype(np.uint64)
        sums ^= sums >> np.uint64(29)
    _, first, place = np.unique(sums, return_index=True, return_inverse=True)
    if not all((each[first][place] == each).all() for each in ranks):  # two rows that differ have the same sum
        _, first, place = np.unique(ranks, axis=1, return_index=True, return_inverse=True)
    return first, place.reshape(-1)
