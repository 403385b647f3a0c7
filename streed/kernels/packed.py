"""A problem as the engine reads it: bit columns, row groups, and what else its kind needs."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import LARGEST_TOTAL, Array
from streed.kernels import values
from streed.kernels.counting.columns import pack_columns
from streed.kernels.counting.groups import Groups

NO_FLIPS = np.zeros(0, np.int8)
"""The places of the rows tell which columns have more than half ones."""

LANE_TYPES = (np.int16, np.int32, np.int64)


@attrs.frozen(eq=False)
class Scoring:
    """What a scored problem has besides its columns and row groups, whose `profits` are multipliers (G, S) then."""

    planes: int
    """S: the statistics, then rows."""
    rows_plane: int
    row_values: Array | None
    """(N, S padded to fours) float64, if pair sums are sums over rows."""
    row_floors: Array | None
    """(N,) float64: what the rows of every place cost any tree at least."""
    lane: Any
    real: bool
    """Whether costs are float64."""
    worst_unit: int
    """The code of what a row may cost at worst; zero if that is not known."""
    split_costs: Array | None
    """(F + categorical,) int64 or float64: branching costs that depend on the split only."""
    calls_costs: bool
    """Whether branching costs are asked of the task, split by split."""
    path_words: int
    numbers: Array
    """int64: the worth of codes, then the task's numbers."""
    kernels: Any
    """The generated kernels, see `generate.py`."""
    kept: tuple[Any, ...] = ()
    """Arrays whose addresses are among the numbers."""

    @property
    def has_fixed_costs(self) -> bool:
        """Whether every split costs something, whatever its rows and its path."""
        return self.split_costs is not None and not self.calls_costs and bool((self.split_costs > 0).all())


@attrs.frozen(eq=False)
class Prices:
    """What splits cost per row, by bit column; see `scoring/children.py`."""

    full: Array
    """(F,) int64: where nothing was tested above."""
    given: Array
    """(F, F) int64: given[f, g], of column g where f was tested above."""
    alike: Array
    """(F,) int64: the first bit column with the same row of `given`, in whose place it is noted as tested."""
    n_rows: int


@attrs.frozen(eq=False)
class PackedProblem:
    """The columns and the row groups of a problem, as the engine reads them."""

    column: Array
    """(F,) int64: the caller's column of each bit column."""
    flipped: Array
    """(F,) uint8: 1 where the bit column is the complement of the caller's."""
    literals: Array
    """(c + 1,) int64: where each categorical column's literals begin."""
    column_rows: Array
    row_bits: Array
    rows: Array
    """(W,) uint64: the set of all rows."""
    groups: Groups
    n_labels: int
    split_cost: int
    min_leaf: int
    floors: tuple[Array, Array] | None = None
    """What `equivalence.find_floors` gives, where it is worth the time."""
    scoring: Scoring | None = None
    """What makes it a scored problem."""
    prices: Prices | None = None
    """What makes it a priced problem, whose groups count rows."""

    @property
    def n_columns(self) -> int:
        return len(self.column)

    @property
    def n_binary(self) -> int:
        return int(self.literals[0])

    @property
    def most_sides(self) -> int:
        """The most sides of a split."""
        return 2 if self.n_binary == self.n_columns else max(2, int(np.diff(self.literals).max()))

    @functools.cached_property
    def signed(self) -> bool:
        """Whether the signed kernel applies: two labels, binary columns only, no minimum support."""
        binary = self.n_binary == self.n_columns
        counted = self.scoring is None and self.prices is None and self.groups.values is None
        return counted and self.n_labels == 2 and binary and self.min_leaf <= 1

    @property
    def key_bytes(self) -> int:
        """Bytes of the key of a subproblem."""
        return 8 * int(self.column_rows.shape[1] + self.path_words)

    @property
    def path_words(self) -> int:
        """64-bit words of the set of columns tested above, where costs depend on it."""
        if self.prices is not None:
            return (self.n_columns + 63) // 64
        return 0 if self.scoring is None else self.scoring.path_words

    @property
    def counts_rows(self) -> bool:
        """Whether a row-cost problem needs a plane that counts rows."""
        return self.min_leaf > 1 or self.prices is not None

    @property
    def kind(self) -> str:
        """Which kernels apply, see `values.py`."""
        if self.scoring is not None:
            return values.COUNTED if self.scoring.row_values is None else values.SUMMED
        if self.prices is not None:
            return values.TEST_COSTS
        return values.SIGNED if self.signed else values.LABELS

    @property
    def row_values(self) -> Array | None:
        """(N, S padded to fours): the numbers of every row, if pair sums are sums over rows."""
        return self.groups.values if self.scoring is None else self.scoring.row_values

    @property
    def restrictable(self) -> bool:
        """Whether a tree for some rows serves fewer rows at no higher cost, and more rows at the cost of these."""
        if self.scoring is not None:
            return self.min_leaf <= 1 and self.scoring.worst_unit > 0
        largest = 0.0 if self.groups.values is None else float(self.groups.profits[0, self.n_labels])
        return self.min_leaf <= 1 and self.prices is None and largest * len(self.row_bits) < LARGEST_TOTAL

    @property
    def most_rows(self) -> int:
        """No sum of the rows plane is larger."""
        return max(len(self.row_bits), self.groups.counted)

    def lane_type(self) -> Any:
        """The narrowest lane type in which no sum overflows."""
        if self.scoring is not None:
            return self.scoring.lane
        worst, places = self.groups.worst, self.most_rows
        if self.prices is None:
            return narrowest_lane(worst, self.split_cost, self.min_leaf, places)
        paid = self.prices.n_rows * int(self.prices.full.max(initial=0))
        rows = max(places, self.prices.n_rows)
        return narrowest_lane(2 * (worst + paid), self.split_cost, max(self.min_leaf, 2), rows)


def narrowest_lane(worst: int, split_cost: int, min_leaf: int, places: int) -> Any:
    """The narrowest lane type in which no sum of a row-cost problem overflows; raises InputError if there is none."""
    largest = worst + 2 * split_cost + 2
    if min_leaf > 1:
        largest = max(largest, places, min_leaf)
    for lane_type, limit in zip(LANE_TYPES, (2**15 - 2, 2**30, 2**60), strict=True):
        if largest < limit:
            return lane_type
    raise InputError("costs", f"their total of {largest} is beyond 2**60", "scale the costs or weights down")


def pack(
    codes: Array, categories: Array, groups: Groups, n_labels: int, split: int, min_leaf: int, merge: bool = True
) -> PackedProblem:
    """The problem for codes (n, p) uint8 with `categories` (p,) int64 per column (0 for binary columns)."""
    flips = NO_FLIPS if groups.flips is None else groups.flips
    column, flipped, literals, column_rows, row_bits, rows = pack_columns(
        codes, groups.places, categories, int(groups.words[-1]), merge, flips
    )
    return PackedProblem(
        column=column,
        flipped=flipped,
        literals=literals,
        column_rows=column_rows,
        row_bits=row_bits,
        rows=rows,
        groups=groups,
        n_labels=n_labels,
        split_cost=min(split, groups.worst + 1) if split else 0,
        min_leaf=min_leaf,
    )
