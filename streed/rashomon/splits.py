"""The splits that trees are counted over: distinct ones of the rows, and which columns ask each of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Cut, Dataset
from streed.data.questions import Questions
from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.packed import writable

_WORD = 64


@final
@attrs.frozen(eq=False)
class Asked:
    """A question about a column, and the rows by its answers."""

    column: int
    cut: Cut | None
    children: tuple[int, ...]
    """By child the set of its rows, a whole number whose bit i is row i."""


@final
@attrs.frozen(eq=False)
class Split:
    """A partition of the rows, and the questions that make it: equal columns, and of two answers complementary ones."""

    asked: tuple[Asked, ...]
    """The first one stands for all where columns are distinct; then it is alone."""
    parts: tuple[int, ...]
    """The children of the first question that have rows, in their order."""
    price: Fraction | int
    """What a branching node costs that asks it, a key."""

    @property
    def is_binary(self) -> bool:
        """Whether it has two children."""
        return len(self.parts) == 2


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


def row_sets(columns: Array) -> list[int]:
    """By column of a 0/1 array (n, m) the set of the rows with 1; bit i is row i."""
    return as_numbers(packed_sets(columns))


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

    def splits(self, price: int, sets: Array, everything: int) -> Splits:
        """The splits, under the price of each of them as a key; `sets` (m, words) as the rows have their places."""
        return Splits(self, price, sets, everything)


@final
@attrs.define(eq=False)
class Splits(Sequence[Split]):
    """Binary splits, each made when it is asked for."""

    binary: BinarySplits
    price: int
    """What a branching node costs, a key."""
    sets: Array
    """(m, words) uint64: the rows of the last part of each."""
    everything: int
    """All rows."""
    _made: dict[int, Split] = attrs.field(factory=dict, init=False)
    _asked: list[list[int]] = attrs.field(factory=list, init=False)
    """By split the questions that make it and count, the first one first."""

    @property
    def multiple(self) -> Array:
        """(m,) int64: how many questions make each split and count."""
        member = self.binary.member
        return np.bincount(member[member >= 0], minlength=len(self.sets))

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self.sets):
            raise IndexError(number)
        found = self._made.get(number)
        if found is None:
            found = self._made[number] = self._make(number)
        return found

    def _make(self, number: int) -> Split:
        binary, codes, questions = self.binary, self.binary.codes, self.binary.questions
        if not self._asked:
            self._asked = [[] for _ in range(len(self.sets))]
            for question, split in enumerate(binary.member.tolist()):
                if split >= 0:
                    self._asked[split].append(question)
        ones = int.from_bytes(self.sets[number].tobytes(), "little")
        sides = self.everything ^ ones, ones
        first = int(binary.first[number])
        asked = [
            Asked(
                each if questions is None else int(questions.column[each]),
                None if questions is None else questions.cut(each),
                sides if codes[0, each] == codes[0, first] else (ones, sides[0]),
            )
            for each in self._asked[number]
        ]
        return Split(tuple(asked), sides, self.price)


def find_splits(data: Dataset, banned: Collection[int], *, distinct: bool, price: Fraction | int) -> list[Split]:
    """The splits of the data on columns that are not banned, in the order of their first questions.

    `distinct`: questions that part the rows alike are one; otherwise each of them is counted.
    """
    questions = Questions.of(data)
    coded = questions.data
    everything = (1 << data.n_rows) - 1
    ones = row_sets(coded.X == 1)
    found: dict[tuple[int, ...], list[Asked]] = {}
    for q, column in enumerate(questions.column.tolist()):
        if column in banned:
            continue
        if q in coded.categorical:
            codes = range(len(coded.column(q).categories))
            children = tuple(row_sets(coded.X[:, [q]] == np.array(codes)))
        else:
            children = (everything & ~ones[q], ones[q])
        parts = [each for each in children if each]
        if len(parts) < 2:
            continue
        asked = found.setdefault(tuple(sorted(parts)), [])
        if not asked or not distinct:
            asked.append(Asked(column, questions.cut(q), children))
    return [Split(tuple(asked), tuple(each for each in asked[0].children if each), price) for asked in found.values()]
