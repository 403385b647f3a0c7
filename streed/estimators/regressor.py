"""Regression: the tree of least squared error, or of another loss that a task states.

>>> from streed.estimators import OptimalTreeRegressor
>>> model = OptimalTreeRegressor(max_depth=1).fit([[1.5], [2.0], [7.0], [8.5]], [1.0, 3.0, 10.0, 10.0])
>>> model.predict([[0.0], [9.0]]).tolist(), round(model.score([[1.5], [2.0], [7.0], [8.5]], [1.0, 3.0, 10.0, 10.0]), 3)
([2.0, 10.0], 0.97)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from streed.data import Dataset
from streed.errors import InputError
from streed.estimators.base import OptimalTree, task_of, with_splits
from streed.estimators.reading import checked_column, checked_weights, signs_of
from streed.exact import Array
from streed.task import Task
from streed.tasks import SquaredError


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeRegressor(RegressorMixin, OptimalTree):  # type: ignore[misc]
    """The optimal regression tree for a task; see `OptimalTree` for what all estimators share.

    `task`: a task of `streed.tasks` or of one's own whose leaves show numbers, or its name, such as "absolute-error";
    None is the squared error as a share of that of the mean, so that `value_` is 1 - R^2 of the training rows plus the
    cost of the nodes. `cost_complexity`: what a branching node costs: a share of the same where `task` is None, else in
    the task's own units. `monotonic_cst` is as in scikit-learn, and refused but for zeros: what a leaf in order shows
    depends on the other leaves, and such trees are not searched here.
    """

    task: Any = dataclasses.field(default=None, kw_only=False)
    monotonic_cst: Any = None

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the rows, by weight."""
        predicted = self.predict(X)
        targets = checked_column(y, len(predicted), numeric=True)
        return float(r2_score(targets, predicted, sample_weight=checked_weights(sample_weight, predicted)))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        X, weights = self._checked(X, sample_weight)
        if signs_of(self.monotonic_cst, self.n_features_in_):
            found = "regression trees in order are not searched: what a leaf shows would depend on the other leaves"
            remedy = "leave it out, or classify levels of y: OptimalTreeClassifier(monotonic_cst=...)"
            raise InputError("monotonic_cst", found, remedy)
        return self._make_data(X, checked_column(y, len(X), numeric=True), weights, row_data)

    def _objective(self, cost_complexity: Any) -> Task:
        if self.task is None:
            return SquaredError(cost_complexity=cost_complexity, normalized=True)
        return with_splits(task_of(self.task), cost_complexity)

    def _statistics(self, data: Dataset) -> Array:
        targets = data.targets.astype(np.float64)
        center = np.average(targets, weights=data.weights)  # sums of squares of large numbers would cancel
        return np.column_stack([np.ones(data.n_rows), targets - center, (targets - center) ** 2])

    def _impurity(self, sums: Array) -> Array:
        """The squared error of the mean."""
        return np.maximum(sums[:, 2] - sums[:, 1] ** 2 / np.maximum(sums[:, 0], 1e-300), 0.0)
