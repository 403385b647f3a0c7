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
import numpy as np

from streed.exact import Array, exact_array
from streed.task import GeneralTask, State, Value

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen(eq=False)
class _Numbers:
    """Targets and weights as whole numbers of a unit, or as real numbers where they are that."""

    targets: Array
    weights: Array | None
    unit: Fraction | int
    """What a deviation of 1 times a weight of 1 is worth; decimals are exact, real numbers have the unit 1."""


@final
@attrs.frozen
class AbsoluteError(GeneralTask):
    """The sum of absolute deviations from the median of the leaf, row weights counting."""

    takes_weights: ClassVar[bool] = True

    superadditive: ClassVar[bool] = True

    _numbers: _Numbers | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def bind(self, data: Dataset) -> AbsoluteError:
        bound = AbsoluteError()
        object.__setattr__(bound, "_numbers", _read(data))
        return bound

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("median",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        numbers = self._numbers or _read(data)
        targets = numbers.targets[rows]
        if numbers.weights is None:
            targets.sort()
            half = len(targets) // 2
            # the upper half less the lower one; with an odd number the median itself is in neither
            cost = (targets[len(targets) - half :].sum() - targets[:half].sum()).item()
        else:
            weights = numbers.weights[rows]
            cost = (weights * np.abs(targets - _median(targets, weights))).sum().item()
        return cost if numbers.unit == 1 else numbers.unit * cost

    def leaf_label(self, s: State, k: int) -> Any:
        rows = s.members
        weights = None if s.data.weights is None else s.data.weights[rows]
        return _median(s.data.targets[rows], weights).item()


def _read(data: Dataset) -> _Numbers:
    targets, target_unit, exact = exact_array(data.targets, "y")
    if data.weights is None:
        return _Numbers(targets, None, _plain(target_unit)) if exact else _Numbers(data.targets, None, 1)
    weights, weight_unit, whole = exact_array(data.weights, "sample_weight")
    largest = float(np.abs(targets).max()) * float(weights.astype(np.float64).sum())
    if exact and whole and largest < 2**61:
        return _Numbers(targets, weights, _plain(target_unit * weight_unit))
    return _Numbers(data.targets.astype(np.float64), data.weights.astype(np.float64), 1)


def _plain(unit: Fraction) -> Fraction | int:
    return unit if unit.denominator > 1 else int(unit)


def _median(targets: Array, weights: Array | None) -> Any:
    """The least target at or below which half of the weight lies; the lower median where nothing weighs anything."""
    order = np.argsort(targets, kind="stable")
    if weights is None or not weights.any():
        return targets[order[(len(order) - 1) // 2]]
    reached = np.cumsum(weights[order])
    return targets[order[np.searchsorted(reached * 2, reached[-1])]]
