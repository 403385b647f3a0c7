"""Impurity: leaves as pure as can be; they cost the same whatever they predict, and show the class of most.

With n_k of the n rows of a leaf in class k, by weight, and N the weight of all rows, sums over leaves of

    Gini          n * (1 - sum over k of (n_k / n)^2)          the impurity by which CART grows trees ("gini-index")
    BrierScore    the same / N: the mean over rows of the squared distance between the leaf's shares and the class
    Entropy       sum over k of n_k * log2(n / n_k)            bits, as of ID3 and C4.5 ("entropy")

are minimised, of the whole tree at once (in quotes: pystreed's names). No other prediction has a better Brier score
than the shares; 0 is the best one, and below 2 is every one. Separable: sums over leaves (STreeD, Eq. 4).
Superadditive, because n times a concave function of the shares is. References: L. Breiman et al.: Classification and
Regression Trees, 1984, Chapter 4; G. W. Brier, Monthly Weather Review 78, 1950; J. R. Quinlan: Induction of Decision
Trees, Machine Learning 1, 1986.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import BrierScore, Entropy, Gini
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [0, 1, 1, 1])
>>> [optimum(task, data, max_depth=1)[0] for task in (Gini(), BrierScore(), Entropy())]
[1.0, 0.25, 2.0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array, as_float
from streed.task import State, Task, bound


@attrs.frozen
class ClassCounts(Task):
    """A task of the (weighted) numbers of rows per class."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        """(n, K) int64: 1 in the column of the row's class; raises InputError where y holds measured numbers."""
        return {"counts": data.rows_of_classes(np.eye(len(data.class_labels), dtype=np.int64))}

    def lower_bound(self, s: State) -> Any:
        return 0.0


@attrs.frozen
class MajorityLeaves(ClassCounts):
    """A task of the (weighted) numbers of rows per class; its leaves show the class of most, ties to the first."""

    any_label: ClassVar[bool] = True

    classes: tuple[Any, ...] = bound(())

    def bind(self, data: Dataset) -> Task:
        return attrs.evolve(self, classes=data.class_labels)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("majority class",)

    def leaf_label(self, s: State, k: int) -> Any:
        return self.classes[s.counts.index(max(s.counts))]


@attrs.frozen
class Gini(MajorityLeaves):
    """The rows of every leaf times its Gini impurity, summed over leaves."""

    value_unit: ClassVar[str] = "rows times Gini impurity"
    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    scale: float = bound(1.0)

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = sum(s.counts)
        if rows == 0:
            return 0.0
        squares = 0.0
        for count in s.counts:
            squares += count * (count / rows)
        return (rows - squares) * self.scale

    def worst_per_row(self, data: Dataset) -> Array:
        """2: the derivative 1 - 2 n_k / n + sum of (n_k / n)^2 is at most 2."""
        return np.full(data.n_rows, 2.0 * self.scale)


@final
@attrs.frozen
class BrierScore(Gini):
    """The mean over rows of the squared distance between the class shares of the leaf and the row's class."""

    value_unit: ClassVar[str] = "mean squared distance (Brier score)"

    def bind(self, data: Dataset) -> Task:
        return attrs.evolve(self, classes=data.class_labels, scale=1 / float(sum(data.class_totals())))


_LARGEST_TABLE = 2**16


@final
@attrs.frozen
class Entropy(MajorityLeaves):
    """The rows of every leaf times the entropy of its classes in bits, summed over leaves."""

    value_unit: ClassVar[str] = "rows times bits of entropy"
    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    table: Any = bound(())
    """x log2(x) for x = 0, 1, ... as far as weights are whole numbers and not too many: quicker than logarithms."""

    def bind(self, data: Dataset) -> Task:
        bound_ = attrs.evolve(self, classes=data.class_labels)
        largest = sum(data.class_totals())
        real = data.weights is not None and data.weights.dtype.kind == "f"
        least = 1 if data.weights is None else min(filter(None, data.weights.tolist()), default=1)
        if math.isinf(as_float(Fraction(largest) / Fraction(least))):
            raise InputError("sample_weight", "a row weighs nothing beside all others", "weigh it 0, or leave it out")
        if real or not isinstance(largest, int) or largest > _LARGEST_TABLE:
            return bound_
        x = np.arange(largest + 1, dtype=np.float64)
        return attrs.evolve(bound_, table=x * np.log2(np.maximum(x, 1)))

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = sum(s.counts)
        if len(self.table) > 0:
            left = self.table[int(rows)]
            for count in s.counts:
                left -= self.table[int(count)]
            # Rounding may leave a little less than nothing.
            return float(max(left, 0.0))
        bits = 0.0
        for count in s.counts:
            if count > 0:
                bits += count * math.log2(rows / count)
        return bits

    def worst_per_row(self, data: Dataset) -> Array:
        """log2(N / w) + log2(e) for a row of weight w among a total of N.

        A row of a new class adds w log2((n + w) / w) + n log2(1 + w / n) <= w log2(N / w) + w log2(e); others less.
        """
        weights = np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)
        worst = np.zeros(data.n_rows)
        worst[weights > 0] = np.log2(weights.sum() / weights[weights > 0]) + math.log2(math.e)
        return worst
