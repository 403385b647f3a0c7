"""Quantile regression: leaves predict a quantile of their targets, such as the 90th percentile.

    minimise sum over rows (x, y) of  q * max(y - c, 0) + (1 - q) * max(c - y, 0)

with c the prediction of the leaf: the pinball loss, whose best constant is the q-quantile. The absolute error is twice
that of q = 1/2, and its predictions are medians, the lower one of two. Separable: a sum over leaves, a leaf's cost
depends on its rows only (STreeD, Section 4.1). Some target of the leaf is a best prediction. So where few different
targets occur they are the labels, and the task is a cost per row and label, which is quick; otherwise no sums tell the
quantile, and the general route sorts the rows of each leaf. Splitting never costs. Reference: R. Koenker, G. Bassett:
Regression Quantiles, Econometrica 46, 1978.

>>> import streed
>>> from streed.tasks import QuantileError
>>> result = streed.solve(QuantileError(0.9), [[0], [0], [0], [1], [1]], [1, 2, 6, 10, 10], max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(0.9, [6, 10])
>>> from streed.tasks import AbsoluteError
>>> result = streed.solve(AbsoluteError(), [[0], [0], [0], [1], [1]], [1, 2, 6, 10, 10], max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(5, [2, 10])
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import LARGEST_TOTAL, Array, Range, exact_integers, exact_number
from streed.task import GeneralTask, RowCostTask, State, Task, Value, bound, weight_array

if TYPE_CHECKING:
    from streed.data import Dataset

MOST_LABELS = 64
"""With more different targets than this, leaves are asked of Python: so many labels would cost more than sorting."""


@final
@attrs.frozen
class PinballCosts(RowCostTask):
    """Times a factor the pinball loss of a quantile, with some numbers as labels."""

    worsening: ClassVar[bool] = True

    quantile: Fraction
    factor: int
    values: tuple[Any, ...]
    """The labels, ascending: every target is one of them."""

    def row_costs(self, data: Dataset) -> Array:
        total: Array = sum((weight * costs.astype(object) for weight, costs in self.cost_terms(data)), start=0)  # type: ignore[assignment]
        return total

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        """Twice: the losses of targets above, and of targets below."""
        n = data.n_rows
        numbers, unit = exact_integers(np.concatenate([data.targets, np.array(self.values)]), "y")
        above = numbers[:n, None] - numbers[None, n:]
        return [
            (unit * self.factor * self.quantile, np.maximum(above, 0)),
            (unit * self.factor * (1 - self.quantile), np.maximum(-above, 0)),
        ]

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.values


@attrs.frozen(eq=False)
class WholeTargets:
    """Targets and weights of rows as whole numbers, exactly."""

    targets: Array
    weights: Array | None
    unit: Fraction
    """What a deviation of 1 times a weight of 1 is worth."""
    source: tuple[Any, ...]
    """The data's arrays that tell all this."""

    @classmethod
    def of(cls, data: Dataset, known: WholeTargets | None = None) -> WholeTargets:
        """Those of the data; the known ones, where these are."""
        source = (data.class_numbers, data.classes, data.sample_weight, data.frequency)
        if known is not None and all(a is b for a, b in zip(source, known.source, strict=True)):
            return known
        targets, unit = exact_integers(data.targets, "y")
        weights, total = weight_array(data), len(targets)
        if weights is not None:
            weights, worth = exact_integers(weights, "sample_weight")
            unit, total = unit * worth, sum(weights.tolist())
        if 2 * total * max(map(abs, targets.tolist()), default=0) >= LARGEST_TOTAL:
            targets = targets.astype(object)
        return cls(targets, weights, unit, source)

    def losses(self, rows: Array, share: Fraction) -> tuple[int, int, int]:
        """(deviations above and below, in units, and the row predicted): the least target that a share is at or below.

        Rows that all weigh nothing count as one each.
        """
        order = rows[np.argsort(self.targets[rows], kind="stable")]
        weights = None if self.weights is None else self.weights[order]
        reached = None if weights is None else weights.cumsum()
        if reached is None or not reached[-1]:
            place = -(-len(order) * share.numerator // share.denominator) - 1
        else:
            place = int(np.searchsorted(reached, -(-int(reached[-1]) * share.numerator // share.denominator)))
        apart = self.targets[order] - self.targets[order[place]]
        apart = apart if weights is None else apart * weights
        return int(apart[place:].sum()), -int(apart[:place].sum()), int(order[place])


@attrs.frozen
class QuantileError(GeneralTask):
    """The (weighted) pinball loss of leaves that predict their quantile, the least one where several are best."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    factor: ClassVar[int] = 1

    quantile: Any = attrs.field(validator=Range(above=0, below=1))
    known: Any = bound(None)

    @property
    def share(self) -> Fraction:
        """The share of the weight that is at or below the prediction."""
        return Fraction(exact_number(self.quantile))

    def bind(self, data: Dataset) -> Task:
        """`PinballCosts` where few different targets occur."""
        values = tuple(np.unique(data.targets).tolist())
        if len(values) <= MOST_LABELS:
            return PinballCosts(self.share, self.factor, values)
        return attrs.evolve(self, known=WholeTargets.of(data))

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("quantile",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        numbers = WholeTargets.of(data, self.known)
        above, below, _ = numbers.losses(rows, self.share)
        return self.factor * numbers.unit * (self.share * (above - below) + below)

    def leaf_label(self, s: State, k: int) -> Any:
        return s.data.targets[WholeTargets.of(s.data, self.known).losses(s.members, self.share)[2]].item()


@final
@attrs.frozen
class AbsoluteError(QuantileError):
    """The sum of absolute deviations from the median of the leaf, row weights counting."""

    factor: ClassVar[int] = 2

    quantile: Any = attrs.field(default=Fraction(1, 2), init=False, repr=False)
