"""Gini impurity: leaves as pure as can be.

    minimise sum over leaves L of n_L * (1 - sum over classes k of (n_Lk / n_L)^2)

the impurity by which CART grows trees, here of the whole tree at once; pystreed's "gini-index". Separable: a sum over
leaves (STreeD, Eq. 4; additivity implies Def. 4.4). Superadditive, because n * G(p) with a concave G is. Reference:
L. Breiman, J. Friedman, R. Olshen, C. Stone: Classification and Regression Trees, 1984, Chapter 4.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import Gini
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [0, 1, 1, 1])
>>> optimum(Gini(), data, max_depth=0)[0], optimum(Gini(), data, max_depth=1)[0]
(1.5, 1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array
from streed.task import State, bound
from streed.tasks.majority import MajorityLeaves, total

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen
class GiniLeaves(MajorityLeaves):
    """The rows of every leaf times its Gini impurity, summed over leaves, times a constant."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    scale: float = bound(1.0)

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        if rows == 0:
            return 0.0
        squares = 0.0
        for count in s.counts:
            squares += count * (count / rows)
        return (rows - squares) * self.scale

    def worst_per_row(self, data: Dataset) -> Array:
        """2: the derivative 1 - 2 n_k / n + sum of (n_k / n)^2 is at most 2."""
        return np.full(data.n_rows, 2.0 * self.scale)

    def lower_bound(self, s: State) -> Any:
        return 0.0


@final
@attrs.frozen
class Gini(GiniLeaves):
    """The rows of every leaf times its Gini impurity, summed over leaves."""
