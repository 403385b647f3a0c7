"""Minimum support: no leaf with fewer rows than a given number, in all or of every class, group or treatment.

Anti-monotone (STreeD, Def. 4.5 and the remark after it): whatever stands above a leaf that is too small, the tree
still holds that leaf. An empty leaf, as a category without rows leaves it under a multiway split, is no leaf here.

>>> import streed
>>> from streed.tasks import Accuracy, MinSupport
>>> X, y = [[0], [0], [0], [1]], [0, 0, 0, 1]
>>> streed.solve(Accuracy().subject_to(MinSupport(2)), X, y, max_depth=1).value
1
>>> from streed.tasks import MinSupportOf
>>> task = Accuracy().subject_to(MinSupportOf("sex", 1))
>>> streed.solve(task, X, y, sex=["f", "m", "m", "m"], max_depth=1).value
1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.column import distinct
from streed.errors import InputError
from streed.exact import Array, Range
from streed.task import Limit, State

CLASS = "class"
"""The name by which `MinSupportOf` knows the classes of y."""

_ROWS = Range(1, whole=True, meaning="the rows that a leaf needs")


@final
@attrs.frozen
class MinSupport(Limit):
    """At least `min_rows` rows in every leaf, counted without their weights."""

    min_rows: int = attrs.field(validator=_ROWS)

    def allows(self, s: State) -> bool:
        return s.rows >= self.min_rows

    @property
    def support(self) -> int:
        return self.min_rows


def _listed(values: Any) -> tuple[Any, ...] | None:
    if values is not None and (isinstance(values, str) or not isinstance(values, Iterable)):
        raise InputError("values", f"{values!r} is no list", "give the kinds that a leaf needs rows of")
    return None if values is None else tuple(values)


def _is_name(limit: Limit, attribute: Any, value: Any) -> None:
    if not isinstance(value, str):
        raise InputError("by", f"{value!r} is no name", 'give "class", or the name of row data')


@final
@attrs.frozen
class MinSupportOf(Limit):
    """At least `min_rows` rows of every kind in every leaf, counted without their weights.

    `by`: "class", the classes of y, or the name of row data, such as a treatment or a sensitive feature; of a table,
    the kinds are the combinations that occur. `values`: only these kinds. Raises InputError for what the data lack.
    """

    by: str = attrs.field(validator=_is_name)
    min_rows: int = attrs.field(validator=_ROWS)
    values: Any = attrs.field(default=None, converter=_listed)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        numbers_, kinds = _kinds(self.by, data)
        for value in self.values or ():
            if value not in kinds:
                raise InputError(self.by, f"no row is {value!r}", f"use kinds of {kinds!r}")
        wanted = [place for place, kind in enumerate(kinds) if self.values is None or kind in self.values]
        return {"counts": (numbers_[:, None] == np.array(wanted)).astype(np.int64)}

    def allows(self, s: State) -> bool:
        return bool(min(s.counts) >= self.min_rows)


def _kinds(by: str, data: Dataset) -> tuple[Array, list[Any]]:
    """(n,) the number of each row's kind, and the kinds, sorted."""
    if by == CLASS:
        return data.class_numbers, list(data.class_labels)
    if by not in data.row_data:
        known = ", ".join([CLASS, *data.row_data])
        raise InputError(by, f"MinSupportOf needs it, and there are: {known}", f"give {by}= to solve")
    values = [tuple(value) if isinstance(value, list) else value for value in data.row_data[by].tolist()]
    kinds, numbers_ = distinct(values, by, "it")
    return numbers_, list(kinds)
