"""Minimum support: no leaf with fewer rows than a given number.

Anti-monotone (STreeD, Def. 4.5 and the remark after it): whatever stands above a leaf that is too small, the tree
still holds that leaf. An empty leaf, as a category without rows leaves it under a multiway split, is no leaf here.

>>> import streed
>>> from streed.tasks import Accuracy, MinSupport
>>> X, y = [[0], [0], [0], [1]], [0, 0, 0, 1]
>>> streed.solve(Accuracy().subject_to(MinSupport(2)), X, y, max_depth=1).value
1
"""

from __future__ import annotations

import numbers
from typing import Any, final

import attrs

from streed.errors import InputError
from streed.task import Limit, State


def _positive_integer(limit: MinSupport, attribute: Any, value: Any) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise InputError("MinSupport", f"{value!r} is no whole number of rows >= 1", "give the rows that a leaf needs")


@final
@attrs.frozen
class MinSupport(Limit):
    """At least `min_rows` rows in every leaf, counted without their weights."""

    min_rows: int = attrs.field(validator=_positive_integer)

    def allows(self, s: State) -> bool:
        return s.rows >= self.min_rows

    @property
    def support(self) -> int:
        return self.min_rows
