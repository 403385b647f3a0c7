"""Monotone trees: predictions that do not fall where a chosen column rises from 0 to 1.

    minimise misclassified rows, over trees in which, at every branch on a chosen column, no leaf to the left has a
    larger label than any leaf to the right

(by the order of the classes). Such trees are monotone: two rows that differ in the column alone part at a branch on
it, or share a leaf. Monotone trees that are not of this kind exist, and all of them cannot be searched subtree by
subtree by their costs; `docs/explanation/monotone.md` shows both. Separable, with values (errors, least label,
largest label, order of the children): fewer errors and labels within narrower bounds do no harm in any context
(STreeD, Def. 4.4), and a subtree out of order puts every tree above it out of order (Def. 4.5).

>>> import streed
>>> from streed.tasks import MonotoneErrors
>>> X, falling = [[0], [0], [1], [1]], [1, 1, 0, 0]
>>> [streed.solve(MonotoneErrors(columns), X, falling, max_depth=1).value for columns in ([], [0])]
[0, 2]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array
from streed.task import PARTIAL, State, Task, Value, bound

if TYPE_CHECKING:
    from streed.data import Dataset

OUT_OF_ORDER, UNORDERED, ORDERED = -1, 0, 1
"""Fourth entry of a value: never feasible; children side by side that must not be of a chosen column; anything else."""


def _listed(columns: Any) -> tuple[Any, ...]:
    if isinstance(columns, (int, str)):
        return (columns,)
    if isinstance(columns, Mapping) or not isinstance(columns, Iterable):
        raise InputError("increasing", f"{columns!r} names no columns", "give names or places of columns")
    return tuple(columns)


@final
@attrs.frozen
class MonotoneErrors(Task):
    """The (weighted) number of misclassified rows of trees whose leaves rise with the chosen columns.

    `increasing` names binary and ordered columns, or gives their places. Raises InputError for columns that are not
    there, multiway, or have gaps.
    """

    order: ClassVar[str] = PARTIAL
    worsening: ClassVar[bool] = True

    increasing: Sequence[Any] = attrs.field(converter=_listed)
    chosen: frozenset[int] = bound(frozenset())

    def bind(self, data: Dataset) -> Task:
        places = set()
        for column in self.increasing:
            place = data.names.index(column) if column in data.names else column
            if not isinstance(place, int) or not 0 <= place < data.n_columns:
                raise InputError("increasing", f"there is no column {column!r}", f"the columns are {data.names!r}")
            if place in data.categorical:
                raise InputError(
                    "increasing", f"column {column!r} is multiway", "give it as 0/1 columns, one a threshold"
                )
            if place in data.ordered and data.ordered[place].has_gaps:
                raise InputError("increasing", f"column {column!r} has gaps, which are in no order", "fill them in")
            places.add(place)
        return attrs.evolve(self, chosen=frozenset(places))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        wrong: Array = (data.class_numbers[:, None] != np.arange(len(data.class_labels))).astype(np.int64)
        return {"wrong": wrong}

    def leaf_cost(self, s: State, k: int) -> Value:
        return (s.wrong[k], k, k, ORDERED)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value:
        """A value of no labels, which says whether the children must be in order."""
        return (0, 1, 0, UNORDERED if split in self.chosen else ORDERED)

    def combine(self, a: Value, b: Value) -> Value:
        if OUT_OF_ORDER in (a[3], b[3]):
            return (a[0] + b[0], min(a[1], b[1]), max(a[2], b[2]), OUT_OF_ORDER)
        if b[1] > b[2]:
            return (a[0], a[1], a[2], ORDERED if ORDERED in (a[3], b[3]) else OUT_OF_ORDER)
        rises = a[3] == ORDERED and a[2] <= b[1]
        return (a[0] + b[0], min(a[1], b[1]), max(a[2], b[2]), ORDERED if rises else UNORDERED)

    def dominates(self, a: Value, b: Value) -> bool:
        return bool(a != b and a[0] <= b[0] and a[1] >= b[1] and a[2] <= b[2] and a[3] >= b[3])

    def feasible(self, value: Value) -> bool:
        return bool(value[3] != OUT_OF_ORDER)

    def score(self, value: Value, totals: State) -> Any:
        return value[0]
