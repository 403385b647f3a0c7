"""Cost-sensitive classification: the tree of least cost, of wrong labels and of the tests that it makes.

>>> from streed.estimators import CostSensitiveTreeClassifier
>>> model = CostSensitiveTreeClassifier([[0, 1], [10, 0]], max_depth=1).fit([[0.0], [0.5], [2.0], [2.5]], [0, 0, 1, 0])
>>> model.value_, model.predict([[1.9]]).tolist(), model.score([[2.2]], [0])
(1, [1], -1.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streed.applications.cost_tables import CostTable
from streed.applications.expected_costs import tests_of_leaves
from streed.estimators.base import with_splits
from streed.estimators.classifier import OptimalTreeClassifier
from streed.estimators.reading import checked_column, checked_weights
from streed.task import Task


class CostSensitiveTreeClassifier(OptimalTreeClassifier):
    """The tree of least total cost; see `OptimalTreeClassifier` for the rest.

    `costs`: what each label costs a row of each class, (K, K) in the order of `classes_`, or a
    `streed.applications.CostTable` with prices of tests, named after the columns of the raw table; None: every error
    costs 1. `cost_complexity`: what a branching node costs, in the same units. `value_` is the cost of all training
    rows.
    """

    def __init__(
        self,
        costs: Any = None,
        *,
        max_depth: int | None = 3,
        max_nodes: int | None = None,
        min_leaf: int = 1,
        cost_complexity: Any = 0,
        limits: Any = (),
        search: Any = "depth-first",
        binarizer: Any = "auto",
        cuts: Any = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(
            None,
            max_depth=max_depth,
            max_nodes=max_nodes,
            min_leaf=min_leaf,
            cost_complexity=cost_complexity,
            limits=limits,
            search=search,
            binarizer=binarizer,
            cuts=cuts,
            time_limit=time_limit,
            memory_limit=memory_limit,
            threads=threads,
        )
        self.costs = costs

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean cost of the rows, of labels and tests, so that more is better."""
        leaves = self._leaf_numbers(X)
        actual = self._class_places(checked_column(y, len(leaves)).tolist())
        costs = self._table()
        order = [list(costs.classes or self.classes_.tolist()).index(label) for label in self.classes_.tolist()]
        matrix = np.array(costs.matrix, dtype=np.float64)[np.ix_(order, order)]
        tests = np.array([float(paid) for paid, _ in tests_of_leaves(self.tree_, costs)])
        paid = matrix[actual, self._leaf_classes[leaves]] + tests[leaves]
        return -float(np.average(paid, weights=checked_weights(sample_weight, leaves)))

    def _objective(self, cost_complexity: Any) -> Task:
        from streed.tasks import CostSensitive

        return with_splits(CostSensitive(self._table()), cost_complexity)

    def _table(self) -> CostTable:
        if isinstance(self.costs, CostTable):
            return self.costs
        matrix = 1 - np.eye(len(self.classes_), dtype=int) if self.costs is None else np.asarray(self.costs)
        return CostTable.of(matrix.tolist(), classes=self.classes_.tolist())
