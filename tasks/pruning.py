"""What rules of pruning expect of a leaf, as the objective of a whole tree.

Minimum error: the errors that are expected of a leaf's class on new rows.

    minimise sum over leaves of n * (n - n_k + (1 - p_k) m) / (n + m)

where the leaf predicts class k, and p_k is believed of it as firmly as by m rows. Niblett and Bratko's minimum-error
pruning estimates by Laplace's rule, m = K and p_k = 1 / K (pystreed's "min-error"); the m-estimate of Cestnik and
Bratko takes any m and the classes' shares of all rows. Separable: a sum over leaves (STreeD, Eq. 4). References:
T. Niblett, I. Bratko: Learning Decision Rules in Noisy Domains, 1986; B. Cestnik, I. Bratko: On Estimating
Probabilities in Tree Pruning, EWSL 1991.

C4.5's pessimistic errors: the errors of a leaf at the upper end of a confidence interval.

    minimise sum over leaves of n * U(e, n)

with e errors among the n rows of a leaf and U the upper confidence limit of a binomial proportion as C4.5 computes it:
1 - CF^(1/n) without errors, else by the normal approximation with continuity correction. It charges small leaves for
their uncertainty, so C4.5 prunes by it; here it is the objective of the whole tree (pystreed's "pessimistic-binomial").
Separable: a sum over leaves (STreeD, Eq. 4). Reference: J. R. Quinlan: C4.5, Programs for Machine Learning, 1993,
Section 4.2; its source, function AddErrs.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import MinimumError, PessimisticError
>>> data = streed.Dataset.make([[0]] * 10, [0] * 3 + [1] * 7)
>>> [round(float(optimum(task, data)[0]), 6) for task in (MinimumError(), PessimisticError())]
[3.333333, 4.591274]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array, Range
from streed.task import State, Task, bound
from streed.tasks.impurity import class_counts, total

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


_CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
"""C4.5's table of the normal distribution, between whose entries it interpolates."""

_SMALLEST = 0.0001


def _confidence(value: Any) -> float:
    return float(Range(_SMALLEST, 1).read("confidence", value))


def by_normal(errors: Any, rows: Any, variance: float) -> Any:
    """The pessimistic errors by the normal approximation, for one error or more."""
    if errors + 0.5 >= rows:
        return errors + 0.67 * (rows - errors)
    middle = errors + 0.5
    spread = math.sqrt(variance * (middle * (1 - middle / rows) + variance / 4))
    return rows * (middle + variance / 2 + spread) / (rows + variance)


def without_errors(rows: Any, confidence: float) -> Any:
    """The pessimistic errors of a leaf that has none."""
    return rows * (1 - math.exp(math.log(confidence) / rows)) if rows > 0 else 0.0


@final
@attrs.frozen
class PessimisticError(Task):
    """The misclassified rows of every leaf at the upper limit of their confidence interval, summed over leaves."""

    worsening: ClassVar[bool] = True

    confidence: float = attrs.field(default=0.25, converter=_confidence)
    variance: float = attrs.field(init=False, repr=False)
    """The square of the normal deviate of the confidence."""

    @variance.default
    def _variance(self) -> float:
        return float(np.interp(self.confidence, _CONFIDENCES, _DEVIATIONS)) ** 2

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"counts": class_counts(data)}

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        errors = rows - s.counts[k]
        none = without_errors(rows, self.confidence)
        if errors < 1:
            return none + errors * (by_normal(1.0, rows, self.variance) - none) if errors > 0 else none
        return by_normal(errors, rows, self.variance)

    def lower_bound(self, s: State) -> Any:
        """The least of three functions of the rows n: f(n) of `without_errors`, and, of n > 0,

            g(n) = 0.33 + 0.67 n    and    h(n) = n (1.5 + v) / (n + v), with v = `variance`.

        Each is concave and not negative, so their least is, and where parts share n rows, theirs add up to no less.
        And no leaf of n rows with e errors costs less than one of them:

        - e < 1: its cost lies between f(n) and that of one error, which is in the cases below (with e = 1).
        - e >= 1, e + 1/2 >= n: it costs 0.67 n + 0.33 e >= g(n). For whole n, not otherwise, g(n) >= f(n) there.
        - e >= 1, e + 1/2 < n: with m = e + 1/2 < n the root in `by_normal` is at least v / 2, so that the leaf costs at
          least n (m + v) / (n + v), which grows with m >= 1.5: at least h(n).
        """
        rows = total(s.counts)
        if rows <= 0:
            return 0.0
        certain = without_errors(rows, self.confidence)
        few = 0.33 + 0.67 * rows
        many = rows * (1.5 + self.variance) / (rows + self.variance)
        return float(min(certain, few, many))
