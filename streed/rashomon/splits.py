"""The splits that trees are counted over: distinct ones of the rows, and which columns ask each of them."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.data import Cut, Dataset
from streed.data.questions import Questions
from streed.exact import Array
from streed.kernels.entries import find_classes


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


@final
@attrs.frozen(eq=False)
class Places:
    """Where rows stand in the whole numbers that are their sets."""

    of_row: Array
    """(n,) the bit of each row."""
    size: int
    """How many bits there are."""


def row_sets(columns: Array, places: Places | None = None) -> list[int]:
    """By column of a 0/1 array (n, m) the set of the rows with 1; bit i is row i, or the place of row i."""
    bits = np.ascontiguousarray(columns.T, np.uint8)
    if places is not None:
        held = np.zeros((len(bits), places.size), np.uint8)
        held[:, places.of_row] = bits
        bits = held
    packed = np.packbits(bits, axis=1, bitorder="little")
    if not len(packed):
        return []
    width, held_bytes = packed.shape[1], packed.tobytes()
    return [int.from_bytes(held_bytes[at : at + width], "little") for at in range(0, len(held_bytes), width)]


@final
@attrs.frozen(eq=False)
class BinarySplits:
    """The splits of data whose questions all have two answers, and which of them make each split."""

    questions: Questions | None
    """None where every column is one question."""
    codes: Array
    """(n, q) uint8: the answers to all questions."""
    first: Array
    """(m,) the first question of each split, rising."""
    asked: list[list[int]]
    """By split the questions that make it and count, the first one first."""

    @classmethod
    def of(cls, data: Dataset, banned: Collection[int], *, distinct: bool) -> BinarySplits | None:
        """The splits of the data on columns that are not banned; None where a question has more answers than two."""
        questions = Questions.of(data) if data.ordered else None
        coded = data if questions is None else questions.data
        if coded.categorical:
            return None
        codes = coded.X
        kept = np.arange(codes.shape[1])
        if banned:
            about = kept if questions is None else questions.column
            kept = kept[~np.isin(about, list(banned))]
        if not len(kept) or data.n_rows < 2:
            return cls(questions, codes, np.zeros(0, np.int64), [])
        # a question and its complement agree on whether a row answers as the first one does
        answers = codes.T if len(kept) == codes.shape[1] else codes.T[kept]
        apart = np.ascontiguousarray(np.packbits(answers != answers[:, :1], axis=1))
        first, member = find_classes(apart)
        parts = apart[first].any(axis=1).tolist()
        asked: list[list[int]] = [[] for _ in first]
        for q, c in zip(kept.tolist(), member.tolist(), strict=True):
            if parts[c] and not (distinct and asked[c]):
                asked[c].append(q)
        return cls(questions, codes, kept[first[parts]], [each for each in asked if each])

    @property
    def columns(self) -> Array:
        """(n, m) uint8: the answers to the first question of each split."""
        return np.ascontiguousarray(self.codes[:, self.first])

    def splits(self, price: Fraction | int, places: Places | None) -> list[Split]:
        """The splits, under the price of each of them as a key."""
        sets = row_sets(self.codes[:, self.first], places)
        everything = row_sets(np.ones((len(self.codes), 1), np.uint8), places)[0]
        found = []
        for q, ones, members in zip(self.first.tolist(), sets, self.asked, strict=True):
            sides = everything ^ ones, ones
            turned = ones, sides[0]
            asked = [
                Asked(
                    each if self.questions is None else int(self.questions.column[each]),
                    None if self.questions is None else self.questions.cut(each),
                    sides if self.codes[0, each] == self.codes[0, q] else turned,
                )
                for each in members
            ]
            found.append(Split(tuple(asked), sides, price))
        return found


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
