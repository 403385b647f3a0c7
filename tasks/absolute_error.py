"""Absolute error: regression by medians, the rows as near to their leaf's prediction as they can be together.

    minimise sum over rows (x, y) of w * |y - median of the leaf of x|

Separable: a sum over leaves, and what a leaf costs depends on its rows only (STreeD, Section 4.1). No sums of rows tell
a median, so this is a `GeneralTask`. The median is the lower one: the least target at or below which half of the weight
lies; no other prediction costs less. Splitting never costs, as each part may predict its own median.

>>> import streed
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

from streed.exact import Array
from streed.task import GeneralTask, State, Value, bound
from streed.tasks.quantile import WholeTargets

if TYPE_CHECKING:
    from streed.data import Dataset

_HALF = Fraction(1, 2)


@final
@attrs.frozen
class AbsoluteError(GeneralTask):
    """The sum of absolute deviations from the median of the leaf, row weights counting."""

    takes_weights: ClassVar[bool] = True

    superadditive: ClassVar[bool] = True

    known: Any = bound(None)

    def bind(self, data: Dataset) -> AbsoluteError:
        return AbsoluteError(known=WholeTargets.of(data))

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("median",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        numbers = WholeTargets.of(data, self.known)
        above, below, _ = numbers.losses(rows, _HALF)
        return numbers.unit * (above + below)

    def leaf_label(self, s: State, k: int) -> Any:
        return s.data.targets[WholeTargets.of(s.data, self.known).losses(s.members, _HALF)[2]].item()
