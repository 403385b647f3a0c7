"""Cost-sensitive classification: the tree of least cost, of wrong labels and of the tests that it makes.

>>> from streed.estimators import CostSensitiveTreeClassifier
>>> model = CostSensitiveTreeClassifier([[0, 1], [10, 0]], max_depth=1).fit([[0.0], [0.5], [2.0], [2.5]], [0, 0, 1, 0])
>>> model.value_, model.predict([[1.9]]).tolist(), model.score([[2.2]], [0])
(1, [1], -1.0)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from streed.data import Dataset
from streed.data.labels import named_labels
from streed.data.rows import read_row_data, row_matrix
from streed.errors import InputError
from streed.estimators.base import with_splits
from streed.estimators.classifier import LabelTree, labels_of
from streed.estimators.reading import FREQUENCY, checked_weights
from streed.exact import Array
from streed.task import Task
from streed.tasks.cost_sensitive import CostSensitive, InstanceCosts, read_costs
from streed.tasks.cost_tables import CostTable
from streed.tasks.expected_costs import tests_of_leaves

COSTS = "costs"
"""The row data of costs that are the row's own."""


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class CostSensitiveTreeClassifier(LabelTree):
    """The tree of least total cost; see `OptimalTreeClassifier` for the rest.

    `costs`: what each label costs a row of each class: an array (K, K) in the order of `classes_`, a table whose
    columns and rows are named by the labels, a dict of dicts, `costs[class][label]`, or a
    `streed.tasks.cost_tables.CostTable` with prices of tests, named after the columns of the raw table; None: every
    error costs 1, unless `fit` is given the costs of each row. `cost_complexity`: what a branching node costs, in the
    same units. `value_` is the cost of all training rows.
    """

    costs: Any = dataclasses.field(default=None, kw_only=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None, *, frequency: Any = None) -> Self:
        """Grows and proves the tree; all but `costs` as for `OptimalTreeClassifier`.

        `costs`: what each label costs each row, an array (n, K) in the order of `classes_`, or a table whose columns
        are named by the labels; costs below 0 are gains.
        """
        if costs is not None and self.costs is not None:
            raise InputError(COSTS, "the estimator has costs of its own", "leave them out there, or here")
        self._grow(X, y, sample_weight, {COSTS: costs, FREQUENCY: frequency})
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Minus the mean cost of the rows, of labels and tests, so that more is better; `costs` as for `fit`."""
        leaves = self._leaf_numbers(X)
        weights = checked_weights(sample_weight, leaves)
        if (costs is None) == self.has_row_costs_:
            found = "fit was given the costs of each row" if costs is None else "fit was given none"
            raise InputError(COSTS, found, "give them to both, or to neither")
        if costs is not None:
            each, labels = self._row_costs(read_row_data({COSTS: costs}, len(leaves)))
            paid = each[np.arange(len(leaves)), np.argsort(self._class_places(labels))[self._leaf_classes[leaves]]]
            return -float(np.average(paid, weights=weights))
        actual = self._class_places(labels_of(y, len(leaves)).tolist())
        table = self._table()
        order = [list(table.classes or ()).index(label) for label in self.classes_.tolist()]
        matrix = np.array(table.matrix, dtype=np.float64)[np.ix_(order, order)]
        tests = np.array([float(paid) for paid, _ in tests_of_leaves(self.tree_, table)])
        return -float(np.average(matrix[actual, self._leaf_classes[leaves]] + tests[leaves], weights=weights))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        data = super()._prepare(X, y, sample_weight, row_data)
        self.has_row_costs_ = COSTS in data.row_data
        self._labels = self._row_costs(data.row_data)[1] if self.has_row_costs_ else None
        return data

    def _row_costs(self, row_data: Mapping[str, Array]) -> tuple[Array, tuple[Any, ...]]:
        """(the costs (n, K), the label of each column); raises InputError unless these are the classes."""
        costs, names = row_matrix(row_data, COSTS, type(self).__name__)
        classes = self.classes_.tolist()
        labels = tuple(classes[: costs.shape[1]]) if names is None else named_labels(names, classes)
        if set(labels) != set(classes) or costs.shape[1] != len(classes):
            found = f"it has {costs.shape[1]} columns" if names is None else f"its columns are {names!r}"
            raise InputError(COSTS, found, f"give a column for each of the labels {classes!r}")
        return costs, labels

    def _objective(self, cost_complexity: Any) -> Task:
        if self._labels is not None:
            return with_splits(InstanceCosts(self._labels), cost_complexity)
        return with_splits(CostSensitive(self._table()), cost_complexity)

    def _table(self) -> CostTable:
        """The costs of the classes."""
        costs = 1 - np.eye(len(self.classes_), dtype=int) if self.costs is None else self.costs
        return read_costs(costs).for_labels(self.classes_.tolist())
