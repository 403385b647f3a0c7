"""A problem of several components packed for the kernels of fronts: rows by what they cost, columns as bits; memory.

A field that is an array says of what type and how many dimensions it is, and native code is built for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import attrs
import numpy as np

from streed.exact import Array, writable
from streed.kernels.counting.columns import pack_columns
from streed.kernels.counting.groups import group_digits, group_vectors
from streed.kernels.packed import NO_FLIPS
from streed.kernels.records import CHUNK, LANES, UNIT_BYTES, WORD_ROWS
from streed.problem import Problem
from streed.tables.packing import Packing
from streed.task.bounded_sums import RowSum

DIRECTIONS = 5
"""In which a front is bounded, see `front_pairs.py`."""


class KeyLayout(NamedTuple):
    """Where the components of a key are, in one word, and what is added or forbidden everywhere."""

    shifts: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(m,) the lowest bit of each component."""
    guards: int
    cap: int
    """The largest components allowed, with guards."""
    split: int
    """What a branching node costs."""
    buckets: int
    """Of two components, one more than the first can be, if that is few; else 0."""

    @classmethod
    def of(cls, packing: Packing, caps: Sequence[int | None]) -> KeyLayout | None:
        """The layout of guarded keys; None if they need too many bits.

        A cap below what every tree has is stored as no cap: see `Packed.is_empty`.
        """
        if sum(each.bit_length() + 1 for each in packing.most) > _MOST_BITS:
            return None
        guards, cap, scales = 0, 0, zip(packing.bases, packing.divisors, packing.places, packing.most, strict=True)
        for given, (base, by, (_, worth, _), most) in zip(caps, scales, strict=True):
            guard = 1 << most.bit_length()
            whole = guard if given is None else (given - base) // by
            guards += worth * guard
            cap += worth * min(max(whole, 0), guard - 1)
        shifts = np.array(sorted((worth.bit_length() - 1 for _, worth, _ in packing.places), reverse=True), np.int64)
        few = len(shifts) == 2 and min(packing.most) < _MOST_BUCKETS
        return cls(shifts, guards, guards + cap, packing.split[0], min(packing.most) + 1 if few else 0)


_MOST_BITS = 62
"""Of a key, guard bits and all."""

_MOST_BUCKETS = 2**14
"""Of two components: so many values of the first are quicker to run through than keys are to sort."""

_NARROW = 31
"""Keys of so many bits fit the narrow lanes of pair counts."""


class FrontRows(NamedTuple):
    """The rows of a problem in the padded order, as `pack_columns` gives them, and what they cost."""

    column_rows: np.ndarray[tuple[int, int], np.dtype[np.uint64]]
    """(F, W): the rows that have each column."""
    row_bits: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    """(64 W, F / 32): the columns that each row has."""
    group_words: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(G + 1,) where each group of rows begins, in words of 64."""
    costs: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(G, K) the key of a row by its label, or (G, K + 1) if rows are counted: 1 last."""
    differences: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """Of two labels and few buckets, (G, 2): by how much label 0 costs a row more than label 1, by component;
    (G, 3) if rows are counted. Else empty."""
    labels: int
    min_leaf: int
    layout: KeyLayout


class Scratch(NamedTuple):
    """Memory of one search."""

    rows: np.ndarray[tuple[int], np.dtype[np.int32]]
    all_words: np.ndarray[tuple[int, int], np.dtype[np.int16]]
    words: np.ndarray[tuple[int], np.dtype[np.int16]]
    units: np.ndarray[tuple[int, int], np.dtype[np.int8]]
    """Room for what words are split into where rows are counted by tables (`kernels/counting/look_up.py`)."""
    pairs: np.ndarray[tuple[int], np.dtype[np.int64]]
    """Flat, int32 where all keys fit."""
    popcounts: np.ndarray[tuple[int, int], np.dtype[np.int16]]
    begins: np.ndarray[tuple[int], np.dtype[np.int64]]
    totals: np.ndarray[tuple[int], np.dtype[np.int64]]
    active: np.ndarray[tuple[int], np.dtype[np.int64]]
    ones: np.ndarray[tuple[int], np.dtype[np.int64]]
    sums: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(planes, columns): what the rows that have a column cost by label."""
    bounds: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(directions + 1, columns): see `front_pairs.py`."""
    buckets: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(3, B): of one side, of the other, of the node."""
    origins: np.ndarray[tuple[int], np.dtype[np.int32]]


_MOST_SECOND = 22
"""Bits of the second of two components, for which weighted values fit 32 bits."""

_MOST_PAIRS = 2**30
"""Bytes of pair sums."""


@final
@attrs.frozen(eq=False)
class Packed:
    """All that the front engine needs of a problem."""

    problem: Problem
    sums: tuple[RowSum, ...]
    """The components of values, and the number of branching nodes where that is limited."""
    packing: Packing
    """Of the components in one word, a key."""
    rows: FrontRows
    columns: Array
    """(F,) the caller's column of each bit column, and whether it is turned round."""
    flipped: Array
    root: Array
    """(W,) uint64: all rows."""

    @property
    def is_empty(self) -> bool:
        """Whether no tree keeps the caps."""
        pairs = zip(self.sums, self.packing.bases, strict=True)
        return any(each.most is not None and each.most < base for each, base in pairs)

    def vector(self, key: int) -> tuple[int, ...]:
        """The components of a key, in the order of the task."""
        return self.packing.totals((key,))

    def scratch(self) -> Scratch:
        """Memory for one search."""
        n_words = self.rows.column_rows.shape[1]
        blocks = self.rows.row_bits.shape[1]
        groups, planes = self.rows.costs.shape
        width, row_space = blocks * LANES, 64 * n_words
        layout = self.rows.layout
        is_narrow = layout.guards < 1 << _NARROW or self.rows.differences.shape[1] > 0
        nothing = np.iinfo(np.int64).max
        most_words = row_space // WORD_ROWS + groups
        return Scratch(
            np.zeros(row_space + 64, np.int32),
            np.zeros((most_words, width), np.int16),
            np.zeros(most_words * width, np.int16),
            np.zeros((CHUNK, UNIT_BYTES * width), np.int8),
            np.zeros(planes * width * width, np.int32 if is_narrow else np.int64),
            np.zeros((1, LANES), np.int16),
            np.zeros(groups + 1, np.int64),
            np.zeros(planes, np.int64),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros((planes, width), np.int64),
            np.zeros((DIRECTIONS, width), np.int64),
            np.full((3, max(layout.buckets, 1)), nothing, np.int64),
            np.zeros(max(layout.buckets, 1), np.int32),
        )


def pack_fronts(problem: Problem) -> Packed | None:
    """The problem packed; None where the engine cannot take it.

    It takes binary columns, and values that are sums of whole costs per row and label and constants per branching node,
    together of 62 bits at most. A limit on the nodes is one more component, with a cap.
    """
    data = problem.data
    if data.categorical or not data.n_columns:
        return None
    sums = problem.vector_costs
    if sums is None:
        return None
    most_branches = attrs.evolve(problem, max_nodes=None).most_branches
    if problem.max_nodes is not None and problem.max_nodes < most_branches:
        sums = (*sums, RowSum(np.zeros_like(sums[0].costs), 1, most=problem.max_nodes))
    costs, splits = [each.costs for each in sums], [each.split for each in sums]
    packing = Packing.of(costs, splits, most_branches, bits=_MOST_BITS + 1, guarded=True)
    layout = KeyLayout.of(packing, [each.most for each in sums])
    if layout is None:
        return None
    keys = vectors = packing.costs[:, :, 0]
    if problem.min_leaf > 1:
        vectors = np.concatenate([vectors, data.counts[:, None]], axis=1)
    vectors = np.ascontiguousarray(vectors)
    groups = group_vectors(vectors) or group_digits(vectors)
    columns, flipped, _, column_rows, row_bits, root = pack_columns(
        writable(data.X), groups.places, np.zeros(data.n_columns, np.int64), int(groups.words[-1]), True, NO_FLIPS
    )
    if 8 * vectors.shape[1] * (row_bits.shape[1] * LANES) ** 2 > _MOST_PAIRS:
        return None
    multipliers = np.ascontiguousarray(groups.profits)
    labels = keys.shape[1]
    differences = np.ascontiguousarray(_differences(multipliers, labels, layout))
    front_rows = column_rows, row_bits, groups.words, multipliers, differences, labels, problem.min_leaf, layout
    return Packed(problem, sums, packing, FrontRows(*front_rows), columns, flipped, root)


def _differences(multipliers: Array, labels: int, layout: KeyLayout) -> Array:
    """See `FrontRows.differences`; of keys by group and label (G, K), or (G, K + 1)."""
    if labels != 2 or not layout.buckets or layout.shifts[0] > _MOST_SECOND:
        return np.zeros((len(multipliers), 0), np.int64)
    shift = int(layout.shifts[0])
    parts = multipliers[:, :2] >> shift, multipliers[:, :2] & ((1 << shift) - 1)
    found = [part[:, 0] - part[:, 1] for part in parts]
    return np.stack([*found, *multipliers.T[2:]], axis=1)
