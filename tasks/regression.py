"""Losses of numbers: squared errors, and pinball losses, of which absolute errors are one.

SquaredError, with a cost per branching node; a leaf predicts the mean of its rows.

    minimise sum over rows (x, y) of (y - tree(x))^2 + cost_complexity * (branching nodes)

So it costs sum y^2 - (sum y)^2 / n, of the sums over its rows. With `normalized`, the squared errors are divided by
those of the mean of all rows, so that they are 1 - R^2 and `cost_complexity` is a share of them, as pystreed's
"cost-complex-regression" has it (Breiman et al.: Classification and Regression Trees, 1984, Chapter 8; M. van den Bos,
J. van der Linden, E. Demirovic: Piecewise Constant and Linear Regression Trees, ICML 2024).

QuantileError: leaves predict a quantile c of their targets, such as the 90th percentile; the pinball loss.

    minimise sum over rows (x, y) of  q * max(y - c, 0) + (1 - q) * max(c - y, 0)

AbsoluteError is twice that of q = 1/2, and its predictions are medians, the lower one of two. Some target of the leaf
is a best prediction: where few different targets occur they are the labels, and the task is a cost per row and label,
which is quick; otherwise no sums tell the quantile, and the general route sorts the rows of each leaf (R. Koenker, G.
Bassett: Regression Quantiles, Econometrica 46, 1978).

Separable: sums over leaves and nodes (STreeD, Eq. 4). Splitting never costs: parts may predict what the whole does.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import AbsoluteError, QuantileError, SquaredError
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [1.0, 2.0, 5.0, 5.0])
>>> float(optimum(SquaredError(), data, max_depth=1)[0])
0.5
>>> result = streed.solve(QuantileError(0.9), [[0], [0], [0], [1], [1]], [1, 2, 6, 10, 10], max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(0.9, [6, 10])
>>> streed.solve(AbsoluteError(), [[0], [0], [0], [1], [1]], [1, 2, 6, 10, 10], max_depth=1).value
5
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.database import MOMENTS
from streed.errors import InputError, TaskError
from streed.exact import Array, Range, as_float, exact_integers, exact_number
from streed.task import GeneralTask, RowCostTask, State, Task, Value, bound, weight_array
from streed.task.algebra.sums import combination

_FLOATS = 2**53  # sums of whole numbers below this are exact in float64

_NARROW = 2**62


@attrs.frozen(eq=False)
class _Rows:
    """Rows by their targets in whole units from an origin, exactly."""

    sums: Array
    """(n,) int64 or objects: the row's target, a fraction in other data than the unit was chosen for,"""
    squares: Array
    """its square, each a sum where rows stand for several (`MOMENTS`),"""
    sizes: Array
    """and what it weighs, a whole number of units of `weight`."""
    weight: Fraction
    weighed: bool
    """Whether the caller multiplies statistics by what rows weigh."""
    source: tuple[Any, ...]
    """The data's arrays that tell all this."""

    def is_of(self, data: Dataset) -> bool:
        """Whether these are the rows of the data."""
        return all(a is b for a, b in zip(_source(data), self.source, strict=True))

    def losses(self, rows: Array, share: Fraction) -> tuple[int, int, int]:
        """(deviations above and below, in units, and the row predicted): the least target that a share is at or below.

        Rows that all weigh nothing count as one each.
        """
        order = rows[np.argsort(self.sums[rows], kind="stable")]
        each = self.sizes[order]
        reached = (each if each.any() else np.ones_like(each)).cumsum()
        place = int(np.searchsorted(reached, -(-int(reached[-1]) * share.numerator // share.denominator)))
        apart = (self.sums[order] - self.sums[order[place]]) * each
        return int(apart[place:].sum()), -int(apart[:place].sum()), int(order[place])

    def error(self, rows: Array | slice) -> Fraction:
        """The squared errors of the mean of these rows, in square units."""
        each = self.sizes[rows] if self.weighed else 1
        sums = (self.sizes[rows].sum(), (self.sums[rows] * each).sum(), (self.squares[rows] * each).sum())
        size, total, squares = (exact_number(x) for x in sums)
        return self.weight * (squares - Fraction(total * total) / size) if size else Fraction(0)

    @property
    def bits(self) -> int:
        """By how many bits targets have to be made smaller, where sums of their squares are not exact in float64."""
        largest = int(np.abs(self.squares).max(initial=0))
        total = int((self.squares * (self.sizes if self.weighed else 1)).sum())
        return (largest.bit_length() + 1) // 2 if total >= _FLOATS else 0


def _source(data: Dataset) -> tuple[Any, ...]:
    return (data.class_numbers, data.row_data, data.sample_weight, data.frequency)


def _read(
    data: Dataset, origin: Fraction | None = None, unit: Fraction | None = None
) -> tuple[_Rows, Fraction, Fraction]:
    """(rows, origin, unit); if none is given, the median, and as large a unit as there is.

    From the median, rows far from all others cost these no digits.
    """
    source = _source(data)
    if MOMENTS in data.row_data:
        known = data.row_data[MOMENTS]
        own, sizes = Fraction(1, int(known["unit"][0])), data.counts.astype(object)
        sums, squares = known["sum"].astype(object), known["square"].astype(object)
        start = round(Fraction(int(sums.sum()), data.size)) if origin is None else origin / own
        squares = squares - start * (2 * sums - start * sizes)
        return _Rows(sums - start * sizes, squares, sizes, Fraction(1), False, source), start * own, own
    sums, own = exact_integers(data.targets, "y")
    each = weight_array(data)
    sizes, weight = np.ones(len(sums), np.int64), Fraction(1)
    if each is not None:
        sizes, weight = exact_integers(each, "sample_weight")
    if origin is None or unit is None:
        order = np.argsort(sums, kind="stable")
        reached = sizes[order].cumsum()
        start = int(sums[order[np.searchsorted(2 * reached, reached[-1])]])
        sums, origin = sums - start, start * own
        common = int(np.gcd.reduce(sums)) or 1
        sums, unit = sums // common, common * own
    else:
        sums = (sums.astype(object) * own - origin) / unit
    if int(np.abs(sums).max(initial=0)) ** 2 * sum(sizes.tolist()) >= _NARROW:
        sums, sizes = sums.astype(object), sizes.astype(object)
    return _Rows(sums, sums * sums, sizes, weight, True, source), origin, unit


@attrs.frozen
class _Squares(Task):
    """What is true of squared errors in any unit."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)


@final
@attrs.frozen
class SquaredError(_Squares):
    """The (weighted) squared errors of leaves that predict their mean, and a cost per branching node."""

    cost_complexity: Any = attrs.field(default=0, validator=Range(0, meaning="what a branching node costs"))
    normalized: bool = False

    @property
    def value_unit(self) -> str:
        price = f" + {self.cost_complexity} * branching nodes" if self.cost_complexity else ""
        return ("share of " if self.normalized else "") + "squared error" + price

    def bind(self, data: Dataset) -> Task:
        """A multiple of `SquaresOfUnits`, which are the same whatever y is measured in, and from where."""
        rows, origin, unit = _read(data)
        total, bits = rows.error(slice(None)), rows.bits
        worth = 1 / (total or Fraction(1)) if self.normalized else unit * unit
        if total and not 0 < as_float(worth * total) < math.inf:
            raise InputError("y", "its squared errors are beyond the range of floats", "divide y by a common factor")
        worth *= 4**bits
        price = Fraction(exact_number(self.cost_complexity)) / worth
        return combination([(worth, SquaresOfUnits(origin, unit, Fraction(2**bits), price, rows=rows))])

    def statistics(self, data: Dataset) -> dict[str, Array]:
        raise TaskError("bind SquaredError to its data before you ask for statistics")

    def leaf_cost(self, s: State, k: int) -> Any:
        raise TaskError("bind SquaredError to its data before you ask for costs")


@final
@attrs.frozen
class SquaresOfUnits(_Squares):
    """Squared errors of targets that are measured from an origin in so many units."""

    origin: Fraction
    unit: Fraction
    units: Fraction
    """A power of two: of 1, targets are whole numbers, else 1 or less in size."""
    price: Fraction
    """Of a branching node."""
    rows: Any = bound(None)
    """Of the data."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        rows = self._rows(data)
        size = np.ones(data.n_rows, np.int64) if rows.weighed else rows.sizes.astype(np.int64)
        return {"weight": size, "sum": self._plain(rows.sums, 1), "square": self._plain(rows.squares, 2)}

    def _rows(self, data: Dataset) -> _Rows:
        known: _Rows = self.rows
        return known if known.is_of(data) else _read(data, self.origin, self.unit)[0]

    def _plain(self, values: Array, power: int) -> Array:
        """Whole numbers as they are; else floats, rounded once."""
        if self.units == 1 and (values.dtype == np.int64 or all(x.denominator == 1 for x in values.tolist())):
            return values.astype(np.int64)
        divisor = int(self.units**power)  # Python divides whole numbers of any size with one rounding
        return np.array([float(x / divisor) for x in values.tolist()])

    def leaf_cost(self, s: State, k: int) -> Any:
        if s.weight == 0:
            return 0.0
        # Rounding may leave a little less than nothing.
        return max(s.square - s.sum * (s.sum / s.weight), 0.0)

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        """The squared errors as a fraction: 0 of equal targets."""
        return self._rows(data).error(rows) / self.units**2

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.price

    def worst_per_row(self, data: Dataset) -> Array | None:
        """The square of the distance to the farthest target: a row adds w n / (n + w) (y - mean)^2.

        None where only the sums of targets are known.
        """
        if MOMENTS in data.row_data:
            return None
        targets = self._plain(self._rows(data).sums, 1).astype(np.float64)
        return np.asarray(np.maximum(targets - targets.min(), targets.max() - targets) ** 2)

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        """The mean of the leaf's targets."""
        mean = Fraction(s.sum) / Fraction(s.weight) if s.weight else 0
        return float(self.origin + self.unit * self.units * mean)


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
        return np.asarray(sum(weight * costs.astype(object) for weight, costs in self.cost_terms(data)))

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


@attrs.frozen
class QuantileError(GeneralTask):
    """The (weighted) pinball loss of leaves that predict their quantile, the least one where several are best."""

    value_unit: ClassVar[str] = "pinball loss"
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
        return attrs.evolve(self, known=_read(data))

    def _read(self, data: Dataset) -> tuple[_Rows, Fraction, Fraction]:
        return self.known if self.known is not None and self.known[0].is_of(data) else _read(data)

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("quantile",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        numbers, _, unit = self._read(data)
        above, below, _ = numbers.losses(rows, self.share)
        return self.factor * unit * numbers.weight * (self.share * (above - below) + below)

    def leaf_label(self, s: State, k: int) -> Any:
        return s.data.targets[self._read(s.data)[0].losses(s.members, self.share)[2]].item()


@final
@attrs.frozen
class AbsoluteError(QuantileError):
    """The sum of absolute deviations from the median of the leaf, row weights counting."""

    value_unit: ClassVar[str] = "absolute error"
    factor: ClassVar[int] = 2

    quantile: Any = attrs.field(default=Fraction(1, 2), init=False, repr=False)
