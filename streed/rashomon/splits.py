"""Rows and questions as the kernels count them: kinds of rows that cost the same, and distinct splits into two."""

from __future__ import annotations

from collections.abc import Collection
from typing import final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.questions import Questions
from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.packed import writable

_WORD = 64


def packed_sets(columns: Array) -> Array:
    """(m, words) uint64: by column of a 0/1 array (n, m) the rows with 1; bit i is row i."""
    n, m = columns.shape
    held = np.zeros((m, -(-n // _WORD) * _WORD // 8), np.uint8)
    held[:, : -(-n // 8)] = np.packbits(np.ascontiguousarray(columns.T, np.uint8), axis=1, bitorder="little")
    return held.view(np.uint64)


def as_numbers(sets: Array) -> list[int]:
    """Sets of rows (m, words) uint64 as whole numbers."""
    width, held = 8 * sets.shape[1], np.ascontiguousarray(sets).tobytes()
    return [int.from_bytes(held[at : at + width], "little") for at in range(0, width * len(sets), width or 1)]


def distinct_columns(codes: Array) -> tuple[Array, Array, Array]:
    """(bits, first, member) of 0/1 codes (n, p) uint8, n > 0: the columns that part the rows, each in one way.

    bits (m, words) uint64 are the rows that have 1 in each of the columns `first` (m,), which rise; member (p,) says
    which of these each column equals, or is the complement of, and -1 of a column that parts no rows.
    """
    # a column and its complement agree on which rows answer as the first one does
    apart = packed_sets(codes ^ codes[:1])
    first, member = find_classes(apart.view(np.uint8))
    parts = apart[first].any(axis=1)
    first, member = first[parts], np.where(parts, np.cumsum(parts) - 1, -1)[member]
    return packed_sets(codes[:, first]), first, member


@final
@attrs.frozen(eq=False)
class BinarySplits:
    """The splits of data whose questions all have two answers, and which of them make each split."""

    questions: Questions | None
    """None where every column is one question."""
    codes: Array
    """(n, q) uint8: the answers to all questions."""
    sets: Array
    """(m, words) uint64: of the first question of each split the rows that answer with 1, bit i for row i."""
    first: Array
    """(m,) the first question of each split, rising."""
    member: Array
    """(q,) by question the split it makes; -1 of those that make none, or do not count."""

    @classmethod
    def of(cls, data: Dataset, banned: Collection[int], *, distinct: bool) -> BinarySplits | None:
        """The splits of the data on columns that are not banned; None where a question has more answers than two."""
        questions = Questions.of(data) if data.ordered else None
        coded = data if questions is None else questions.data
        if coded.categorical:
            return None
        codes = writable(coded.X)
        kept = np.arange(codes.shape[1])
        if banned:
            about = kept if questions is None else questions.column
            kept = kept[~np.isin(about, list(banned))]
        member = np.full(codes.shape[1], -1, np.int64)
        sets, first, of_kept = distinct_columns(
            codes if len(kept) == len(member) else np.ascontiguousarray(codes[:, kept])
        )
        member[kept] = of_kept
        first = kept[first]
        if distinct:
            member[:] = -1
            member[first] = np.arange(len(first))
        return cls(questions, codes, sets, first, member)

    @property
    def columns(self) -> Array:
        """(n, m) uint8: the answers to the first question of each split."""
        return np.ascontiguousarray(self.codes[:, self.first])


@final
@attrs.frozen(eq=False)
class Kinds:
    """Rows by what they cost by label and how many copies each is."""

    of_row: Array
    """(n,) the kind of each row."""
    multipliers: Array
    """(g, 1 + K) int64: the copies of a row of each kind, and what it costs by label."""

    @classmethod
    def of(cls, costs: Array, frequency: Array | None) -> Kinds:
        """The kinds of rows of costs (n, K) int64."""
        copies = np.ones(len(costs), np.int64) if frequency is None else frequency
        told_apart = np.ascontiguousarray(np.column_stack([copies, costs]))
        first, member = find_classes(told_apart.view(np.uint8))
        return cls(member, told_apart[first])

    def members(self) -> Array:
        """(g, words) uint64: the rows of each kind; bit i is row i."""
        row = np.arange(len(self.of_row))
        members = np.zeros((len(self.multipliers), -(-len(row) // _WORD)), np.uint64)
        np.bitwise_or.at(members, (self.of_row, row // _WORD), np.uint64(1) << (row % _WORD).astype(np.uint64))
        return members
