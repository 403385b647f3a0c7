"""Losses of numbers: squared errors, of constant leaves or linear ones, and pinball losses, absolute errors among them.

SquaredError, with a cost per branching node; a leaf predicts the mean of its rows.

    minimise sum over rows (x, y) of (y - tree(x))^2 + cost_complexity * (branching nodes)

So it costs sum y^2 - (sum y)^2 / n. With `normalized`, the squared errors are divided by those of the mean of all rows,
so that they are 1 - R^2 and `cost_complexity` is a share of them, as pystreed's "cost-complex-regression" has it
(Breiman et al.: Classification and Regression Trees, 1984, Chapter 8; M. van den Bos, J. van der Linden, E. Demirovic:
Piecewise Constant and Linear Regression Trees, ICML 2024, of linear leaves, too).

QuantileError: leaves predict a quantile c of their targets, such as the 90th percentile; the pinball loss.

    minimise sum over rows (x, y) of  q * max(y - c, 0) + (1 - q) * max(c - y, 0)

AbsoluteError is twice that of q = 1/2, and its predictions are medians, the lower one of two. Some target of the leaf
is a best prediction: where few different targets occur they are the labels, and the task is a cost per row and label,
which is quick; otherwise no sums tell the quantile, and the general route sorts the rows of each leaf (R. Koenker, G.
Bassett: Regression Quantiles, Econometrica 46, 1978).

LinearLeaves: every leaf is a ridge regression of its own on real features, beside the binary ones that branch.

    minimise sum over rows i of  w_i * ((y_i - b_0 - z_i b)^2 + ridge * |b|^2)

with b_0 and b those of the leaf of i and z_i, `features` (n, m), its real features. The penalty weighs as many rows as
the leaf has, so parts may have the coefficients of the whole at the same price.

Separable: sums over leaves and nodes (STreeD, Eq. 4). Splitting never costs: parts may predict what the whole does.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import LinearLeaves, QuantileError, SquaredError, predict_linear
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [1.0, 2.0, 5.0, 5.0])
>>> float(optimum(SquaredError(), data, max_depth=1)[0])
0.5
>>> result = streed.solve(QuantileError(0.9), [[0], [0], [0], [1], [1]], [1, 2, 6, 10, 10], max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(0.9, [6, 10])
>>> z = [[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]]
>>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 1, 2, 5, 4, 3]
>>> result = streed.solve(LinearLeaves(), X, y, features=z, max_depth=1)
>>> round(result.value, 9), predict_linear(result.tree, X, z).round(6).tolist()
(0.0, [0.0, 1.0, 2.0, 5.0, 4.0, 3.0])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset, row_matrix, row_numbers
from streed.data.database import MOMENTS
from streed.errors import InputError, TaskError
from streed.exact import ONE, Array, Range, as_float, exact_integers, exact_number
from streed.task import GeneralTask, RowCostTask, State, Task, Value, bound
from streed.task.joint import combination
from streed.task.states import kept_by_data
from streed.tree import Tree

_FLOATS, _NARROW = 2**53, 2**62  # sums of whole numbers below the first are exact in float64


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

    def total(self, values: Array, rows: Array | slice) -> Any:
        """The sum of values (n,) of these rows, a whole number or a fraction."""
        found = (values[rows] * self.sizes[rows] if self.weighed else values[rows]).sum()
        return found if values.dtype == object else int(found)

    def mean(self, rows: Array | slice) -> Fraction:
        """Of the targets of these rows, in units; 0 where they weigh nothing."""
        return Fraction(self.total(self.sums, rows), int(self.sizes[rows].sum()) or 1)

    def error(self, rows: Array | slice) -> Fraction:
        """The squared errors of the mean of these rows, in square units."""
        total, size = self.total(self.sums, rows), int(self.sizes[rows].sum()) or 1
        return self.weight * Fraction(self.total(self.squares, rows) * size - total * total, size)


@kept_by_data
def _read(data: Dataset) -> tuple[_Rows, Fraction, Fraction]:
    """(rows, origin, unit): from the median, so that rows far from all others cost no digits, in the largest unit."""
    if MOMENTS in data.row_data:
        known = data.row_data[MOMENTS]
        own, sizes = Fraction(1, int(known["unit"][0])), data.counts.astype(object)
        sums, squares = known["sum"].astype(object), known["square"].astype(object)
        start = round(Fraction(int(sums.sum()), data.size))
        squares = squares - start * (2 * sums - start * sizes)
        return _Rows(sums - start * sizes, squares, sizes, Fraction(1), False), start * own, own
    sums, own = exact_integers(data.targets, "y")
    each = data.exact_weights
    sizes, weight = (np.ones(len(sums), np.int64), ONE) if each is None else exact_integers(each, "sample_weight")
    order = np.argsort(sums, kind="stable")
    reached = sizes[order].cumsum()
    start = int(sums[order[np.searchsorted(2 * reached, reached[-1])]])
    sums = sums - start
    common = int(np.gcd.reduce(sums)) or 1
    sums = sums // common
    if int(np.abs(sums).max(initial=0)) ** 2 * sum(sizes.tolist()) >= _NARROW:
        sums, sizes = sums.astype(object), sizes.astype(object)
    return _Rows(sums, sums * sums, sizes, weight, True), start * own, common * own


@kept_by_data
def _measured(data: Dataset, origin: Fraction, unit: Fraction) -> _Rows:
    """The rows of any data in such units, measured from there."""
    rows, start, own = _read(data)
    if (start, own) == (origin, unit):
        return rows
    factor, shift = own / unit, (start - origin) / unit
    sums = factor * rows.sums.astype(object)
    moved = sums + shift * (1 if rows.weighed else rows.sizes)
    return attrs.evolve(rows, sums=moved, squares=factor**2 * rows.squares.astype(object) + shift * (sums + moved))


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
        total, bits, squares = rows.error(slice(None)), 0, rows.squares * (rows.sizes if rows.weighed else 1)
        if int(squares.sum()) >= _FLOATS:  # targets have to be made smaller
            bits = (int(rows.squares[rows.sizes > 0].max()).bit_length() + 1) // 2
        worth = 1 / (total or Fraction(1)) if self.normalized else unit * unit
        if total and not 0 < as_float(worth * total) < math.inf:
            raise InputError("y", "its squared errors are beyond the range of floats", "divide y by a common factor")
        worth *= 4**bits
        price = Fraction(exact_number(self.cost_complexity)) / worth
        return combination([(worth, SquaresOfUnits(origin, unit, Fraction(2**bits), price))])

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

    def statistics(self, data: Dataset) -> dict[str, Array]:
        rows = _measured(data, self.origin, self.unit)
        size = np.ones(data.n_rows, np.int64) if rows.weighed else rows.sizes.astype(np.int64)
        return {"weight": size, "sum": self._plain(rows, 1), "square": self._plain(rows, 2)}

    def _plain(self, rows: _Rows, power: int) -> Array:
        """The targets, or their squares, 0 of rows that weigh nothing: whole numbers as they are, else rounded once."""
        values = np.where(rows.sizes > 0, rows.sums if power == 1 else rows.squares, 0)
        if self.units == 1 and (values.dtype == np.int64 or all(x.denominator == 1 for x in values.tolist())):
            return values.astype(np.int64)
        divisor = int(self.units**power)  # Python divides whole numbers of any size with one rounding
        return np.array([float(x / divisor) for x in values.tolist()])

    def leaf_cost(self, s: State, k: int) -> Any:
        if s.weight == 0:
            return 0.0
        return max(s.square - s.sum * (s.sum / s.weight), 0.0)  # rounding may leave a little less than nothing

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        """The squared errors as a fraction: 0 of equal targets."""
        return _measured(data, self.origin, self.unit).error(rows) / self.units**2

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.price

    def worst_per_row(self, data: Dataset) -> Array | None:
        """(y - farthest target)^2: a row adds w n / (n + w) (y - mean)^2. None where only sums of targets are known."""
        if MOMENTS in data.row_data:
            return None
        targets = self._plain(_measured(data, self.origin, self.unit), 1).astype(np.float64)
        return np.asarray(np.maximum(targets - targets.min(), targets.max() - targets) ** 2)

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        """The mean of the leaf's targets."""
        mean = Fraction(s.sum) / Fraction(s.weight) if s.weight else 0
        return float(self.origin + self.unit * self.units * mean)

    def exact_label(self, data: Dataset, rows: Array, k: int) -> Any:
        return float(self.origin + self.unit * _measured(data, self.origin, self.unit).mean(rows))


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
        unit, share = unit * self.factor, self.quantile
        return [(unit * share, np.maximum(above, 0)), (unit * (1 - share), np.maximum(-above, 0))]

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

    @property
    def share(self) -> Fraction:
        """The share of the weight that is at or below the prediction."""
        return Fraction(exact_number(self.quantile))

    def bind(self, data: Dataset) -> Task:
        """`PinballCosts` where few different targets occur."""
        values = tuple(np.unique(data.targets).tolist())
        return PinballCosts(self.share, self.factor, values) if len(values) <= MOST_LABELS else self

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("quantile",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        numbers, _, unit = _read(data)
        above, below, _ = numbers.losses(rows, self.share)
        return self.factor * unit * numbers.weight * (self.share * (above - below) + below)

    def leaf_label(self, s: State, k: int) -> Any:
        return s.data.targets[_read(s.data)[0].losses(s.members, self.share)[2]].item()


@final
@attrs.frozen
class AbsoluteError(QuantileError):
    """The sum of absolute deviations from the median of the leaf, row weights counting."""

    value_unit: ClassVar[str] = "absolute error"
    factor: ClassVar[int] = 2

    quantile: Any = attrs.field(default=Fraction(1, 2), init=False, repr=False)


@final
@attrs.frozen
class LinearLeaves(GeneralTask):
    """Squared errors and penalties of ridge regressions; leaves show (intercept, slopes ...) for `predict_linear`."""

    value_unit: ClassVar[str] = "squared error, penalties included"
    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    ridge: Any = attrs.field(default=0, validator=Range(0))
    units: Any = bound(())
    size: float = bound(1.0)
    unit: float = bound(1.0)
    weight: float = bound(1.0)
    """The units, powers of two, of the features, of targets, of how far these lie from their mean, and of weights."""

    def bind(self, data: Dataset) -> LinearLeaves:
        units, size = _units(_features(data)), float(_units(data.targets))
        unit = float(_units(data.targets - float((data.targets / size).mean()) * size))
        weight = 1.0 if data.weights is None else float(_units(data.weights))
        found = attrs.evolve(self, units=units, size=size, unit=unit, weight=weight)
        whole = found._fit(data, np.arange(data.n_rows))[2]
        # floats hold a cost from there on to all their digits, and those of its leaves to nearly as many
        if whole and not 2.0**-1000 < whole * unit * weight * unit < math.inf:
            raise InputError("y", "its squared errors are beyond what floats hold", "measure y in another unit")
        return found

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("linear",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        return self._fit(data, rows)[2] * self.unit * self.weight * self.unit

    def leaf_label(self, s: State, k: int) -> Any:
        intercept, coefficients, _ = self._fit(s.data, s.members)
        return (intercept, *coefficients)

    def _fit(self, data: Dataset, rows: Array) -> tuple[float, tuple[float, ...], float]:
        """Intercept, coefficients, and the cost in units, of targets and features measured from the rows' means."""
        weights = np.ones(len(rows)) if data.weights is None else data.weights[rows] / self.weight
        total = weights.sum()
        center = float(np.average(data.targets[rows] / self.size, weights=weights if total else None)) * self.size
        if total == 0:
            return center, (0.0,) * len(self.units), 0.0
        z, y = _features(data)[rows] / self.units, (data.targets[rows] - center) / self.unit
        means, mean, roots = weights @ z / total, weights @ y / total, np.sqrt(weights)
        # Rows of the identity beside those of the data are the penalty; the least-norm solution is one for ridge 0.
        penalty = np.diag(np.sqrt(float(self.ridge) * total) / self.units)
        left = np.vstack([(z - means) * roots[:, None], penalty])
        right = np.concatenate([(y - mean) * roots, np.zeros(z.shape[1])])
        coefficients = np.linalg.lstsq(left, right, rcond=None)[0]
        cost = float(((right - left @ coefficients) ** 2).sum())
        intercept = center + self.unit * float(mean - means @ coefficients)
        return intercept, tuple((coefficients * (self.unit / self.units)).tolist()), cost


@kept_by_data
def _features(data: Dataset) -> Array:
    """(n, m) float64: the features of the rows."""
    column = data.row_data.get("features")
    is_one = column is not None and column.ndim == 1 and column.dtype.names is None
    asked = data, "features", "LinearLeaves"
    return (row_numbers(*asked)[:, None] if is_one else row_matrix(*asked)[0]).astype(np.float64)


def _units(values: Array) -> Array:
    """The power of two above the largest size of the values (n, ...), of each column; 1 where all are 0."""
    largest = np.abs(values).max(axis=0, initial=0)
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def predict_linear(tree: Tree, X: Any, features: Any) -> Array:
    """(m,) what a tree of `LinearLeaves` predicts for rows of X with these features, (m, k) or (m,)."""
    shown = np.array([list(leaf) for leaf in tree.shows()])
    z = np.asarray(features, dtype=np.float64).reshape(len(features), -1)
    if z.shape[1] != shown.shape[1] - 1:
        found = f"it has {z.shape[1]} columns, and the leaves {shown.shape[1] - 1} coefficients"
        raise InputError("features", found, "give the columns of the first data, in that order")
    chosen = shown[tree.apply(X)]
    return np.asarray(chosen[:, 0] + (chosen[:, 1:] * z).sum(axis=1))
