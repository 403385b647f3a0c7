"""Linear leaves: every leaf is a ridge regression of its own on real features, beside the binary ones that branch.

    minimise sum over rows i of  w_i * ((y_i - b_0 - z_i b)^2 + ridge * |b|^2)

with b_0 and b those of the leaf of i and z_i, `features` (n, m), its real features. The penalty weighs as many rows as
the leaf has, so parts may have the coefficients of the whole at the same price: splitting never costs. Separable: a sum
over leaves, a leaf's cost depends on its rows only (STreeD, Section 4.1). Reference: M. van den Bos, J. van der Linden,
E. Demirovic: Piecewise Constant and Linear Regression Trees: An Optimal Dynamic Programming Approach, ICML 2024.

>>> import streed
>>> from streed.tasks import LinearLeaves, predict_linear
>>> z = [[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]]
>>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 1, 2, 5, 4, 3]
>>> result = streed.solve(LinearLeaves(), X, y, features=z, max_depth=1)
>>> round(result.value, 9), predict_linear(result.tree, X, z).round(6).tolist()
(0.0, [0.0, 1.0, 2.0, 5.0, 4.0, 3.0])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.rows import row_matrix, row_numbers
from streed.errors import InputError
from streed.exact import Array, Range
from streed.task import GeneralTask, State, Value, bound
from streed.tree import Tree

_LEAST = 2.0**-1000  # a cost that floats hold to all their digits, and those of its leaves to nearly as many


@final
@attrs.frozen
class LinearLeaves(GeneralTask):
    """The (weighted) squared errors of leaves that are ridge regressions, penalties included.

    Leaves show (intercept, coefficients ...); `predict_linear` applies them.
    """

    value_unit: ClassVar[str] = "squared error, penalties included"
    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    ridge: Any = attrs.field(default=0, validator=Range(0))
    features: Any = bound(None)
    """(n, m) float64, of the size of 1,"""
    units: Any = bound(())
    """(m,) in these units: powers of two, as all units are, so that nothing is rounded."""
    center: Any = bound(0.0)
    """Targets are measured from here,"""
    unit: float = bound(1.0)
    """in this unit,"""
    weight: float = bound(1.0)
    """and weights in this one."""

    def bind(self, data: Dataset) -> LinearLeaves:
        column = data.row_data.get("features")
        if column is not None and column.ndim == 1 and column.dtype.names is None:
            given = row_numbers(data, "features", "LinearLeaves")[:, None].astype(np.float64)
        else:
            given = row_matrix(data, "features", "LinearLeaves")[0].astype(np.float64)
        units = _units(given)
        size = float(_units(data.targets))
        center = float((data.targets / size).mean()) * size
        unit = float(_units(data.targets - center))
        weight = 1.0 if data.weights is None else float(_units(data.weights))
        found = attrs.evolve(self, features=given / units, units=units, center=center, unit=unit, weight=weight)
        whole = found._fit(data, np.arange(data.n_rows))[2]
        if whole and not _LEAST < found._worth(whole) < math.inf:
            raise InputError("y", "its squared errors are beyond what floats hold", "measure y in another unit")
        return found

    def _worth(self, cost: float) -> float:
        """What a cost in square units is."""
        return cost * self.unit * self.weight * self.unit

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("linear",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        return self._worth(self._fit(data, rows)[2])

    def leaf_label(self, s: State, k: int) -> Any:
        intercept, coefficients, _ = self._fit(s.data, s.members)
        return (intercept, *coefficients)

    def _fit(self, data: Dataset, rows: Array) -> tuple[float, tuple[float, ...], float]:
        """Intercept, coefficients, and the cost in units, of targets and features measured from their means."""
        weights = np.ones(len(rows)) if data.weights is None else data.weights[rows] / self.weight
        total = weights.sum()
        if total == 0:
            return self.center, (0.0,) * self.features.shape[1], 0.0
        z, y = self.features[rows], (data.targets[rows] - self.center) / self.unit
        means, mean = weights @ z / total, weights @ y / total
        roots = np.sqrt(weights)
        # Rows of the identity beside those of the data are the penalty; the least-norm solution is one for ridge 0.
        penalty = np.diag(np.sqrt(float(self.ridge) * total) / self.units)
        left = np.vstack([(z - means) * roots[:, None], penalty])
        right = np.concatenate([(y - mean) * roots, np.zeros(z.shape[1])])
        coefficients = np.linalg.lstsq(left, right, rcond=None)[0]
        cost = float(((right - left @ coefficients) ** 2).sum())
        intercept = self.center + self.unit * float(mean - means @ coefficients)
        return intercept, tuple((coefficients * (self.unit / self.units)).tolist()), cost


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
