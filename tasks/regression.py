"""Regression: as small squared errors as possible, with a cost per branching node.

    minimise sum over rows (x, y) of (y - tree(x))^2 + cost_complexity * (branching nodes)

A leaf predicts the mean of its rows, so it costs sum y^2 - (sum y)^2 / n, of the sums over its rows. With `normalized`,
the squared errors are divided by those of the mean of all rows, so that they are 1 - R^2 and `cost_complexity` is a
share of them, as pystreed's "cost-complex-regression" has it. Separable: sums over leaves and nodes (STreeD, Eq. 4).
Superadditive: the mean of a whole fits no part better than the part's own. References: Breiman et al.: Classification
and Regression Trees, 1984, Chapter 8; M. van den Bos, J. van der Linden, E. Demirovic: Piecewise Constant and Linear
Regression Trees: An Optimal Dynamic Programming Approach, ICML 2024.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import SquaredError
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [1.0, 2.0, 5.0, 5.0])
>>> float(optimum(SquaredError(), data, max_depth=1)[0])
0.5
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.data.database import MOMENTS
from streed.exact import Array, Range, exact_integers, exact_number
from streed.task import State, Task, bound, weight_array

if TYPE_CHECKING:
    from streed.data import Dataset


Exact = tuple[Array, Fraction]
"""Whole numbers and the worth of 1."""


_EXACT = 2**53
"""Whole numbers below this are floats."""


def _offsets(targets: Array, exact: Exact, center: Any) -> Array:
    """(n,) the targets less the center; of floats, the difference of the decimals that Python prints, rounded once.

    `exact` are the targets as `exact_integers` reads them.
    """
    if targets.dtype.kind == "i":
        offsets: Array = targets - center
        return offsets
    whole, unit = exact
    start = Fraction(exact_number(center))
    common = math.lcm(unit.denominator, start.denominator)
    step, origin = int(unit * common), int(start * common)
    if whole.dtype == np.int64 and common < _EXACT:
        most = max(int(whole.max(initial=0)), -int(whole.min(initial=0)))
        if most * step + abs(origin) < _EXACT:
            narrow: Array = (whole * step - origin) / common
            return narrow
    return np.array([(y * step - origin) / common for y in whole.tolist()])


def _squared_error(data: Dataset, exact: Exact, rows: Array) -> Fraction:
    """The (weighted) squared errors of the mean of these rows, from the targets themselves, read exactly."""
    targets, unit = exact[0][rows], exact[1]
    each = weight_array(data)
    if each is None and targets.dtype == np.int64 and len(rows):
        narrow = targets - targets[0]  # their total is below 2**60, so this fits
        most = max(int(narrow.max()), -int(narrow.min()))
        if most * most * len(rows) < 2**63:
            total = int(narrow.sum())
            return unit * unit * (int(narrow @ narrow) - Fraction(total * total, len(rows)))
    weights, worth = [1] * len(rows), Fraction(1)
    if each is not None:
        whole, worth = exact_integers(each[rows], "sample_weight")
        weights = whole.tolist()
    size: int = sum(weights)
    if not size:
        return Fraction(0)
    offsets = [y - int(targets[0]) for y in targets.tolist()]
    total = sum(w * y for w, y in zip(weights, offsets, strict=True))
    squares: int = sum(w * y * y for w, y in zip(weights, offsets, strict=True))
    return worth * unit * unit * (squares - Fraction(total * total, size))


def _moments_error(data: Dataset, rows: Array) -> Fraction:
    """As `_squared_error`, of rows of which the sums of targets and of their squares are known."""
    known, size = data.row_data[MOMENTS][rows], data.count(rows)
    if not size:
        return Fraction(0)
    total, squares, unit = int(known["sum"].sum()), int(known["square"].sum()), int(known["unit"][0])
    return (squares - Fraction(total * total, size)) / unit**2


def _moments_from(data: Dataset, center: Any) -> dict[str, Array]:
    """The statistics of such rows, of targets as measured from the center, which has the units' decimals."""
    known, counts = data.row_data[MOMENTS], data.counts.astype(object)
    unit = int(known["unit"][0])
    start = int(exact_number(center) * unit)
    sums, squares = known["sum"].astype(object), known["square"].astype(object)
    offsets, spread = sums - counts * start, squares - 2 * start * sums + counts * start * start
    if unit == 1:
        return {"weight": data.counts, "sum": offsets.astype(np.int64), "square": spread.astype(np.int64)}
    return {
        "weight": data.counts,
        "sum": (offsets / unit).astype(np.float64),
        "square": (spread / unit**2).astype(np.float64),
    }


def _decimals(moments: Array) -> int:
    return len(str(int(moments["unit"][0]))) - 1


@final
@attrs.frozen
class SquaredError(Task):
    """The (weighted) squared errors of leaves that predict their mean, and a cost per branching node."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True
    pushes_down: ClassVar[tuple[str, ...]] = (MOMENTS,)

    cost_complexity: Any = attrs.field(default=0, validator=Range(0, meaning="what a branching node costs"))
    normalized: bool = False
    center: Any = bound(0)
    """Targets are measured from here, near their mean, lest sums of squares of large numbers cancel."""
    offsets: Any = bound((None, None, None, 0))
    """The data set, its targets as measured from the center, and as they are, exactly; if normalised, the squared
    errors of all of them, too."""
    scale: float = bound(1)
    """What squared errors are multiplied by: a division per leaf would take longer than all else of it."""

    def bind(self, data: Dataset) -> Task:
        if MOMENTS in data.summed:
            known = data.row_data[MOMENTS]
            center = int(known["sum"].sum()) / (int(known["unit"][0]) * data.size)
            center = round(center) if known["unit"][0] == 1 else round(center, _decimals(known))
            squares = float(_moments_error(data, np.arange(data.n_rows))) if self.normalized else 0.0
            return attrs.evolve(self, center=center, scale=1 / squares if squares > 0 else 1)
        targets = data.targets
        center = np.average(targets, weights=data.weights).item()
        center = round(center) if targets.dtype.kind == "i" else float(f"{center:.6g}")
        exact = exact_integers(targets, "y")
        whole = _squared_error(data, exact, np.arange(data.n_rows)) if self.normalized else 0
        squares = float(whole)
        offsets = data, _offsets(targets, exact, center), exact, whole
        return attrs.evolve(self, center=center, offsets=offsets, scale=1 / squares if squares > 0 else 1)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        if MOMENTS in data.summed:
            return _moments_from(data, self.center)
        known, offsets, *_ = self.offsets
        if known is not data:
            offsets = _offsets(data.targets, exact_integers(data.targets, "y"), self.center)
        return {"weight": np.ones(data.n_rows, np.int64), "sum": offsets, "square": offsets**2}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        if s.weight == 0:
            return 0.0
        # Rounding may leave a little less than nothing.
        return max(s.square - s.sum * s.sum / s.weight, 0.0) * self.scale

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        """The squared errors as a fraction: 0 of equal targets."""
        error = self._error(data, rows)
        if not self.normalized or self.scale == 1:
            return error
        known, _, _, whole = self.offsets
        return error / ((whole if known is data else self._error(data, np.arange(data.n_rows))) or 1)

    def _error(self, data: Dataset, rows: Array) -> Fraction:
        """The squared errors of the mean of these rows."""
        if MOMENTS in data.summed:
            return _moments_error(data, rows)
        known, _, exact, _ = self.offsets
        return _squared_error(data, exact if known is data else exact_integers(data.targets, "y"), rows)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.cost_complexity

    def worst_per_row(self, data: Dataset) -> Array | None:
        """The square of the distance to the farthest target: a row adds w n / (n + w) (y - mean)^2.

        None where only the sums of targets are known.
        """
        if MOMENTS in data.summed:
            return None
        targets = data.targets.astype(np.float64)
        farthest: Array = np.maximum(targets - targets.min(), targets.max() - targets) ** 2 * self.scale
        return farthest

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        """The mean of the leaf's targets."""
        if s.weight == 0:
            return float(self.center)
        if isinstance(s.sum, float) and isinstance(self.center, float):
            return self.center + s.sum / float(s.weight)
        return float(self.center + Fraction(s.sum) / Fraction(s.weight))
