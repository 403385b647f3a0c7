"""Sparsity: a cost per branching node, alone or beside the error rate.

    minimise (1 / n) * sum over rows (x, y) of [tree(x) != y] + lambda * (branching nodes)

Separable: both sums are additive over subtrees (STreeD, Eq. 4, with the branching cost g(s, f) = lambda); it is the
objective of Branches (Eq. 5: its accuracy minus lambda times splits is 1 minus this value).

>>> import streed
>>> from streed.tasks import SparseAccuracy
>>> streed.solve(SparseAccuracy(0.1), [[0], [0], [1], [1]], [0, 0, 1, 1]).value
0.1
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array, Range
from streed.task import Composition, RowCostTask, Task
from streed.task.algebra import add, scale
from streed.tasks.accuracy import Misclassifications

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Splits(RowCostTask):
    """The number of branching nodes."""

    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True
    pushes_down: ClassVar[tuple[str, ...]] = ()

    def row_costs(self, data: Dataset) -> Array:
        return np.zeros((data.n_rows, data.n_classes), dtype=np.int64)

    def split_cost(self) -> Fraction | int:
        return 1


@final
@attrs.frozen
class SparseAccuracy(Composition):
    """Error rate plus `lam` times the number of branching nodes; `lam` is an exact decimal >= 0."""

    worsening: ClassVar[bool] = True

    lam: Any = attrs.field(validator=Range(0, meaning="what a branching node costs"))

    def compose(self, data: Dataset) -> Task:
        total = sum(data.class_totals())
        return add(scale(Fraction(1) / total, Misclassifications()), scale(self.lam, Splits()))
