"""Minimum error: the errors that are expected of a leaf's class on new rows.

    minimise sum over leaves of n * (n - n_k + (1 - p_k) m) / (n + m)

where the leaf predicts class k, and p_k is believed of it as firmly as by m rows. Niblett and Bratko's minimum-error
pruning estimates by Laplace's rule, m = K and p_k = 1 / K (pystreed's "min-error"); the m-estimate of Cestnik and
Bratko takes any m and the classes' shares of all rows. Separable: a sum over leaves (STreeD, Eq. 4). References:
T. Niblett, I. Bratko: Learning Decision Rules in Noisy Domains, 1986; B. Cestnik, I. Bratko: On Estimating
Probabilities in Tree Pruning, EWSL 1991.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import MinimumError
>>> data = streed.Dataset.make([[0]] * 10, [0] * 3 + [1] * 7)
>>> round(float(optimum(MinimumError(), data)[0]), 6)
3.333333
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array, Range
from streed.task import State, Task, bound
from streed.tasks.majority import class_counts, total

if TYPE_CHECKING:
    from streed.data import Dataset


_MOST_ROWS = 1e15
"""Beyond it, the rows at hand are lost in rounding."""


@final
@attrs.frozen
class MinimumError(Task):
    """The expected errors of every leaf's class, summed over leaves, by Laplace's rule or the m-estimate."""

    worsening: ClassVar[bool] = True

    m: float | None = attrs.field(default=None, validator=Range(above=0, most=_MOST_ROWS, optional=True))
    strength: float = bound(0.0)
    """m."""
    against: Any = bound(None)
    """(K,) float64: (1 - p_k) m."""
    least: float = bound(0.0)
    """The least entry of `against`."""

    def bind(self, data: Dataset) -> Task:
        totals = [float(x) for x in data.class_totals()]
        n_classes = len(totals)
        strength = float(n_classes if self.m is None else self.m)
        shares = [1 / n_classes] * n_classes if self.m is None else [x / sum(totals) for x in totals]
        against = np.array([(1 - share) * strength for share in shares])
        return attrs.evolve(self, strength=strength, against=against, least=float(against.min()))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"counts": class_counts(data)}

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        return rows * (rows - s.counts[k] + self.against[k]) / (rows + self.strength)

    def worst_per_row(self, data: Dataset) -> Array:
        """1: by a row of another class, the cost grows at the rate n / (n + m) + m (e + (1 - p) m) / (n + m)^2 <= 1."""
        return np.ones(data.n_rows)

    def lower_bound(self, s: State) -> Any:
        """The cost of all rows in one leaf without errors: that is concave in the rows, so parts cost no less."""
        rows = total(s.counts)
        return rows * self.least / (rows + self.strength)
