"""Quantile regression: leaves predict a quantile of their targets, such as the 90th percentile.

    minimise sum over rows (x, y) of  q * max(y - c, 0) + (1 - q) * max(c - y, 0)

with c the prediction of the leaf: the pinball loss, whose best constant is the q-quantile. Half of the absolute error
is that of q = 1/2. Separable: a sum over leaves, a leaf's cost depends on its rows only (STreeD, Section 4.1). Some
target of the leaf is a best prediction. So where few different targets occur they are the labels, and the task is a
cost per row and label, which is quick; otherwise no sums tell the quantile, and the general route sorts the rows of
each leaf. Splitting never costs. Reference: R. Koenker, G. Bassett: Regression Quantiles, Econometrica 46, 1978.

>>> import streed
>>> from streed.tasks import QuantileError
>>> result = streed.solve(QuantileError(0.9), [[0], [0], [0], [1], [1]], [1, 2, 6, 10, 10], max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(0.9, [6, 10])
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array, Range, exact_array, exact_number
from streed.task import GeneralTask, RowCostTask, State, Task, Value

if TYPE_CHECKING:
    from streed.data import Dataset

MOST_LABELS = 64
"""With more different targets than this, leaves are asked of Python: so many labels would cost more than sorting."""


@final
@attrs.frozen
class PinballCosts(RowCostTask):
    """The pinball loss of a quantile with some numbers as labels."""

    worsening: ClassVar[bool] = True

    quantile: Fraction
    values: tuple[Any, ...]
    """The labels, ascending: every target is one of them."""

    def row_costs(self, data: Dataset) -> Array:
        total: Array = sum((weight * costs.astype(object) for weight, costs in self.cost_terms(data)), start=0)  # type: ignore[assignment]
        return total

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        """Twice: the losses of targets above, and of targets below."""
        n = data.n_rows
        numbers, unit, _ = exact_array(np.concatenate([data.targets, np.array(self.values)]), "y")
        above = numbers[:n, None] - numbers[None, n:]
        return [
            (unit * self.quantile, np.maximum(above, 0)),
            (unit * (1 - self.quantile), np.maximum(-above, 0)),
        ]

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.values


@final
@attrs.frozen
class QuantileError(GeneralTask):
    """The (weighted) pinball loss of leaves that predict their quantile, the least one where several are best."""

    takes_weights: ClassVar[bool] = True

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    quantile: Any = attrs.field(validator=Range(above=0, below=1))

    def bind(self, data: Dataset) -> Task:
        """`PinballCosts` where few different targets occur."""
        values = tuple(np.unique(data.targets).tolist())
        return PinballCosts(Fraction(exact_number(self.quantile)), values) if len(values) <= MOST_LABELS else self

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("quantile",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        targets, weights, prediction = self._leaf(data, rows)
        above = (weights * np.maximum(targets - prediction, 0)).sum().item()
        below = (weights * np.maximum(prediction - targets, 0)).sum().item()
        share = float(self.quantile)
        return share * above + (1 - share) * below

    def leaf_label(self, s: State, k: int) -> Any:
        return self._leaf(s.data, s.members)[2].item()

    def _leaf(self, data: Dataset, rows: Array) -> tuple[Array, Array, Any]:
        """Targets and weights in ascending order of targets, and the least target with a share q at or below it."""
        order = rows[np.argsort(data.targets[rows], kind="stable")]
        targets = data.targets[order]
        weights = np.ones(len(rows), np.int64) if data.weights is None else data.weights[order]
        reached = weights.cumsum()
        if reached[-1] == 0:
            return targets, weights, targets[0]
        share = Fraction(exact_number(self.quantile))
        # Compared as q's numerator and denominator, so that no rounding moves a quantile of whole weights.
        place = int(np.argmax(reached * share.denominator >= reached[-1] * share.numerator))
        return targets, weights, targets[place]
