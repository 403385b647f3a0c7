"""Several sums of a tree in one whole number, or in few, the words of a key, which add up like them.

Every sum counts from the least that labels can make it, so that no digit is ever negative; a digit's radix is more than
any tree makes of it. The first sum is the uppermost digit of the last word. In the keys of fronts, digits are bits, and
the least wide one is the uppermost.

Rows of few kinds, however often each of them occurs: numbers of copies are written in binary.

Rows that agree in every column go to the same leaf of every tree. If their parts are 3 and 5 times the same vector,
they count as 8 copies of one row with it. 13 copies are three rows, of 8, 4 and 1 times the vector, since there would
be a kind for every number that occurs.

Problems of several components for the kernels of fronts: rows by what they cost, columns as bits; memory. A field that
is an array says of what type and how many dimensions it is, and native code is built for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array, writable
from streed.kernels.counting.columns import pack_columns
from streed.kernels.counting.equal_rows import find_classes, find_equal
from streed.kernels.counting.groups import MANY_ROWS, MOST_GROUPS, group_digits, group_vectors, often_equal
from streed.kernels.packed import NO_FLIPS
from streed.kernels.records import CHUNK, LANES, UNIT_BYTES, WORD_ROWS
from streed.problem import Problem
from streed.task.bounded_sums import RowSum, least_of_labels, most_of_labels
from streed.task.states import sums_by

WORD = 62
"""Bits of a word that is to fit int64."""


@final
@attrs.frozen(eq=False)
class Packing:
    """Sums as the digits of keys: beyond the least total, and in multiples of what divides all that labels change."""

    bases: tuple[int, ...]
    """The least total of each sum."""
    divisors: tuple[int, ...]
    places: tuple[tuple[int, int, int | None], ...]
    """Of each sum the word, what one is worth there, and the radix, None of the uppermost in a word."""
    most: tuple[int, ...]
    """No tree has a larger digit."""
    costs: Array
    """(n, K, words) what a row adds to a key by label; int64 where any key fits, else Python's integers."""
    split: tuple[int, ...]
    """(words,) what a branching node adds."""
    largest: int
    """No tree without branching nodes has a larger uppermost digit than this times its worth."""

    @classmethod
    def of(
        cls,
        parts: Sequence[Array],
        splits: Sequence[int],
        most_branches: int,
        sizes: Array | None = None,
        bits: int | None = None,
        *,
        guarded: bool = False,
    ) -> Packing:
        """The packing of sums, of parts (n, K) each, over trees of at most so many branching nodes.

        `sizes` (n,): how many rows each stands for (None: itself). `bits`: of a word (None: there is one word).
        `guarded`: digits have bits of their own, with one above that is 0, and the least wide one is the uppermost.
        """
        count = np.ones(len(parts[0]), np.int64) if sizes is None else sizes
        lows = [least_of_labels(part) for part in parts]
        rests = [part - low[:, None] for part, low in zip(parts, lows, strict=True)]
        gcds = [int(np.gcd.reduce(rest, axis=None)) for rest in rests]
        divisors = [max(1, math.gcd(split, each)) for split, each in zip(splits, gcds, strict=True)]
        spans = [int(most_of_labels(rest) @ count) // by for rest, by in zip(rests, divisors, strict=True)]
        splits = [split // by for split, by in zip(splits, divisors, strict=True)]
        most = [span + split * most_branches for span, split in zip(spans, splits, strict=True)]
        order = sorted(range(len(most)), key=most.__getitem__) if guarded else list(range(len(most)))
        places: list[tuple[int, int, int | None]] = [(0, 1, None)] * len(most)
        word, worth, below, last = 0, 1, order[-1], 0
        for j in reversed(order):
            radix = 2 << most[j].bit_length() if guarded else most[j] + 1
            if bits is not None and worth > 1 and worth * radix >= 1 << bits:
                word, worth = word + 1, 1
            elif j != below:
                places[below] = (*places[below][:2], last)
            places[j], below, last = (word, worth, None), j, radix
            worth *= radix
        largest = (spans[order[0]] + 1) * places[order[0]][1]
        costs = np.zeros((*parts[0].shape, word + 1), np.int64 if bits is not None or largest < 2**60 else object)
        total = [0] * (word + 1)
        for rest, gcd, by, split, (at, worth, _) in zip(rests, gcds, divisors, splits, places, strict=True):
            # where nothing but splits adds to a sum, a split may be beyond int64
            costs[:, :, at] += worth * (rest // min(by, gcd or 1)).astype(costs.dtype)
            total[at] += worth * split
        bases = tuple(int(low @ count) for low in lows)
        return cls(bases, tuple(divisors), tuple(places), tuple(most), costs, tuple(total), largest)

    @property
    def radix(self) -> int:
        """A key of one word // radix is the digit of the first sum, if that is the uppermost one."""
        return math.prod(each + 1 for each in self.most[1:])

    def budget(self, most: int) -> int:
        """The largest key, of one word, of a tree whose first sum, which is the uppermost, is at most this."""
        return ((most - self.bases[0]) // self.divisors[0] + 1) * self.radix - 1

    def totals(self, words: Sequence[Any]) -> tuple[Any, ...]:
        """The totals of the sums of a key, or arrays of those of many: by word an integer or an array."""
        found = []
        for base, by, (word, worth, radix) in zip(self.bases, self.divisors, self.places, strict=True):
            digit = words[word] if worth == 1 else words[word] // worth
            digit = digit if radix is None else digit % radix
            found.append(base + (digit if by == 1 else by * digit))
        return tuple(found)


_SHARE = 4
"""Rows without frequencies are counted where at most one for so many of them remains."""


def count_rows(data: Dataset, words: Array, kinds: Array) -> tuple[Dataset, Array, Array, Array] | None:
    """(r rows, words (h, w), kinds (r,), place (n,)): other rows with the same sums of words in every leaf.

    kinds (n,) says which of the words (k, w) int64 each row has. `place` is one of the rows that agree with each of
    those they stand for. None where that gives no fewer kinds or rows: worth its time where frequencies make many
    kinds, or where many of very many rows are equal.
    """
    n, given = len(kinds), data.frequency
    if data.X.dtype != np.uint8 or (given is None and (n < MANY_ROWS or not often_equal(data.X))):
        return None
    # all that is asked of rows below is asked of one row of each of these, which are few
    distinct, which = words, kinds
    if given is not None:
        firsts, which = find_equal(np.stack([kinds, given], axis=1))
        if len(firsts) <= MOST_GROUPS:
            return None
        distinct = words[kinds[firsts]]
    copies = np.gcd.reduce(distinct, axis=1)
    if given is not None:
        copies = np.gcd(copies, given[firsts])
    copies = np.maximum(copies, 1)
    vectors = distinct // copies[:, None]
    if given is not None:
        vectors = np.hstack([vectors, (given[firsts] // copies)[:, None]])
    firsts_of, kind = find_equal(vectors)
    if len(firsts_of) > MOST_GROUPS:
        return None
    first, place = find_classes(np.hstack([data.X, kind.astype(np.uint8)[which][:, None]]))
    totals = sums_by(place, copies[which], len(first))
    classes, digits = np.nonzero(totals[:, None] >> np.arange(int(totals.max()).bit_length()) & 1)
    if given is None and len(classes) * _SHARE > n:
        return None
    times = 1 << digits
    begins = np.searchsorted(classes, np.arange(len(first)))
    chosen = first[classes]
    of = which[chosen]
    frequency = times if given is None else times * (given[chosen] // copies[of])
    counted = attrs.evolve(data.subset(chosen), weights=None, sample_weight=None, frequency=frequency)
    several, numbers = find_equal(np.stack([of, times], axis=1))
    of, times = of[several], times[several]
    return counted, distinct[of] // copies[of, None] * times[:, None], numbers, begins[place]


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
