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


def row_sets(columns: Array) -> list[int]:
    """By column of a 0/1 array (n, m) the set of the rows with 1."""
    packed = np.packbits(np.ascontiguousarray(columns.T, np.uint8), axis=1, bitorder="little")
    return [int.from_bytes(each.tobytes(), "little") for each in packed]


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
