"""Worst leaf: the error rate of the leaf that errs most, as low as can be.

    minimise max over leaves of (misclassified rows of the leaf) / (rows of the leaf)

Separable: (+) is max, which preserves order (STreeD, Def. 4.4; not additive, so DL8 and GOSDT cannot) and is worsening
(Def. A.2).

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import WorstLeaf
>>> data = streed.Dataset.make([[0], [0], [0], [1], [1]], [0, 0, 1, 1, 1])
>>> optimum(WorstLeaf(), data, max_depth=1)[0]
0.3333333333333333
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.exact import Array
from streed.task import State, Task
from streed.tasks.majority import class_counts, total

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class WorstLeaf(Task):
    """The largest error rate of a leaf."""

    worsening: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"counts": class_counts(data)}

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        return (rows - s.counts[k]) / rows if rows > 0 else 0.0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        """a where b is below it, else 0: then nothing helps, and no rate is below 0."""
        return a if b < a else 0.0

    def lower_bound(self, s: State) -> Any:
        return 0.0
