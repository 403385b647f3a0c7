"""Entropy: leaves that leave as few bits of the class unsaid as can be.

    minimise sum over leaves L of sum over classes k of n_Lk * log2(n_L / n_Lk)

the impurity behind the information gain of ID3 and C4.5, here of the whole tree at once, in bits; pystreed's
"entropy". Separable: a sum over leaves (STreeD, Eq. 4). Superadditive, because n * H(p) with the concave H is.
Reference: J. R. Quinlan: Induction of Decision Trees, Machine Learning 1, 1986.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import Entropy
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [0, 1, 1, 1])
>>> optimum(Entropy(), data, max_depth=1)[0]
2.0
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array
from streed.task import State, Task, bound
from streed.tasks.majority import MajorityLeaves, total

if TYPE_CHECKING:
    from streed.data import Dataset

_LARGEST_TABLE = 2**16


@final
@attrs.frozen
class Entropy(MajorityLeaves):
    """The rows of every leaf times the entropy of its classes in bits, summed over leaves."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    table: Any = bound(())
    """x log2(x) for x = 0, 1, ... as far as weights are whole numbers and not too many: quicker than logarithms."""

    def bind(self, data: Dataset) -> Task:
        bound_ = attrs.evolve(self, classes=data.class_labels)
        largest = sum(data.class_totals())
        if not isinstance(largest, int) or (data.weights is not None and data.weights.dtype.kind == "f"):
            return bound_
        if largest > _LARGEST_TABLE:
            return bound_
        x = np.arange(largest + 1, dtype=np.float64)
        return attrs.evolve(bound_, table=x * np.log2(np.maximum(x, 1)))

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
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

    def lower_bound(self, s: State) -> Any:
        return 0.0
